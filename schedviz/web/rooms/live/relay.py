"""Relays the teacher's positions: reduced to the newest, published through Redis immediately, stored once a second."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID

import msgspec
import redis
import redis.asyncio
import structlog
from django.utils import timezone

from schedviz.web.live.database import DATABASE_UNAVAILABLE, in_database
from schedviz.web.rooms import notify
from schedviz.web.rooms.models import LIVE, Room
from schedviz.web.rooms.schemas import Moment

log = structlog.get_logger(__name__)

#: The minimum interval between two positions of one room.
_PAUSE_SECONDS = 0.05
_STORE_SECONDS = 1.0


class Relay:
    """The relay of one room in this process."""

    def __init__(self, room_id: UUID, connection: redis.asyncio.Redis) -> None:
        self._room_id = room_id
        self._connection = connection
        self._newest: Moment | None = None
        self._task: asyncio.Task[None] | None = None

    def offer(self, moment: Moment) -> None:
        """Send a position. Replaces one that is still waiting."""
        self._newest = moment
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"moments of {self._room_id}")

    async def end(self) -> None:
        """Wait until the last position is stored."""
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        unstored: Moment | None = None
        stored_at = 0.0
        while self._newest is not None or unstored is not None:
            moment, self._newest = self._newest, None
            if moment is not None:
                unstored = moment
                await self._publish(moment)
            if unstored is not None and time.monotonic() >= stored_at + _STORE_SECONDS:
                await self._store(unstored)
                unstored, stored_at = None, time.monotonic()
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _publish(self, moment: Moment) -> None:
        try:
            pipe = self._connection.pipeline(transaction=False)
            notify.add_entry(pipe, self._room_id, msgspec.json.encode(moment))
            await pipe.execute()
        except (redis.RedisError, OSError) as error:
            # Other processes poll the database.
            log.debug("Redis is unavailable", room=str(self._room_id), error=str(error))

    async def _store(self, moment: Moment) -> None:
        try:
            await in_database(_store, self._room_id, moment)
        except DATABASE_UNAVAILABLE as error:
            log.warning("the teacher's position was not stored", room=str(self._room_id), error=str(error))


def _store(room_id: UUID, moment: Moment) -> None:
    now = timezone.now()
    stored = {"moment": msgspec.to_builtins(moment), "moment_at": now.timestamp(), "active_at": now}
    Room.objects.filter(pk=room_id, status__in=LIVE).update(**stored)
