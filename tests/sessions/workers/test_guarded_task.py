"""A task that needs too much memory fails without ending its worker."""

from __future__ import annotations

import pytest

from schedviz.celery import app
from schedviz.sessions.workers.guarded_task import GuardedTask, TaskOutOfMemory


class _Greedy(GuardedTask):
    name = "greedy"

    def run(self) -> bytearray:
        return bytearray(1 << 62)


def test_a_memory_error_does_not_escape_from_a_task() -> None:
    # Celery's main process ends when a task raises MemoryError.
    with pytest.raises(TaskOutOfMemory, match="greedy needed more memory"):
        _Greedy()()


def test_every_task_is_guarded_against_memory_errors() -> None:
    assert issubclass(app.Task, GuardedTask)
