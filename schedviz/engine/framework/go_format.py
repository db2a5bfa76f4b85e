"""The result of Go's fmt.Sprintf for a text that is used as a format without arguments: every `%` has a missing argument.

Upstream's scheduler uses messages as formats in a few places (`Eventf(..., msg)`, `fmt.Errorf(result.Error)`), so a `%` in a message of an
extender, of the API server or of a plugin is altered.

Upstream: Go fmt/print.go doPrintf
"""

from __future__ import annotations

import re
from typing import Final

_FLAGS: Final = re.compile(r"[#0+\- ]*")
_NUMBER: Final = re.compile(r"[0-9]*")
#: Go rejects larger widths.
_MAX_WIDTH: Final = 1_000_000
_MAX_WIDTH_DIGITS: Final = 7


def without_arguments(text: str) -> str:
    """The text as fmt.Sprintf(text) returns it."""
    parts, at = list[str](), 0
    last_index = text.rfind("]")
    while (percent := text.find("%", at)) >= 0:
        parts.append(text[at:percent])
        shown, at = _directive(text, percent + 1, last_index)
        parts.append(shown)
    return "".join((*parts, text[at:]))


def _directive(text: str, at: int, last_index: int) -> tuple[str, int]:
    """The replacement of the directive whose `%` ends at `at`, and where it ends. `last_index`: where the last `]` of the text is."""
    shown, at, bad_index = "", _end(_FLAGS, text, at), False

    def skip_index() -> None:
        nonlocal at, bad_index
        if text.startswith("[", at):
            # `[n]`, or an unfinished one, as `[]` at the end is.
            is_finished = at < last_index and at + 2 < len(text)
            at, bad_index = text.index("]", at) + 1 if is_finished else at + 1, True

    def skip_number(complaint: str) -> None:
        nonlocal at, shown
        if text.startswith("*", at):
            at, shown = at + 1, shown + complaint
            return
        end = _end(_NUMBER, text, at)
        digits = text[at:end].lstrip("0")
        at = len(text) if len(digits) > _MAX_WIDTH_DIGITS or int(digits or 0) > _MAX_WIDTH else end

    skip_index()
    skip_number("%!(BADWIDTH)")
    if text.startswith(".", at) and at + 1 < len(text):
        at += 1
        skip_index()
        skip_number("%!(BADPREC)")
    skip_index()
    if at >= len(text):
        return f"{shown}%!(NOVERB)", at
    verb = text[at]
    if verb == "%":
        return f"{shown}%", at + 1
    return f"{shown}%!{verb}({'BADINDEX' if bad_index else 'MISSING'})", at + 1


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    assert match is not None  # both patterns match the empty string too
    return match.end()
