"""v1.36: GangScheduling, which holds the pods of a gang back until there are enough of them, and until enough of them have a node."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.cache.podgroup_state import PodGroupState
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.types import GVK, NANOS_PER_SECOND, ActionType, ClusterEvent, PodInfo, QueueingHint

POD_ADD = ClusterEvent(GVK.POD, ActionType.ADD)
GROUP_ADD = ClusterEvent(GVK.POD_GROUP, ActionType.ADD)
MEMBER = {"schedulingGroup": {"podGroupName": "train"}}


class Groups:
    """The state of pod groups."""

    def __init__(self, *pods: PodInfo, assumed: tuple[PodInfo, ...] = ()) -> None:
        self.state = PodGroupState()
        for pod in (*pods, *assumed):
            self.state.add(pod.pod)
        for pod in assumed:
            self.state.assume(pod.pod)

    def pod_group(self, group: str) -> PodGroupState:
        if group != "default/train":
            raise LookupError(f"pod group {group} not found")
        return self.state


def pod_group(name: str = "train", **policy: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulingPolicy": policy or {"gang": {"minCount": 2}}},
    }


@pytest.fixture
def world(v1_36_with_gates):
    return v1_36_with_gates(GenericWorkload=True, GangScheduling=True)


def plugin_of(world, groups: Groups | None = None, activated: list[str] | None = None):
    framework = world.framework(pod_groups=groups or Groups(), activate=(activated if activated is not None else []).extend)
    return framework.plugins.by_name["GangScheduling"]


def test_gang_scheduling_is_a_default_plugin_only_with_its_feature_gate(world, v1_36_with_gates) -> None:
    assert "GangScheduling" in world.framework().plugins.by_name
    assert "GangScheduling" not in v1_36_with_gates(GenericWorkload=True).framework().plugins.by_name


def test_a_pod_without_a_group_is_not_gated(world) -> None:
    pod = world.pod("p")
    plugin = plugin_of(world)

    assert plugin.pre_enqueue(pod).is_success
    assert plugin.permit(CycleState(), pod, "n")[0].is_success


def test_a_pod_is_gated_until_its_group_exists(world) -> None:
    pod = world.pod("p", **MEMBER)

    status = plugin_of(world, Groups(pod)).pre_enqueue(pod)

    assert (status.code.value, status.message) == (
        "UnschedulableAndUnresolvable",
        'waiting for pods\'s pod group "train" to appear in scheduling queue',
    )


def test_a_pod_of_a_gang_is_gated_until_there_are_enough_pods(world) -> None:
    world.object(pod_group())
    first, second = world.pod("p", **MEMBER), world.pod("q", **MEMBER)

    assert plugin_of(world, Groups(first)).pre_enqueue(first).message == (
        "waiting for minCount pods from a gang to appear in scheduling queue"
    )
    assert plugin_of(world, Groups(first, second)).pre_enqueue(first).is_success


def test_a_group_without_minimum_holds_nothing_back(world) -> None:
    world.object(pod_group(basic={}))
    pod = world.pod("p", **MEMBER)
    plugin = plugin_of(world, Groups(pod))

    assert plugin.pre_enqueue(pod).is_success
    assert plugin.permit(CycleState(), pod, "n") == (plugin.pre_enqueue(pod), 0)


def test_permit_waits_for_five_minutes_and_activates_the_others(world) -> None:
    world.object(pod_group())
    first, second = world.pod("p", **MEMBER), world.pod("q", **MEMBER)
    activated: list[str] = []

    status, timeout = plugin_of(world, Groups(second, assumed=(first,)), activated).permit(CycleState(), first, "n")

    assert status.is_wait
    assert timeout == 300 * NANOS_PER_SECOND
    assert activated == ["default/q"]


def test_permit_allows_a_gang_that_has_enough_nodes(world) -> None:
    world.object(pod_group())
    pods = world.pod("p", **MEMBER), world.pod("q", **MEMBER)

    assert plugin_of(world, Groups(assumed=pods)).permit(CycleState(), pods[1], "n")[0].is_success


def test_permit_counts_in_the_snapshot_during_the_cycle_of_the_group(world) -> None:
    world.object(pod_group())
    pods = world.pod("p", **MEMBER), world.pod("q", **MEMBER)
    state = CycleState()
    state.is_pod_group_scheduling_cycle = True
    world.snapshot.pod_groups["default/train"] = Groups(pods[1], assumed=pods[:1]).state

    assert plugin_of(world, Groups(assumed=pods)).permit(state, pods[0], "n")[0].is_wait


def test_permit_fails_for_a_group_that_was_deleted(world) -> None:
    pod = world.pod("p", **MEMBER)

    status, _ = plugin_of(world, Groups(pod)).permit(CycleState(), pod, "n")

    assert (status.code.value, status.message) == (
        "Error",
        'failed to get podGroup default/train: podgroup.scheduling.k8s.io "train" not found',
    )


def test_a_new_pod_of_the_group_queues_a_pod(world) -> None:
    pod, sibling, stranger = world.pod("p", **MEMBER), world.pod("q", **MEMBER), world.pod("r")

    assert world.hint("GangScheduling", POD_ADD, pod, new=sibling) is QueueingHint.QUEUE
    assert world.hint("GangScheduling", POD_ADD, pod, new=stranger) is QueueingHint.QUEUE_SKIP
    assert world.hint("GangScheduling", POD_ADD, stranger, new=stranger) is QueueingHint.QUEUE_SKIP


def test_the_pods_own_group_queues_it(world) -> None:
    pod = world.pod("p", **MEMBER)

    assert world.hint("GangScheduling", GROUP_ADD, pod, new=world.object(pod_group())) is QueueingHint.QUEUE
    assert world.hint("GangScheduling", GROUP_ADD, pod, new=world.object(pod_group("other"))) is QueueingHint.QUEUE_SKIP
