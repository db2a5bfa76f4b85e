"""One child process: its program, and its state while it runs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from schedviz.up import exit_cause

#: Seconds before a child that ended is restarted, by the number of its early ends in a row; the last value repeats.
BACKOFF_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
#: A child that ran this long has recovered: its next end counts as the first.
HEALTHY_AFTER_SECONDS = 10.0


@dataclass(frozen=True)
class Program:
    """The command of a child, and how it is treated."""

    #: For messages and the name of the log: `engine-1`.
    name: str
    arguments: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Seconds to stop, in addition to what earlier groups leave of theirs.
    grace_seconds: float = 1.0
    #: Inherited file descriptors, such as the listening socket.
    inherit: tuple[int, ...] = ()
    #: The supervisor communicates with it through its standard input and output.
    talks_to_supervisor: bool = False
    #: It loads immediately, and waits for a line on its input before it uses the database.
    awaits_database: bool = False


class Child:
    """A program with its process, or with the time of its restart."""

    def __init__(self, program: Program, log: Path) -> None:
        self.program = program
        self.log = log
        #: Number of starts; part of the owner's name in a worker's leases.
        self.generation = 0
        #: Consecutive ends without a healthy period between them, orderly ones included.
        self.early_ends = 0
        #: The time of the next start on the monotonic clock; None while it runs and after shutdown.
        self.due: float | None = 0.0
        #: Whether its last end may have been caused by its work.
        self.was_crash = False
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._kills_for_memory: int | None = None

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def pid(self) -> int | None:
        """The running process, which is also its process group."""
        return self._process.pid if self._process is not None else None

    @property
    def exited(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    @property
    def stdout(self) -> IO[bytes] | None:
        return self._process.stdout if self._process is not None else None

    def start(self, environment: Mapping[str, str], before_exec: Callable[[], None] | None) -> int:
        """Start the process in its own session, so that Ctrl-C in the terminal reaches only the supervisor. Returns its pid."""
        assert self._process is None
        self.generation += 1
        self.due = None
        self._started = time.monotonic()
        self._kills_for_memory = exit_cause.kills_for_memory()
        pipe = subprocess.PIPE if self.program.talks_to_supervisor else None
        listens = pipe or (subprocess.PIPE if self.program.awaits_database else subprocess.DEVNULL)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603
                self.program.arguments,
                env={**environment, **self.program.environment},
                stdin=listens,
                stdout=pipe or log,
                stderr=log,
                pass_fds=self.program.inherit,
                start_new_session=True,
                preexec_fn=before_exec,  # noqa: PLW1509 (the supervisor has one thread)
            )
        return self._process.pid

    def say(self, line: str) -> None:
        """Write a line to its input. Lines for a child that has ended are dropped."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()

    def reap(self, *, is_starting: bool = False) -> int | None:
        """The exit code (negative: the signal) if the process has ended; it is then due for a restart. None while it runs.

        `is_starting`: not all children have been up since the start. Loading may take long, so a long period is no sign of health then.
        """
        if self._process is None:
            return None
        code = self._process.poll()
        if code is None:
            return None
        self.was_crash = exit_cause.is_crash(code, kills_before=self._kills_for_memory)
        self.kill_group()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process = None
        now = time.monotonic()
        # A process that a signal ended from outside will probably survive next time; one that ends by itself will end again.
        was_killed = code < 0 and not self.was_crash
        is_first = was_killed or (not is_starting and now - self._started > HEALTHY_AFTER_SECONDS)
        self.early_ends = 1 if is_first else self.early_ends + 1
        self.due = now + BACKOFF_SECONDS[min(self.early_ends, len(BACKOFF_SECONDS)) - 1]
        return code

    def terminate(self) -> None:
        self._signal(signal.SIGTERM, group=False)

    def kill_group(self) -> None:
        """Kill its process group."""
        self._signal(signal.SIGKILL, group=True)

    def _signal(self, number: signal.Signals, *, group: bool) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if group:
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)
