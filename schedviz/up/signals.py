"""Signals as events of the supervisor's selector, so that none interrupts it."""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import signal
import types
from typing import Any, Self

_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Counts requests to stop; SIGCHLD only wakes the selector. A context manager that restores the old handlers."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._old: dict[signal.Signals, Any] = {}
        #: The number of requests to stop: one is orderly, a second one is immediate.
        self.stops = 0

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._old_wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in (*_STOP, signal.SIGCHLD):
            # nohup ignores SIGHUP on purpose.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                self._old[number] = signal.signal(number, self._note)
        self._selector.register(self._reader, selectors.EVENT_READ, self._drain)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.unregister(self._reader)
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wakeup)
        os.close(self._reader)
        os.close(self._writer)

    def wait(self, seconds: float) -> None:
        """Wait until a signal arrives or the time is over."""
        select.select([self._reader], [], [], seconds)
        self._drain()

    def _note(self, number: int, _frame: types.FrameType | None) -> None:
        if number != signal.SIGCHLD:
            self.stops += 1

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reader, 4096):
                pass
