"""Fair shares of something limited: however many senders there are, the next one usually finds a part of it.

A sender may hold half of what others leave. Senders without an account, which are easily many, count together as one sender, and divide its
share in the same way among the parts that they are in (`schedviz.sessions.senders.path_of`).
"""

from __future__ import annotations

from collections import Counter

from schedviz.sessions.senders import path_of


class FairShares:
    """What each sender holds. Its owner holds a lock, or uses it in one thread."""

    def __init__(self) -> None:
        #: By sender, and by what senders are parts of.
        self._held: Counter[str] = Counter()
        self.total = 0

    def of(self, sender: str) -> int:
        """What a sender holds."""
        return self._held[sender]

    def admits(self, sender: str, limit: int, amount: int = 1) -> bool:
        """Whether a sender may get this much more, of a limit for all.

        The first amount that a sender, or a part of senders, holds may be larger than its share, and that of all larger than the limit.
        """
        if self.total and self.total + amount > limit:
            return False
        held_by_all = self.total
        for part in path_of(sender):
            held = self._held[part]
            # Half of what the others leave, rounded up.
            limit = (limit - held_by_all + held + 1) // 2
            if held and held + amount > limit:
                return False
            held_by_all = held
        return True

    def add(self, sender: str, amount: int = 1) -> None:
        """Count what a sender gets, or with a negative amount gives back."""
        self.total += amount
        for part in path_of(sender):
            self._held[part] += amount
            if not self._held[part]:
                del self._held[part]
