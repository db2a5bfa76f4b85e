"""Redis as a bell and a tail: who is to wake up, and what happened lately. Nothing here may be needed to be right.

Every session has a stream of frames whose ids are `<chunk>-0`, a stream of notes (text messages for its viewers), a list that
wakes its owner, and a bell that keeps turns from being enqueued twice. Every call that writes swallows Redis' absence: the
sweeper rings again, and viewers repair by chunk number from the database.
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

#: How many frames and notes Redis keeps for each session; who is further behind reads the database.
FRAMES_KEPT = 2000
NOTES_KEPT = 256
#: No call blocks longer than this, so that a socket timeout above it means a dead server.
LONGEST_BLOCK_SECONDS = 5.0
#: The list of turns that wait for a worker; Celery's.
ENGINE_QUEUE = "engine"
_KEY_LIFETIME_SECONDS = 24 * 3600
#: Nobody rings twice within this time, unless a turn has begun; nor within the second where turns wait in line already.
BELL_MILLISECONDS = 2000
CROWDED_BELL_MILLISECONDS = 30_000
#: So many who wait for the same detail are told at once; others look by themselves.
_WAITERS = 16


def frames_key(session_id: UUID | str) -> str:
    """The stream of compressed frames; member `frame`."""
    return f"schedviz:frames:{session_id}"


def notes_key(session_id: UUID | str) -> str:
    """The stream of text messages; member `note`."""
    return f"schedviz:notes:{session_id}"


def wake_key(session_id: UUID | str) -> str:
    """The list on which the owner of a session waits."""
    return f"schedviz:wake:{session_id}"


def bell_key(session_id: UUID | str) -> str:
    """Set while a turn is enqueued that has not begun."""
    return f"schedviz:bell:{session_id}"


def import_bell_key(session_id: UUID | str) -> str:
    """Set while an import is enqueued that has not begun."""
    return f"schedviz:import-bell:{session_id}"


def _options(*, block: bool) -> dict[str, Any]:
    # redis-py 8 closes a socket after 5 s of silence and lends 100 connections, unless told otherwise.
    return {
        "socket_timeout": LONGEST_BLOCK_SECONDS * 2 if block else 2.0,
        "socket_connect_timeout": 2.0,
        "max_connections": 1024,
        "protocol": 2,
    }


@functools.cache
def _client(_process: int, *, block: bool) -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, retry=Retry(NoBackoff(), 1), **_options(block=block))


def client() -> redis.Redis:
    """The process's client for calls that return at once."""
    return _client(os.getpid(), block=False)


def blocking_client() -> redis.Redis:
    """The process's client for calls that wait, at most `LONGEST_BLOCK_SECONDS`."""
    return _client(os.getpid(), block=True)


def async_client() -> redis.asyncio.Redis:
    """A new client for an event loop; its calls may wait at most `LONGEST_BLOCK_SECONDS`. Close it with `aclose()`."""
    retry = redis.asyncio.retry.Retry(NoBackoff(), 1)
    return redis.asyncio.Redis.from_url(settings.REDIS_URL, retry=retry, **_options(block=True))


def publish(session_id: UUID, frames: Iterable[tuple[int, bytes]], notes: Iterable[bytes] = ()) -> None:
    """Give viewers the frames, by chunk number in order, then the notes. A frame that is there already stays as it is."""
    pipe = client().pipeline(transaction=False)
    for chunk, frame in frames:
        pipe.xadd(frames_key(session_id), {"frame": frame}, id=f"{chunk}-0", maxlen=FRAMES_KEPT, approximate=True)
        if chunk % 64 == 1:
            pipe.expire(frames_key(session_id), _KEY_LIFETIME_SECONDS)
            pipe.expire(notes_key(session_id), _KEY_LIFETIME_SECONDS)
    for note in notes:
        pipe.xadd(notes_key(session_id), {"note": note}, maxlen=NOTES_KEPT, approximate=True)
    try:
        pipe.execute(raise_on_error=False)
    except redis.RedisError as error:
        logger.debug("Redis is away, viewers of %s will repair from the database: %s", session_id, error)


def last_published(session_id: UUID) -> int | None:
    """The number of the newest chunk in the stream, 0 for none; None: Redis is away."""
    try:
        newest: Any = client().xrevrange(frames_key(session_id), count=1)
    except redis.RedisError:
        return None
    return int(newest[0][0].split(b"-")[0]) if newest else 0


