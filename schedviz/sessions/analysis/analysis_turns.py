"""Leaves io processes free: the analyses of one sender do not occupy all of them, so that others' questions and imports are served.

The senders of a group take turns in the order in which they began to wait. Analyses of a kind that takes long share one limit, whoever
sends them, and all who wait for one take turns; a sender begins to wait when its last one has ended.

Long analyses of many senders do not occupy all processes of an io worker either: all but one of them are the *long places*. An analysis
that runs for `_SHORT_SECONDS` needs one from then on. If there is none, or another sender has waited longer, it is put back: it is
interrupted, and begins again in its turn. The next analyses of its sender need a long place from the beginning.
"""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import msgspec
import redis
from django.conf import settings
from django.db import connection

from schedviz.sessions.hosting.interruptible import Interrupted, Interruptible
from schedviz.sessions.redis import clock, single_flight, stream
from schedviz.sessions.redis.renewal import renewed
from schedviz.sessions.senders import SenderGroup, sender_group_of

#: A slot expires after this time unless its worker renews it, which a crashed worker does not.
_SLOT_SECONDS: Final = 15
#: A sender that was refused counts as waiting for this long. It tries again every second, but then may have to wait for a worker.
_WAITING_SECONDS: Final = 10
#: For this many of those who ask for a result, a worker looks for one whose turn it is.
_MAX_SENDERS: Final = 8
#: An analysis that runs for longer is long.
_SHORT_SECONDS: Final = 5.0
#: The analyses of a sender begin in a long place for this long after one was long.
_LONG_SENDER_SECONDS: Final = 60
_WAITING_FOR_LONG_PLACE: Final = "schedviz:analyses-waiting-since-for-long-place"


class PutBack(Interrupted):
    """The analysis has become long, and there is no place for long ones."""


class _Worker:
    """The io worker that this process belongs to. Others do not fetch the tasks that wait in it, so each keeps a process free."""

    name = ""
    long_places = 1


WORKER: Final = _Worker()


def serve(worker: str, processes: int) -> None:
    """Called in an io worker before it starts its processes."""
    WORKER.name, WORKER.long_places = worker, max(1, processes - 1)


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
    #: Whether it needs a long place.
    is_long: bool = True

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
        if self.is_long:
            shared[_long_places_key()] = _WAITING_FOR_LONG_PLACE
        return shared

    @property
    def all(self) -> list[str]:
        """The keys of all slots."""
        return [self.own, *self.shared]


class _Turn:
    """An analysis that runs in its slots."""

    def __init__(self, slots: _Slots, slot_id: str) -> None:
        self._slots = slots
        self._slot_id = slot_id
        self._began = time.monotonic()

    def renew(self) -> None:
        _renew(self._slots.all, self._slot_id)

    def run(self, compute: Callable[[], object]) -> None:
        """Compute. Raises `PutBack` if it becomes long and may not continue, and what `compute` raises."""
        block = Interruptible(PutBack)
        limit = threading.Timer(_SHORT_SECONDS, self._become_long, [block])
        limit.daemon = True
        limit.start()
        try:
            with block:
                compute()
        except PutBack:
            # It may have been in the midst of a query.
            connection.close()
            raise
        finally:
            limit.cancel()
            limit.join()

    def end(self) -> None:
        _end(self._slots.all, self._slot_id)
        _wait_from_now(self._slots)
        if self._slots.is_long and time.monotonic() - self._began >= _SHORT_SECONDS:
            _remember_long(self._slots.sender_group.sender)

    def _become_long(self, block: Interruptible) -> None:
        if self._slots.is_long:
            return
        try:
            _remember_long(self._slots.sender_group.sender)
            now = clock.seconds()
            is_free = _take([_long_places_key()], self._slot_id, now)
            if _is_turn(self._slots.sender_group.sender, {_long_places_key(): _WAITING_FOR_LONG_PLACE}, now, is_free, is_ready=True):
                self._slots = msgspec.structs.replace(self._slots, is_long=True)
                return
            _end([_long_places_key()], self._slot_id)
        except redis.RedisError:
            return
        block.interrupt()


#: Runs a computation in a turn. Raises `PutBack`, and what the computation raises.
_Run = Callable[[Callable[[], object]], object]


@contextmanager
def _turn(sender: str, result_key: str, *, long_kind: str = "") -> Iterator[_Run | None]:
    """What runs the analysis, if one for this sender may run now; None: as many as allowed are running. Raises `redis.RedisError`.

    `long_kind`: the kind of an analysis that may take up to its time limit, of which all senders together run as many as one sender may.
    """
    if not settings.ANALYSES_PER_USER:
        yield lambda compute: compute()
        return
    sender_group = sender_group_of(sender)
    slots = _Slots(sender_group, long_kind, bool(long_kind) or _is_long(sender_group.sender))
    # Another task may have a slot for the same result.
    slot_id = f"{result_key} {secrets.token_hex(8)}"
    if not _begin(slots, slot_id):
        yield None
        return
    turn = _Turn(slots, slot_id)
    try:
        with renewed(turn.renew):
            yield turn.run
    finally:
        turn.end()


@contextmanager
def _turn_of_any(senders: Collection[str], result_key: str, *, long_kind: str = "") -> Iterator[_Run | None]:
    """`_turn` of the first of several senders, in random order, who ask for the same result and whose turn it is."""
    for sender in random.sample(sorted(senders), min(len(senders), _MAX_SENDERS)):
        with _turn(sender, result_key, long_kind=long_kind) as run:
            if run is not None:
                yield run
                return
    yield None


