"""Signals as something to wait for: each one wakes the supervisor's selector, and none interrupts what it is doing."""

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
    """Counts the wishes to stop; SIGCHLD only wakes. Used as a context; the old handlers come back at its end."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._old: dict[signal.Signals, Any] = {}
        #: How often somebody has asked us to stop: once is orderly, twice is at once.
        self.stops = 0

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._old_wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in (*_STOP, signal.SIGCHLD):
            # A process that nohup started stays deaf to SIGHUP.
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
        """Until a signal comes, or for that long."""
        select.select([self._reader], [], [], seconds)
        self._drain()

    def _note(self, number: int, _frame: types.FrameType | None) -> None:
        if number != signal.SIGCHLD:
            self.stops += 1

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reader, 4096):
                pass
