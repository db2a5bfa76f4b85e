"""What moves the virtual clock: the table in docs/concepts.md, Virtual time."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from tests.engine.clusters import do, four_nodes, node, objects, pod

TICK = 1_000_000


def elapsed(simulation: Simulation, op: str, **members: Any) -> int:
    """The nanoseconds by which a command moves the clock."""
    before = simulation.clock.now
    do(simulation, op, **members)
    return simulation.clock.now - before


@pytest.mark.parametrize(
    ("op", "members"),
    [
        ("create", {"object": pod("new")}),
        ("cordon", {"node": "node1"}),
        ("helper", {"name": "kubelet"}),
        ("watch", {"kind": "Pod", "drop": 1}),
        ("snapshot", {}),
        ("configure", {"config": None}),
        ("schedule", {}),
        ("cycle", {}),
    ],
)
def test_a_command_is_preceded_by_a_tick(op: str, members: dict[str, Any]) -> None:
    assert elapsed(four_nodes(pod("a")), op, **members) == TICK


def test_each_cycle_of_a_run_or_of_a_step_is_preceded_by_a_tick() -> None:
    simulation = four_nodes(*(pod(f"p{number}") for number in range(5)))

    assert elapsed(simulation, "step", unit="cycle", count=2) == 2 * TICK
    assert elapsed(simulation, "run") == 3 * TICK


def test_stages_after_the_first_one_of_a_cycle_take_no_time() -> None:
    simulation = four_nodes(pod("a"))

    assert elapsed(simulation, "step", unit="stage") == TICK
    assert elapsed(simulation, "step", unit="stage", count=5) == 0


def test_a_run_continues_until_watch_events_in_flight_arrive() -> None:
    simulation = four_nodes()
    assert elapsed(simulation, "latency", kind="Pod", seconds=1) == 0
    do(simulation, "create", object=pod("a"))

    assert elapsed(simulation, "run", max=1) == 1_000 * TICK


def test_a_run_does_not_wait_for_backoffs() -> None:
    simulation = four_nodes(pod("large", cpu="9"))
    do(simulation, "run")
    do(simulation, "create", object=node("node5", cpu="16"))
    assert [queued.key for queued in simulation.scheduler.state.queue.pods_in_backoff_q()] == ["default/large"]

    assert elapsed(simulation, "run") == TICK
    assert simulation.scheduler.state.queue.pods_in_backoff_q()


def test_advance_adds_its_seconds_to_a_tick_or_moves_to_the_next_timer() -> None:
    simulation = four_nodes(pod("large", cpu="9"))
    assert elapsed(simulation, "advance", seconds=2) == 2_001 * TICK
    do(simulation, "run")
    do(simulation, "create", object=node("node5", cpu="16"))
    end = simulation.scheduler.state.queue.next_backoff_end()

    do(simulation, "advance", to="next")

    assert simulation.clock.now == end
    assert simulation.scheduler.has_pods_to_pop


def test_an_import_and_a_restart_space_pending_pods_by_a_microsecond() -> None:
    simulation = four_nodes(pod("a"), pod("b"))
    assert simulation.clock.now == 2_000
    assert elapsed(simulation, "restart") == 2_000

    do(simulation, "reset")

    assert simulation.clock.now == 2_000


@pytest.mark.parametrize(("op", "members"), [("pause", {}), ("create", {"object": {"kind": "Pod", "spec": 1}})])
def test_a_pause_and_an_invalid_command_take_no_time(op: str, members: dict[str, Any]) -> None:
    assert elapsed(four_nodes(), op, **members) == 0


def test_the_length_of_a_tick_is_a_setting() -> None:
    simulation = Simulation(SimulationSettings(tick_millis=5))
    simulation.load(objects(node("n")))

    assert elapsed(simulation, "create", object=pod("a")) == 5 * TICK
