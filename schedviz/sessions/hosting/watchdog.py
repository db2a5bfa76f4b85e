"""Ends a process that is stuck in one stage, because Python cannot stop a thread from outside."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection

logger = logging.getLogger(__name__)

STAGE_SECONDS = 10.0
#: A cycle with many stages reports progress after each of them, but not for longer than this: other sessions of the process wait for it.
CYCLE_SECONDS = 60.0
#: An importing process is ended when a step of C code holds the interpreter lock for this long, because no limit can be enforced then.
INTERPRETER_LOCK_SECONDS = 30.0
#: The report of a stuck stage may take this long; the process ends afterwards in any case.
_REPORT_SECONDS = 3.0
#: EX_SOFTWARE. The supervisor restarts the worker, and the next owner of the session counts a death.
EXIT_CODE = 70


def _end_process(activity: str) -> None:
    logger.critical("%s has not reported progress for over %s s; ending this process", activity, STAGE_SECONDS)
    faulthandler.dump_traceback(sys.stderr)
    os._exit(EXIT_CODE)


def _report(on_stuck: Callable[[], None]) -> None:
    """Run a report, but do not wait long for it: the database may be the reason why a stage is stuck."""

    def report() -> None:
        try:
            on_stuck()
        except DatabaseError as error:
            logger.warning("cannot store the reason why this process ends: %s", error)
        finally:
            connection.close()

    thread = threading.Thread(target=report, name="watchdog-report", daemon=True)
    thread.start()
    thread.join(_REPORT_SECONDS)


def while_cycle_lasts(
    alive: Callable[[], None], *, seconds: float = CYCLE_SECONDS, clock: Callable[[], float] = time.monotonic
) -> tuple[Callable[[], None], Callable[[], None]]:
    """Two ways to report progress: between cycles, and between the stages of a cycle, which counts for this long only."""
    until = clock() + seconds

    def between_cycles() -> None:
        nonlocal until
        until = clock() + seconds
        alive()

    def between_stages() -> None:
        if clock() < until:
            alive()

    return between_cycles, between_stages


class Watchdog:
    """Watches the computing threads of a process. Each reports progress regularly."""

    def __init__(
        self, seconds: float = STAGE_SECONDS, end: Callable[[str], None] = _end_process, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self._end = end
        self._clock = clock
        #: Seconds between two checks.
        self._pause = min(0.5, seconds / 4)
        #: Time of the last check, and for how long in total no check was possible.
        self._checked = clock()
        self._stopped_seconds = 0.0
        #: Thread → the name of its stage, and when its next progress report is due. Time in which the process was stopped does not count.
        self._watched: dict[int, tuple[str, float]] = {}
        #: Thread → what to call before the process ends because of it.
        self._reports: dict[int, Callable[[], None]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watch(self, activity: str, *, on_stuck: Callable[[], None] | None = None) -> Iterator[Callable[[], None]]:
        """Watch this thread. Yields the function that the thread calls while it makes progress. `on_stuck` is called in another thread
        before the process ends."""
        me = threading.get_ident()
        if on_stuck is not None:
            self._reports[me] = on_stuck

        def alive() -> None:
            self._watched[me] = (activity, self._clock() - self._stopped_seconds + self.seconds)

        alive()
        self._ensure_thread()
        try:
            yield alive
        finally:
            self._watched.pop(me, None)
            self._reports.pop(me, None)

    def check(self) -> None:
        """End the process if a thread has not reported progress in time. Time without checks does not count: then the whole process was
        stopped, by a debugger or because the machine was paused, and no thread could report."""
        now = self._clock()
        if now - self._checked > 2 * self._pause:
            self._stopped_seconds += now - self._checked - self._pause
        self._checked = now
        for thread, (activity, deadline) in list(self._watched.items()):
            if now - self._stopped_seconds > deadline:
                self._watched.pop(thread, None)
                if (on_stuck := self._reports.pop(thread, None)) is not None:
                    _report(on_stuck)
                self._end(activity)

    def _ensure_thread(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._checked = self._clock()
                self._thread = threading.Thread(target=self._check_until_exit, name="watchdog", daemon=True)
                self._thread.start()

    def _check_until_exit(self) -> None:
        pause = threading.Event()
        while not pause.wait(self._pause):
            self.check()


WATCHDOG = Watchdog()


@contextmanager
def interpreter_lock_limit(seconds: float = INTERPRETER_LOCK_SECONDS) -> Iterator[None]:
    """End this process when, inside the block, no Python code of any thread runs for `seconds`.

    A regular expression or a decoder in C may hold the interpreter lock. Then neither soft time limits nor the watchdog's thread run.
    `faulthandler` has a thread that does not need the lock. It is rearmed from Python.
    """
    done = threading.Event()
    # Not `sys.stderr`: Celery puts a logger in its place.
    log = sys.__stderr__ or sys.stderr

    def rearm() -> None:
        while not done.wait(seconds / 10):
            faulthandler.dump_traceback_later(seconds, exit=True, file=log)

    faulthandler.dump_traceback_later(seconds, exit=True, file=log)
    thread = threading.Thread(target=rearm, name="interpreter-lock-limit", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        faulthandler.cancel_dump_traceback_later()
