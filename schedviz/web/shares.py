"""Shares of something limited: however many senders there are, the next one always finds a part of it.

A sender may hold half of what others leave. The senders of a group (`schedviz.sessions.turns`), which are easily many, count as one, and
divide its share in the same way.
"""

from __future__ import annotations

from collections import Counter

from schedviz.sessions.turns import group_of


class Shares:
    """What each sender holds. Its owner holds a lock, or uses it in one thread."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """What all hold together."""
        return self._held.total()

    def of(self, sender: str) -> int:
        """What a sender holds."""
        return self._held[sender]

    def of_group(self, sender: str) -> int:
        """What the senders of its group hold together; for a sender without a group, what it holds itself."""
        group = group_of(sender)
        return sum(held for other, held in self._held.items() if group_of(other) == group) if group else self._held[sender]

    def maximum(self, sender: str, limit: int) -> int:
        """What a sender may hold at the moment, of a limit for all."""
        own, of_group = self._held[sender], self.of_group(sender)
        share = _half(limit - self.total + of_group)
        if group_of(sender):
            share = _half(share - of_group + own)
        return share

    def add(self, sender: str, amount: int = 1) -> None:
        """Count what a sender gets, or with a negative amount gives back."""
        self._held[sender] += amount
        if not self._held[sender]:
            del self._held[sender]


def _half(number: int) -> int:
    return (number + 1) // 2
