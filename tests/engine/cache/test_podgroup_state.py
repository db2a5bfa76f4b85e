"""v1.36: which pods of a group are unscheduled, assumed or assigned."""

from __future__ import annotations

import msgspec
import pytest

from schedviz.engine.cache.podgroup_state import PodGroupState
from schedviz.kube.core import Pod, PodSchedulingGroup, PodSpec
from schedviz.kube.meta import ObjectMeta


def pod(name: str, node: str = "") -> Pod:
    spec = PodSpec(node_name=node, scheduling_group=PodSchedulingGroup(pod_group_name="train"))
    return Pod(metadata=ObjectMeta(name=name, namespace="default", uid=f"uid-{name}"), spec=spec)


def on(one: Pod, node: str) -> Pod:
    return msgspec.structs.replace(one, spec=msgspec.structs.replace(one.spec, node_name=node))


@pytest.fixture
def state() -> PodGroupState:
    state = PodGroupState()
    for one in (pod("b"), pod("a"), pod("c", node="n")):
        state.add(one)
    return state


def test_a_pod_with_a_node_is_assigned(state: PodGroupState) -> None:
    view = state.to_view()

    assert (view.unscheduled_pods, view.assigned_pods) == (["default/a", "default/b"], ["default/c"])
    assert [one.name for one in state.unscheduled_pods()] == ["a", "b"]


def test_assumed_pods_count_as_scheduled_until_they_are_forgotten(state: PodGroupState) -> None:
    assert state.assume(on(pod("a"), "n"))
    assert state.scheduled_pods_count == 2
    assert [(one.name, one.spec.node_name) for one in state.scheduled_pods()] == [("c", "n"), ("a", "n")]

    assert state.forget("uid-a")
    assert state.scheduled_pods_count == 1


def test_a_binding_makes_an_assumed_pod_assigned(state: PodGroupState) -> None:
    state.assume(on(pod("a"), "n"))
    state.update(pod("a"), on(pod("a"), "n"))

    assert (state.to_view().assumed_pods, state.to_view().assigned_pods) == ([], ["default/a", "default/c"])


def test_a_pod_that_was_removed_can_be_neither_assumed_nor_forgotten(state: PodGroupState) -> None:
    state.delete("uid-a")

    assert not state.assume(on(pod("a"), "n"))
    assert not state.forget("uid-a")


def test_a_copy_does_not_change_with_the_original(state: PodGroupState) -> None:
    copy = state.clone()
    state.delete("uid-a")

    assert copy.to_view().all_pods == ["default/a", "default/b", "default/c"]
