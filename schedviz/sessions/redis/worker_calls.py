"""Remote calls: a web server has a worker run a task, and waits for its result in a Redis list."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import msgspec
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

    def send(result_key: str) -> None:
        if not wakeups.enqueue(task, argument.decode(), result_key, queue=queue):
            raise EnqueueFailed

    return _call(send, queue=queue, timeout_seconds=timeout_seconds)


def call_thread(argument: bytes, *, queue: str, timeout_seconds: float) -> bytes | None:
    """`call` for a queue that threads of a worker serve with `next_call`: it waits for no place in a pool.

    Raises `NoWorker` or `redis.RedisError`.
    """

    def send(result_key: str) -> None:
        pipe: Any = stream.client().pipeline()
        pipe.rpush(_calls_key(queue), msgspec.msgpack.encode((argument, result_key)))
        pipe.expire(_calls_key(queue), int(timeout_seconds) + 1)
        pipe.execute()

    return _call(send, queue=queue, timeout_seconds=timeout_seconds)


def _call(send: Callable[[str], None], *, queue: str, timeout_seconds: float) -> bytes | None:
    result_key = f"{_AWAITED}{uuid4().hex}"
    stream.client().set(_caller_key(result_key), b"1", ex=int(timeout_seconds) + 1)
    try:
        send(result_key)
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            popped: Any = stream.blocking_client().blpop([result_key], timeout=_BLOCK_SECONDS)
            if popped is not None:
                return bytes(popped[1])
            if not any(queue in queues for queues in heartbeat.alive().values()):
                raise NoWorker
        return None
    finally:
        with suppress(redis.RedisError):
            stream.client().delete(_caller_key(result_key))


def next_call(queue: str, *, seconds: float) -> tuple[bytes, str] | None:
    """In a thread of a worker: the argument and the result key of the next `call_thread` whose caller still waits; None if there is none
    within these seconds. Raises `redis.RedisError`.
    """
    popped: Any = stream.blocking_client().blpop([_calls_key(queue)], timeout=seconds)
    if popped is None:
        return None
    argument, result_key = msgspec.msgpack.decode(popped[1], type=tuple[bytes, str])
    return None if is_abandoned(result_key) else (argument, result_key)


def is_abandoned(result_key: str) -> bool:
    """In a worker: whether the caller has given up, so that the task need not run. False for callers that do not say so, which are those of
    an earlier version.
    """
    return result_key.startswith(_AWAITED) and not stream.client().exists(_caller_key(result_key))


def _calls_key(queue: str) -> str:
    return f"schedviz:calls:{queue}"


def _caller_key(result_key: str) -> str:
    return f"{result_key}:caller"


def store_result(result_key: str, data: bytes) -> None:
    """Store a result for the call that waits for `result_key`."""
    pipe: Any = stream.client().pipeline()
    pipe.rpush(result_key, data)
    pipe.expire(result_key, _RESULT_SECONDS)
    pipe.execute()
