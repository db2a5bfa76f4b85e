"""v1.36: one pod is taken out of the queue, wherever it is, because another pod of its group was popped."""

from __future__ import annotations

from typing import Any

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.queue.v1_36 import PriorityQueue
from tests.engine.clusters import do, node, objects, pod


def queue_with(*dicts: dict[str, Any]) -> tuple[Simulation, PriorityQueue]:
    simulation = Simulation(SimulationSettings(release="v1.36"))
    simulation.load(objects(*dicts))
    queue = simulation.scheduler.state.queue
    assert isinstance(queue, PriorityQueue)
    return simulation, queue


def test_a_pod_of_active_q_is_in_flight_afterwards() -> None:
    simulation, queue = queue_with(pod("first"), pod("second"))

    popped = queue.pop_specific_pod("default/second")

    assert popped is not None
    assert (popped.key, popped.attempts) == ("default/second", 1)
    assert [entry.pod for entry in simulation.view().queue.active_q] == ["default/first"]
    assert popped.pod.uid in queue.in_flight


def test_an_unschedulable_pod_is_activated_and_popped() -> None:
    simulation, queue = queue_with(node("a", cpu="1"), pod("big", cpu="2"))
    do(simulation, "cycle")
    assert [entry.pod for entry in simulation.view().queue.unschedulable] == ["default/big"]

    popped = queue.pop_specific_pod("default/big")

    assert popped is not None
    assert popped.attempts == 2
    assert simulation.view().queue.unschedulable == []


def test_a_gated_pod_stays_where_it_is() -> None:
    simulation, queue = queue_with(pod("gated", schedulingGates=[{"name": "later"}]))

    assert queue.pop_specific_pod("default/gated") is None
    assert [entry.pod for entry in simulation.view().queue.unschedulable] == ["default/gated"]


def test_a_pod_that_is_not_queued_is_not_found() -> None:
    _, queue = queue_with(pod("first"))

    assert queue.pop_specific_pod("default/other") is None
