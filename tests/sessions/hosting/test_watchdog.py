"""A thread that is stuck in one stage is interrupted; if that does not help, its process is ended."""

from __future__ import annotations

import threading
import time

import pytest

from schedviz.sessions.hosting import watchdog as watchdog_module
from schedviz.sessions.hosting.watchdog import StageTimeout, Watchdog, cpu_seconds_of, while_cycle_lasts
from tests.conftest import until


def wait_for(bitten: list[str]) -> None:
    deadline = time.monotonic() + 10
    while not bitten and time.monotonic() < deadline:
        time.sleep(0.01)


def compute_without_end() -> None:
    while True:
        pass


def test_a_silent_thread_triggers_the_watchdog() -> None:
    bitten: list[str] = []
    watchdog = Watchdog(0.05, bitten.append)

    with watchdog.watch("a stage"):
        wait_for(bitten)

    assert bitten == ["a stage"]


def test_a_silent_thread_that_may_be_interrupted_is_and_the_process_goes_on() -> None:
    happened: list[str] = []
    watchdog = Watchdog(0.05, happened.append)

    with pytest.raises(StageTimeout), watchdog.watch("a stage", on_stuck=lambda: happened.append("the reason"), interrupt=True):
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
        with watchdog.watch("a stage", on_stuck=report):
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
    ended: list[str] = []
    watchdog = Watchdog(0.05, ended.append)

    with pytest.raises(StageTimeout), watchdog.watch("a stage", interrupt=True):
        # C code.
        time.sleep(1.0)

    assert ended == ["a stage"]


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
    watchdog = Watchdog(10.0, bitten.append, lambda: now, lambda _thread: None)

    with watchdog.watch("a stage"):
        now += 60.0
        watchdog.check()
        assert not bitten
        while not bitten and now < 180.0:
            now += 0.5
            watchdog.check()

    assert bitten == ["a stage"]
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


def watchdog_of(machine: Machine, bitten: list[str]) -> Watchdog:
    return Watchdog(10.0, bitten.append, lambda: machine.now, lambda _thread: machine.cpu)


def test_a_thread_that_gets_no_cpu_time_may_take_longer() -> None:
    bitten: list[str] = []
    machine = Machine(share=0.1)
    watchdog = watchdog_of(machine, bitten)

    with watchdog.watch("a stage") as alive:
        machine.run(watchdog, 40.0)
        assert not bitten
        alive()
        machine.run(watchdog, 40.0)
        assert not bitten
        machine.run(watchdog, 30.0)

    assert bitten == ["a stage"]


def test_a_thread_that_computes_may_not_although_it_shares_a_core() -> None:
    bitten: list[str] = []
    machine = Machine(share=0.6)
    watchdog = watchdog_of(machine, bitten)

    with watchdog.watch("a stage"):
        machine.run(watchdog, 11.0)

    assert bitten == ["a stage"]


def test_the_cpu_time_of_a_thread_is_its_own() -> None:
    me = threading.get_native_id()
    before = cpu_seconds_of(me)
    if before is None:
        pytest.skip("this system has no /proc")
    until = time.thread_time() + 0.1
    while time.thread_time() < until:
        pass

    assert (cpu_seconds_of(me) or 0.0) - before >= 0.05
    assert cpu_seconds_of(2**22 + 1) is None


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