def wake(session_id: UUID) -> None:
    """Tell the owner of a session that there is something to do."""
    pipe = client().pipeline(transaction=False)
    pipe.lpush(wake_key(session_id), b"1")
    pipe.ltrim(wake_key(session_id), 0, 3)
    pipe.expire(wake_key(session_id), 60)
    try:
        pipe.execute()
    except redis.RedisError as error:
        logger.debug("Redis is away, the owner of %s will look by itself: %s", session_id, error)


def wait_for_wake(session_id: UUID, seconds: float) -> bool | None:
    """Wait until somebody wakes this session. True: somebody did; False: nobody; None: Redis is away, and no time has passed."""
    return _wait_on(wake_key(session_id), seconds)


def _wait_on(key: str, seconds: float) -> bool | None:
    if seconds <= 0:
        return False
    try:
        return blocking_client().blpop([key], timeout=min(max(seconds, 0.001), LONGEST_BLOCK_SECONDS)) is not None
    except redis.RedisError:
        return None


def try_bell(session_id: UUID) -> bool:
    """Whether a turn is to be enqueued: False when one was, a moment ago."""
    try:
        milliseconds = CROWDED_BELL_MILLISECONDS if client().llen(ENGINE_QUEUE) else BELL_MILLISECONDS
        return bool(client().set(bell_key(session_id), b"1", nx=True, px=milliseconds))
    except redis.RedisError:
        return True


def try_import_bell(session_id: UUID, *, milliseconds: int) -> bool:
    """Whether an import is to be enqueued. Not the bell of turns: one that is rung late, when the import has ended, silences none."""
    try:
        return bool(client().set(import_bell_key(session_id), b"1", nx=True, px=milliseconds))
    except redis.RedisError:
        return True


def clear_bell(session_id: UUID) -> None:
    """A turn or an import has begun: who rings from now on is not swallowed."""
    try:
        client().delete(bell_key(session_id), import_bell_key(session_id))
    except redis.RedisError as error:
        logger.debug("Redis is away: %s", error)


def forget(session_id: UUID) -> None:
    """Drop everything about a deleted session."""
    try:
        bells = bell_key(session_id), import_bell_key(session_id)
        client().delete(frames_key(session_id), notes_key(session_id), wake_key(session_id), *bells)
    except redis.RedisError as error:
        logger.debug("Redis is away: %s", error)


def tell_detail(session_id: UUID, cycle: int) -> None:
    """The detail of a cycle is stored; tell all who wait for it."""
    key = f"schedviz:detail:{session_id}:{cycle}"
    pipe = client().pipeline(transaction=False)
    pipe.lpush(key, *[b"1"] * _WAITERS)
    pipe.expire(key, 5)
    try:
        pipe.execute()
    except redis.RedisError as error:
        logger.debug("Redis is away: %s", error)


def wait_for_detail(session_id: UUID, cycle: int, seconds: float) -> bool | None:
    """Wait until the detail of a cycle is stored; answers as `wait_for_wake` does."""
    return _wait_on(f"schedviz:detail:{session_id}:{cycle}", seconds)


class Tail(msgspec.Struct, frozen=True):
    """One thing read from a session's streams: a frame with its chunk number, or a note (then `chunk` is None)."""

    session_id: str
    position: str
    chunk: int | None
    data: bytes


async def read_tails(
    connection: redis.asyncio.Redis, positions: Mapping[str, tuple[str, str]], *, block_milliseconds: int = 2000, count: int = 64
) -> list[Tail]:
    """What came after `positions`, session id → (frame position, note position), in one XREAD over all of them.

    A position is an id from a `Tail`, `<chunk>-0`, or `$` for what comes from now on. Returns an empty list after
    `block_milliseconds` of silence. Raises `redis.RedisError` when Redis is away.
    """
    streams: dict[Any, Any] = {}
    for session_id, (frame, note) in positions.items():
        streams[frames_key(session_id)] = frame
        streams[notes_key(session_id)] = note
    if not streams:
        return []
    answer: Any = await connection.xread(streams, count=count, block=min(block_milliseconds, int(LONGEST_BLOCK_SECONDS * 1000)))
    tails: list[Tail] = []
    for key, entries in answer or []:
        _, kind, session_id = key.decode().split(":", 2)
        for position, members in entries:
            chunk = int(position.split(b"-")[0]) if kind == "frames" else None
            data = members[b"frame" if kind == "frames" else b"note"]
            tails.append(Tail(session_id=session_id, position=position.decode(), chunk=chunk, data=data))
    return tails
