"""v1.36: DynamicResources, which finds devices for the claims of a pod."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.plugins.dynamicresources.binding_conditions import BindingConditionError, is_ready
from schedviz.engine.framework.plugins.dynamicresources.state import STATE_KEY, StateData
from schedviz.engine.framework.plugins.dynamicresources.structured.allocator import ClaimsAllocator
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueueingHint

CLAIM_ADD = ClusterEvent(GVK.RESOURCE_CLAIM, ActionType.ADD)
CLAIM_UPDATE = ClusterEvent(GVK.RESOURCE_CLAIM, ActionType.UPDATE)
POD_CLAIMS = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
CLAIMS = [{"name": "gpu", "resourceClaimName": "training"}]


def claim(name: str = "training", request: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    requested = request or {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": {"requests": [requested]}},
    } | rest


def device_class(name: str = "gpu", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def world(world_of_v1_36):
    world_of_v1_36.node("n1")
    world_of_v1_36.object(device_class("other"))
    return world_of_v1_36


def plugin_of(framework):
    return framework.plugins.by_name["DynamicResources"]


def pre_filter(world, pod):
    world.update()
    outcome = world.framework().run_pre_filter_plugins(CycleState(), pod)
    return next(answer.status for answer in outcome.plugin_results if answer.plugin == "DynamicResources")


def test_a_pod_without_claims_is_skipped(world):
    assert pre_filter(world, world.pod("p")).is_skip


def test_a_pod_whose_claim_does_not_exist_is_gated(world):
    pod = world.pod("p", resourceClaims=CLAIMS)
    plugin = plugin_of(world.framework())

    assert plugin.pre_enqueue(pod).message == 'could not find ResourceClaim "default/training"'
    world.object(claim())
    assert plugin.pre_enqueue(pod).is_success


def test_a_pod_whose_claim_was_not_generated_yet_is_gated(world):
    pod = world.pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "template"}])

    assert plugin_of(world.framework()).pre_enqueue(pod).message == 'pod "default/p": ResourceClaim not created yet'


def test_a_missing_device_class_is_named(world):
    world.object(claim())

    status = pre_filter(world, world.pod("p", resourceClaims=CLAIMS))

    assert (status.code.value, status.message) == ("UnschedulableAndUnresolvable", "request gpu: device class gpu does not exist")


def test_the_message_of_a_failed_binding_condition_is_quoted_as_in_go(world):
    names = {"driver": "d", "pool": "p", "device": "a"}
    conditions = {"request": "gpu", "bindingConditions": ["Attached"], "bindingFailureConditions": ["Lost"], **names}
    lost = {"type": "Lost", "status": "True", "reason": "Gone", "message": 'le câble "b"'}
    status = {"allocation": {"devices": {"results": [conditions]}}, "devices": [{**names, "conditions": [lost]}]}

    with pytest.raises(BindingConditionError) as caught:
        is_ready(world.object(claim(status=status)))

    assert str(caught.value) == 'device binding failed: claim=training, reason=Gone, message="le câble \\"b\\""'


def test_a_claim_that_has_as_many_users_as_it_can_is_in_use(world):
    users = [{"resource": "pods", "name": f"u{number}", "uid": f"uid-u{number}"} for number in range(256)]
    world.object(claim(status={"allocation": {}, "reservedFor": users}))
    pods = [world.pod(name, resourceClaims=CLAIMS) for name in ("u7", "p")]

    assert pre_filter(world, pods[0]).is_success
    assert pre_filter(world, pods[1]).reasons == ("resourceclaim in use",)


def test_a_missing_class_of_an_alternative_is_named(world):
    alternatives = {
        "name": "gpu",
        "firstAvailable": [{"name": "large", "deviceClassName": "other"}, {"name": "small", "deviceClassName": "tiny"}],
    }
    world.object(claim(request=alternatives))

    assert pre_filter(world, world.pod("p", resourceClaims=CLAIMS)).message == "request gpu/small: device class tiny does not exist"


def slice_of(node: str, *devices: dict[str, Any], **spec: Any) -> dict[str, Any]:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-slice", "uid": f"uid-{node}-slice"},
        "spec": {"driver": "gpu.example.com", "nodeName": node, "pool": pool, "devices": list(devices)} | spec,
    }


def why_not(world, pod) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {node: reason[1:] for node, reason in world.rejections(world.framework(), pod).items()}


def test_a_pod_fits_where_a_device_is_free(world):
    world.node("n2")
    world.object(device_class())
    world.object(claim())
    world.object(slice_of("n2", {"name": "d0"}))

    assert why_not(world, world.pod("p", resourceClaims=CLAIMS)) == {
        "n1": ("UnschedulableAndUnresolvable", ("cannot allocate all claims",))
    }


def test_the_nodes_of_an_allocation_are_the_only_ones_for_the_pods_of_its_claim(world):
    world.node("n2")
    world.object(device_class())
    names = [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "n2", "device": "d0"}
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": names}]}}
    world.object(claim(status={"allocation": allocation}))

    assert why_not(world, world.pod("p", resourceClaims=CLAIMS)) == {
        "n1": ("UnschedulableAndUnresolvable", ("resourceclaim not available on the node",))
    }


def test_an_error_of_a_selector_ends_the_cycle(world):
    broken = {"cel": {"expression": 'device.attributes["gpu.example.com"].model =='}}
    world.object(device_class(selectors=[broken]))
    world.object(claim())
    world.object(slice_of("n1", {"name": "d0"}))

    _, outcome, _ = world.filter(world.framework(), world.pod("p", resourceClaims=CLAIMS))

    assert outcome.error is not None
    assert outcome.error.message.startswith(
        'running "DynamicResources" filter plugin: class gpu: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:46'
    )


def test_a_search_that_takes_too_long_is_a_timeout(world):
    # No two devices differ in what the constraint compares, so every combination of them is tried.
    devices = [{"name": f"d{number:02}", "attributes": {"model": {"string": "A"}}} for number in range(24)]
    requests = [{"name": f"r{number}", "exactly": {"deviceClassName": "gpu", "count": 2}} for number in range(4)]
    constraints = [{"distinctAttribute": "gpu.example.com/model", "requests": ["r2", "r3"]}]
    world.object(device_class())
    world.object(claim() | {"spec": {"devices": {"requests": requests, "constraints": constraints}}})
    world.object(slice_of("n1", *devices))
    config = {"profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"filterTimeout": "10ms"}}]}]}

    _, outcome, _ = world.filter(world.framework(config), world.pod("p", resourceClaims=CLAIMS))

    assert outcome.error is not None
    assert outcome.error.message == 'running "DynamicResources" filter plugin: node n1: timed out trying to allocate devices'


def test_a_preemption_searches_the_devices_of_a_node_once(world, monkeypatch):
    world.object(device_class())
    world.object(claim())
    world.object(slice_of("n1", {"name": "d0"}))
    for number in range(5):
        world.pod(f"low-{number}", {"cpu": "500m"}, on="n1", priority=0)
    framework = world.framework()
    pod = world.pod("p", {"cpu": "3"}, resourceClaims=CLAIMS, priority=1)
    _, outcome, state = world.filter(framework, pod)
    searches = []
    find = ClaimsAllocator.find
    monkeypatch.setattr(ClaimsAllocator, "find", lambda allocator, node: searches.append(node.name) or find(allocator, node))

    found = list(framework.plugins.by_name["DefaultPreemption"].select_victims(state, pod, world.snapshot.rows(), 1).found)

    assert len(outcome.rejected) == 1
    assert [[victim.name for victim in victims.pods] for _, victims in found] == [["low-2", "low-3", "low-4"]]
    assert searches == ["n1"]


def test_searches_and_their_time_survive_a_checkpoint(world):
    world.node("n2")
    world.object(device_class())
    two = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": 2}}
    constraints = [{"matchAttribute": "gpu.example.com/model"}]
    world.object(claim() | {"spec": {"devices": {"requests": [two], "constraints": constraints}}})
    attributes = {"model": {"string": "A"}}
    world.object(slice_of("n2", {"name": "d0", "attributes": attributes}, {"name": "d1", "attributes": attributes}))
    _, _, state = world.filter(world.framework(), world.pod("p", resourceClaims=CLAIMS))
    before = state.read(STATE_KEY)

    after = StateData.from_state(before.to_state())

    assert after.searched == before.searched
    assert {node: status.is_success for node, status in after.searched.items()} == {"n1": False, "n2": True}
    assert after.steps_left == before.allocator.steps_left


def test_devices_that_no_search_was_needed_for_survive_a_checkpoint(world):
    world.node("n2")
    world.node("n3")
    world.object(device_class())
    world.object(claim())
    world.object(slice_of("n2", {"name": "d0"}, {"name": "d1"}))
    _, outcome, state = world.filter(world.framework(), world.pod("p", resourceClaims=CLAIMS))
    before = state.read(STATE_KEY)

    after = StateData.from_state(before.to_state())

    assert len(outcome.rejected) == 2
    assert [result.device for result in after.on_node("n2").results[0].devices.results] == ["d0"]
    assert (after.on_node("n1"), after.on_node("n3")) == (None, None)


def test_an_extended_resource_is_provided_by_a_device_where_the_node_has_none(world):
    world.object(device_class(extendedResourceName="example.com/gpu"))
    world.node("n2", {"example.com/gpu": "2"})
    world.node("n3")
    world.object(slice_of("n3", {"name": "d0"}))

    assert why_not(world, world.pod("p", {"example.com/gpu": "1"})) == {
        "n1": ("UnschedulableAndUnresolvable", ("cannot allocate all claims",))
    }


def test_earlier_alternatives_of_a_prioritized_list_score_higher(world):
    world.node("n2")
    models = [{"name": model, "deviceClassName": "gpu", "selectors": [selector(model)]} for model in ("A", "B")]
    world.object(device_class())
    world.object(claim(request={"name": "gpu", "firstAvailable": models}))
    for node, model in (("n1", "B"), ("n2", "A")):
        world.object(slice_of(node, {"name": "d0", "attributes": {"model": {"string": model}}}))
    pod = world.pod("p", resourceClaims=CLAIMS)

    assert world.scores_of(world.framework(), pod, "DynamicResources") == {"n1": 7, "n2": 8}


def selector(model: str) -> dict[str, Any]:
    return {"cel": {"expression": f'device.attributes["gpu.example.com"].model == "{model}"'}}


def test_only_a_claim_of_the_pod_queues_it(world):
    pod, own, other = world.pod("p", resourceClaims=CLAIMS), world.object(claim()), world.object(claim("other"))

    assert world.hint("DynamicResources", CLAIM_ADD, pod, new=own) is QueueingHint.QUEUE
    assert world.hint("DynamicResources", CLAIM_ADD, pod, new=other) is QueueingHint.QUEUE_SKIP
    assert world.hint("DynamicResources", CLAIM_UPDATE, pod, old=own, new=own) is QueueingHint.QUEUE_SKIP


def test_a_deallocated_claim_queues_every_pod_whose_claims_exist(world):
    pod = world.pod("p", resourceClaims=CLAIMS)
    world.object(claim())
    allocated = world.object(claim("other", status={"allocation": {"devices": {}}}))
    free = world.object(claim("other"))

    assert world.hint("DynamicResources", CLAIM_UPDATE, pod, old=allocated, new=free) is QueueingHint.QUEUE


def test_the_pods_own_update_queues_it_once_its_claims_exist(world):
    pod = world.pod("p", resourceClaims=CLAIMS)

    assert world.hint("DynamicResources", POD_CLAIMS, pod, old=pod, new=pod) is QueueingHint.QUEUE_SKIP
    world.object(claim())
    assert world.hint("DynamicResources", POD_CLAIMS, pod, old=pod, new=pod) is QueueingHint.QUEUE
    assert world.hint("DynamicResources", POD_CLAIMS, pod, old=pod, new=world.pod("q")) is QueueingHint.QUEUE_SKIP
