"""Replies of workers to one request of a web server, through a list in Redis."""

from __future__ import annotations

import time
from typing import Any, Final
from uuid import uuid4

from schedviz.sessions.redis import heartbeat, stream, wakeups

#: How long a reply is kept, in case the waiting request was given up.
_KEPT_SECONDS: Final = 60
#: After this time without a reply, the heartbeats tell whether any worker of the queue runs.
_BLOCK_SECONDS: Final = 2


class EnqueueFailed(Exception):
    """The task could not be enqueued."""


class NoWorker(Exception):
    """No worker of the queue is running."""


def request(task: str, argument: bytes, *, queue: str, timeout_seconds: float) -> bytes | None:
    """Have a worker run `task(argument, place)`, and return what it leaves with `reply`; None: there was no reply in time.

    Raises `EnqueueFailed`, `NoWorker` or `redis.RedisError`.
    """
    place = f"schedviz:reply:{uuid4().hex}"
    if not wakeups.enqueue(task, argument.decode(), place, queue=queue):
        raise EnqueueFailed
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        answered: Any = stream.blocking_client().blpop([place], timeout=_BLOCK_SECONDS)
        if answered is not None:
            return bytes(answered[1])
        if not any(queue in queues for queues in heartbeat.alive().values()):
            raise NoWorker
    return None


def reply(place: str, data: bytes) -> None:
    """Leave a reply for the request that waits at `place`."""
    pipe: Any = stream.client().pipeline()
    pipe.rpush(place, data)
    pipe.expire(place, _KEPT_SECONDS)
    pipe.execute()
