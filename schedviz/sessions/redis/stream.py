"""Wake-ups and the live event stream in Redis. Correctness does not depend on either.

Each session has a stream of frames with IDs `<chunk>-0`, a stream of notes (text messages for its viewers), a list on which its owner
waits, and a key that deduplicates hosting tasks. Writes ignore an unavailable Redis: the sweeper repeats wake-ups, and viewers fill gaps
from the database by chunk number.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import msgspec
import redis
import redis.asyncio
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

logger = logging.getLogger(__name__)

#: How many frames and notes Redis keeps for each session. Viewers that are further behind read the database.
MAX_FRAMES = 2000
MAX_NOTES = 256
#: The longest blocking call, so that a longer socket timeout means that the server is down.
MAX_BLOCK_SECONDS = 5.0
#: Celery's queue of hosting tasks.
ENGINE_QUEUE = "engine"
_KEY_LIFETIME_SECONDS = 24 * 3600
#: A session's hosting task is not enqueued again within this time unless it has begun: the first value, or the second while tasks are
#: queued.
DEDUPLICATION_MILLISECONDS = 2000
BUSY_DEDUPLICATION_MILLISECONDS = 30_000
#: This many clients that wait for the same cycle detail are notified immediately; others poll.
_MAX_NOTIFIED_CLIENTS = 16
#: How long notices about a cycle detail are kept.
_DETAIL_NOTICE_SECONDS = 5


def frames_key(session_id: UUID | str) -> str:
    """The stream of compressed frames; field `frame`."""
    return f"schedviz:frames:{session_id}"


def notes_key(session_id: UUID | str) -> str:
    """The stream of text messages; field `note`."""
    return f"schedviz:notes:{session_id}"


def wake_key(session_id: UUID | str) -> str:
    """The list on which the owner of a session waits."""
    return f"schedviz:wake:{session_id}"


def hosting_enqueued_key(session_id: UUID | str) -> str:
    """Set while a hosting task is enqueued and has not begun."""
    return f"schedviz:bell:{session_id}"


def import_enqueued_key(session_id: UUID | str) -> str:
    """Set while an import is enqueued and has not begun."""
    return f"schedviz:import-bell:{session_id}"


def _options(*, block: bool) -> dict[str, Any]:
    # By default redis-py 8 closes a socket after 5 s of silence and allows 100 connections.
    return {
        "socket_timeout": MAX_BLOCK_SECONDS * 2 if block else 2.0,
        "socket_connect_timeout": 2.0,
        "max_connections": 1024,
        "protocol": 2,
    }


@functools.cache
def _client(_process: int, *, block: bool) -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, retry=Retry(NoBackoff(), 1), **_options(block=block))


def client() -> redis.Redis:
    """This process's client for calls that return immediately."""
    return _client(os.getpid(), block=False)


def blocking_client() -> redis.Redis:
    """This process's client for blocking calls of at most `MAX_BLOCK_SECONDS`."""
    return _client(os.getpid(), block=True)


def async_client() -> redis.asyncio.Redis:
    """A new client for an event loop, for blocking calls of at most `MAX_BLOCK_SECONDS`. Close it with `aclose()`."""
    retry = redis.asyncio.retry.Retry(NoBackoff(), 1)
    return redis.asyncio.Redis.from_url(settings.REDIS_URL, retry=retry, **_options(block=True))


def publish(session_id: UUID, frames: Iterable[tuple[int, bytes]], notes: Iterable[bytes] = ()) -> None:
    """Publish frames, by chunk number in order, then notes. A frame that is already published is not replaced."""
    pipe = client().pipeline(transaction=False)
    for chunk, frame in frames:
        pipe.xadd(frames_key(session_id), {"frame": frame}, id=f"{chunk}-0", maxlen=MAX_FRAMES, approximate=True)
    for note in notes:
        pipe.xadd(notes_key(session_id), {"note": note}, maxlen=MAX_NOTES, approximate=True)
    # At every publish, because Redis may have been emptied.
    pipe.expire(frames_key(session_id), _KEY_LIFETIME_SECONDS)
    pipe.expire(notes_key(session_id), _KEY_LIFETIME_SECONDS)
    try:
        pipe.execute(raise_on_error=False)
    except redis.RedisError as error:
        logger.debug("Redis is unavailable; viewers of %s will read from the database: %s", session_id, error)


def last_published(session_id: UUID) -> int | None:
    """The number of the newest chunk in the stream, 0 for none; None if Redis is unavailable."""
    try:
        newest: Any = client().xrevrange(frames_key(session_id), count=1)
    except redis.RedisError:
        return None
    return int(newest[0][0].split(b"-")[0]) if newest else 0


def wake(session_id: UUID) -> None:
    """Wake the owner of a session."""
    pipe = client().pipeline(transaction=False)
    pipe.lpush(wake_key(session_id), b"1")
    pipe.ltrim(wake_key(session_id), 0, 3)
    pipe.expire(wake_key(session_id), 60)
    try:
        pipe.execute()
    except redis.RedisError as error:
        logger.debug("Redis is unavailable; the owner of %s will poll: %s", session_id, error)


