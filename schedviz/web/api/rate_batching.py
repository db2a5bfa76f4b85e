"""Requests that are counted ahead: who sends many in a row is counted some at a time, so that few of them wait for Redis."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Final

import msgspec

#: Of a limit, what is counted ahead at most: a thousandth is lost where nothing more comes.
_SHARE: Final = 1000
#: Who sends nothing for so long begins anew.
_CREDIT_SECONDS: Final = 1.0
#: Of so many who ask something is kept.
_MOST_KEYS: Final = 10_000


class Counted(msgspec.Struct, frozen=True):
    """What a count came to: whether it is allowed, how many more are, and when (as `time.time` says it) the count is lower."""

    allowed: bool
    remaining: int
    reset_time: float


class _Credit(msgspec.Struct):
    #: Counted already and not used.
    left: int
    #: How many were counted at once, the last time.
    taken: int
    at: float
    last: Counted


class Credits:
    """What is counted ahead in this process, by who asks. It doubles from one, so that who asks now and then is counted as they ask."""

    def __init__(self) -> None:
        self._credits: dict[Hashable, _Credit] = {}
        self._lock = threading.Lock()

    def count(self, key: Hashable, limit: int, ask: Callable[[int], Counted]) -> Counted:
        """Count one request. `ask` counts so many for all processes, or none of them."""
        amount = self._use(key, limit)
        if isinstance(amount, Counted):
            return amount
        counted = ask(amount)
        if not counted.allowed and amount > 1:
            amount, counted = 1, ask(1)
        if counted.allowed and limit // _SHARE > 1:
            self._keep(key, amount, counted)
        return msgspec.structs.replace(counted, remaining=counted.remaining + amount - 1)

    def _use(self, key: Hashable, limit: int) -> Counted | int:
        """What was counted ahead; else how many to count now."""
        with self._lock:
            credit = self._credits.get(key)
            if credit is None:
                return 1
            if time.monotonic() - credit.at > _CREDIT_SECONDS:
                del self._credits[key]
                return 1
            if credit.left:
                credit.left -= 1
                return Counted(True, credit.last.remaining + credit.left, credit.last.reset_time)
            return max(1, min(2 * credit.taken, limit // _SHARE))

    def _keep(self, key: Hashable, amount: int, counted: Counted) -> None:
        with self._lock:
            known = self._credits.get(key)
            # Several threads may have run out at once.
            left = amount - 1 + (known.left if known is not None else 0)
            if len(self._credits) >= _MOST_KEYS:
                self._credits.clear()
            self._credits[key] = _Credit(left, amount, time.monotonic(), counted)
