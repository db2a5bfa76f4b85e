"""Batches rate-limit checks: for a client that sends many requests, several are counted in Redis at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Final

import msgspec

#: At most a limit divided by this number is counted ahead. That much is lost if no more requests come.
_MIN_BATCHES_PER_LIMIT: Final = 1000
#: After this time without requests, the batch starts at one again.
_CREDIT_SECONDS: Final = 1.0
#: The maximum number of clients that are remembered.
_MAX_CLIENTS: Final = 10_000


class LimitCheck(msgspec.Struct, frozen=True):
    """The result of a check: whether the request is allowed, how many remain, and when (as `time.time`) the count is lower."""

    allowed: bool
    remaining: int
    reset_time: float


class _Credit(msgspec.Struct):
    #: Requests that are counted in Redis but not used yet.
    left: int
    #: The size of the last batch.
    taken: int
    at: float
    last: LimitCheck


class BatchedCounter:
    """The batches of this process, by client. A batch doubles from one, so single requests are counted one by one."""

    def __init__(self) -> None:
        self._credits: dict[Hashable, _Credit] = {}
        self._lock = threading.Lock()

    def count(self, key: Hashable, limit: int, check: Callable[[int], LimitCheck], *, cost: int = 1) -> LimitCheck:
        """Count a request that costs as much as `cost` others. `check` counts a batch for all processes, or none of it."""
        if cost > 1:
            return check(cost)
        amount = self._use(key, limit)
        if isinstance(amount, LimitCheck):
            return amount
        counted = check(amount)
        if not counted.allowed and amount > 1:
            amount, counted = 1, check(1)
        if counted.allowed and limit // _MIN_BATCHES_PER_LIMIT > 1:
            self._store_credit(key, amount, counted)
        return msgspec.structs.replace(counted, remaining=counted.remaining + amount - 1)

    def _use(self, key: Hashable, limit: int) -> LimitCheck | int:
        """A request of the current batch; otherwise the size of the next batch."""
        with self._lock:
            credit = self._credits.get(key)
            if credit is None:
                return 1
            if time.monotonic() - credit.at > _CREDIT_SECONDS:
                del self._credits[key]
                return 1
            if credit.left:
                credit.left -= 1
                return LimitCheck(True, credit.last.remaining + credit.left, credit.last.reset_time)
            return max(1, min(2 * credit.taken, limit // _MIN_BATCHES_PER_LIMIT))

    def _store_credit(self, key: Hashable, amount: int, counted: LimitCheck) -> None:
        with self._lock:
            credit = self._credits.get(key)
            # Several threads may have used up the batch at once.
            remaining = amount - 1 + (credit.left if credit is not None else 0)
            if len(self._credits) >= _MAX_CLIENTS:
                self._credits.clear()
            self._credits[key] = _Credit(remaining, amount, time.monotonic(), counted)
