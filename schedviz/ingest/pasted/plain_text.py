"""`plain`: a copied text as kubectl printed it: without colours of a terminal, quotes, comments, frames and typographic letters."""

from __future__ import annotations

import html
import re
from typing import Final

#: Escape sequences of terminals: colours, cursor movements, titles. Possessive, because the text may be hostile.
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)?|[@-Z\\-_])")
#: Marks before quoted lines in mail and Markdown.
_QUOTE: Final = re.compile(r"^[ \t]*+(?:>[ \t]?)++", re.MULTILINE)
#: Typographic letters of editors and chats, and frames of terminal programs.
_LETTERS: Final = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "\u00a0": " ", "\u200b": None, "\ufeff": None} | dict.fromkeys("│┃║", " ")
)
#: The left side of a frame with the space after it: what follows begins its line, as in the output of kubectl.
_FRAME: Final = re.compile(r"^[ \t]*+[│┃║] ?", re.MULTILINE)
#: Lines of commands and their output, each with the mark of a comment before it, as in a script or a note. One such line is a heading.
_COMMENTED: Final = re.compile(r"(?:^#(?![#!])[^\n]*+(?:\n|\Z)){2,}+", re.MULTILINE)
_COMMENT_MARK: Final = re.compile(r"^# ?", re.MULTILINE)
#: Where bold text begins and ends in Markdown, and the end of a paragraph, which ends it, too.
_EMPHASIS: Final = re.compile(
    r"""(?P<open>(?:(?<![\w*./:-])|(?<=\d/))\*\*(?=[\w"'`({\[]))|"""
    r"""(?P<close>(?<=[\w"'`)}\].!?:,;])\*\*(?![\w*/-]|\.\w))|(?P<break>\n[ \t]*+\n)"""
)
_ENTITY: Final = re.compile(r"&(?:#\d{1,5}|quot|amp|apos|lt|gt);")


def plain(text: str) -> str:
    """The text without the escape sequences of a terminal, the marks of quoted and commented lines, frames, and typographic letters."""
    text = _FRAME.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n"))
    text = _QUOTE.sub("", text.translate(_LETTERS))
    text = _COMMENTED.sub(lambda lines: _COMMENT_MARK.sub("", lines[0]), text)
    return without_emphasis(_ENTITY.sub(lambda entity: html.unescape(entity[0]), text))


def without_emphasis(text: str) -> str:
    """The text without Markdown's `**bold**`. Asterisks inside names, which people write over what they hide, stay: `ip-**-**-29`."""
    if "**" not in text:
        return text
    pieces: list[str] = []
    begin, opened = 0, list[re.Match[str]]()
    for mark in _EMPHASIS.finditer(text):
        if mark["open"] is not None:
            opened.append(mark)
            continue
        if mark["close"] is not None and opened:
            for each in (*opened, mark):
                pieces.append(text[begin : each.start()])
                begin = each.end()
        opened.clear()
    return "".join((*pieces, text[begin:]))
