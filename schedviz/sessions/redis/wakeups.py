"""Getting a worker to look at a session. A bell may be lost (the sweeper rings again) or doubled (the second turn finds the lease
taken)."""

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

TURN = "schedviz.turn"
IMPORT = "schedviz.import"
CYCLE_DETAIL = "schedviz.cycle_detail"
ANSWER = "schedviz.answer"
VALIDATE = "schedviz.validate_settings"
IO_QUEUE = "io"

_IMPORT_BELL_MILLISECONDS = 30_000
_COMPLAINT_SECONDS = 10.0
_complained_at = -_COMPLAINT_SECONDS
_BROKER_AWAY = (CeleryError, KombuError, redis.RedisError, OSError)


def notify(session_id: UUID, *, owned: bool, again: bool = False) -> None:
    """Wake the owner of a session that has one, else have a worker take a turn at it; `again` even if one was asked a moment ago."""
    if owned:
        stream.wake(session_id)
    elif again or stream.try_bell(session_id):
        enqueue(TURN, str(session_id), queue=stream.ENGINE_QUEUE)


def notify_import(session_id: UUID) -> None:
    """Have an io worker import what was uploaded. There are few of those workers, so an import may wait for a while."""
    if stream.try_import_bell(session_id, milliseconds=_IMPORT_BELL_MILLISECONDS):
        enqueue(IMPORT, str(session_id), queue=IO_QUEUE)


def enqueue(task: str, *arguments: object, queue: str) -> bool:
    """Send a task; False when the broker is away."""
    try:
        app.send_task(task, args=arguments, queue=queue, retry=False)
    except _BROKER_AWAY as error:
        _complain_seldom(task, error)
        return False
    return True


def _complain_seldom(task: str, error: BaseException) -> None:
    """Once in a while is enough: the sweeper tries again every second or two for every session."""
    global _complained_at  # noqa: PLW0603
    now = time.monotonic()
    if now - _complained_at > _COMPLAINT_SECONDS:
        _complained_at = now
        logger.warning("%s cannot be enqueued now, it will be later: %s", task, error)
