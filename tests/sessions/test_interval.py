"""Work that runs at most once in an interval."""

from __future__ import annotations

from threading import Event

from schedviz.sessions.interval import DelayedCall, Interval


def test_work_is_due_at_once_and_then_after_each_interval() -> None:
    now = [0.0]
    interval = Interval(10.0, clock=lambda: now[0])

    assert interval.is_due()
    now[0] = 9.9
    assert not interval.is_due()
    now[0] = 10.0
    assert interval.is_due()
    now[0] = 19.9
    assert not interval.is_due()


def test_a_forced_run_starts_a_new_interval() -> None:
    now = [0.0]
    interval = Interval(10.0, clock=lambda: now[0])

    assert interval.is_due()
    now[0] = 5.0
    assert interval.is_due(force=True)
    now[0] = 14.9
    assert not interval.is_due()


def test_after_a_reset_work_is_due_at_once() -> None:
    interval = Interval(10.0, clock=lambda: 0.0)

    assert interval.is_due()
    interval.reset()
    assert interval.is_due()


def test_requests_for_a_delayed_call_are_served_by_one() -> None:
    called: list[int] = []
    done = Event()

    def count() -> None:
        called.append(1)
        done.set()

    delayed = DelayedCall(count, 0.05)
    for _ in range(5):
        delayed.request()
    assert done.wait(10)
    assert called == [1]

    done.clear()
    delayed.request()
    assert done.wait(10)
    assert called == [1, 1]
