"""Notifies all web processes that a room changed. The database has the change; Redis only has the notification, and may be unavailable."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

import redis
from django.db.models import F
from django.utils import timezone

from schedviz.sessions.redis import stream
from schedviz.web.rooms.models import Room

logger = logging.getLogger(__name__)

#: The newest moment is among so many.
KEPT = 64
_LIFETIME_SECONDS = 24 * 3600


def key(room_id: UUID) -> str:
    """A stream: entries with the member `moment`, its JSON, and entries with `changed`."""
    return f"schedviz:room:{room_id}"


def entry(moment: bytes | None) -> dict[Any, Any]:
    """What is put into the stream."""
    return {"changed": b"1"} if moment is None else {"moment": moment}


def changed(room_id: UUID) -> None:
    """Something of a room changed, and is stored."""
    Room.objects.filter(pk=room_id).update(revision=F("revision") + 1, active_at=timezone.now())
    pipe = stream.client().pipeline(transaction=False)
    pipe.xadd(key(room_id), entry(None), maxlen=KEPT, approximate=True)
    pipe.expire(key(room_id), _LIFETIME_SECONDS)
    try:
        pipe.execute()
    except redis.RedisError as error:
        logger.debug("Redis is away, room %s looks by itself: %s", room_id, error)


def forget(room_id: UUID) -> None:
    """Drop what Redis has of a room."""
    try:
        stream.client().delete(key(room_id))
    except redis.RedisError as error:
        logger.debug("Redis is away: %s", error)
