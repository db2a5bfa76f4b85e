"""A block of code that another thread can interrupt with an exception."""

from __future__ import annotations

import ctypes
import threading
from types import TracebackType
from typing import Self


class Interrupted(BaseException):
    """The code was interrupted from outside. Not an `Exception`, so that no handler on the way takes it for an error of its own."""


class Interruptible:
    """A block in which `interrupt` raises `kind`, once, between two instructions of Python.

    A call of C code, such as a regular expression, is not interrupted: the exception is raised after it returns. Whatever the block was
    changing is left half done, so the caller discards it. The exception may also be raised where the block ends, when its work is done.
    """

    def __init__(self, kind: type[Interrupted] = Interrupted) -> None:
        self._kind = kind
        self._lock = threading.Lock()
        #: The thread in the block; None before and after.
        self._thread: int | None = None
        self._is_interrupted = False

    def __enter__(self) -> Self:
        self._thread = threading.get_ident()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        try:
            self._leave()
        except Interrupted:
            # It arrived on the way out, and can be raised only once.
            self._leave()
            raise

    def interrupt(self) -> bool:
        """Called by another thread. Returns whether the exception is on its way: False if no thread is in the block or this is not the
        first call."""
        with self._lock:
            if self._thread is None or self._is_interrupted:
                return False
            self._is_interrupted = True
            _raise_in(self._thread, self._kind)
            return True

    def _leave(self) -> None:
        with self._lock:
            if self._thread is not None and self._is_interrupted:
                _take_back(self._thread, self._kind)
            self._thread = None


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Have a thread raise an exception at its next instruction."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _take_back(thread: int, kind: type[Interrupted]) -> None:
    """Have this thread, which leaves the block, not raise `kind` after it, whether it has raised it already or not.

    Python can cancel an exception that is still to be raised. But then it checks for one at every call and jump from then on, and with a
    profiler it checks without end (3.11). So the exception is requested once more, and caught.
    """
    try:
        _raise_in(thread, kind)
        while True:
            pass
    except kind:
        pass
