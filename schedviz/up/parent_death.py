"""No child outlives the supervisor, not even when it is killed with -9.

Two means, each enough for most cases. On Linux the kernel itself kills a child when its parent dies. Everywhere a watcher, a tiny
process of its own, reads a pipe from the supervisor that names the children's process groups; when the pipe ends, it kills
those groups, and with them the children's own children, to which the kernel's means does not reach.
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
    """What a child does between fork and exec so that it dies with its parent; None where the kernel offers no such thing.

    The signal comes when the *thread* that forked ends: start children from the main thread.
    """
    if sys.platform != "linux" or os.environ.get("SCHEDVIZ_NO_PDEATHSIG"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        # The parent may have died before the line above took effect.
        if os.getppid() != supervisor_pid:
            os._exit(1)

    return tie


class Watcher:
    """The process that kills what the supervisor leaves behind, and removes its folder of sockets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._groups: set[int] = set()
        self._process = self._start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def watch(self, group: int) -> None:
        """From now on `group` is killed when the supervisor dies."""
        self._groups.add(group)
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """The group has ended; its number may soon be somebody else's."""
        self._groups.discard(group)
        self._tell(f"-{group}\n")

    def restart_if_dead(self) -> None:
        """A watcher that was killed is replaced."""
        if self._process.poll() is not None:
            self._close_pipe()
            self._process = self._start()

    def close(self) -> None:
        """Nothing is left to watch: let it remove the folder and go."""
        self._close_pipe()
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start(self) -> subprocess.Popen[str]:
        # -I -S: no site, no environment; it starts in a few milliseconds and imports nothing of ours.
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", str(_WATCHER), str(self._folder)], stdin=subprocess.PIPE, text=True, start_new_session=True
        )
        self._process = process
        for group in self._groups:
            self._tell(f"+{group}\n")
        return process

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        # A dead watcher is replaced in the next round, and told everything then.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _close_pipe(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
