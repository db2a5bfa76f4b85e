"""Ends a process that is stuck in one stage. A thread cannot be stopped from outside, and the engine has no business taking so long."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)

STAGE_SECONDS = 10.0
#: EX_SOFTWARE: a supervisor restarts the worker, and whoever comes next to the session counts a death.
EXIT_CODE = 70


def _end_process(what: str) -> None:
    logger.critical("%s has been computing for over %s s without a pause; this process ends", what, STAGE_SECONDS)
    faulthandler.dump_traceback(sys.stderr)
    os._exit(EXIT_CODE)


class Watchdog:
    """Watches the threads of a process that compute. Each says now and then that it is alive."""

    def __init__(
        self, seconds: float = STAGE_SECONDS, bite: Callable[[str], None] = _end_process, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self._bite = bite
        self._clock = clock
        #: Seconds between two looks.
        self._pause = min(0.5, seconds / 4)
        #: When it last looked, and how long in all nobody could.
        self._looked = clock()
        self._stood_still = 0.0
        #: Thread → what it does, and until when it must have been heard of, by the clock less what it stood still.
        self._watched: dict[int, tuple[str, float]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watch(self, what: str) -> Iterator[Callable[[], None]]:
        """Watch this thread; gives the function by which it is heard of."""
        me = threading.get_ident()

        def alive() -> None:
            self._watched[me] = (what, self._clock() - self._stood_still + self.seconds)

        alive()
        self._ensure_thread()
        try:
            yield alive
        finally:
            self._watched.pop(me, None)

    def look(self) -> None:
        """Bite whoever was silent too long. Time in which nobody looked does not count: the whole process stood still (a debugger, a
        machine that was paused), and whoever it was that computed could not have been heard of."""
        now = self._clock()
        if now - self._looked > 2 * self._pause:
            self._stood_still += now - self._looked - self._pause
        self._looked = now
        for thread, (what, deadline) in list(self._watched.items()):
            if now - self._stood_still > deadline:
                self._watched.pop(thread, None)
                self._bite(what)

    def _ensure_thread(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._looked = self._clock()
                self._thread = threading.Thread(target=self._look_for_ever, name="watchdog", daemon=True)
                self._thread.start()

    def _look_for_ever(self) -> None:
        pause = threading.Event()
        while not pause.wait(self._pause):
            self.look()


WATCHDOG = Watchdog()