def wait_for_wake(session_id: UUID, seconds: float) -> bool | None:
    """Wait for a wake-up. True: one arrived; False: timeout; None: Redis is unavailable, and the call returned immediately."""
    return _wait_on(wake_key(session_id), seconds)


def _wait_on(key: str, seconds: float) -> bool | None:
    if seconds <= 0:
        return False
    try:
        return blocking_client().blpop([key], timeout=min(max(seconds, 0.001), MAX_BLOCK_SECONDS)) is not None
    except redis.RedisError:
        return None


def claim_hosting_task(session_id: UUID) -> bool:
    """Whether to enqueue a hosting task; False if one was enqueued recently."""
    try:
        milliseconds = BUSY_DEDUPLICATION_MILLISECONDS if client().llen(ENGINE_QUEUE) else DEDUPLICATION_MILLISECONDS
        return bool(client().set(hosting_enqueued_key(session_id), b"1", nx=True, px=milliseconds))
    except redis.RedisError:
        return True


def claim_import_task(session_id: UUID, *, milliseconds: int) -> bool:
    """Whether to enqueue an import. The key is separate from that of hosting tasks, so that a late import task suppresses no hosting
    task.
    """
    try:
        return bool(client().set(import_enqueued_key(session_id), b"1", nx=True, px=milliseconds))
    except redis.RedisError:
        return True


def task_has_begun(session_id: UUID) -> None:
    """Call when a task has begun: from now on wake-ups enqueue a new one."""
    try:
        client().delete(hosting_enqueued_key(session_id), import_enqueued_key(session_id))
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)


def delete_keys(session_id: UUID) -> None:
    """Delete all keys of a deleted session."""
    try:
        enqueued = hosting_enqueued_key(session_id), import_enqueued_key(session_id)
        client().delete(frames_key(session_id), notes_key(session_id), wake_key(session_id), *enqueued)
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)


def notify_detail(session_id: UUID, cycle: int) -> None:
    """Notify all that wait for the detail of a cycle."""
    key = f"schedviz:detail:{session_id}:{cycle}"
    pipe = client().pipeline(transaction=False)
    pipe.lpush(key, *[b"1"] * _MAX_NOTIFIED_CLIENTS)
    pipe.expire(key, _DETAIL_NOTICE_SECONDS)
    try:
        pipe.execute()
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)


def report_detail_failure(session_id: UUID, cycle: int, reason: str) -> None:
    """Notify all that wait for the detail of a cycle that there will be none now, and why. The reason is kept for some seconds."""
    try:
        client().set(_detail_failure_key(session_id, cycle), reason, ex=_DETAIL_NOTICE_SECONDS)
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)
    notify_detail(session_id, cycle)


def detail_failure(session_id: UUID, cycle: int) -> str:
    """Why there was no detail of a cycle a moment ago; "" if nothing was reported."""
    try:
        reason: Any = client().get(_detail_failure_key(session_id, cycle))
    except redis.RedisError:
        return ""
    return "" if reason is None else bytes(reason).decode()


def _detail_failure_key(session_id: UUID, cycle: int) -> str:
    return f"schedviz:detail-failure:{session_id}:{cycle}"


def wait_for_detail(session_id: UUID, cycle: int, seconds: float) -> bool | None:
    """Wait until the detail of a cycle is stored; returns as `wait_for_wake` does."""
    return _wait_on(f"schedviz:detail:{session_id}:{cycle}", seconds)


class StreamEntry(msgspec.Struct, frozen=True):
    """One entry of a session's streams: a frame with its chunk number, or a note (`chunk` is None)."""

    session_id: str
    position: str
    chunk: int | None
    data: bytes


async def read_entries(
    connection: redis.asyncio.Redis, positions: Mapping[str, tuple[str, str]], *, block_milliseconds: int = 2000, count: int = 64
) -> list[StreamEntry]:
    """The entries after `positions`, session ID → (frame position, note position), read with one XREAD.

    A position is an ID from a `StreamEntry`, `<chunk>-0`, or `$` for new entries only. Returns an empty list after `block_milliseconds` of
    silence. Raises `redis.RedisError` if Redis is unavailable.
    """
    streams: dict[Any, Any] = {}
    for session_id, (frame, note) in positions.items():
        streams[frames_key(session_id)] = frame
        streams[notes_key(session_id)] = note
    if not streams:
        return []
    received: Any = await connection.xread(streams, count=count, block=min(block_milliseconds, int(MAX_BLOCK_SECONDS * 1000)))
    entries: list[StreamEntry] = []
    for key, items in received or []:
        _, kind, session_id = key.decode().split(":", 2)
        for position, members in items:
            chunk = int(position.split(b"-")[0]) if kind == "frames" else None
            data = members[b"frame" if kind == "frames" else b"note"]
            entries.append(StreamEntry(session_id=session_id, position=position.decode(), chunk=chunk, data=data))
    return entries
