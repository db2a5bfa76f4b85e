"""Remote calls: a web server has a worker run a task, and waits for its result in a Redis list."""

from __future__ import annotations

import time
from typing import Any, Final
from uuid import uuid4

from schedviz.sessions.redis import heartbeat, stream, wakeups

#: How long a result is kept, in case its caller has given up.
_RESULT_SECONDS: Final = 60
#: After this time without a result, the heartbeats are checked for a running worker of the queue.
_BLOCK_SECONDS: Final = 2


class EnqueueFailed(Exception):
    """The task could not be enqueued."""


class NoWorker(Exception):
    """No worker of the queue is running."""


def call(task: str, argument: bytes, *, queue: str, timeout_seconds: float) -> bytes | None:
    """Have a worker run `task(argument, result_key)`, and return the bytes that it stores with `store_result`; None after the timeout.

    Raises `EnqueueFailed`, `NoWorker` or `redis.RedisError`.
    """
    result_key = f"schedviz:reply:{uuid4().hex}"
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


def store_result(result_key: str, data: bytes) -> None:
    """Store a result for the call that waits for `result_key`."""
    pipe: Any = stream.client().pipeline()
    pipe.rpush(result_key, data)
    pipe.expire(result_key, _RESULT_SECONDS)
    pipe.execute()
