"""What the hosted sessions of one process share: slots, and locks that limit runs, loads and suspicious commands."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.conf import settings

from schedviz.sessions import senders

#: Set when the worker shuts down: it releases its sessions and wakes another worker.
STOPPING = threading.Event()

#: Held while a command runs whose previous owner crashed during it, so that another crash can be attributed to that command.
SUSPICIOUS_COMMAND_LOCK = threading.Lock()


#: Senders whose last turn is remembered.
_MAX_SENDERS = 1024


class _WaitingThread(NamedTuple):
    sender: str
    #: Released by the thread that leaves, which hands its place over.
    entered: threading.Lock


class FairSemaphore:
    """Admits a fixed number of threads at a time. Senders take turns, and threads of one sender are admitted in order of arrival.

    `threading.Semaphore` may admit a thread that has just left before those that wait, which then starve.
    """

    def __init__(self, width: int, *, width_of_sender: int | None = None) -> None:
        self._free = width
        self._width_of_sender = width_of_sender or width
        self._waiting: list[_WaitingThread] = []
        self._inside: Counter[str] = Counter()
        #: Of the senders of the threads that were admitted last, the number of the admission; the last one at the end.
        self._admitted: OrderedDict[str, int] = OrderedDict()
        self._admissions = 0
        self._lock = threading.Lock()

    @contextmanager
    def place_of(self, sender: str) -> Iterator[None]:
        """Wait for a place, and hold it. `sender`: for whom the thread works (`SenderGroup.counted_as`)."""
        thread = _WaitingThread(sender, threading.Lock())
        thread.entered.acquire()
        with self._lock:
            self._waiting.append(thread)
            self._admit()
        thread.entered.acquire()
        try:
            yield
        finally:
            with self._lock:
                self._free += 1
                self._inside[sender] -= 1
                self._admit()

    def _admit(self) -> None:
        while self._free and (thread := self._next()) is not None:
            self._free -= 1
            self._inside[thread.sender] += 1
            self._waiting.remove(thread)
            self._admissions += 1
            self._admitted[thread.sender] = self._admissions
            self._admitted.move_to_end(thread.sender)
            if len(self._admitted) > _MAX_SENDERS:
                self._admitted.popitem(last=False)
            thread.entered.release()

    def _next(self) -> _WaitingThread | None:
        """The first thread of the sender whose last one was admitted longest ago."""
        may_enter = [thread for thread in self._waiting if self._inside[thread.sender] < self._width_of_sender]
        return min(may_enter, key=lambda thread: self._admitted.get(thread.sender, 0), default=None)


#: Slices of runs are computed and committed one at a time. There is a process per core, and a single step competes with one run at most.
BULK_SEMAPHORE = FairSemaphore(1)
#: Engines that load at the same time, and those of one sender. Without a limit, each load of many would take as long as all of them.
LOAD_SEMAPHORE = FairSemaphore(3, width_of_sender=2)


def _tasks_waiting_here() -> int:
    """Hosting tasks that this worker has fetched and has no slot for."""
    from celery.worker import state

    return len(state.reserved_requests) - len(state.active_requests)


class Slots:
    """How many sessions this process hosts, how many it can host, and whose leave when others wait."""

    def __init__(self, total: int, waiting: Callable[[], int] = _tasks_waiting_here) -> None:
        self.total = total
        self._waiting = waiting
        #: How many sessions of each owner this process hosts.
        self._hosted: Counter[int | None] = Counter()
        #: Sessions that `begin_leaving` told to leave and that have not left yet; fewer if others left meanwhile.
        self._leaving = 0
        self._lock = threading.Lock()

    @contextmanager
    def hosting(self, owner_id: int | None) -> Iterator[None]:
        """Count a session of this owner while it is hosted."""
        with self._lock:
            self._hosted[owner_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._hosted[owner_id] -= 1
                if not self._hosted[owner_id]:
                    del self._hosted[owner_id]
                self._leaving = max(0, self._leaving - 1)

    @property
    def taken(self) -> int:
        """How many sessions the process hosts now."""
        with self._lock:
            return self._hosted.total()

    @property
    def are_waited_for(self) -> bool:
        """Whether sessions wait for a slot of this process."""
        return self._waiting() > 0

    @property
    def is_crowded(self) -> bool:
        """Whether 80 % of the slots are taken, so that idle sessions should be released soon."""
        return self.taken >= 0.8 * self.total

    def has_most(self, owner_id: int | None) -> bool:
        """Whether no sender has more slots than this owner. Visitors of the demo count together, and then by address."""
        with self._lock:
            hosted = self._hosted.copy()
        if len(hosted) <= 1:
            return True
        totals = senders.totals_by_sender(hosted, hosted.keys() | {owner_id})
        return totals[owner_id] >= max(totals.values())

    def begin_leaving(self, owner_id: int | None, *, of_any_sender: bool = False) -> bool:
        """Count a session of this owner as leaving if another waits for its slot; returns whether it must leave now.

        About as many sessions leave as wait: one that is counted is not asked again, and any session that leaves reduces the count. They
        are of the sender with the most slots here, unless `of_any_sender`.
        """
        if not self._must_one_leave() or not (of_any_sender or self.has_most(owner_id)):
            return False
        with self._lock:
            if not self._must_one_leave():
                return False
            self._leaving += 1
            return True

    def _must_one_leave(self) -> bool:
        """Whether more sessions wait than there are slots that are free, that are handed over now, or whose sessions leave."""
        return self._waiting() > self._leaving + max(0, self.total - self._hosted.total())


SLOTS = Slots(settings.SLOTS)
