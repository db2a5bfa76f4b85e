"""The memory of the engines of one worker: the sender whose engines use most of it gives way before the kernel ends the worker.

Above a part of the limit, idle engines are released soon and none is kept. Above a larger part, no further engine of that sender is loaded
here, and one of its engines after the other is released.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import UUID

from schedviz.sessions import heap_trim
from schedviz.sessions.interval import DelayedCall
from schedviz.sessions.senders import totals_by_sender

logger = logging.getLogger(__name__)

#: Parts of the limit: from the first, memory is short; from the second, the largest sender's engines are not loaded, and released; from
#: the third, no engine is loaded.
_SHORT_SHARE: Final = 0.7
_FULL_SHARE: Final = 0.85
_EXHAUSTED_SHARE: Final = 0.95
#: The part of the limit that the largest sender's engines may need at least.
_LARGE_SHARE: Final = 0.1
#: If all engines may need less than this part, most of the memory in use is what released engines left: Python uses it for new ones.
_KEPT_SHARE: Final = 0.25
#: How long a measurement is used, and how long a released engine has until the next one must leave, also when memory is exhausted.
_FRESH_SECONDS: Final = 0.5
_LEAVING_SECONDS: Final = 3.0
_LEAVING_SECONDS_IF_EXHAUSTED: Final = 0.5
_COLLECTION_SECONDS: Final = 10.0
#: How long a worker hosts nothing before it looks whether memory of released engines is left. Longer than between two collections.
_IDLE_SECONDS: Final = 15.0
#: How long a session that was not loaded counts as waiting for memory. It tries again sooner.
_WAITING_SECONDS: Final = 15.0
#: A worker that is younger than this is not restarted because of memory that it keeps, unless all of it is used.
_YOUNG_SECONDS: Final = 600.0
#: What an engine counts besides its objects.
_OBJECTS_OF_ENGINE: Final = 1000
#: The memory that a load may need for each object of weight 1.
_BYTES_OF_OBJECT: Final = 2048
_CGROUPS: Final = Path("/sys/fs/cgroup")


def limit_bytes(*, own: Path = Path("/proc/self/cgroup"), root: Path = _CGROUPS) -> int:
    """The memory limit of this process's control group or of one above it, as containers and systemd set it; 0: there is none."""
    try:
        path = next(line[3:] for line in own.read_text().splitlines() if line.startswith("0::")).strip("/")
    except (OSError, StopIteration):
        path = ""
    folder = root / path
    limits = []
    for each in (folder, *folder.parents):
        for name in ("memory.max", "memory.high"):
            try:
                limits.append(int((each / name).read_text()))
            except (OSError, ValueError):
                # There is no such file, or it says "max".
                continue
        if each == root:
            break
    return min(limits, default=0)


def used_bytes() -> int:
    """The memory of this process that it shares with none."""
    _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


