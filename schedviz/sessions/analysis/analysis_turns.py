"""Leaves io processes free: the analyses of one sender do not occupy all of them, so that others' questions and imports are served.

The senders of a group take turns: one whose analysis has run goes behind the others that wait.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings

from schedviz.sessions import turns
from schedviz.sessions.redis import stream

#: A turn ends by itself after this time, in case its worker crashed: somewhat more than the hard time limit of an analysis.
_TURN_SECONDS: Final = 80
#: A sender that was refused counts as waiting for this long. It tries again every second, but then may have to wait for a worker.
_WAITING_SECONDS: Final = 10
#: How long it is known when a sender of a group had its last turn.
_SERVED_SECONDS: Final = 3600


@contextmanager
def turn_of(sender: str, result_key: str) -> Iterator[bool]:
    """True if an analysis for this sender may run now; False: as many as allowed are running. Raises `redis.RedisError`."""
    if not settings.ANALYSES_PER_USER:
        yield True
        return
    turn = turns.turn_of(sender)
    running = [f"schedviz:analyses:{turn.sender}", *([f"schedviz:analyses-of-group:{turn.group}"] if turn.group else [])]
    if not _begin(turn, running, result_key):
        yield False
        return
    try:
        yield True
    finally:
        pipe: Any = stream.client().pipeline(transaction=True)
        for key in running:
            pipe.zrem(key, result_key)
        if turn.group:
            pipe.zadd(_served_key(turn), {turn.sender: time.time()})
            pipe.expire(_served_key(turn), _SERVED_SECONDS)
        pipe.execute()


@contextmanager
def turn_of_any(senders: Iterable[str], result_key: str) -> Iterator[bool]:
    """`turn_of` the first of several senders who ask for the same result and whose turn it is."""
    for sender in senders:
        with turn_of(sender, result_key) as is_turn:
            if is_turn:
                yield True
                return
    yield False


def _begin(turn: turns.Turn, running: list[str], result_key: str) -> bool:
    now = time.time()
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in running:
        pipe.zremrangebyscore(key, "-inf", now)
        pipe.zadd(key, {result_key: now + _TURN_SECONDS}, nx=True)
        pipe.expire(key, _TURN_SECONDS)
        pipe.zrank(key, result_key)
    ranks = pipe.execute()[3::4]
    is_turn = all(rank < settings.ANALYSES_PER_USER for rank in ranks) and not (turn.group and _others_come_first(turn, now))
    pipe = stream.client().pipeline(transaction=True)
    if not is_turn:
        for key in running:
            pipe.zrem(key, result_key)
    if turn.group:
        if is_turn:
            pipe.zrem(_waiting_key(turn), turn.sender)
        else:
            pipe.zadd(_waiting_key(turn), {turn.sender: now + _WAITING_SECONDS})
        pipe.expire(_waiting_key(turn), _WAITING_SECONDS)
    pipe.execute()
    return is_turn


def _others_come_first(turn: turns.Turn, now: float) -> bool:
    """Whether others of the group wait whose last turn was before that of this sender."""
    pipe: Any = stream.client().pipeline(transaction=False)
    pipe.zrangebyscore(_waiting_key(turn), now, "+inf")
    pipe.zscore(_served_key(turn), turn.sender)
    waiting, served = pipe.execute()
    others = [sender for sender in waiting if sender != turn.sender.encode()]
    if not others or served is None:
        return False
    return any(other is None or other < served for other in stream.client().zmscore(_served_key(turn), others))


def _waiting_key(turn: turns.Turn) -> str:
    return f"schedviz:analyses-waiting:{turn.group}"


def _served_key(turn: turns.Turn) -> str:
    return f"schedviz:analyses-served:{turn.group}"
