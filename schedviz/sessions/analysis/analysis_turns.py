"""Leaves io processes free: the analyses of one sender do not occupy all of them, so that others' questions and imports are served.

The senders of a group take turns in the order in which they began to wait. Analyses of a kind that takes long share one limit, whoever
sends them, and all who wait for one take turns; a sender begins to wait when its last one has ended.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from django.conf import settings

from schedviz.sessions.redis import single_flight, stream
from schedviz.sessions.redis.renewal import renewed
from schedviz.sessions.senders import SenderGroup, sender_group_of

#: A slot expires after this time unless its worker renews it, which a crashed worker does not.
_SLOT_SECONDS: Final = 15
#: A sender that was refused counts as waiting for this long. It tries again every second, but then may have to wait for a worker.
_WAITING_SECONDS: Final = 10
#: For this many of those who ask for a result, a worker looks for one whose turn it is.
_MAX_SENDERS: Final = 8


class _Waiting(msgspec.Struct, frozen=True, array_like=True):
    """A sender that was refused, with the time of its first and of its last attempt."""

    since: float
    last: float
    #: It may begin as soon as there is a slot and no other has waited longer. Otherwise others do not wait for it.
    is_ready: bool = True


class _Slots(msgspec.Struct, frozen=True):
    """What an analysis needs: a slot of its sender, and of what it shares with others."""

    sender_group: SenderGroup
    long_kind: str

    @property
    def own(self) -> str:
        """The key of the slots of the sender."""
        return f"schedviz:analyses:{self.sender_group.sender}"

    @property
    def shared(self) -> dict[str, str]:
        """The keys of the slots that senders share, with the keys of those who wait for them."""
        shared, group = {}, self.sender_group.group
        if group:
            shared[f"schedviz:analyses-of-group:{group}"] = _waiting_key(group)
        if self.long_kind:
            shared[f"schedviz:analyses-of-kind:{self.long_kind}"] = _waiting_for_kind_key(self.long_kind)
        return shared

    @property
    def all(self) -> list[str]:
        """The keys of all slots."""
        return [self.own, *self.shared]


@contextmanager
def analysis_slot(sender: str, result_key: str, *, long_kind: str = "") -> Iterator[bool]:
    """True if an analysis for this sender may run now; False: as many as allowed are running. Raises `redis.RedisError`.

    `long_kind`: the kind of an analysis that may take up to its time limit, of which all senders together run as many as one sender may.
    """
    if not settings.ANALYSES_PER_USER:
        yield True
        return
    slots = _Slots(sender_group_of(sender), long_kind)
    # Another task may have a slot for the same result.
    slot_id = f"{result_key} {secrets.token_hex(8)}"
    if not _begin(slots, slot_id):
        yield False
        return
    try:
        with renewed(lambda: _renew(slots.all, slot_id)):
            yield True
    finally:
        _end(slots.all, slot_id)
        _wait_from_now(slots)


@contextmanager
def analysis_slot_of_any(senders: Collection[str], result_key: str, *, long_kind: str = "") -> Iterator[bool]:
    """`analysis_slot` the first of several senders, in random order, who ask for the same result and whose turn it is."""
    for sender in random.sample(sorted(senders), min(len(senders), _MAX_SENDERS)):
        with analysis_slot(sender, result_key, long_kind=long_kind) as is_turn:
            if is_turn:
                yield True
                return
    yield False


def run_in_turn(senders: Collection[str], result_key: str, compute: Callable[[], object], *, long_kind: str = "") -> bool:
    """Compute and store a result in the turn of one of those who ask for it. False: it is nobody's turn, and somebody still waits.

    Does nothing if another worker computes the result, it is stored, or nobody has asked for it in the last seconds. Raises
    `redis.RedisError`, and what `compute` raises.
    """
    if not single_flight.drop_if_abandoned(result_key):
        with analysis_slot_of_any(senders, result_key, long_kind=long_kind) as is_turn:
            if is_turn:
                with single_flight.claim_computation(result_key) as is_claimed:
                    if is_claimed:
                        compute()
            elif single_flight.keep_waiting(result_key):
                return False
    stop_waiting(senders, long_kind=long_kind)
    return True


def stop_waiting(senders: Collection[str], *, long_kind: str = "") -> None:
    """Forget that these wait: they have their result, or have given up. Those who wait for something else try again."""
    if not settings.ANALYSES_PER_USER:
        return
    pipe: Any = stream.client().pipeline(transaction=False)
    for sender_group in map(sender_group_of, senders):
        for key in _Slots(sender_group, long_kind).shared.values():
            pipe.hdel(key, sender_group.sender)
    pipe.execute()


def _begin(slots: _Slots, slot_id: str) -> bool:
    now = time.time()
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in slots.all:
        pipe.zremrangebyscore(key, "-inf", now)
        pipe.zadd(key, {slot_id: now + _SLOT_SECONDS})
        pipe.expire(key, _SLOT_SECONDS)
        pipe.zcard(key)
    is_free = dict(zip(slots.all, (count <= settings.ANALYSES_PER_USER for count in pipe.execute()[3::4]), strict=True))
    is_turn = _is_turn(slots, now, is_free)
    if not is_turn:
        _end(slots.all, slot_id)
    return is_turn


def _is_turn(slots: _Slots, now: float, is_free: dict[str, bool]) -> bool:
    """Whether all slots are free and no other has waited longer for a shared one. If not, this sender waits: ready for the first slot
    that it lacks, and not ready for those after it.
    """
    sender = slots.sender_group.sender
    is_ready = is_free[slots.own]
    pipe: Any = stream.client().pipeline(transaction=True)
    for key, waiting_key in slots.shared.items():
        since, is_first = _rank(waiting_key, sender, now)
        may_have = is_ready and is_first and is_free[key]
        if may_have:
            pipe.hdel(waiting_key, sender)
        else:
            pipe.hset(waiting_key, sender, msgspec.json.encode(_Waiting(since, now, is_ready)))
            pipe.expire(waiting_key, _WAITING_SECONDS)
        is_ready = may_have
    pipe.execute()
    return is_ready


def _rank(waiting_key: str, sender: str, now: float) -> tuple[float, bool]:
    """Since when a sender has waited, and whether no other has waited longer. Forgets those who have given up."""
    stored: Any = stream.client().hgetall(waiting_key)
    waiting = {name.decode(): msgspec.json.decode(data, type=_Waiting) for name, data in stored.items()}
    gone = [name for name, one in waiting.items() if one.last < now - _WAITING_SECONDS]
    if gone:
        stream.client().hdel(waiting_key, *gone)
    others = [one.since for name, one in waiting.items() if name not in (sender, *gone) and one.is_ready]
    since = waiting[sender].since if sender in waiting and sender not in gone else now
    return since, since <= min(others, default=since)


def _wait_from_now(slots: _Slots) -> None:
    """A sender whose turn has ended, and who waits for another one, goes to the end."""
    now, sender = time.time(), slots.sender_group.sender
    for waiting_key in slots.shared.values():
        stored: Any = stream.client().hget(waiting_key, sender)
        if stored is not None:
            one = msgspec.json.decode(stored, type=_Waiting)
            stream.client().hset(waiting_key, sender, msgspec.json.encode(msgspec.structs.replace(one, since=now)))


def _renew(running: list[str], slot_id: str) -> None:
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in running:
        pipe.zadd(key, {slot_id: time.time() + _SLOT_SECONDS})
        pipe.expire(key, _SLOT_SECONDS)
    pipe.execute()


def _end(running: list[str], slot_id: str) -> None:
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in running:
        pipe.zrem(key, slot_id)
    pipe.execute()


def _waiting_key(group: str) -> str:
    return f"schedviz:analyses-waiting-since:{group}"


def _waiting_for_kind_key(long_kind: str) -> str:
    return f"schedviz:analyses-waiting-since-for-kind:{long_kind}"
