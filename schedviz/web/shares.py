"""Shares of something limited: however many senders there are, the next one usually finds a part of it.

A sender may hold half of what others leave. Senders without an account, which are easily many, count as one sender with others of their
group and then of their network (`schedviz.sessions.turns.path_of`), and divide its share in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from schedviz.sessions.turns import path_of


class Shares:
    """What each sender holds. Its owner holds a lock, or uses it in one thread."""

    def __init__(self, path_of: Callable[[str], tuple[str, ...]] = path_of) -> None:
        """`path_of`: a sender, after what it is a part of."""
        self._path_of = path_of
        #: By sender, and by what senders are parts of.
        self._held: Counter[str] = Counter()
        self.total = 0

    def of(self, sender: str) -> int:
        """What a sender holds."""
        return self._held[sender]

    def of_group(self, sender: str) -> int:
        """What the senders of its group hold together; for a sender without a group, what it holds itself."""
        return self._held[self._path_of(sender)[0]]

    def maximum(self, sender: str, limit: int) -> int:
        """What a sender may hold at the moment, of a limit for all."""
        held_by_all = self.total
        for part in self._path_of(sender):
            # Half of what the others leave, rounded up.
            limit = (limit - held_by_all + self._held[part] + 1) // 2
            held_by_all = self._held[part]
        return limit

    def add(self, sender: str, amount: int = 1) -> None:
        """Count what a sender gets, or with a negative amount gives back."""
        self.total += amount
        for part in self._path_of(sender):
            self._held[part] += amount
            if not self._held[part]:
                del self._held[part]
