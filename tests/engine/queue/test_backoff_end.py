"""The end of a backoff: where flushes move the pod, and what `advance` is advised to reach, in both releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.engine.clock import SECOND
from schedviz.engine.framework.types import QueuedPodInfo
from schedviz.explain.queue_place import queue_place
from schedviz.trace.releases import V1_27, V1_36
from tests.engine.clusters import do, four_nodes, node, pod

KEY = "default/p"


def rejected(release: str, **settings: Any) -> Simulation:
    """A pod in backoffQ: no node had room for it, and then a node came."""
    simulation = four_nodes(pod("p", cpu="9"), release=release, **settings)
    do(simulation, "step")
    do(simulation, "create", object=node("node5", cpu="16"))
    return simulation


def failed_with_an_error(release: str, **settings: Any) -> Simulation:
    """A pod in errorBackoffQ (v1.27.1: in backoffQ): the API server refused its binding, and the failure was a move request."""
    simulation = four_nodes(pod("p"), release=release, **settings)
    do(simulation, "schedule")
    do(simulation, "bind_fail", pod=KEY)
    return simulation


Make = Callable[..., Simulation]
QUEUES: list[tuple[str, dict[str, bool]]] = [(V1_27, {}), (V1_36, {}), (V1_36, {"SchedulerPopFromBackoffQ": False})]
CASES = [(make, release, gates) for make in (rejected, failed_with_an_error) for release, gates in QUEUES]


def backing_off(simulation: Simulation) -> QueuedPodInfo:
    (queued,) = simulation.scheduler.state.queue.pods_in_backoff_q()
    assert queued.key == KEY
    return queued


@pytest.mark.parametrize(("make", "release", "gates"), CASES)
def test_a_flush_moves_a_pod_at_the_end_of_its_backoff_and_not_a_nanosecond_before(
    make: Make, release: str, gates: dict[str, bool]
) -> None:
    simulation = make(release, feature_gates=gates)
    queue = simulation.scheduler.state.queue
    queued = backing_off(simulation)
    end = queue.backoff_end(queued)
    assert queue.next_backoff_end() == end

    simulation.clock.move_to(end - 1)
    assert queue.is_pod_backing_off(queued)
    queue.flush_backoff_q_completed()
    assert queue.pods_in_backoff_q()

    simulation.clock.move_to(end)
    assert not queue.is_pod_backing_off(queued)
    queue.flush_backoff_q_completed()
    assert not queue.pods_in_backoff_q()


@pytest.mark.parametrize(("make", "release", "gates"), CASES)
def test_an_advance_to_the_end_that_the_place_in_the_queue_names_ends_the_backoff(make: Make, release: str, gates: dict[str, bool]) -> None:
    simulation = make(release, feature_gates=gates)
    # Past the expiry of v1.36, which is a whole second, but not past the end.
    simulation.clock.move_to(simulation.scheduler.state.queue.backoff_end(backing_off(simulation)) - SECOND // 2)
    place = queue_place(simulation, KEY)
    assert place is not None
    assert place.backoff_ends_seconds is not None

    do(simulation, "advance", seconds=place.backoff_ends_seconds - simulation.clock.seconds)

    assert KEY in simulation.scheduler.state.queue.active_q


def test_an_idle_scheduler_names_the_time_until_a_backoff_ends() -> None:
    simulation = failed_with_an_error(V1_36)
    do(simulation, "advance", seconds=1)
    remaining = (simulation.scheduler.state.queue.backoff_end(backing_off(simulation)) - simulation.clock.now) / SECOND

    result = do(simulation, "step").result

    assert result == f"activeQ is empty; the next timer is a backoff of {KEY} in {round(remaining - 0.001, 3):g} s: advance to it"
    do(simulation, "advance", seconds=remaining - 0.001)
    assert KEY in simulation.scheduler.state.queue.active_q


def test_backoffs_of_v1_36_end_with_the_second_in_which_they_expire() -> None:
    simulation = failed_with_an_error(V1_36)
    queue, queued = simulation.scheduler.state.queue, backing_off(simulation)
    assert (queue.backoff_expiry(queued), queue.backoff_end(queued)) == (SECOND, 2 * SECOND)
