"""v1.36: NodeResourcesFit and NodeResourcesBalancedAllocation."""

import json

import pytest

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueueingHint

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.QUEUE_SKIP
NODE_ADD = ClusterEvent(GVK.NODE, ActionType.ADD)
NODE_ALLOCATABLE = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_ALLOCATABLE)
POD_DELETE = ClusterEvent(GVK.POD, ActionType.DELETE)
POD_SCALE_DOWN = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_SCALE_DOWN)
CLASS_ADD = ClusterEvent(GVK.DEVICE_CLASS, ActionType.ADD)
CLASS_UPDATE = ClusterEvent(GVK.DEVICE_CLASS, ActionType.UPDATE)


@pytest.fixture
def world(world_of_v1_36):
    return world_of_v1_36


def test_a_resource_that_a_pod_does_not_request_is_not_compared(world):
    world.node("n", {"cpu": "2", "memory": "1Gi"})
    world.pod("big", {"cpu": "3"}, on="n")

    assert world.rejections(world.framework(), world.pod("p", {"memory": "512Mi"})) == {}
    assert world.rejections(world.framework(), world.pod("q", {"cpu": "1m"})) == {
        "n": ("NodeResourcesFit", "Unschedulable", ("Insufficient cpu",))
    }


@pytest.mark.parametrize(
    ("requests", "code", "reasons"),
    [
        ({"cpu": "2"}, "Unschedulable", ("Insufficient cpu",)),
        ({"cpu": "5"}, "UnschedulableAndUnresolvable", ("Insufficient cpu",)),
        ({"cpu": "2", "memory": "9Gi"}, "UnschedulableAndUnresolvable", ("Insufficient cpu", "Insufficient memory")),
        ({"example.com/gpu": "1"}, "UnschedulableAndUnresolvable", ("Insufficient example.com/gpu",)),
    ],
)
def test_preemption_cannot_help_with_a_request_above_the_size_of_a_node(world, requests, code, reasons):
    world.node("n")
    world.pod("there", {"cpu": "3"}, on="n")

    assert world.rejections(world.framework(), world.pod("p", requests)) == {"n": ("NodeResourcesFit", code, reasons)}


def test_preemption_can_help_on_a_node_with_too_many_pods(world):
    world.node("n", {"pods": "1"})
    world.pod("there", on="n")

    assert world.rejections(world.framework(), world.pod("p")) == {"n": ("NodeResourcesFit", "Unschedulable", ("Too many pods",))}


@pytest.mark.parametrize(
    ("allocatable", "requests", "hint"),
    [({"cpu": "4"}, {"cpu": "2"}, QUEUE), ({"cpu": "1"}, {"cpu": "2"}, SKIP), ({"pods": "0"}, {}, SKIP), ({}, {}, QUEUE)],
)
def test_a_new_node_queues_pods_that_fit_it_while_it_is_empty(world, allocatable, requests, hint):
    node = world.node("n", allocatable)

    assert world.hint("NodeResourcesFit", NODE_ADD, world.pod("p", requests), new=node) is hint


@pytest.mark.parametrize(
    ("before", "after", "requests", "hint"),
    [
        ({"cpu": "1"}, {"cpu": "4"}, {"cpu": "2"}, QUEUE),
        ({"cpu": "3"}, {"cpu": "4"}, {"cpu": "2"}, QUEUE),
        ({"cpu": "4"}, {"cpu": "4"}, {"cpu": "2"}, SKIP),
        ({"memory": "1Gi"}, {"memory": "2Gi"}, {"cpu": "2"}, SKIP),
        ({"pods": "1"}, {"pods": "2"}, {"cpu": "2"}, QUEUE),
        ({"cpu": "1"}, {"cpu": "4"}, {"cpu": "5"}, SKIP),
        ({"cpu": "1"}, {"cpu": "4"}, {}, SKIP),
        ({"example.com/gpu": "1"}, {"example.com/gpu": "2"}, {"example.com/gpu": "1"}, QUEUE),
    ],
)
def test_a_node_queues_a_pod_when_something_that_it_requests_grows(world, before, after, requests, hint):
    old, new = world.node("n", before), world.node("n", after)

    assert world.hint("NodeResourcesFit", NODE_ALLOCATABLE, world.pod("p", requests), old=old, new=new) is hint


