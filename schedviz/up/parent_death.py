"""Ends the children with the supervisor, even after kill -9.

On Linux, the kernel kills a child when its parent dies. On all systems, a watcher process reads the process groups of the children from a
pipe. When the pipe ends, it kills those groups, including grandchildren, which the kernel's mechanism does not reach.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9
_WATCHER = Path(__file__).with_name("parent_watcher.py")


def bind_to_parent(supervisor_pid: int) -> Callable[[], None] | None:
    """A function that a child runs between fork and exec, so that it dies with its parent; None if the kernel does not support it.

    The kernel sends the signal when the *thread* that forked ends, so start children from the main thread.
    """
    if sys.platform != "linux" or os.environ.get("SCHEDVIZ_NO_PDEATHSIG"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        # The parent may have died before the call above took effect.
        if os.getppid() != supervisor_pid:
            os._exit(1)

    return tie


class Watcher:
    """The process that kills remaining children after the supervisor's death, and removes its socket folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._groups: set[int] = set()
        self._process = self._start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def watch(self, group: int) -> None:
        """Kill `group` when the supervisor dies."""
        self._groups.add(group)
        self._write_line(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Forget a group that has ended: its number may be reused."""
        self._groups.discard(group)
        self._write_line(f"-{group}\n")

    def restart_if_dead(self) -> None:
        """Start a new watcher if the old one was killed."""
        if self._process.poll() is not None:
            self._close_pipe()
            self._process = self._start()

    def close(self) -> None:
        """End the watcher, which kills the groups that are still registered and removes the folder."""
        self._close_pipe()
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start(self) -> subprocess.Popen[str]:
        # -I -S: isolated and without site, so that it starts in a few milliseconds and imports nothing of ours.
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", str(_WATCHER), str(self._folder)], stdin=subprocess.PIPE, text=True, start_new_session=True
        )
        self._process = process
        for group in self._groups:
            self._write_line(f"+{group}\n")
        return process

    def _write_line(self, line: str) -> None:
        assert self._process.stdin is not None
        # The next round replaces a dead watcher and sends it everything.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _close_pipe(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
