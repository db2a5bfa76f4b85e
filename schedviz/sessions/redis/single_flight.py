"""One question, one computation: however many ask for an answer that is being made, and however often, one worker makes it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import redis

from schedviz.sessions.redis import stream

logger = logging.getLogger(__name__)

#: How long a question may wait for a worker before it is sent again: by then the broker may have lost it.
_SENT_SECONDS: Final = 60
#: So long after a worker died somebody else begins; one that lives says so in time.
_MAKING_SECONDS: Final = 20
_RENEW_SECONDS: Final = 5.0


def sent_key(place: str) -> str:
    """Set while the question whose answer comes to `place` has been sent, and until its answer is there."""
    return f"{place}:sent"


def _making_key(place: str) -> str:
    return f"{place}:making"


def first_to_ask(place: str) -> bool:
    """Whether the question is to be sent: False while it waits for a worker or one is at it. Raises `redis.RedisError`."""
    return bool(stream.client().set(sent_key(place), b"1", nx=True, ex=_SENT_SECONDS))


def not_sent(place: str) -> None:
    """It could not be sent after all. Raises `redis.RedisError`."""
    stream.client().delete(sent_key(place))


@contextmanager
def making(place: str) -> Iterator[bool]:
    """In a worker: True for the one that makes the answer; False where it is there, or another one makes it. Raises `redis.RedisError`."""
    client = stream.client()
    if not client.set(_making_key(place), b"1", nx=True, ex=_MAKING_SECONDS):
        yield False
        return
    if client.exists(place):
        client.delete(_making_key(place))
        yield False
        return
    done = threading.Event()
    renewing = threading.Thread(target=_renew, args=(place, done), name="making an answer", daemon=True)
    renewing.start()
    try:
        yield True
    finally:
        done.set()
        renewing.join()
        client.delete(_making_key(place), sent_key(place))


def _renew(place: str, done: threading.Event) -> None:
    """Say that it is being made still."""
    while not done.wait(_RENEW_SECONDS):
        pipe: Any = stream.client().pipeline(transaction=False)
        pipe.set(_making_key(place), b"1", ex=_MAKING_SECONDS)
        pipe.set(sent_key(place), b"1", ex=_MAKING_SECONDS)
        try:
            pipe.execute()
        except redis.RedisError as error:
            logger.debug("Redis is away: %s", error)