@pytest.mark.parametrize(("place", "hint"), [({"on": "n"}, QUEUE), ({"status": {"nominatedNodeName": "n"}}, QUEUE), ({}, SKIP)])
def test_the_deletion_of_a_pod_with_a_node_queues_pods(world, place, hint):
    world.node("n")

    assert world.hint("NodeResourcesFit", POD_DELETE, world.pod("p", {"cpu": "1"}), old=world.pod("gone", **place)) is hint


def test_a_pod_that_shrinks_queues_pods_that_request_the_freed_resource(world):
    old = world.pod("other", {"cpu": "2", "memory": "1Gi"}, nodeName="n")
    new = world.pod("other", {"cpu": "1", "memory": "1Gi"}, nodeName="n")

    assert world.hint("NodeResourcesFit", POD_SCALE_DOWN, world.pod("p", {"cpu": "1"}), old=old, new=new) is QUEUE
    assert world.hint("NodeResourcesFit", POD_SCALE_DOWN, world.pod("q", {"memory": "1Gi"}), old=old, new=new) is SKIP


def test_a_pod_that_shrinks_without_a_node_queues_only_itself(world):
    old, new = world.pod("p", {"cpu": "2"}), world.pod("p", {"cpu": "1"})

    assert world.hint("NodeResourcesFit", POD_SCALE_DOWN, old, old=old, new=new) is QUEUE
    assert world.hint("NodeResourcesFit", POD_SCALE_DOWN, world.pod("q", {"cpu": "1"}), old=old, new=new) is SKIP


def device_class(world, name, resource=None):
    spec = {} if resource is None else {"extendedResourceName": resource}
    return world.object({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec})


def test_a_device_class_queues_pods_that_request_its_resource(world):
    pod = world.pod("p", {"example.com/gpu": "1"})
    implicit = world.pod("q", {"deviceclass.resource.kubernetes.io/gpus": "1"})
    plain, mapped = device_class(world, "gpus"), device_class(world, "gpus", "example.com/gpu")

    assert world.hint("NodeResourcesFit", CLASS_ADD, pod, new=mapped) is QUEUE
    assert world.hint("NodeResourcesFit", CLASS_ADD, pod, new=plain) is SKIP
    assert world.hint("NodeResourcesFit", CLASS_ADD, implicit, new=plain) is QUEUE
    assert world.hint("NodeResourcesFit", CLASS_UPDATE, implicit, old=mapped, new=plain) is SKIP
    assert world.hint("NodeResourcesFit", CLASS_UPDATE, pod, old=plain, new=mapped) is QUEUE
    assert world.hint("NodeResourcesFit", CLASS_UPDATE, pod, old=mapped, new=mapped) is SKIP


def test_devices_provide_a_resource_that_a_node_does_not_have(world):
    world.node("none")
    world.node("few", {"example.com/gpu": "1"})
    device_class(world, "gpus", "example.com/gpu")

    rejected = world.rejections(world.framework(), world.pod("p", {"example.com/gpu": "2"}))

    assert rejected["few"] == ("NodeResourcesFit", "UnschedulableAndUnresolvable", ("Insufficient example.com/gpu",))
    assert rejected["none"][0] == "DynamicResources"


def test_without_the_feature_gate_device_classes_provide_no_resource(v1_36_with_gates):
    world = v1_36_with_gates(DRAExtendedResource=False)
    world.node("none")
    device_class(world, "gpus", "example.com/gpu")

    assert list(world.rejections(world.framework(), world.pod("p", {"example.com/gpu": "2"}))) == ["none"]
    assert world.hint("NodeResourcesFit", CLASS_ADD, world.pod("p", {"example.com/gpu": "2"}), new=device_class(world, "x")) is None


def test_the_status_of_a_pod_does_not_count_before_it_has_a_node(world):
    world.node("n")
    status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "8"}}}]}

    assert world.rejections(world.framework(), world.pod("p", {"cpu": "1"}, status=status)) == {}


def test_pod_level_requests_do_not_change_the_fit_score(world):
    """Upstream does not pass the gate on to the scorer of NodeResourcesFit."""
    world.node("n")
    level = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    framework = world.framework()

    plain = world.scores_of(framework, world.pod("p", {"cpu": "2", "memory": "4Gi"}), "NodeResourcesFit")
    with_level = world.scores_of(framework, world.pod("q", {"cpu": "2", "memory": "4Gi"}, resources=level), "NodeResourcesFit")

    assert plain == with_level == {"n": 50}


