"""A short run of `python -m tests.faults` on each database: kills of any process lose, duplicate or reorder no command."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT


def run(*options: str) -> None:
    command = [sys.executable, "-m", "tests.faults", *options]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    print(done.stdout)  # noqa: T201 -- the seed, to do it again, and the figures.
    assert done.returncode == 0, done.stdout


def test_killed_processes_lose_no_command_on_sqlite() -> None:
    run("--minutes", "0.5", "--sessions", "3")


@pytest.mark.postgres
def test_killed_processes_lose_no_command_on_postgresql() -> None:
    run("--minutes", "0.25", "--sessions", "3", "--database", "postgres")
