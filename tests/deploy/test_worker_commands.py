"""Every file that starts a worker, or documents it, uses the commands in `schedviz/celery.py`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from schedviz.celery import WORKER_COMMANDS
from schedviz.up import programs
from tests.conftest import ROOT


class WorkerCommand(NamedTuple):
    """The command without the worker's name and log level, which may differ."""

    application: str
    pool: str
    size: int
    flags: frozenset[str]


def parsed(command: str) -> dict[str, WorkerCommand]:
    """A worker's command line, by its queue."""
    words = command.split()
    options = {words[index]: words[index + 1] for index, word in enumerate(words) if word in {"-A", "-Q", "-P", "-c"}}
    flags = frozenset(word for word in words if word.startswith("--without"))
    return {options["-Q"]: WorkerCommand(options["-A"], options["-P"], int(options["-c"]), flags)}


DOCUMENTED = {queue: one for command in WORKER_COMMANDS.values() for queue, one in parsed(command).items()}


def in_compose() -> dict[str, WorkerCommand]:
    services: dict[str, Any] = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"]
    return {queue: one for name in DOCUMENTED for queue, one in parsed(" ".join(services[name]["command"])).items()}


def in_systemd() -> dict[str, WorkerCommand]:
    units = [
        (ROOT / "docker/systemd" / name).read_text()
        for name in ("schedviz-engine@.service", "schedviz-experiments.service", "schedviz-io.service")
    ]
    return {queue: command for unit in units for queue, command in parsed(re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)[0]).items()}


def in_chart() -> dict[str, WorkerCommand]:
    rendered = (Path(__file__).parent / "rendered/default.yaml").read_text()
    commands = re.findall(r'command: \["celery", (.*)\]', rendered)
    return {queue: found for command in commands for queue, found in parsed(command.replace('"', "").replace(",", " ")).items()}


@pytest.mark.parametrize("place", [in_compose, in_systemd, in_chart])
def test_deployments_start_workers_with_the_documented_commands(place: Any) -> None:
    assert sorted(DOCUMENTED) == ["engine", "experiments", "io"]
    assert place() == DOCUMENTED


def test_schedviz_up_starts_workers_of_the_documented_pools_and_sizes() -> None:
    started = {tuple(program.arguments[-3:]) for program in programs.workers()}

    assert started == {(queue, command.pool, str(command.size)) for queue, command in DOCUMENTED.items()}