def test_balance_scores_what_the_pod_changes(world):
    world.node("better", {"cpu": "4", "memory": "4Gi"})
    world.node("same", {"cpu": "4", "memory": "4Gi"})
    world.pod("lopsided", {"cpu": "2", "memory": "1Gi"}, on="better")

    scores = world.scores_of(world.framework(), world.pod("p", {"memory": "1Gi"}), "NodeResourcesBalancedAllocation")

    # better: deviation from 0.125 to 0, from 87 to 100; same: from 0 to 0.125.
    assert scores == {"better": 50 + (50 + 100 - 87) // 2, "same": 50 + (50 + 87 - 100) // 2}


def test_balance_does_not_score_a_pod_without_requests(world):
    world.node("n")

    outcome = world.score(world.framework(), world.pod("p"))

    assert "NodeResourcesBalancedAllocation" not in [plugin.name for plugin in outcome.plugins]


@pytest.mark.parametrize("number", [5, 6, 7, 28, 29, 30, 31, 32, 200])
def test_any_number_of_resources_is_compared(world, number):
    requests = {f"example.com/r{place:03}": "2" for place in range(number)}
    world.node("none")
    world.node("one", {**requests, "example.com/r000": "1"})
    world.node("free", requests)

    rejections = world.rejections(world.framework(), world.pod("p", requests))

    unresolvable = "UnschedulableAndUnresolvable"
    assert rejections == {
        "none": ("NodeResourcesFit", unresolvable, tuple(f"Insufficient {name}" for name in requests)),
        "one": ("NodeResourcesFit", unresolvable, ("Insufficient example.com/r000",)),
    }


GPU = "example.com/gpu"


def gpu_slice(world, node, count, **spec):
    devices = [{"name": f"gpu-{number}", "attributes": {"fast": {"bool": number > 0}}} for number in range(count)]
    body = {"driver": "gpu.example.com", "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}
    metadata = {"name": f"slice-{node}", "uid": f"uid-{node}"}
    world.object({"kind": "ResourceSlice", "metadata": metadata, "spec": {**body, "devices": devices, **spec}})


def gpu_class(world, name="gpus", created="2026-01-01T00:00:00Z", **spec):
    metadata = {"name": name, "creationTimestamp": created}
    return world.object({"kind": "DeviceClass", "metadata": metadata, "spec": {"extendedResourceName": GPU, **spec}})


def allocate(world, pool, *devices):
    results = [{"request": "r", "driver": "gpu.example.com", "pool": pool, "device": device} for device in devices]
    status = {"allocation": {"devices": {"results": results}}}
    world.object({"kind": "ResourceClaim", "metadata": {"name": f"claim-{pool}", "uid": f"uid-claim-{pool}"}, "status": status})


def scoring(plugin, **arguments):
    multi_point = {"disabled": [{"name": "*"}], "enabled": [{"name": name} for name in ("PrioritySort", "DefaultBinder", plugin)]}
    return {"profiles": [{"plugins": {"multiPoint": multi_point}, "pluginConfig": [{"name": plugin, "args": arguments}]}]}


def test_devices_behind_an_extended_resource_count_for_the_fit_score(world):
    gpu_class(world)
    for node, count in (("half", 4), ("full", 4), ("empty", 4), ("none", 0)):
        world.node(node)
        gpu_slice(world, node, count)
    world.node("plugin", {GPU: "10"})
    allocate(world, "half", "gpu-0")
    allocate(world, "full", "gpu-0", "gpu-1", "gpu-2")
    strategy = {"type": "MostAllocated", "resources": [{"name": GPU, "weight": 1}]}

    scores = world.scores_of(
        world.framework(scoring("NodeResourcesFit", scoringStrategy=strategy)), world.pod("p", {GPU: "1"}), "NodeResourcesFit"
    )

    assert scores == {"half": 50, "full": 100, "empty": 25, "none": 0, "plugin": 10}


def test_a_checkpoint_between_pre_score_and_score_keeps_the_devices(world):
    gpu_class(world)
    world.node("n")
    gpu_slice(world, "n", 4)
    strategy = {"type": "MostAllocated", "resources": [{"name": GPU, "weight": 1}]}
    framework, pod = world.framework(scoring("NodeResourcesFit", scoringStrategy=strategy)), world.pod("p", {GPU: "1"})
    world.update()
    state, rows = CycleState(), world.snapshot.rows()
    framework.run_pre_score_plugins(state, pod, rows)

    restored = CycleState.from_state(json.loads(json.dumps(state.to_state())))
    allocate(world, "n", "gpu-0")

    assert framework.run_score_plugins(restored, pod, rows).totals.tolist() == [25]
    assert framework.run_score_plugins(CycleState(), pod, rows).totals.tolist() == [50]


def test_only_devices_of_the_class_that_are_for_the_node_count(world):
    gpu_class(world, selectors=[{"cel": {"expression": 'device.attributes["gpu.example.com"].fast'}}])
    for name in ("a", "b"):
        world.node(name, labels={"disk": name})
    gpu_slice(world, "a", 3)
    selected = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["b"]}]}]}
    gpu_slice(world, "selected", 5, nodeName=None, nodeSelector=selected)
    strategy = {"type": "LeastAllocated", "resources": [{"name": GPU, "weight": 1}]}

    scores = world.scores_of(
        world.framework(scoring("NodeResourcesFit", scoringStrategy=strategy)), world.pod("p", {GPU: "1"}), "NodeResourcesFit"
    )

    assert scores == {"a": 50, "b": 75}


