"""Wakes a worker for a session. A wake-up may be lost (the sweeper repeats it) or duplicated (the second task finds the lease taken)."""

from __future__ import annotations

import logging
from uuid import UUID

import redis
from celery.exceptions import CeleryError
from kombu.exceptions import KombuError

from schedviz.celery import app
from schedviz.sessions.interval import Interval
from schedviz.sessions.redis import stream

logger = logging.getLogger(__name__)

# The names of tasks do not change, because workers of an earlier version may run beside new ones: a hosting task is still named `turn`, and
# an analysis request `answer` (docs/debugging.md).
HOST_SESSION = "schedviz.turn"
IMPORT = "schedviz.import"
CYCLE_DETAIL = "schedviz.cycle_detail"
ANALYSE = "schedviz.answer"
VALIDATE = "schedviz.validate_settings"
EXPLAIN_TEXT = "schedviz.explain_text"
IO_QUEUE = "io"

#: An import that was enqueued is not enqueued again for this long.
IMPORT_DEDUPLICATION_MILLISECONDS = 30_000
_warning_interval = Interval(10.0)
_BROKER_ERRORS = (CeleryError, KombuError, redis.RedisError, OSError)


def notify(session_id: UUID, *, owned: bool, force: bool = False) -> None:
    """Wake the owner of a session if it has one, otherwise enqueue a hosting task; `force`: even if one was enqueued recently."""
    if owned:
        stream.wake(session_id)
    elif force or stream.claim_hosting_task(session_id):
        enqueue(HOST_SESSION, str(session_id), queue=stream.ENGINE_QUEUE)


def notify_import(session_id: UUID) -> None:
    """Enqueue an import. There are few io workers, so it may wait for a while."""
    if stream.claim_import_task(session_id, milliseconds=IMPORT_DEDUPLICATION_MILLISECONDS):
        enqueue(IMPORT, str(session_id), queue=IO_QUEUE)


def enqueue(task: str, *arguments: object, queue: str) -> bool:
    """Send a task; False if the broker is unavailable."""
    try:
        app.send_task(task, args=arguments, queue=queue, retry=False)
    except _BROKER_ERRORS as error:
        _warn_rarely(task, error)
        return False
    return True


def _warn_rarely(task: str, error: BaseException) -> None:
    """Once in a while is enough: the sweeper tries again every second or two for every session."""
    if _warning_interval.is_due():
        logger.warning("Enqueueing %s failed; the sweeper will retry: %s", task, error)
