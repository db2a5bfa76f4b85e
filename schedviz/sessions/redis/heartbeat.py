"""Worker heartbeats: every second each worker refreshes a key in Redis that lists the queues it serves."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable

import redis

from schedviz.sessions.hosting.slots import STOPPING
from schedviz.sessions.redis import stream

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 1.0
#: A worker without a heartbeat for this long counts as crashed.
_LIFETIME_SECONDS = 5
#: The prefix of the heartbeat keys.
PREFIX = "schedviz:worker:"


def start(name: str, queues: Iterable[str]) -> None:
    """Send heartbeats from a thread until the process ends or `STOPPING` is set."""
    threading.Thread(target=_beat, args=(name, sorted(queues)), name="heartbeat", daemon=True).start()


def alive() -> dict[str, list[str]]:
    """The live workers, name -> queues. Raises `redis.RedisError` if Redis is unavailable."""
    connection = stream.client()
    keys: list[bytes] = list(connection.scan_iter(match=f"{PREFIX}*", count=100))
    pipeline = connection.pipeline(transaction=False)
    for key in keys:
        pipeline.get(key)
        pipeline.pttl(key)
    replies = iter(pipeline.execute())
    return {
        key.decode().removeprefix(PREFIX): json.loads(value)
        for key, value, milliseconds in zip(keys, replies, replies, strict=True)
        # A key with a longer lifetime than any heartbeat was written by a crashed worker before Redis' clock was set back.
        if value is not None and milliseconds <= _LIFETIME_SECONDS * 1000
    }


def _beat(name: str, queues: list[str]) -> None:
    key, value = f"{PREFIX}{name}", json.dumps(queues)
    while not STOPPING.is_set():
        try:
            stream.client().set(key, value, ex=_LIFETIME_SECONDS)
        except redis.RedisError as error:
            logger.debug("Redis is unavailable: %s", error)
        STOPPING.wait(HEARTBEAT_SECONDS)
    try:
        stream.client().delete(key)
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)
