"""A process that is stuck in one stage is ended."""

from __future__ import annotations

import time

from schedviz.sessions.hosting.watchdog import Watchdog, while_cycle_lasts


def wait_for(bitten: list[str]) -> None:
    deadline = time.monotonic() + 10
    while not bitten and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_silent_thread_triggers_the_watchdog() -> None:
    bitten: list[str] = []
    watchdog = Watchdog(0.05, bitten.append)

    with watchdog.watch("a stage"):
        wait_for(bitten)

    assert bitten == ["a stage"]


def test_a_reporting_thread_does_not_trigger_the_watchdog() -> None:
    bitten: list[str] = []
    watchdog = Watchdog(0.5, bitten.append)

    with watchdog.watch("a stage") as alive:
        for _ in range(20):
            time.sleep(0.05)
            alive()

    assert not bitten


def test_an_ended_thread_does_not_trigger_the_watchdog() -> None:
    bitten: list[str] = []
    watchdog = Watchdog(0.05, bitten.append)
    with watchdog.watch("a stage"):
        pass

    time.sleep(0.2)

    assert not bitten


def test_time_in_which_the_whole_process_stood_still_does_not_count() -> None:
    bitten: list[str] = []
    now = 100.0
    watchdog = Watchdog(10.0, bitten.append, lambda: now)

    with watchdog.watch("a stage"):
        now += 60.0
        watchdog.check()
        assert not bitten
        while not bitten and now < 180.0:
            now += 0.5
            watchdog.check()

    assert bitten == ["a stage"]
    assert 169.0 < now < 172.0


def test_what_was_stuck_is_reported_before_the_process_ends() -> None:
    reported: list[str] = []
    watchdog = Watchdog(0.05, reported.append)

    with watchdog.watch("a stage", on_stuck=lambda: reported.append("the reason")):
        wait_for(reported)
        deadline = time.monotonic() + 10
        while len(reported) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)

    assert reported == ["the reason", "a stage"]


def test_a_cycle_reports_progress_between_its_stages_for_a_limited_time() -> None:
    now = [0.0]
    reports: list[float] = []
    between_cycles, between_stages = while_cycle_lasts(lambda: reports.append(now[0]), seconds=60, clock=lambda: now[0])
    for now[0] in (5, 59, 61, 120):
        between_stages()
    assert reports == [5, 59]

    between_cycles()
    now[0] = 179
    between_stages()
    assert reports == [5, 59, 120, 179]
