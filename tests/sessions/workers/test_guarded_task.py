"""A task that needs too much memory fails alone; its worker goes on."""

from __future__ import annotations

import pytest

from schedviz.celery import app
from schedviz.sessions.workers.guarded_task import GuardedTask, TaskOutOfMemory


class _Greedy(GuardedTask):
    name = "greedy"

    def run(self) -> bytearray:
        return bytearray(1 << 62)


def test_a_memory_error_does_not_leave_a_task() -> None:
    # Celery's main process ends when a task raises MemoryError.
    with pytest.raises(TaskOutOfMemory, match="greedy needed more memory"):
        _Greedy()()


def test_all_tasks_are_guarded() -> None:
    assert issubclass(app.Task, GuardedTask)
