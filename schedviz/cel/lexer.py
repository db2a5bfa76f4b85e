"""Tokens of an expression. Upstream: cel-go parser/gen/CEL.g4"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from schedviz.cel.errors import MAX_ISSUES, EscapeError, Issue


class Token(NamedTuple):
    """A token: its kind (the text itself for operators and keywords), its text, and where it begins."""

    kind: str
    text: str
    offset: int


END: Final = "<EOF>"
KEYWORDS: Final = frozenset({"true", "false", "null", "in"})
#: Identifiers that are reserved and cannot be variables.
RESERVED: Final = frozenset(
    re.findall(
        r"\w+",
        """as break const continue else false for function if import in let loop package namespace null return true var void while""",
    )
)

_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_RAW = r"[rR](?:\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"[^\"\n\r]*\"|'[^'\n\r]*')"
_QUOTED = rf"\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''|\"(?:{_ESCAPE}|[^\\\"\n\r])*\"|'(?:{_ESCAPE}|[^\\'\n\r])*'"
_STRING = rf"(?:{_RAW}|{_QUOTED})"
_TOKEN: Final = re.compile(
    rf"""(?P<SPACE>(?:[ \t\r\n\f]+|//[^\n]*)+)
    |(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
    |(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<BYTES>[bB]{_STRING})
    |(?P<STRING>{_STRING})
    |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/ ]+`)
    |(?P<OPERATOR>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])""",
    re.VERBOSE,
)


#: The beginning of an operator, text or name that does not continue as one, with the character after it, as ANTLR skips both.
_UNFINISHED: Final = re.compile(
    rf"""[=&|][\s\S]?|'(?:{_ESCAPE}|[^\\'\n\r])*\\?[\s\S]?|\"(?:{_ESCAPE}|[^\\\"\n\r])*\\?[\s\S]?|`[A-Za-z0-9_.\-/ ]*[\s\S]?"""
)


def tokens(source: str) -> tuple[list[Token], list[Issue]]:
    """The tokens, ending with `END`, and the lexical errors. Reading stops after more errors than are reported."""
    result: list[Token] = []
    issues: list[Issue] = []
    offset = 0
    while offset < len(source) and len(issues) <= MAX_ISSUES:
        match = _TOKEN.match(source, offset)
        if match is None:
            line, column = place(source, offset)
            unknown = _UNFINISHED.match(source, offset)
            text = source[offset] if unknown is None else unknown.group()
            shown = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
            issues.append(Issue(f"Syntax error: token recognition error at: '{shown}'", line, column))
            offset += len(text)
            continue
        kind, text = match.lastgroup or "", match.group()
        if kind == "OPERATOR" or text in KEYWORDS:
            kind = text
        if kind != "SPACE":
            result.append(Token(kind, text, offset))
        offset = match.end()
    result.append(Token(END, END, len(source)))
    return result, issues


def place(source: str, offset: int) -> tuple[int, int]:
    """The line, from 1, and the column, from 0, of a character."""
    before = source[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1)


_SIMPLE: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPED: Final = re.compile(_ESCAPE)


def unquoted(text: str) -> str:
    """The characters of a string literal. Raises `EscapeError`."""
    raw = text[0] in "rR"
    body = _body(text[1:] if raw else text)
    return body if raw else _ESCAPED.sub(lambda match: _character(match.group()), body)


def unquoted_bytes(text: str) -> bytes:
    """The bytes of a bytes literal, whose text begins with b. Raises `EscapeError`."""
    text = text[1:]
    raw = text[0] in "rR"
    body = _body(text[1:] if raw else text)
    return body.encode() if raw else b"".join(_byte_parts(body))


def _byte_parts(body: str) -> Iterator[bytes]:
    end = 0
    for match in _ESCAPED.finditer(body):
        yield body[end : match.start()].encode()
        escape = match.group()
        if escape[1] in "uU":
            raise EscapeError("unable to unescape string")
        yield bytes([ord(_character(escape))])
        end = match.end()
    yield body[end:].encode()


def _body(quoted: str) -> str:
    marks = 3 if quoted[:3] in ('"""', "'''") else 1
    return quoted[marks:-marks]


def _character(escape: str) -> str:
    kind = escape[1]
    if kind in "xXuU":
        code = int.from_bytes(bytes.fromhex(escape[2:]))
        if code > sys.maxunicode or 0xD800 <= code < 0xE000:
            raise EscapeError("invalid unicode code point")
        return chr(code)
    if kind in "0123":
        return chr(int(escape[1:], 8))
    return _SIMPLE.get(kind, kind)
