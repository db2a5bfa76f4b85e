"""Interrupts a thread that is stuck in one stage, and ends the process if the thread does not react, as in a long call of C code."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import DatabaseError, connection

from schedviz.sessions.hosting.interruptible import Interrupted, Interruptible

logger = logging.getLogger(__name__)

#: A thread is stuck if it reports no progress for this long. A "stage" is here whatever lies between two reports: a stage of a cycle, and
#: also a step of loading an engine or of encoding its checkpoint.
STAGE_SECONDS = 10.0
#: On a machine with more work than cores, a stage may take this many times as long if it has used little CPU time itself.
OVERLOAD_FACTOR = 6
#: A cycle with many stages reports progress after each of them, but not for longer than this, because other sessions of the process wait
#: for it. `STAGE_SECONDS` later its thread is therefore interrupted, and the process ends if that does not help.
CYCLE_SECONDS = 60.0
#: An importing process is ended when a step of C code holds the interpreter lock for this long, because no limit can be enforced then.
INTERPRETER_LOCK_SECONDS = 30.0
#: The report of a stuck stage may take this long; the thread is interrupted or the process ends afterwards in any case.
_REPORT_SECONDS = 3.0
#: An interrupted thread has this long to leave what it does.
INTERRUPTION_SECONDS = 10.0
#: EX_SOFTWARE. The supervisor restarts the worker, and the next owner of the session counts a crash.
EXIT_CODE = 70


class StageTimeout(Interrupted):
    """A stage took longer than `STAGE_SECONDS`. The engine that executed it cannot be used any more."""


def _end_process(activity: str) -> None:
    logger.critical("%s has not reported progress for over %s s; ending this process", activity, STAGE_SECONDS)
    faulthandler.dump_traceback(sys.stderr)
    os._exit(EXIT_CODE)


def _report(on_stuck: Callable[[], None]) -> None:
    try:
        on_stuck()
    except DatabaseError as error:
        logger.warning("cannot store which session is stuck: %s", error)
    finally:
        connection.close()


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


def cpu_seconds_of(native_thread: int) -> float | None:
    """The CPU time of a thread of this process; None where Linux's /proc is missing."""
    try:
        fields = Path(f"/proc/self/task/{native_thread}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Watched:
    """A thread that the watchdog watches."""

    def __init__(self, activity: str, on_stuck: Callable[[], None] | None) -> None:
        self.activity = activity
        self.on_stuck = on_stuck
        self.interruptible = Interruptible(StageTimeout)
        self.native_thread = threading.get_native_id()
        #: When the next progress report is due, by the watchdog's clock minus the time in which no check was possible.
        self.deadline = 0.0
        #: The deadline of the present stage, and the CPU time of the thread soon after its beginning: at the first check that found this
        #: deadline. None until the first check; the CPU time is None where it cannot be read.
        self.stage_start: tuple[float, float | None] | None = None
        #: Set once the thread is stuck: the thread that runs `on_stuck`, and how long it is waited for.
        self.report: threading.Thread | None = None
        self.report_until: float | None = None
        #: When the process ends, after an interruption.
        self.ends: float | None = None

    @property
    def is_stuck(self) -> bool:
        return self.report_until is not None


class Watchdog:
    """Watches the computing threads of a process. Each reports progress regularly."""

    def __init__(
        self,
        seconds: float = STAGE_SECONDS,
        end: Callable[[str], None] = _end_process,
        clock: Callable[[], float] = time.monotonic,
        cpu_seconds: Callable[[int], float | None] = cpu_seconds_of,
    ) -> None:
        self.seconds = seconds
        self._end = end
        self._clock = clock
        self._cpu_seconds = cpu_seconds
        #: Seconds between two checks.
        self._pause = min(0.5, seconds / 4)
        #: Time of the last check, and for how long in total no check was possible. That time does not count for deadlines.
        self._checked = clock()
        self._stopped_seconds = 0.0
        #: By thread.
        self._watched: dict[int, _Watched] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watch(self, activity: str, *, on_stuck: Callable[[], None] | None = None) -> Iterator[Callable[[], None]]:
        """Watch this thread. Yields the function that the thread calls while it makes progress.

        A thread that does not is stuck. `on_stuck` is called in another thread. Then this one raises `StageTimeout`; the process ends if it
        has not left the block `INTERRUPTION_SECONDS` later.
        """
        watched = _Watched(activity, on_stuck)

        def alive() -> None:
            watched.deadline = self._clock() - self._stopped_seconds + self.seconds

        alive()
        me = threading.get_ident()
        self._watched[me] = watched
        self._ensure_thread()
        try:
            with watched.interruptible:
                yield alive
        finally:
            self._watched.pop(me, None)

    def check(self) -> None:
        """Interrupt the threads that have not reported progress in time, or end the process. Time without checks does not count: then the
        whole process was stopped, by a debugger or because the machine was paused, and no thread could report."""
        now = self._clock()
        if now - self._checked > 2 * self._pause:
            self._stopped_seconds += now - self._checked - self._pause
        self._checked = now
        now -= self._stopped_seconds
        for thread, watched in list(self._watched.items()):
            if watched.is_stuck:
                self._stop(thread, watched, now)
            elif (late := now - watched.deadline) > 0 and not self._is_starved(watched, late):
                self._begin_to_stop(watched, now)
                self._stop(thread, watched, now)
            elif watched.stage_start is None or watched.stage_start[0] != watched.deadline:
                watched.stage_start = (watched.deadline, self._cpu_seconds(watched.native_thread))

    def _begin_to_stop(self, watched: _Watched, now: float) -> None:
        """Report that a thread is stuck. The report is not waited for here: other threads may be stuck as well."""
        watched.report_until = now
        if watched.on_stuck is not None:
            watched.report_until += _REPORT_SECONDS
            watched.report = threading.Thread(target=_report, args=(watched.on_stuck,), name="watchdog-report", daemon=True)
            watched.report.start()

    def _stop(self, thread: int, watched: _Watched, now: float) -> None:
        """After the report, interrupt a stuck thread; end the process if that has not helped."""
        assert watched.report_until is not None
        is_reported = watched.report is None or not watched.report.is_alive()
        if not is_reported and now <= watched.report_until:
            return
        if watched.ends is None:
            watched.ends = now + INTERRUPTION_SECONDS
            if watched.interruptible.interrupt():
                logger.error("%s has not reported progress for over %s s; interrupting it", watched.activity, self.seconds)
        elif now > watched.ends:
            self._watched.pop(thread, None)
            self._end(watched.activity)

    def _is_starved(self, watched: _Watched, late: float) -> bool:
        """Whether a thread is late only because others have the cores: it has used little CPU time since its last report."""
        deadline, cpu_before = watched.stage_start or (None, None)
        cpu = self._cpu_seconds(watched.native_thread)
        if deadline != watched.deadline or cpu is None or cpu_before is None:
            return False
        return cpu - cpu_before < self.seconds / 2 and late < (OVERLOAD_FACTOR - 1) * self.seconds

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
