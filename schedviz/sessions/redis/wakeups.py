"""Wakes a worker for a session. A wake-up may be lost (the sweeper repeats it) or duplicated (the second task finds the lease taken)."""

from __future__ import annotations

import logging
import time
from uuid import UUID

import redis
from celery.exceptions import CeleryError
from kombu.exceptions import KombuError

from schedviz.celery import app
from schedviz.sessions.redis import stream

logger = logging.getLogger(__name__)

HOST_SESSION = "schedviz.turn"
IMPORT = "schedviz.import"
CYCLE_DETAIL = "schedviz.cycle_detail"
ANALYSE = "schedviz.answer"
VALIDATE = "schedviz.validate_settings"
EXPLAIN_TEXT = "schedviz.explain_text"
IO_QUEUE = "io"

#: An import that was enqueued is not enqueued again for this long.
IMPORT_DEDUPLICATION_MILLISECONDS = 30_000
_WARNING_SECONDS = 10.0
_warned_at = -_WARNING_SECONDS
_BROKER_ERRORS = (CeleryError, KombuError, redis.RedisError, OSError)


def notify(session_id: UUID, *, owned: bool, again: bool = False) -> None:
    """Wake the owner of a session if it has one, otherwise enqueue a hosting task; `again`: even if one was enqueued recently."""
    if owned:
        stream.wake(session_id)
    elif again or stream.claim_hosting_task(session_id):
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
    global _warned_at  # noqa: PLW0603
    now = time.monotonic()
    if now - _warned_at > _WARNING_SECONDS:
        _warned_at = now
        logger.warning("Enqueueing %s failed; the sweeper will retry: %s", task, error)
