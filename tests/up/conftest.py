"""Running a supervisor in a process of its own, and looking at its children from outside."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

T = TypeVar("T")

#: Generous: two cores may be busy with other tests.
PATIENCE_SECONDS = 60.0


def until(what: Callable[[], T], *, seconds: float = PATIENCE_SECONDS) -> T:
    """The first true answer of `what`, asked again and again."""
    deadline = time.monotonic() + seconds
    while True:
        answer = what()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not in {seconds} s: {what}"
        time.sleep(0.02)


class Running:
    """A supervisor's process."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.output = folder / "terminal.txt"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env={**os.environ, **environment}
            )
        self._seen: set[psutil.Process] = set()

    @property
    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def family(self) -> list[psutil.Process]:
        """Every living process that it or its children started."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self._seen |= set(psutil.Process(self.process.pid).children(recursive=True))
        return [member for member in self._seen if alive(member)]

    def child(self, *words: str) -> psutil.Process:
        """The child whose command line has all these words, once it is there."""

        def find() -> psutil.Process | None:
            for member in self.family():
                with contextlib.suppress(psutil.Error):
                    if all(word in member.cmdline() for word in words):
                        return member
            return None

        return until(find)

    def child_after(self, old: psutil.Process, *words: str) -> psutil.Process:
        """The one that took the place of `old`."""

        def find() -> psutil.Process | None:
            found = self.child(*words)
            return found if found.pid != old.pid else None

        return until(find)

    def waits_for(self, words: str) -> None:
        def said() -> bool:
            assert words in self.said or self.process.poll() is None, self.said
            return words in self.said

        until(said)


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


Start = Callable[..., Running]


@pytest.fixture
def start_toys(tmp_path: Path) -> Iterator[Start]:
    """Start a supervisor over toy children; whatever a test leaves behind is killed."""
    yield from _starter(tmp_path, lambda kinds: [sys.executable, str(Path(__file__).with_name("toy_supervisor.py")), str(tmp_path), *kinds])


@pytest.fixture
def start_up(tmp_path: Path) -> Iterator[Start]:
    """Start the real `schedviz up` on a fresh data folder, by default on a free port."""
    data = tmp_path / "data"
    command = [sys.executable, "-m", "schedviz.cli.main", "up", "--data", str(data), "--no-open"]
    yield from _starter(tmp_path, lambda options: [*command, *(options if "--port" in options else ("--port", "0", *options))])


def _starter(folder: Path, command: Callable[[tuple[str, ...]], list[str]]) -> Iterator[Start]:
    started: list[Running] = []

    def start(*arguments: str, **environment: str) -> Running:
        running = Running(command(arguments), folder, environment)
        started.append(running)
        return running

    yield start
    for running in started:
        left = running.family()
        with contextlib.suppress(ProcessLookupError):
            running.process.kill()
        running.process.wait()
        for member in {*left, *running.family()}:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
