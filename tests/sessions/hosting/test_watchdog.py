"""A thread that is stuck in one stage is interrupted; if that does not help, its process is ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from schedviz.sessions.hosting import watchdog as watchdog_module
from schedviz.sessions.hosting.watchdog import StageTimeout, Watchdog, cpu_seconds_of, while_cycle_lasts
from tests.conftest import until


def compute_without_end() -> None:
    while True:
        pass


def test_a_silent_thread_is_reported_and_interrupted_and_the_process_continues() -> None:
    happened: list[str] = []
    watchdog = Watchdog(0.05, happened.append)

    with pytest.raises(StageTimeout), watchdog.watch("a stage", on_stuck=lambda: happened.append("the reason")):
        compute_without_end()

    watchdog.check()
    assert happened == ["the reason"]


def test_the_reports_of_several_stuck_threads_do_not_wait_for_each_other() -> None:
    now = 100.0
    watchdog = Watchdog(10.0, lambda _activity: None, lambda: now, lambda _thread: None)
    reports = threading.Semaphore(0)
    are_over = threading.Event()

    def report() -> None:
        reports.release()
        are_over.wait()

    def be_stuck() -> None:
        with suppress(StageTimeout), watchdog.watch("a stage", on_stuck=report):
            are_over.wait()

    threads = [threading.Thread(target=be_stuck) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: len(watchdog._watched) == 3)
    while now < 112.0:
        now += 0.5
        watchdog.check()

    assert all(reports.acquire(timeout=10) for _ in threads)
    are_over.set()
    for thread in threads:
        thread.join()


def test_the_process_ends_if_an_interrupted_thread_does_not_react(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog_module, "INTERRUPTION_SECONDS", 0.05)
    happened: list[str] = []
    watchdog = Watchdog(0.05, happened.append)

    with pytest.raises(StageTimeout), watchdog.watch("a stage", on_stuck=lambda: happened.append("the reason")):
        # C code.
        time.sleep(1.0)

    assert happened == ["the reason", "a stage"]


def test_a_reporting_thread_does_not_trigger_the_watchdog() -> None:
    ended: list[str] = []
    watchdog = Watchdog(0.5, ended.append)

    with watchdog.watch("a stage") as alive:
        for _ in range(20):
            time.sleep(0.05)
            alive()

    assert not ended


def test_an_ended_thread_does_not_trigger_the_watchdog() -> None:
    ended: list[str] = []
    watchdog = Watchdog(0.05, ended.append)
    with watchdog.watch("a stage"):
        pass

    time.sleep(0.2)

    assert not ended


def test_time_while_the_whole_process_was_suspended_does_not_count() -> None:
    now = 100.0
    watchdog = Watchdog(10.0, lambda _activity: None, lambda: now, lambda _thread: None)

    def stand_still_and_compute() -> None:
        nonlocal now
        now += 60.0
        watchdog.check()
        while now < 180.0:
            now += 0.5
            watchdog.check()

    with pytest.raises(StageTimeout), watchdog.watch("a stage"):
        stand_still_and_compute()

    assert 169.0 < now < 172.0


class Machine:
    """Time, and the CPU time of the watched thread, as a share of it."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.now = self.cpu = 100.0

    def run(self, watchdog: Watchdog, seconds: float) -> None:
        for _ in range(round(seconds / 0.5)):
            self.now += 0.5
            self.cpu += 0.5 * self.share
            watchdog.check()


def watchdog_of(machine: Machine) -> Watchdog:
    return Watchdog(10.0, lambda _activity: None, lambda: machine.now, lambda _thread: machine.cpu)


def test_a_thread_without_cpu_time_gets_more_time() -> None:
    machine = Machine(share=0.05)
    watchdog = watchdog_of(machine)

    def compute(alive: Callable[[], None]) -> None:
        machine.run(watchdog, 40.0)
        alive()
        machine.run(watchdog, 70.0)

    with pytest.raises(StageTimeout), watchdog.watch("a stage") as alive:
        compute(alive)

    assert 199.0 < machine.now < 202.0


def test_a_computing_thread_that_shares_a_core_gets_no_extra_time() -> None:
    machine = Machine(share=0.6)
    watchdog = watchdog_of(machine)

    with pytest.raises(StageTimeout), watchdog.watch("a stage"):
        machine.run(watchdog, 12.0)

    assert 109.0 < machine.now < 112.0


def test_cpu_time_is_measured_per_thread() -> None:
    me = threading.get_native_id()
    before = cpu_seconds_of(me)
    if before is None:
        pytest.skip("this system has no /proc")
    until = time.thread_time() + 0.1
    while time.thread_time() < until:
        pass

    assert (cpu_seconds_of(me) or 0.0) - before >= 0.05
    assert cpu_seconds_of(2**22 + 1) is None


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
