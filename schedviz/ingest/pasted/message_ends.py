"""Finds where a scheduler's message ends in a longer text: at its closing quote, or at the last of the lines that it was wrapped into."""

from __future__ import annotations

import re
from typing import Final

from schedviz.ingest.events import FAILED_SCHEDULING

#: Longer messages are cut.
MAX_MESSAGE_LENGTH: Final = 8_000
#: How much of a line before a message is examined for an opening quote.
_BEFORE: Final = 2_000
_BLANK_LINE: Final = re.compile(r"\n[ \t]*+\n")
#: A double quote with its escapes: `\"` is the quote of a JSON string inside another.
_QUOTE: Final = re.compile(r'(\\{0,8}+)"')
#: The closing quote of a YAML string, in which '' is an apostrophe, or of words in single quotes, which may have apostrophes.
_SINGLE_END: Final = re.compile(r"(?<!')'(?![\w'])")
#: What ends a message within a line: words of logs after it, the next column of a table, the end of an HTML element, code marks.
_WITHIN: Final = re.compile(
    r"; (?:waiting|retrying)|[ \t]\||</|`|\\r\\n|\","
    # A console prints how often an event was repeated directly after its message.
    r"|(?:(?<![=\d])\d{1,9}|(?<==0)[1-9]\d{0,8})? ?(?<=[\d ])times in the last \d{1,9} (?:second|minute|hour)"
)
#: The same inside quotes, whose content ends where the quote does.
_WITHIN_QUOTES: Final = re.compile(r"; (?:waiting|retrying)|</")
#: A line that cannot continue a message: blank, a bullet, a prompt, a fence, a key, a row of a table, the beginning of a log line.
_NEW_LINE: Final = re.compile(
    rf"\s*+(?:$|[-*#$+][ -]|```|---|kubectl\s|(?!(?:preemption|requested|used|limited|Forbidden):)\w++:(?:\s|$)|.*\b{FAILED_SCHEDULING}\b"
    r"|(?:\S++[ \t]++){0,5}(?:Normal|Warning)\s"
    r"|[IWEF]\d{4} |\d{4}-\d\d-\d\d|\d{1,2}:\d\d(?::\d\d)?\b|\|)"
)
_NEXT_SENTENCE: Final = re.compile(r"\s*+(?:preemption:|still not schedulable|no new claims)")
#: A line that begins with a capital letter belongs to a message only if it begins with one of these.
_CAPITAL: Final = re.compile(
    r"\s*+(?![a-z0-9{}(\[,.:\"'/_-])(?!Insufficient|Preemption|No |Pod|Persistent|Too many|CSI|ReadWrite|Resource|Storage|Volume|Node)"
)
#: Marks before each line of a comment or a diff.
_MARK: Final = re.compile(r"[ \t]*+(#++|//|[+-](?=\s))")
_ESCAPED: Final = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrt\"'/\\]))")


def whole_message(text: str, start: int, end: int) -> tuple[str, int]:
    """The message that begins at `start`, whose first words end at `end`, and the offset of its end."""
    earliest = max(0, start - _BEFORE)
    before = text[max(text.rfind("\n", earliest, start) + 1, earliest) : start]
    last = min(len(text), start + MAX_MESSAGE_LENGTH)
    if (blank := _BLANK_LINE.search(text, end, last)) is not None:
        last = blank.start()
    closing = _closing(before)
    if closing is not None and (match := closing.search(text, end, last)) is not None:
        quoted = _unescaped_text(text[start : match.start()])
        return _tidy(_unquoted(quoted, 0, 0, len(quoted), "", within=_WITHIN_QUOTES)[0]), match.end()
    return _unquoted(text, start, end, last, before, within=_WITHIN)


def _closing(before: str) -> re.Pattern[str] | None:
    """What closes the quote that is open at the end of a line's beginning; None if none is."""
    if before.endswith("'"):
        return _SINGLE_END
    if before.count("`") % 2:
        return re.compile("`")
    depths: dict[int, int] = {}
    for quote in _QUOTE.finditer(before):
        depths[len(quote[1])] = depths.get(len(quote[1]), 0) + 1
    open_depths = [depth for depth, count in depths.items() if count % 2]
    if not open_depths:
        return None
    escapes = r"\\" * max(open_depths)
    return re.compile(rf'(?<!\\){escapes}"')


def _unquoted(text: str, start: int, end: int, last: int, before: str, *, within: re.Pattern[str]) -> tuple[str, int]:
    mark = _MARK.match(before)
    stop = _end_of_line(text, end, last)
    parts = [text[start:stop]]
    while stop < last and _end_within(parts[-1], within) is None:
        following = _end_of_line(text, stop + 1, last)
        line = text[stop + 1 : following]
        if mark is not None and (same := _MARK.match(line)) is not None and same[1][:1] == mark[1][:1]:
            line = line[same.end() :]
        if not _continues("".join(parts), line):
            break
        parts.append(line)
        stop = following
    joined = " ".join(part.strip() for part in parts)
    cut = _end_within(joined, within)
    return _tidy(_unescaped_text(joined[: cut.start()] if cut is not None else joined)), stop


def _end_within(text: str, within: re.Pattern[str]) -> re.Match[str] | None:
    """Where a message ends in a line. A quotation that the message itself opened does not end it: `nodepool "default", no …`."""
    quotes = at = 0
    for end in within.finditer(text):
        quotes += text.count('"', at, end.start())
        at = end.start()
        if end[0] != '",' or quotes % 2 == 0:
            return end
    return None


def _continues(message: str, line: str) -> bool:
    """Whether a line continues a message that was wrapped."""
    if _NEXT_SENTENCE.match(line):
        return True
    so_far = message.rstrip()
    if _NEW_LINE.match(line) or so_far.endswith((".", '"', "'")):
        return False
    is_open = so_far.endswith((",", ":")) or so_far[-1:].isdigit() or so_far.count("{") > so_far.count("}")
    return is_open or not _CAPITAL.match(line)


def _end_of_line(text: str, start: int, last: int) -> int:
    newline = text.find("\n", start, last)
    return last if newline < 0 else newline


def _tidy(message: str) -> str:
    """The message in one line, without the quotes around it."""
    message = " ".join(re.sub(r"(?<=\w)''(?=\w)", "'", message).split()).strip("'` ")
    return message if message.count('"') % 2 == 0 else message.removesuffix('"').removeprefix('"')


def _unescaped_text(text: str) -> str:
    """The value of a string literal, which may be inside another one."""
    return _ESCAPED.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"
    return {"n": "\n", "r": " ", "t": " "}.get(match[2], match[2])