def run_in_turn(senders: Collection[str], result_key: str, compute: Callable[[], object], *, long_kind: str = "") -> bool:
    """Compute and store a result in the turn of one of those who ask for it. False: it is nobody's turn, or the turn has ended before the
    result, and somebody still waits.

    Does nothing if another worker computes the result, it is stored, or nobody has asked for it in the last seconds. Raises
    `redis.RedisError`, and what `compute` raises.
    """
    is_wanted = not single_flight.drop_if_abandoned(result_key)
    if is_wanted and not _ran(senders, result_key, compute, long_kind) and single_flight.keep_waiting(result_key):
        return False
    stop_waiting(senders, long_kind=long_kind)
    return True


def run_text_in_turn(sender: str, result_key: str, compute: Callable[[], object]) -> bool:
    """Compute something for one sender only, in its turn. False: it is not its turn, or the turn has ended before the result."""
    with _turn(sender, result_key) as run, suppress(PutBack):
        if run is not None:
            run(compute)
            return True
    return False


def _ran(senders: Collection[str], result_key: str, compute: Callable[[], object], long_kind: str) -> bool:
    """Whether it was somebody's turn, and the computation was not put back."""
    with _turn_of_any(senders, result_key, long_kind=long_kind) as run, suppress(PutBack):
        if run is not None:
            with single_flight.claim_computation(result_key) as is_claimed:
                if is_claimed:
                    run(compute)
            return True
    return False


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
    now = clock.seconds()
    is_free = _take(slots.all, slot_id, now)
    is_turn = _is_turn(slots.sender_group.sender, slots.shared, now, is_free, is_ready=is_free[slots.own])
    if not is_turn:
        _end(slots.all, slot_id)
    return is_turn


def _take(keys: Sequence[str], slot_id: str, now: float) -> dict[str, bool]:
    """Take a slot of each of these keys, whether or not there is a free one; returns whether there was."""
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in keys:
        pipe.zremrangebyscore(key, "-inf", now)
        # Those that end later than is possible are from before the clock was set back.
        pipe.zremrangebyscore(key, f"({now + 2 * _SLOT_SECONDS}", "+inf")
        pipe.zadd(key, {slot_id: now + _SLOT_SECONDS})
        pipe.expire(key, _SLOT_SECONDS)
        pipe.zcard(key)
    return {key: count <= _limit_of(key) for key, count in zip(keys, pipe.execute()[4::5], strict=True)}


def _limit_of(key: str) -> int:
    return WORKER.long_places if key == _long_places_key() else int(settings.ANALYSES_PER_USER)


def _is_turn(sender: str, shared: Mapping[str, str], now: float, is_free: Mapping[str, bool], *, is_ready: bool) -> bool:
    """Whether all slots are free and no other has waited longer for a shared one. If not, this sender waits: ready for the first slot
    that it lacks, and not ready for those after it. `is_ready`: whether it has its own slot.
    """
    pipe: Any = stream.client().pipeline(transaction=True)
    for key, waiting_key in shared.items():
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
    """Since when a sender has waited, and whether no other has waited longer. Forgets those who have given up, and those whose times are
    from before the clock was set.
    """
    stored: Any = stream.client().hgetall(waiting_key)
    waiting = {name.decode(): msgspec.json.decode(data, type=_Waiting) for name, data in stored.items()}
    gone = [name for name, one in waiting.items() if abs(now - one.last) > _WAITING_SECONDS]
    if gone:
        stream.client().hdel(waiting_key, *gone)
    others = [one.since for name, one in waiting.items() if name not in (sender, *gone) and one.is_ready]
    since = waiting[sender].since if sender in waiting and sender not in gone else now
    return since, since <= min(others, default=since)


def _wait_from_now(slots: _Slots) -> None:
    """A sender whose turn has ended, and who waits for another one, goes to the end."""
    sender = slots.sender_group.sender
    for waiting_key in slots.shared.values():
        stored: Any = stream.client().hget(waiting_key, sender)
        if stored is not None:
            one = msgspec.json.decode(stored, type=_Waiting)
            stream.client().hset(waiting_key, sender, msgspec.json.encode(msgspec.structs.replace(one, since=clock.seconds())))


def _renew(running: list[str], slot_id: str) -> None:
    until = clock.seconds() + _SLOT_SECONDS
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in running:
        pipe.zadd(key, {slot_id: until})
        pipe.expire(key, _SLOT_SECONDS)
    pipe.execute()


def _end(running: list[str], slot_id: str) -> None:
    pipe: Any = stream.client().pipeline(transaction=True)
    for key in running:
        pipe.zrem(key, slot_id)
    pipe.execute()


def _is_long(sender: str) -> bool:
    return bool(stream.client().exists(_long_sender_key(sender)))


def _remember_long(sender: str) -> None:
    stream.client().set(_long_sender_key(sender), b"1", ex=_LONG_SENDER_SECONDS)


def _long_sender_key(sender: str) -> str:
    return f"schedviz:analyses-were-long:{sender}"


def _long_places_key() -> str:
    return f"schedviz:long-analyses-in:{WORKER.name}"


def _waiting_key(group: str) -> str:
    return f"schedviz:analyses-waiting-since:{group}"


def _waiting_for_kind_key(long_kind: str) -> str:
    return f"schedviz:analyses-waiting-since-for-kind:{long_kind}"