def test_devices_of_a_slice_can_be_for_different_nodes(world):
    gpu_class(world)
    for name in ("a", "b"):
        world.node(name)
    devices = [
        {"name": "x", "nodeName": "a"},
        {"name": "y", "nodeName": "b"},
        {"name": "z", "nodeName": "b"},
        {"name": "w", "allNodes": True},
    ]
    gpu_slice(world, "shared", 0, nodeName=None, perDeviceNodeSelection=True, devices=devices)
    strategy = {"type": "MostAllocated", "resources": [{"name": GPU, "weight": 1}]}

    scores = world.scores_of(
        world.framework(scoring("NodeResourcesFit", scoringStrategy=strategy)), world.pod("p", {GPU: "1"}), "NodeResourcesFit"
    )

    assert scores == {"a": 50, "b": 33}


def test_devices_behind_an_extended_resource_count_for_the_balance(world):
    gpu_class(world)
    for name in ("even", "odd"):
        world.node(name)
        gpu_slice(world, name, 4)
    allocate(world, "odd", "gpu-0", "gpu-1")
    resources = [{"name": "cpu", "weight": 1}, {"name": GPU, "weight": 1}]

    scores = world.scores_of(
        world.framework(scoring("NodeResourcesBalancedAllocation", resources=resources)),
        world.pod("p", {"cpu": "2", GPU: "1"}),
        "NodeResourcesBalancedAllocation",
    )

    assert scores == {"even": 68, "odd": 81}


def test_a_selector_that_fails_for_a_device_leaves_the_resource_out(world):
    gpu_class(world, selectors=[{"cel": {"expression": 'device.attributes["gpu.example.com"].missing == "x"'}}])
    world.node("n")
    gpu_slice(world, "n", 2)
    strategy = {"type": "LeastAllocated", "resources": [{"name": GPU, "weight": 1}]}

    scores = world.scores_of(
        world.framework(scoring("NodeResourcesFit", scoringStrategy=strategy)), world.pod("p", {GPU: "1"}), "NodeResourcesFit"
    )

    assert scores == {"n": 0}


def test_a_resource_is_not_provided_once_the_newer_of_its_two_classes_is_deleted(world):
    """Upstream's cache forgets the resource, and the older class does not get it back."""
    world.node("n")
    gpu_class(world, "old")
    newer = gpu_class(world, "new", "2026-02-01T00:00:00Z")
    framework, pod = world.framework(scoring("NodeResourcesFit")), world.pod("p", {GPU: "1"})
    assert world.rejections(framework, pod) == {}

    del world.objects.by_key["DeviceClass", "", "new"]
    world.dra_manager.object_changed(newer, None)

    assert world.rejections(framework, pod) == {"n": ("NodeResourcesFit", "UnschedulableAndUnresolvable", (f"Insufficient {GPU}",))}


@pytest.mark.parametrize("plugin", ["NodeResourcesFit", "NodeResourcesBalancedAllocation"])
def test_a_pod_that_may_get_devices_for_a_resource_has_no_signature(world, plugin):
    framework, pod = world.framework(scoring(plugin)), world.pod("p", {GPU: "1"})
    assert framework.plugin_that_cannot_sign(pod) == ""

    gpu_class(world)

    assert framework.plugin_that_cannot_sign(pod) == plugin
