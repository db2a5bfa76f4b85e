"""Notifies all web processes of changes in a room. The database holds them; Redis only carries wake-ups and may be down."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

import redis
import redis.asyncio
from django.db.models import F
from django.utils import timezone

from schedviz.sessions.redis import stream
from schedviz.web.rooms.models import Room

logger = logging.getLogger(__name__)

#: The newest position is among this many entries.
MAX_STREAM_ENTRIES = 64
_LIFETIME_SECONDS = 24 * 3600


def key(room_id: UUID) -> str:
    """The key of a stream with entries `moment` (JSON) and `changed`."""
    return f"schedviz:room:{room_id}"


def add_entry(pipe: redis.client.Pipeline | redis.asyncio.client.Pipeline, room_id: UUID, moment: bytes | None) -> None:
    """Add an entry to the stream: a teacher's position, or None for a stored change."""
    members: dict[Any, Any] = {"changed": b"1"} if moment is None else {"moment": moment}
    pipe.xadd(key(room_id), members, maxlen=MAX_STREAM_ENTRIES, approximate=True)
    pipe.expire(key(room_id), _LIFETIME_SECONDS)


def changed(room_id: UUID) -> None:
    """Notify of a stored change."""
    Room.objects.filter(pk=room_id).update(revision=F("revision") + 1, active_at=timezone.now())
    pipe = stream.client().pipeline(transaction=False)
    add_entry(pipe, room_id, None)
    try:
        pipe.execute()
    except redis.RedisError as error:
        logger.debug("Redis is unavailable; room %s polls the database: %s", room_id, error)


def delete_stream(room_id: UUID) -> None:
    """Delete a room's stream."""
    try:
        stream.client().delete(key(room_id))
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)
