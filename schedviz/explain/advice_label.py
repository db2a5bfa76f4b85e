"""The label of what to do: once in an answer; what to do about further reasons follows an arrow."""

from __future__ import annotations

from typing import Final

#: Before what to do first.
NEXT_STEP: Final = "Next step:"
#: Before what to do about further reasons.
ARROW: Final = "→"
