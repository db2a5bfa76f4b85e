"""Celery's task signals: log lines of a task carry its name and its session, and the duration of each job is measured."""

from __future__ import annotations

import threading
import time
from typing import Any, Final

import structlog
from celery.signals import task_postrun, task_prerun

from schedviz.sessions.metrics.process import JOBS
from schedviz.sessions.redis import wakeups

_began = threading.local()
_WITHOUT_SESSION: Final = frozenset((wakeups.VALIDATE, wakeups.EXPLAIN_TEXT))


@task_prerun.connect
def _begin(task: Any, args: tuple[Any, ...], **_: Any) -> None:
    # The first argument of a task is its session, except where it is what a user sent, which is never logged.
    session = "" if task.name in _WITHOUT_SESSION or not args else str(args[0])
    structlog.contextvars.bind_contextvars(task=task.name, session=session)
    _began.at = time.perf_counter()


@task_postrun.connect
def _end(task: Any, state: Any, **_: Any) -> None:
    if task.name != wakeups.HOST_SESSION:
        # Hosting lasts as long as the session is in use, and has a metric of its own.
        JOBS.labels(task.name, str(state)).observe(time.perf_counter() - _began.at)
    structlog.contextvars.unbind_contextvars("task", "session")
