"""Replies of workers to one request of a web server, through a list in Redis."""

from __future__ import annotations

import time
from typing import Any, Final
from uuid import uuid4

from schedviz.sessions.redis import heartbeat, stream, wakeups

#: How long a reply is kept, in case the waiting request was given up.
_KEPT_SECONDS: Final = 60
#: After this time without a reply, the heartbeats are checked for a running worker of the queue.
_BLOCK_SECONDS: Final = 2


class EnqueueFailed(Exception):
    """The task could not be enqueued."""


class NoWorker(Exception):
    """No worker of the queue is running."""


def request(task: str, argument: bytes, *, queue: str, timeout_seconds: float) -> bytes | None:
    """Have a worker run `task(argument, reply_key)`, and return what it stores with `reply`; None: there was no reply in time.

    Raises `EnqueueFailed`, `NoWorker` or `redis.RedisError`.
    """
    reply_key = f"schedviz:reply:{uuid4().hex}"
    if not wakeups.enqueue(task, argument.decode(), reply_key, queue=queue):
        raise EnqueueFailed
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        answered: Any = stream.blocking_client().blpop([reply_key], timeout=_BLOCK_SECONDS)
        if answered is not None:
            return bytes(answered[1])
        if not any(queue in queues for queues in heartbeat.alive().values()):
            raise NoWorker
    return None


def reply(reply_key: str, data: bytes) -> None:
    """Store a reply for the request that waits for `reply_key`."""
    pipe: Any = stream.client().pipeline()
    pipe.rpush(reply_key, data)
    pipe.expire(reply_key, _KEPT_SECONDS)
    pipe.execute()
