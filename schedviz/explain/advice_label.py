"""The label of what to do: once in an answer; what to do about further reasons follows an arrow."""

from __future__ import annotations

from typing import Final

#: Before what to do first.
NEXT_STEP: Final = "Next step:"
#: Before what to do about further reasons.
ARROW: Final = "→"


class AdviceLabels:
    """The labels of what one answer advises, in the order in which it is read."""

    def __init__(self) -> None:
        self._next = NEXT_STEP

    def next(self) -> str:
        """`NEXT_STEP`, and from the second time on `ARROW`."""
        label, self._next = self._next, ARROW
        return label
