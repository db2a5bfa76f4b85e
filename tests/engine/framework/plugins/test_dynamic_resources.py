"""v1.36: DynamicResources, which decides whether claims and device classes exist, and rejects pods that need devices."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueueingHint

CLAIM_ADD = ClusterEvent(GVK.RESOURCE_CLAIM, ActionType.ADD)
CLAIM_UPDATE = ClusterEvent(GVK.RESOURCE_CLAIM, ActionType.UPDATE)
POD_CLAIMS = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
CLAIMS = [{"name": "gpu", "resourceClaimName": "training"}]


def claim(name: str = "training", request: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    asked = request or {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": {"requests": [asked]}},
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
    return next(answer.status for answer in outcome.answers if answer.plugin == "DynamicResources")


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


def test_a_missing_class_of_an_alternative_is_named(world):
    alternatives = {
        "name": "gpu",
        "firstAvailable": [{"name": "large", "deviceClassName": "other"}, {"name": "small", "deviceClassName": "tiny"}],
    }
    world.object(claim(request=alternatives))

    assert pre_filter(world, world.pod("p", resourceClaims=CLAIMS)).message == "request gpu/small: device class tiny does not exist"


def test_a_pod_that_needs_devices_is_rejected_with_what_is_not_simulated(world):
    world.object(claim())
    world.object(device_class())

    status = pre_filter(world, world.pod("p", resourceClaims=CLAIMS))

    assert (status.code.value, status.message) == (
        "UnschedulableAndUnresolvable",
        "schedviz does not allocate devices: the pod has resource claims",
    )


def test_a_node_that_would_need_devices_for_an_extended_resource_is_rejected(world):
    world.object(device_class(extendedResourceName="example.com/gpu"))
    world.node("n2", {"example.com/gpu": "2"})
    pod = world.pod("p", {"example.com/gpu": "1"})

    rejections = world.rejections(world.framework(), pod)

    assert list(rejections) == ["n1"]
    assert rejections["n1"][2] == ("schedviz does not allocate devices: a device class provides an extended resource of the pod",)


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
