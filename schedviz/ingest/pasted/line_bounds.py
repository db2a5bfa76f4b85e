"""Where a line of a text begins and ends. A search in the whole text would take quadratic time, so most look only near an offset."""

from __future__ import annotations

from typing import Final

#: More of a line before or after a message is not examined for its pod and its time.
MAX_LINE_LENGTH: Final = 4_000


def line_start(text: str, offset: int, limit: int) -> int:
    """Where the line at an offset begins, but at most `limit` characters before."""
    earliest = max(0, offset - limit)
    return max(text.rfind("\n", earliest, offset) + 1, earliest)


def line_end(text: str, offset: int) -> int:
    """Where the next line begins."""
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def near_line_end(text: str, offset: int) -> int:
    """The end of the line, but at most `MAX_LINE_LENGTH` characters after an offset."""
    newline = text.find("\n", offset, offset + MAX_LINE_LENGTH)
    return min(len(text), offset + MAX_LINE_LENGTH) if newline < 0 else newline
