"""What the turns of one process share: how many there are, who waits for one, who computes at length, who may be dangerous."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Self

#: Set when the worker shuts down: turns release their sessions and ring for another worker.
STOPPING = threading.Event()

#: Held by whoever does a command that its last owner may have died of: who dies with it held is known by name.
SUSPECT = threading.Lock()


class FairSemaphore:
    """Lets so many threads through at a time, in the order in which they came.

    A semaphore would let the one that has just left in again before those who wait, and they would starve.
    """

    def __init__(self, width: int) -> None:
        self._free = width
        self._waiting: deque[threading.Lock] = deque()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        with self._lock:
            if self._free:
                self._free -= 1
                return self
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        # Released by whoever leaves, who leaves the place to this thread.
        mine.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


#: Slices of runs pass here one by one, with their commits: there is a process for each core, and a single step shares it with one of them.
BULK = FairSemaphore(1)
#: Engines are loaded so many at a time; if all of a crowd did so at once, each would take as long as all of them.
LOADING = FairSemaphore(3)


def _turns_waiting_here() -> int:
    """Turns that this worker was given and has no slot for."""
    from celery.worker import state

    return len(state.reserved_requests) - len(state.active_requests)


class Slots:
    """How many turns this process is taking, of how many it can."""

    def __init__(self, total: int, waiting: Callable[[], int] = _turns_waiting_here) -> None:
        self.total = total
        self._waiting = waiting
        self._taken = 0
        self._leaving = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        with self._lock:
            self._taken += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._taken -= 1
            self._leaving = max(0, self._leaving - 1)

    @property
    def taken(self) -> int:
        """How many turns it takes now."""
        return self._taken

    @property
    def is_crowded(self) -> bool:
        """Whether 80 % are taken, so that whoever has nothing to do is to leave soon."""
        return self._taken >= 0.8 * self.total

    def give_way(self) -> bool:
        """Whether a turn that has work is to leave for one that waits; who is told so leaves. No more do than wait."""
        with self._lock:
            if self._waiting() <= self._leaving:
                return False
            self._leaving += 1
            return True


SLOTS = Slots(int(os.environ.get("SCHEDVIZ_SLOTS", "64")))
