"""A block of code that another thread interrupts."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from schedviz.sessions.hosting.interruptible import Interrupted, Interruptible


def spin(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def run_interrupted(work: Callable[[], object], interruptible: Interruptible) -> None:
    """Run the work, and interrupt it after a short time."""
    with interruptible:
        threading.Timer(0.05, interruptible.interrupt).start()
        work()


def test_a_computing_block_is_interrupted() -> None:
    began = time.monotonic()
    with pytest.raises(Interrupted):
        run_interrupted(lambda: spin(30), Interruptible())

    assert time.monotonic() - began < 20


def test_handlers_of_exception_do_not_swallow_an_interruption() -> None:
    def skip_bad_input() -> None:
        while True:
            with suppress(Exception):
                spin(0.01)

    with pytest.raises(Interrupted):
        run_interrupted(skip_bad_input, Interruptible())


def test_the_caller_can_choose_the_exception() -> None:
    class TookTooLongError(Interrupted):
        pass

    with pytest.raises(TookTooLongError):
        run_interrupted(lambda: spin(30), Interruptible(TookTooLongError))


def test_a_block_is_interrupted_once() -> None:
    interruptible = Interruptible()
    answers: list[bool] = []

    def interrupt_thrice() -> None:
        answers.extend(interruptible.interrupt() for _ in range(3))

    def wait() -> None:
        threading.Thread(target=interrupt_thrice).start()
        spin(30)

    with pytest.raises(Interrupted), interruptible:
        wait()

    assert answers == [True, False, False]


def test_a_block_that_has_ended_is_not_interrupted() -> None:
    with Interruptible() as interruptible:
        pass

    assert not interruptible.interrupt()
    assert not Interruptible().interrupt()
    spin(0.02)


@pytest.fixture
def often_switched() -> Iterator[None]:
    """Let threads alternate after 10 µs."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("often_switched")
def test_an_interruption_at_the_end_of_a_block_is_raised_there_or_not_at_all() -> None:
    chance = random.Random(1)
    raised = 0
    for _ in range(500):
        interruptible = Interruptible()
        begun = threading.Event()
        other = threading.Thread(target=lambda begun=begun, interruptible=interruptible: begun.wait() and interruptible.interrupt())
        other.start()
        try:
            with interruptible:
                begun.set()
                spin(chance.uniform(0.0, 0.0005))
        except Interrupted:
            raised += 1
        # Nothing is raised from here on.
        spin(0.0005)
        other.join()

    assert 0 < raised < 500


_PROFILED = """
import sys
from schedviz.sessions.hosting.interruptible import Interrupted, Interruptible

interruptible = Interruptible()
try:
    with interruptible:
        interruptible.interrupt()
        while True:
            pass
except Interrupted:
    pass
sys.setprofile(lambda *_: None)
print(sum(map(int, "123")), "computed with a profiler")
"""


def test_a_profiler_works_after_an_interruption() -> None:
    # In a process of its own, because Python 3.11 would not react to anything while it checks for an exception without end.
    process = subprocess.run([sys.executable, "-c", _PROFILED], capture_output=True, text=True, timeout=60, check=True)

    assert process.stdout == "6 computed with a profiler\n"
