"""Remote calls: a web server has a worker run a task, and waits for its result in a Redis list."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from uuid import uuid4

import msgspec
import redis

from schedviz.sessions.redis import heartbeat, stream, wakeups
from schedviz.sessions.redis.renewal import RENEWAL_SECONDS, renewed

#: How long a result is kept, in case its caller has given up.
_RESULT_SECONDS: Final = 60
#: After this time without a result, the heartbeats are checked for a running worker of the queue.
_BLOCK_SECONDS: Final = 2
#: How long a sender waits in line before it is put there again, in case Redis has lost the line.
_TURN_SECONDS: Final = 30
#: How long a sender has its turn after the worker that served it was killed.
_KEPT_TURN_SECONDS: Final = int(2 * RENEWAL_SECONDS)
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


def call_thread(argument: bytes, *, queue: str, timeout_seconds: float, sender: str = "") -> bytes | None:
    """`call` for a queue that threads of a worker serve with `next_call`: it waits for no place in a pool. The senders take turns, and of
    each one call runs at a time.

    Raises `NoWorker` or `redis.RedisError`.
    """

    def send(result_key: str) -> None:
        pipe: Any = stream.client().pipeline()
        pipe.rpush(_calls_key(queue, sender), msgspec.msgpack.encode((argument, result_key)))
        pipe.expire(_calls_key(queue, sender), int(timeout_seconds) + 1)
        pipe.execute()

    return _call(send, queue=queue, timeout_seconds=timeout_seconds, ask=lambda: _ask_for_turn(queue, sender))


def _call(send: Callable[[str], None], *, queue: str, timeout_seconds: float, ask: Callable[[], object] = lambda: None) -> bytes | None:
    """`ask` is called when the call was sent, and repeatedly while it waits."""
    result_key = f"{_AWAITED}{uuid4().hex}"
    stream.client().set(_caller_key(result_key), b"1", ex=int(timeout_seconds) + 1)
    try:
        send(result_key)
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            ask()
            popped: Any = stream.blocking_client().blpop([result_key], timeout=_BLOCK_SECONDS)
            if popped is not None:
                return bytes(popped[1])
            if not any(queue in queues for queues in heartbeat.alive().values()):
                raise NoWorker
        return None
    finally:
        with suppress(redis.RedisError):
            stream.client().delete(_caller_key(result_key))


@contextmanager
def next_call(queue: str, *, seconds: float) -> Iterator[tuple[bytes, str] | None]:
    """In a thread of a worker: the argument and the result key of the next `call_thread` whose caller still waits, for as long as it runs;
    None if there is none within these seconds. Raises `redis.RedisError`.
    """
    popped: Any = stream.blocking_client().blpop([_turns_key(queue)], timeout=seconds)
    if popped is None:
        yield None
        return
    sender = bytes(popped[1]).decode()

    def keep_turn() -> None:
        stream.client().set(_turn_key(queue, sender), b"1", ex=_KEPT_TURN_SECONDS)

    keep_turn()
    try:
        with renewed(keep_turn):
            yield _next_call_of(queue, sender)
    finally:
        stream.client().delete(_turn_key(queue, sender))
        if stream.client().exists(_calls_key(queue, sender)):
            _ask_for_turn(queue, sender)


def _next_call_of(queue: str, sender: str) -> tuple[bytes, str] | None:
    while True:
        data: Any = stream.client().lpop(_calls_key(queue, sender))
        if data is None:
            return None
        argument, result_key = msgspec.msgpack.decode(data, type=tuple[bytes, str])
        if not is_abandoned(result_key):
            return argument, result_key


def _ask_for_turn(queue: str, sender: str) -> None:
    """Have the sender wait for a turn, unless it does or has one."""
    if stream.client().set(_turn_key(queue, sender), b"1", nx=True, ex=_TURN_SECONDS):
        pipe: Any = stream.client().pipeline()
        pipe.rpush(_turns_key(queue), sender)
        pipe.expire(_turns_key(queue), _TURN_SECONDS)
        pipe.execute()


def is_abandoned(result_key: str) -> bool:
    """In a worker: whether the caller has given up, so that the task need not run. False for callers that do not say so, which are those of
    an earlier version.
    """
    return result_key.startswith(_AWAITED) and not stream.client().exists(_caller_key(result_key))


def _calls_key(queue: str, sender: str) -> str:
    return f"schedviz:calls:{queue}:{sender}"


def _turns_key(queue: str) -> str:
    """The senders that wait for a turn, in order."""
    return f"schedviz:calls-turns:{queue}"


def _turn_key(queue: str, sender: str) -> str:
    """Exists while the sender waits for a turn or has one."""
    return f"schedviz:calls-turn:{queue}:{sender}"


def _caller_key(result_key: str) -> str:
    return f"{result_key}:caller"


def store_result(result_key: str, data: bytes) -> None:
    """Store a result for the call that waits for `result_key`."""
    pipe: Any = stream.client().pipeline()
    pipe.rpush(result_key, data)
    pipe.expire(result_key, _RESULT_SECONDS)
    pipe.execute()
