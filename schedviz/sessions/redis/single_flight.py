"""Single flight: however many clients request an answer, one worker computes it once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import redis

from schedviz.sessions.redis import stream

logger = logging.getLogger(__name__)

#: A request that waited this long for a worker is sent again, because the broker may have lost it.
_SENT_SECONDS: Final = 60
#: If a worker dies, another one may start after this time. A live worker renews its claim.
_MAKING_SECONDS: Final = 20
_RENEW_SECONDS: Final = 5.0


def requested_key(answer_key: str) -> str:
    """Set from the time the request with this result key is sent until its answer is stored."""
    return f"{answer_key}:sent"


def _making_key(answer_key: str) -> str:
    return f"{answer_key}:making"


def claim_request(answer_key: str) -> bool:
    """Claim the request; False if it is already queued or in progress. Raises `redis.RedisError`."""
    return bool(stream.client().set(requested_key(answer_key), b"1", nx=True, ex=_SENT_SECONDS))


def release_request(answer_key: str) -> None:
    """Release the claim of a request that could not be sent. Raises `redis.RedisError`."""
    stream.client().delete(requested_key(answer_key))


@contextmanager
def making(answer_key: str) -> Iterator[bool]:
    """In a worker: True if this worker must compute the answer; False if it exists or another worker computes it. Raises
    `redis.RedisError`.
    """
    client = stream.client()
    if not client.set(_making_key(answer_key), b"1", nx=True, ex=_MAKING_SECONDS):
        yield False
        return
    if client.exists(answer_key):
        client.delete(_making_key(answer_key))
        yield False
        return
    done = threading.Event()
    renewing = threading.Thread(target=_renew, args=(answer_key, done), name="single-flight-renewal", daemon=True)
    renewing.start()
    try:
        yield True
    finally:
        done.set()
        renewing.join()
        client.delete(_making_key(answer_key), requested_key(answer_key))


def _renew(answer_key: str, done: threading.Event) -> None:
    """Renew the claim during the computation."""
    while not done.wait(_RENEW_SECONDS):
        pipe: Any = stream.client().pipeline(transaction=False)
        pipe.set(_making_key(answer_key), b"1", ex=_MAKING_SECONDS)
        pipe.set(requested_key(answer_key), b"1", ex=_MAKING_SECONDS)
        try:
            pipe.execute()
        except redis.RedisError as error:
            logger.debug("Redis is unavailable: %s", error)
