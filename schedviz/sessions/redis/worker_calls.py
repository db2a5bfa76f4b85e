"""Remote calls: a web server has a worker run a task, and waits for its result in a Redis list."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import redis

from schedviz.sessions.redis import heartbeat, stream, wakeups

#: How long a result is kept, in case its caller has given up.
_RESULT_SECONDS: Final = 60
#: After this time without a result, the heartbeats are checked for a running worker of the queue.
_BLOCK_SECONDS: Final = 2
#: The prefix of results whose callers say how long they wait.
_AWAITED: Final = "schedviz:awaited-reply:"


class EnqueueFailed(Exception):
    """The task could not be enqueued."""


class NoWorker(Exception):
    """No worker of the queue is running."""


def call(task: str, argument: bytes, *, queue: str, timeout_seconds: float) -> bytes | None:
    """Have a worker run `task(argument, result_key)`, and return the bytes that it stores with `store_result`; None after the timeout.

    Raises `EnqueueFailed`, `NoWorker` or `redis.RedisError`.
    """
    result_key = f"{_AWAITED}{uuid4().hex}"
    stream.client().set(_caller_key(result_key), b"1", ex=int(timeout_seconds) + 1)
    try:
        return _call(task, argument, result_key, queue=queue, timeout_seconds=timeout_seconds)
    finally:
        with suppress(redis.RedisError):
            stream.client().delete(_caller_key(result_key))


def _call(task: str, argument: bytes, result_key: str, *, queue: str, timeout_seconds: float) -> bytes | None:
    if not wakeups.enqueue(task, argument.decode(), result_key, queue=queue):
        raise EnqueueFailed
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        popped: Any = stream.blocking_client().blpop([result_key], timeout=_BLOCK_SECONDS)
        if popped is not None:
            return bytes(popped[1])
        if not any(queue in queues for queues in heartbeat.alive().values()):
            raise NoWorker
    return None


def is_abandoned(result_key: str) -> bool:
    """In a worker: whether the caller has given up, so that the task need not run. False for callers that do not say so, which are those of
    an earlier version.
    """
    return result_key.startswith(_AWAITED) and not stream.client().exists(_caller_key(result_key))


def _caller_key(result_key: str) -> str:
    return f"{result_key}:caller"


def store_result(result_key: str, data: bytes) -> None:
    """Store a result for the call that waits for `result_key`."""
    pipe: Any = stream.client().pipeline()
    pipe.rpush(result_key, data)
    pipe.expire(result_key, _RESULT_SECONDS)
    pipe.execute()
