"""Run a supervisor as a process, and inspect its children from outside."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from tests.conftest import until


class Running:
    """The process of a supervisor."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.output = folder / "terminal.txt"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env={**_bare_environment(), **environment}
            )
        self._seen: set[psutil.Process] = set()

    @property
    def printed(self) -> str:
        return self.output.read_text(errors="replace")

    def family(self) -> list[psutil.Process]:
        """Every running process that it or its children started."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self._seen |= set(psutil.Process(self.process.pid).children(recursive=True))
        return [member for member in self._seen if alive(member)]

    def child(self, *words: str) -> psutil.Process:
        """Wait for the child whose command line has all these words, and return it."""

        def find() -> psutil.Process | None:
            for member in self.family():
                with contextlib.suppress(psutil.Error):
                    if all(word in member.cmdline() for word in words):
                        return member
            return None

        return until(find)

    def child_after(self, old: psutil.Process, *words: str) -> psutil.Process:
        """The child that replaced `old`. Waits for it."""

        def find() -> psutil.Process | None:
            result = self.child(*words)
            return result if result.pid != old.pid else None

        return until(find)

    def waits_for(self, words: str) -> None:
        def is_printed() -> bool:
            assert words in self.printed or self.process.poll() is None, self.printed
            return words in self.printed

        try:
            until(is_printed, seconds=120)
        except AssertionError as error:
            raise AssertionError(f"{words!r} was not printed, but:\n{self.printed}") from error

    def login_link(self) -> str:
        """Wait for a login link, and return the newest printed one."""
        self.waits_for("/login/?once=")
        return str(re.findall(r"https?://\S+/login/\?once=\S+", self.printed)[-1])

    def address(self) -> str:
        """`http://host:port`. Waits until everything is up."""
        return self.login_link().partition("/login/")[0]


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


Start = Callable[..., Running]


def _bare_environment() -> dict[str, str]:
    """The environment of this process without the settings of schedviz and Django."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("SCHEDVIZ_", "DJANGO_"))}


def starter(folder: Path, command: Callable[[tuple[str, ...]], list[str]]) -> Iterator[Start]:
    """Yield a function that starts supervisors; kill all their processes at the end."""
    started: list[Running] = []

    def start(*arguments: str, **environment: str) -> Running:
        running = Running(command(arguments), folder, environment)
        started.append(running)
        return running

    try:
        yield start
    finally:
        for running in started:
            left = running.family()
            with contextlib.suppress(ProcessLookupError):
                running.process.kill()
            running.process.wait()
            # Usually the watcher kills them, and removes the folder of sockets.
            psutil.wait_procs(left, timeout=10)
            for member in {*left, *running.family()}:
                with contextlib.suppress(psutil.NoSuchProcess):
                    member.kill()
