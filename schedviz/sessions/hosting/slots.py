"""What the hosted sessions of one process share: slots, and locks that limit runs, loads and suspicious commands."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Self

from django.conf import settings

#: Set when the worker shuts down: it releases its sessions and wakes another worker.
STOPPING = threading.Event()

#: Held while a command runs whose previous owner crashed during it, so that another crash can be attributed to that command.
SUSPICIOUS_COMMAND_LOCK = threading.Lock()


class FairSemaphore:
    """Admits a fixed number of threads at a time, in order of arrival.

    `threading.Semaphore` may admit a thread that has just left before those that wait, which then starve.
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
            slot = threading.Lock()
            slot.acquire()
            self._waiting.append(slot)
        # Released by the thread that leaves, which hands its place over.
        slot.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


#: Slices of runs are computed and committed one at a time. There is a process per core, and a single step competes with one run at most.
BULK_SEMAPHORE = FairSemaphore(1)
#: Engines that load at the same time. Without a limit, each load of many would take as long as all of them.
LOAD_SEMAPHORE = FairSemaphore(3)


def _tasks_waiting_here() -> int:
    """Hosting tasks that this worker has fetched and has no slot for."""
    from celery.worker import state

    return len(state.reserved_requests) - len(state.active_requests)


class Slots:
    """How many sessions this process hosts, and how many it can host."""

    def __init__(self, total: int, waiting: Callable[[], int] = _tasks_waiting_here) -> None:
        self.total = total
        self._waiting = waiting
        self._taken = 0
        #: Sessions that `begin_leaving` told to leave and that have not left yet; fewer if others left meanwhile.
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
        """How many sessions the process hosts now."""
        return self._taken

    @property
    def is_crowded(self) -> bool:
        """Whether 80 % of the slots are taken, so that idle sessions should be released soon."""
        return self._taken >= 0.8 * self.total

    def begin_leaving(self) -> bool:
        """Count a session as leaving if another waits for its slot; returns whether it must leave now.

        About as many sessions leave as wait: one that is counted is not asked again, and any session that leaves reduces the count.
        """
        with self._lock:
            if self._waiting() <= self._leaving:
                return False
            self._leaving += 1
            return True


SLOTS = Slots(settings.SLOTS)
