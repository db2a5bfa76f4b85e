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

    def __init__(self, seconds: float = STAGE_SECONDS, bite: Callable[[str], None] = _end_process) -> None:
        self.seconds = seconds
        self._bite = bite
        #: Thread → what it does, and until when it must have been heard of.
        self._watched: dict[int, tuple[str, float]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watch(self, what: str) -> Iterator[Callable[[], None]]:
        """Watch this thread; gives the function by which it is heard of."""
        me = threading.get_ident()

        def alive() -> None:
            self._watched[me] = (what, time.monotonic() + self.seconds)

        alive()
        self._ensure_thread()
        try:
            yield alive
        finally:
            self._watched.pop(me, None)

    def _ensure_thread(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._look_for_ever, name="watchdog", daemon=True)
                self._thread.start()

    def _look_for_ever(self) -> None:
        pause = threading.Event()
        while not pause.wait(min(0.5, self.seconds / 4)):
            now = time.monotonic()
            for thread, (what, deadline) in list(self._watched.items()):
                if now > deadline:
                    self._watched.pop(thread, None)
                    self._bite(what)


WATCHDOG = Watchdog()