class EngineMemory:
    """The engines of this process by sender, and how much memory is left for more."""

    def __init__(
        self, *, limit: int | None = None, used: Callable[[], int] = used_bytes, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`limit`: in bytes; 0: there is none; None: that of the control group."""
        self._limit = limit_bytes() if limit is None else limit
        self._used = used
        self._clock = clock
        self._lock = threading.Lock()
        #: By session, its owner and objects.
        self._hosted: dict[UUID, tuple[int | None, int]] = {}
        #: Those of them that are being loaded.
        self._loading: set[UUID] = set()
        self._part = 0.0
        self._measured_at = float("-inf")
        self._left_at = float("-inf")
        #: When a session was not loaded because the engines here use all memory.
        self._refused_at = float("-inf")
        self._collected_at = float("-inf")
        #: When this process began, and when it hosted an engine last.
        self._began_at = self._hosted_at = clock()
        #: Ends this worker gracefully, and a new one is started in its place; None: this process is not such a worker.
        self.restart: Callable[[], object] | None = None
        self._idle_check = DelayedCall(self.restart_if_kept, _IDLE_SECONDS)

    @contextmanager
    def hosting(self, session_id: UUID, owner_id: int | None, objects: int) -> Iterator[None]:
        """Count an engine while it is hosted. `objects`: their weight, as long as `weigh` does not set it."""
        with self._lock:
            self._hosted[session_id] = (owner_id, objects)
        try:
            yield
        finally:
            with self._lock:
                self._hosted.pop(session_id, None)
                self._loading.discard(session_id)
                self._hosted_at = self._clock()
            if self.restart is not None and self.is_short:
                self._idle_check.request()

    def weigh(self, session_id: UUID, objects: int) -> None:
        """The present weight of the objects of a hosted engine, which is loaded."""
        with self._lock:
            self._loading.discard(session_id)
            if (hosted := self._hosted.get(session_id)) is not None:
                self._hosted[session_id] = (hosted[0], objects)

    @property
    def is_short(self) -> bool:
        """Whether idle engines should be released soon, and none be kept."""
        return self._used_part() >= _SHORT_SHARE

    @property
    def is_exhausted(self) -> bool:
        """Whether engines use all memory, so that none is loaded beside others."""
        return self._used_part() >= _EXHAUSTED_SHARE and self._objects_part() >= _KEPT_SHARE

    def must_wait(self, session_id: UUID, owner_id: int | None) -> bool:
        """Whether this session must not be loaded now: the other engines of its owner use most of the memory, or others use all of it.

        What other loads may need counts as used. If False, the caller must load the session, and then call `weigh` or end `hosting`.
        """
        if self._used_part() + self._loading_part(session_id) >= _FULL_SHARE:
            self.collect()
        part = self._used_part() + self._loading_part(session_id)
        if part >= _EXHAUSTED_SHARE and self._hosts_others(session_id) and self._objects_part() >= _KEPT_SHARE:
            self._refused_at = self._clock()
            return True
        if part >= _FULL_SHARE and self._is_largest(owner_id, but=session_id):
            return True
        with self._lock:
            if session_id in self._hosted:
                self._loading.add(session_id)
        return False

    def must_leave(self, owner_id: int | None) -> bool:
        """Whether an engine of this owner must be released now, because its owner's engines use most of the memory, and others are hosted
        or wait. It then counts as leaving, so the caller must release it.
        """
        # Exhausted memory blocks everybody, also if all senders are small.
        minimum, pause = (0.0, _LEAVING_SECONDS_IF_EXHAUSTED) if self.is_exhausted else (_LARGE_SHARE, _LEAVING_SECONDS)
        if self._used_part() < _FULL_SHARE or not self._is_largest(owner_id, minimum=minimum):
            return False
        with self._lock:
            now = self._clock()
            # One engine alone stays while nobody else needs its memory.
            is_needed = len(self._hosted) > 1 or now - self._refused_at < _WAITING_SECONDS
            if not is_needed or now - self._left_at < pause:
                return False
            self._left_at = now
            self._refused_at = float("-inf")
            return True

    def is_needed_by_others(self, owner_id: int | None) -> bool:
        """Whether memory is short because of this owner's engines, so that its idle ones should be released soon."""
        return self.is_short and self._is_largest(owner_id)

    def restart_if_kept(self) -> None:
        """Restart the worker if it has hosted nothing for a while and memory is short all the same: Python keeps the memory that engines
        have used, in pages with a few objects that are still in use, and only a new process is without it.

        Sessions that begin meanwhile wait for the new process, so a young one restarts only if it can host hardly anything.
        """
        with self._lock:
            if self.restart is None or self._hosted:
                return
            is_idle = self._clock() - self._hosted_at >= _IDLE_SECONDS
        if not is_idle:
            self._idle_check.request()
            return
        self.collect()
        self._measured_at = float("-inf")
        is_young = self._clock() - self._began_at < _YOUNG_SECONDS
        if self._used_part() >= _EXHAUSTED_SHARE or (self.is_short and not is_young):
            logger.warning("restarting this worker: it hosts no session, and %d%% of its memory limit are in use", 100 * self._part)
            self.restart()

    def collect(self) -> None:
        """Free released engines, whose objects refer to each other, and give their memory back to the system; at most every few seconds,
        because it stops all threads.
        """
        with self._lock:
            now = self._clock()
            if now - self._collected_at < _COLLECTION_SECONDS:
                return
            self._collected_at = now
        gc.collect()
        heap_trim.trim()
        self._measured_at = float("-inf")

    def _used_part(self) -> float:
        if not self._limit:
            return 0.0
        now = self._clock()
        if now - self._measured_at >= _FRESH_SECONDS:
            self._measured_at, self._part = now, self._used() / self._limit
        return self._part

    def _loading_part(self, but: UUID) -> float:
        with self._lock:
            return self._part_of(sum(self._hosted[session_id][1] for session_id in self._loading if session_id != but))

    def _objects_part(self) -> float:
        """The part of the limit that the objects of all engines here may need."""
        with self._lock:
            return self._part_of(sum(objects + _OBJECTS_OF_ENGINE for _, objects in self._hosted.values()))

    def _part_of(self, objects: int) -> float:
        return objects * _BYTES_OF_OBJECT / self._limit if self._limit else 0.0

    def _hosts_others(self, session_id: UUID) -> bool:
        with self._lock:
            return any(other != session_id for other in self._hosted)

    def _is_largest(self, owner_id: int | None, *, but: UUID | None = None, minimum: float = _LARGE_SHARE) -> bool:
        """Whether a sender has a minimum part of the limit, and no other's objects weigh more in this process. Visitors of the demo are one
        sender.
        """
        with self._lock:
            hosted = [value for session_id, value in self._hosted.items() if session_id != but]
        objects_of: Counter[int | None] = Counter()
        for owner, objects in hosted:
            objects_of[owner] += objects + _OBJECTS_OF_ENGINE
        totals = {owner: total for owner, (total, _) in totals_by_sender(objects_of, objects_of.keys() | {owner_id}).items()}
        # The allocator may keep the memory of engines that were released. A sender with small ones does not wait for it.
        return totals[owner_id] * _BYTES_OF_OBJECT >= minimum * self._limit and totals[owner_id] >= max(totals.values()) > 0


MEMORY: Final = EngineMemory()
