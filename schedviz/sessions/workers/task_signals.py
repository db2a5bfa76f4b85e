"""Celery's task signals: log lines of a task carry its name and its session, and the duration of each job is measured."""

from __future__ import annotations

import inspect
import threading
import time
from typing import Any

import structlog
from celery.signals import task_postrun, task_prerun

from schedviz.sessions.metrics.process import JOBS
from schedviz.sessions.redis import wakeups

_began = threading.local()


@task_prerun.connect
def _begin(task: Any, args: tuple[Any, ...], kwargs: dict[str, Any], **_: Any) -> None:
    structlog.contextvars.bind_contextvars(task=task.name, session=_session_of(task, args, kwargs))
    _began.at = time.perf_counter()


def _session_of(task: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The session of a task, which is its argument of that name. Other arguments may be what a user sent, which is never logged."""
    try:
        arguments = inspect.signature(task.run).bind_partial(*args, **kwargs).arguments
    except TypeError:
        # The task itself then reports that it was called with the wrong arguments.
        return ""
    return str(arguments.get("session_id", ""))


@task_postrun.connect
def _end(task: Any, state: Any, **_: Any) -> None:
    if task.name != wakeups.HOST_SESSION:
        # Hosting lasts as long as the session is in use, and has a metric of its own.
        JOBS.labels(task.name, str(state)).observe(time.perf_counter() - _began.at)
    structlog.contextvars.unbind_contextvars("task", "session")
