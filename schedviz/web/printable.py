"""Text that somebody sent, made safe to quote: in one line, and not too long."""

from __future__ import annotations


def printable(text: str, longest: int) -> str:
    """Its beginning, with a replacement character for each that does not print, such as a line break."""
    line = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text[:longest])
    return line if len(text) <= longest else f"{line[:-1]}\N{HORIZONTAL ELLIPSIS}"
