"""Watches that disconnect and reconnect, and the result of a step with nothing to schedule."""

from __future__ import annotations

import msgspec
import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.trace.events import WatchChanged, WatchDelivered
from schedviz.trace.fold import Fold
from schedviz.trace.releases import V1_36
from tests.engine import clusters

do, four_nodes, node, pod = clusters.do, clusters.four_nodes, clusters.node, clusters.pod


def _active(simulation: Simulation) -> list[str]:
    return [entry["pod"] for entry in simulation.observed_state()["queue"]["activeQ"]]


def test_the_next_events_of_a_kind_are_dropped() -> None:
    simulation = four_nodes()
    fold = Fold(simulation.view())
    do(simulation, "watch", kind="Pod", drop=2)
    for name in "abc":
        do(simulation, "create", object=pod(name))
    assert _active(simulation) == ["default/c"]
    events = simulation.drain_events()
    assert [event.lost for event in events if isinstance(event, WatchDelivered)] == ["watch", "watch", ""]
    assert [event.drops for event in events if isinstance(event, WatchChanged)] == [2, 1, 0]
    fold.apply_all(events)
    assert fold.to_view() == simulation.view()


def test_a_disconnected_watch_receives_nothing_until_it_lists_again() -> None:
    simulation = four_nodes(pod("gone"), pod("bound", node_name="node1"))
    fold = Fold(simulation.view())
    do(simulation, "watch", kind="Pod", disconnect=True)
    do(simulation, "create", object=pod("new"))
    do(simulation, "delete", kind="Pod", name="gone")
    do(simulation, "delete", kind="Pod", name="bound")
    assert simulation.view().api.watches["Pod"].unseen == 3
    assert _active(simulation) == ["default/gone"]
    simulation = Simulation.restore((fold.apply_all(simulation.drain_events()), simulation.checkpoint())[1])
    do(simulation, "watch", kind="Pod", reconnect=True)
    events = simulation.drain_events()
    delivered = [(event.verb, event.key, event.final_state_unknown) for event in events if isinstance(event, WatchDelivered)]
    assert delivered == [("ADDED", "default/new", False), ("DELETED", "default/bound", True), ("DELETED", "default/gone", True)]
    assert _active(simulation) == ["default/new"]
    assert simulation.observed_state()["cache"]["podStates"] == {}
    fold.apply_all(events)
    assert fold.to_view() == simulation.view()


def test_a_checkpoint_keeps_events_in_flight() -> None:
    simulation = four_nodes(pod("a"))
    do(simulation, "latency", kind="Pod", seconds=5)
    do(simulation, "delete", kind="Pod", name="a", drop="handlers")
    sent = msgspec.structs.replace(simulation.cluster.watches.in_flight[0], final_state_unknown=True)
    simulation.cluster.watches.in_flight = [sent]
    assert Simulation.restore(simulation.checkpoint()).cluster.watches.in_flight == [sent]


def test_a_pod_bound_and_deleted_while_disconnected_leaves_the_cache() -> None:
    """The informer's last state of the pod has no node, so both handlers have to clean up."""
    simulation = four_nodes(pod("a"))
    do(simulation, "watch", kind="Pod", disconnect=True)
    do(simulation, "step")
    assert simulation.observed_state()["cache"]["assumedPods"] == ["default/a"]
    do(simulation, "delete", kind="Pod", name="a")
    do(simulation, "watch", kind="Pod", reconnect=True)
    assert simulation.observed_state()["cache"]["podStates"] == {}


def test_an_unseen_binding_is_confirmed_by_the_list() -> None:
    simulation = four_nodes(pod("a"))
    do(simulation, "watch", kind="Pod", disconnect=True)
    do(simulation, "step")
    do(simulation, "watch", kind="Pod", reconnect=True)
    assert simulation.observed_state()["cache"]["podStates"]["default/a"]["assumed"] is False


def test_events_in_flight_are_lost_with_the_connection() -> None:
    simulation = four_nodes()
    do(simulation, "latency", kind="*", seconds=5)
    do(simulation, "create", object=pod("a"))
    do(simulation, "watch", kind="*", disconnect=True)
    assert simulation.view().api.in_flight == []
    assert simulation.view().api.watches["Pod"].unseen == 1
    do(simulation, "restart")
    assert simulation.view().api.watches == {}
    assert _active(simulation) == ["default/a"]


@pytest.mark.parametrize("members", [{}, {"drop": 1, "reconnect": True}])
def test_a_watch_command_has_exactly_one_action(members: dict[str, object]) -> None:
    assert "exactly one" in do(four_nodes(), "watch", kind="Pod", **members).error
    assert "not a kind" in do(four_nodes(), "watch", kind="Deployment", drop=1).error


def test_a_step_with_an_empty_queue_names_the_next_timer() -> None:
    simulation = four_nodes(pod("big", cpu="100"))
    do(simulation, "step")
    assert do(simulation, "step").result.startswith("activeQ is empty; the next timer is the flush of a pod that has been")
    do(simulation, "create", object=node("node5", cpu="1"))
    assert do(simulation, "step").result.startswith("activeQ is empty; the next timer is the flush")
    do(simulation, "create", object=node("node6", cpu="99"))
    do(simulation, "update", object={**pod("big", cpu="100"), "metadata": {"name": "big", "namespace": "default", "labels": {"a": "b"}}})
    result = do(simulation, "step").result
    assert result.startswith("activeQ is empty; the next timer is a backoff of default/big in 0.99")
    assert result.endswith(" s: advance to it")
    do(simulation, "advance", to="next")
    assert do(simulation, "step").cycles == 1


def test_a_step_reports_a_backoff_that_has_ended_before_its_flush() -> None:
    simulation = four_nodes(pod("big", cpu="100"), pod("late", cpu="100"))
    do(simulation, "run")
    for name in ("big", "late"):
        do(simulation, "update", object={**pod(name, cpu="100"), "metadata": {"name": name, "namespace": "default", "labels": {"a": "b"}}})
    do(simulation, "advance", to="next")
    assert _active(simulation) == ["default/big"]
    results = [do(simulation, "step").result for _ in range(20)]
    assert results[-1] == "activeQ is empty; the next timer is a backoff of default/late, which has ended: advance to it"
    do(simulation, "advance", seconds=0)
    assert _active(simulation) == ["default/late"]


def _device_class(name: str) -> dict[str, object]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}}


def test_v1_27_1_stores_kinds_of_later_releases_and_does_not_watch_them() -> None:
    simulation = four_nodes()
    do(simulation, "create", object=_device_class("gpu"))
    do(simulation, "watch", kind="*", disconnect=True)

    events = simulation.drain_events()

    assert simulation.view().api.objects["DeviceClass"] == 1
    assert not [event for event in events if isinstance(event, WatchDelivered)]
    assert "DeviceClass" not in {event.kind for event in events if isinstance(event, WatchChanged)}
    assert "not a kind that the scheduler watches" in do(simulation, "watch", kind="DeviceClass", drop=1).error
    assert "not a kind that the scheduler watches" in do(simulation, "latency", kind="DeviceClass", seconds=1).error
    assert Simulation.restore(simulation.checkpoint()).view() == simulation.view()


def test_v1_36_watches_them() -> None:
    simulation = Simulation(SimulationSettings(release=V1_36))
    do(simulation, "create", object=_device_class("gpu"))

    assert [event.resource for event in simulation.drain_events() if isinstance(event, WatchDelivered)] == ["deviceclasses"]
    assert do(simulation, "watch", kind="DeviceClass", drop=1).error == ""
