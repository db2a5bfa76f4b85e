"""Workers that are alive: each says so once a second in Redis, with the queues that it serves."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable

import redis

from schedviz.sessions.hosting.slots import STOPPING
from schedviz.sessions.redis import stream

logger = logging.getLogger(__name__)

BEAT_SECONDS = 1.0
#: A worker that was silent for so long counts as dead.
_LIFETIME_SECONDS = 5
#: Of the keys of those who are alive.
PREFIX = "schedviz:worker:"


def begin(name: str, queues: Iterable[str]) -> None:
    """Beat in a thread until the process ends or is asked to."""
    threading.Thread(target=_beat, args=(name, sorted(queues)), name="heartbeat", daemon=True).start()


def alive() -> dict[str, list[str]]:
    """The workers that are alive, name -> queues. Raises `redis.RedisError` when Redis is away."""
    connection = stream.client()
    keys: list[bytes] = list(connection.scan_iter(match=f"{PREFIX}*", count=100))
    asked = connection.pipeline(transaction=False)
    for key in keys:
        asked.get(key)
        asked.pttl(key)
    answers = iter(asked.execute())
    return {
        key.decode().removeprefix(PREFIX): json.loads(value)
        for key, value, milliseconds in zip(keys, answers, answers, strict=True)
        # A key that lasts longer than any beat is of a worker that died before Redis' clock was set back.
        if value is not None and milliseconds <= _LIFETIME_SECONDS * 1000
    }


def _beat(name: str, queues: list[str]) -> None:
    key, value = f"{PREFIX}{name}", json.dumps(queues)
    while not STOPPING.is_set():
        try:
            stream.client().set(key, value, ex=_LIFETIME_SECONDS)
        except redis.RedisError as error:
            logger.debug("Redis is away: %s", error)
        STOPPING.wait(BEAT_SECONDS)
    try:
        stream.client().delete(key)
    except redis.RedisError as error:
        logger.debug("Redis is away: %s", error)
