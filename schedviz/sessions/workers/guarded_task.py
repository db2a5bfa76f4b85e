"""The base class of our Celery tasks."""

from __future__ import annotations

from typing import Any

from celery import Task


class TaskOutOfMemory(Exception):
    """A task needed more memory than its process may have."""


class GuardedTask(Task[Any, Any]):
    """A task whose failure does not affect others. For a `MemoryError`, Celery would end the whole worker with the tasks of its other
    processes.
    """

    abstract = True

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the task. Raises `TaskOutOfMemory` instead of `MemoryError`."""
        try:
            return self.run(*arguments, **named)
        except MemoryError as error:
            raise TaskOutOfMemory(f"{self.name} needed more memory than its process may have") from error
