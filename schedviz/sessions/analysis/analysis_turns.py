"""Leaves io processes free: the analyses of one sender do not occupy all of them, so that others' questions and imports are served.

The senders of a group take turns in the order in which they began to wait. Analyses of a kind that takes long share one limit, whoever
sends them.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from django.conf import settings

from schedviz.sessions import turns
from schedviz.sessions.redis import stream
from schedviz.sessions.redis.renewal import renewed

#: A turn expires after this time unless its worker renews it, which a crashed worker does not.
_TURN_SECONDS: Final = 15
#: A sender that was refused counts as waiting for this long. It tries again every second, but then may have to wait for a worker.
_WAITING_SECONDS: Final = 10
#: For this many of those who ask for a result, a worker looks for one whose turn it is.
_MAX_SENDERS: Final = 8


class _Waiting(msgspec.Struct, frozen=True, array_like=True):
    """A sender of a group that was refused, with the time of its first and of its last attempt."""

    since: float
    last: float


@contextmanager
def analysis_slot(sender: str, result_key: str, *, long_kind: str = "") -> Iterator[bool]:
    """True if an analysis for this sender may run now; False: as many as allowed are running. Raises `redis.RedisError`.

    `long_kind`: the kind of an analysis that may take up to its time limit, of which all senders together run as many as one sender may.
    """
    if not settings.ANALYSES_PER_USER:
        yield True
        return
    turn = turns.sender_group_of(sender)
    running = [f"schedviz:analyses:{turn.sender}"]
    if turn.group:
        running.append(f"schedviz:analyses-of-group:{turn.group}")
    if long_kind:
        running.append(f"schedviz:analyses-of-kind:{long_kind}")
    # Another task may have the turn for the same result.
    task = f"{result_key} {secrets.token_hex(8)}"
    if not _begin(turn, running, task):
        yield False
        return
    try:
        with renewed(lambda: _renew(running, task)):
            yield True
    finally:
        _end(running, task)


@contextmanager
def analysis_slot_of_any(senders: Collection[str], result_key: str, *, long_kind: str = "") -> Iterator[bool]:
    """`analysis_slot` the first of several senders, in random order, who ask for the same result and whose turn it is."""
    for sender in random.sample(sorted(senders), min(len(senders), _MAX_SENDERS)):
        with analysis_slot(sender, result_key, long_kind=long_kind) as is_turn:
            if is_turn:
                yield True
                return
    yield False


def stop_waiting(senders: Collection[str]) -> None:
    """Forget that these wait: they have their result, or have given up. Those who wait for something else try again."""
    if not settings.ANALYSES_PER_USER:
        return
    pipe: Any = stream.client().pipeline(transaction=False)
    for turn in map(turns.sender_group_of, senders):
        if turn.group:
            pipe.hdel(_waiting_key(turn), turn.sender)
    pipe.execute()


def _begin(turn: turns.SenderGroup, running: list[str], task: str) -> bool:
    now = time.time()
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in running:
        pipe.zremrangebyscore(key, "-inf", now)
        pipe.zadd(key, {task: now + _TURN_SECONDS})
        pipe.expire(key, _TURN_SECONDS)
        pipe.zcard(key)
    is_free = all(count <= settings.ANALYSES_PER_USER for count in pipe.execute()[3::4])
    is_turn = _is_first(turn, now, is_free=is_free) if turn.group else is_free
    if not is_turn:
        _end(running, task)
    return is_turn


def _renew(running: list[str], task: str) -> None:
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in running:
        pipe.zadd(key, {task: time.time() + _TURN_SECONDS})
        pipe.expire(key, _TURN_SECONDS)
    pipe.execute()


def _end(running: list[str], task: str) -> None:
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in running:
        pipe.zrem(key, task)
    pipe.execute()


def _is_first(turn: turns.SenderGroup, now: float, *, is_free: bool) -> bool:
    """Whether a place is free and no other of the group has waited longer. If not, this sender waits, too."""
    key, sender = _waiting_key(turn), turn.sender.encode()
    stored: Any = stream.client().hgetall(key)
    waiting = {name: msgspec.json.decode(data, type=_Waiting) for name, data in stored.items()}
    gone = [name for name, one in waiting.items() if one.last < now - _WAITING_SECONDS]
    others = [one.since for name, one in waiting.items() if name != sender and name not in gone]
    own = waiting[sender].since if sender in waiting and sender not in gone else now
    is_first = is_free and own <= min(others, default=own)
    pipe: Any = stream.client().pipeline(transaction=True)
    if is_first:
        pipe.hdel(key, sender, *gone)
    else:
        pipe.hset(key, sender, msgspec.json.encode(_Waiting(own, now)))
        pipe.expire(key, _WAITING_SECONDS)
    pipe.execute()
    return is_first


def _waiting_key(turn: turns.SenderGroup) -> str:
    return f"schedviz:analyses-waiting-since:{turn.group}"
