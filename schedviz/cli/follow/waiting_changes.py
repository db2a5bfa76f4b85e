"""`WaitingChanges`: the queue between the watches and the pusher, bounded in memory."""

from __future__ import annotations

import queue
import time
from typing import Final

from schedviz.cli.follow.errors import FollowError
from schedviz.cli.follow.reflector import Change

#: Changes that may wait, if they are small: together, those that wait have at most about 64 MiB.
MAX_WAITING: Final = 2000
_BYTES_PER_PLACE: Final = 32 * 1024


class WaitingChanges(queue.Queue[tuple[float, Change | FollowError]]):
    """Changes with the time since which they wait. While it is full, the watches stop reading, which the API server notices.

    Each change takes a place, and another one for each full 32 KiB of its object.
    """

    def __init__(self) -> None:
        super().__init__(MAX_WAITING)

    def add(self, change: Change | FollowError) -> None:
        """Add a change; waits while the queue is full."""
        self.put((time.monotonic(), change))

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self._places = 0

    def _qsize(self) -> int:
        return self._places

    def _put(self, item: tuple[float, Change | FollowError]) -> None:
        super()._put(item)
        self._places += _places_of(item[1])

    def _get(self) -> tuple[float, Change | FollowError]:
        item: tuple[float, Change | FollowError] = super()._get()
        self._places -= _places_of(item[1])
        return item


def _places_of(change: Change | FollowError) -> int:
    return 1 + change.size // _BYTES_PER_PLACE if isinstance(change, Change) else 1
