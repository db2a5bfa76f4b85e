"""What the turns of one process share: how many there are, whether they are to leave, how many compute at length, who may be dangerous."""

from __future__ import annotations

import os
import threading
from typing import Self

#: Set when the worker shuts down: turns release their sessions and ring for another worker.
STOPPING = threading.Event()

#: Slices of runs take turns here: more than two of them would leave nothing to somebody's single step.
BULK = threading.BoundedSemaphore(2)

#: Held by whoever does a command that its last owner may have died of: who dies with it held is known by name.
SUSPECT = threading.Lock()


class Slots:
    """How many turns this process is taking, of how many it can."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._taken = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        with self._lock:
            self._taken += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._taken -= 1

    @property
    def is_crowded(self) -> bool:
        """Whether 80 % are taken, so that a turn is to leave after its slice and queue again."""
        return self._taken >= 0.8 * self.total


SLOTS = Slots(int(os.environ.get("SCHEDVIZ_SLOTS", "64")))
