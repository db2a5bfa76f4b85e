"""v1.36: NodeResourcesFit and NodeResourcesBalancedAllocation."""

import pytest

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
def test_a_request_above_the_size_of_a_node_cannot_be_helped_by_preemption(world, requests, code, reasons):
    world.node("n")
    world.pod("there", {"cpu": "3"}, on="n")

    assert world.rejections(world.framework(), world.pod("p", requests)) == {"n": ("NodeResourcesFit", code, reasons)}


def test_too_many_pods_can_be_helped_by_preemption(world):
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
def test_the_deletion_of_a_pod_with_a_place_queues_pods(world, place, hint):
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


def test_devices_stand_in_for_a_resource_that_a_node_does_not_have(world):
    world.node("none")
    world.node("few", {"example.com/gpu": "1"})
    device_class(world, "gpus", "example.com/gpu")

    rejected = world.rejections(world.framework(), world.pod("p", {"example.com/gpu": "2"}))

    assert rejected["few"] == ("NodeResourcesFit", "UnschedulableAndUnresolvable", ("Insufficient example.com/gpu",))
    assert rejected["none"][0] == "DynamicResources"


def test_without_the_gate_device_classes_stand_in_for_nothing(v1_36_with_gates):
    world = v1_36_with_gates(DRAExtendedResource=False)
    world.node("none")
    device_class(world, "gpus", "example.com/gpu")

    assert list(world.rejections(world.framework(), world.pod("p", {"example.com/gpu": "2"}))) == ["none"]
    assert world.hint("NodeResourcesFit", CLASS_ADD, world.pod("p", {"example.com/gpu": "2"}), new=device_class(world, "x")) is None


def test_the_status_of_a_pod_does_not_count_before_it_has_a_node(world):
    world.node("n")
    status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "8"}}}]}

    assert world.rejections(world.framework(), world.pod("p", {"cpu": "1"}, status=status)) == {}


def test_requests_of_the_whole_pod_do_not_change_its_fit_score(world):
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
