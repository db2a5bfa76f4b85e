"""The result of Go's fmt.Sprintf for a text that is used as a format without arguments: every `%` has a missing argument.

Upstream's scheduler uses messages as formats in a few places (`Eventf(..., msg)`, `fmt.Errorf(result.Error)`), so a `%` in a message of an
extender, of the API server or of a plugin is altered.

Upstream: Go fmt/print.go doPrintf
"""

from __future__ import annotations

import re
from typing import Final

_FLAGS: Final = re.compile(r"[#0+\- ]*")
#: `[n]`, or an unfinished one.
_INDEX: Final = re.compile(r"\[(?!\]\Z)[^\]]*\]|\[")
_NUMBER: Final = re.compile(r"[0-9]*")
#: Go rejects larger widths.
_MAX_WIDTH: Final = 1_000_000


def without_arguments(text: str) -> str:
    """The text as fmt.Sprintf(text) returns it."""
    head, percent, rest = text.partition("%")
    if not percent:
        return text
    parts = [head]
    while percent:
        shown, rest = _directive(rest)
        head, percent, rest = rest.partition("%")
        parts += [shown, head]
    return "".join(parts)


def _directive(text: str) -> tuple[str, str]:
    """The replacement of one directive, where `text` follows the `%`; and the rest of the text."""
    shown, at, bad_index = "", _end(_FLAGS, text, 0), False

    def skip_index() -> None:
        nonlocal at, bad_index
        match = _INDEX.match(text, at)
        if match is not None:
            at, bad_index = match.end(), True

    def skip_number(complaint: str) -> None:
        nonlocal at, shown
        if text.startswith("*", at):
            at, shown = at + 1, shown + complaint
            return
        end = _end(_NUMBER, text, at)
        at = len(text) if int(text[at:end] or 0) > _MAX_WIDTH else end

    skip_index()
    skip_number("%!(BADWIDTH)")
    if text.startswith(".", at) and at + 1 < len(text):
        at += 1
        skip_index()
        skip_number("%!(BADPREC)")
    skip_index()
    if at >= len(text):
        return f"{shown}%!(NOVERB)", ""
    verb = text[at]
    if verb == "%":
        return f"{shown}%", text[at + 1 :]
    return f"{shown}%!{verb}({'BADINDEX' if bad_index else 'MISSING'})", text[at + 1 :]


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    assert match is not None  # both patterns match the empty string too
    return match.end()
