"""The pace of rate-limited runs in wall time."""

from __future__ import annotations

from schedviz.sessions.hosting.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_first_cycle_is_due_at_once_and_the_next_after_its_time() -> None:
    clock = Clock()
    pace = Pace(2, clock)

    assert pace.wait_seconds() == 0
    assert pace.due() == 1
    pace.did(1)

    assert pace.wait_seconds() == 0.5


def test_fast_runs_are_executed_in_batches() -> None:
    clock = Clock()
    pace = Pace(1000, clock)
    assert pace.wait_seconds() > 0.04

    clock.now += pace.wait_seconds()

    assert pace.due() == 50


def test_the_rate_of_cycles_per_second_is_reached() -> None:
    clock = Clock()
    pace = Pace(30, clock)
    done = 0
    while clock.now < 110.0:
        clock.now += max(pace.wait_seconds(), 0.001)
        cycles = pace.due()
        pace.did(cycles)
        done += cycles

    assert 299 <= done <= 302


def test_a_stalled_run_does_not_catch_up_in_a_burst() -> None:
    clock = Clock()
    pace = Pace(10, clock)
    pace.did(pace.due())
    clock.now += 60

    pace.did(1)

    assert pace.due() == 1


def test_a_run_is_behind_while_cycles_are_due_after_a_slice() -> None:
    clock = Clock()
    pace = Pace(1000, clock)
    clock.now += 0.1

    pace.did(30)
    assert pace.is_behind

    pace.did(pace.due())
    assert not pace.is_behind

    clock.now += 60
    pace.did(50)
    # Also if it need not catch up.
    assert pace.is_behind
