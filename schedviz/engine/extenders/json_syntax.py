"""Why a text is no JSON, in the words of Go's decoder.

Upstream: Go encoding/json/scanner.go
"""

from __future__ import annotations

import re
from typing import Final

#: The deepest nesting that Go's decoder reads.
MAX_DEPTH: Final = 10_000
_UNEXPECTED_END: Final = "unexpected EOF"

_SPACE: Final = re.compile(r"[ \t\r\n]*")
#: A string without its last quotation mark, as far as it is valid.
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_HEX_DIGITS: Final = re.compile("[0-9a-fA-F]*")
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}

#: How characters are shown, besides those that are shown as they are or by their numbers.
_ESCAPES: Final = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", "'": "\\'"}

_VALUE, _FIRST_ELEMENT, _KEY, _FIRST_KEY, _COLON, _AFTER_VALUE = range(6)


class _InvalidError(Exception):
    """The text has the message."""


def why_invalid(body: bytes) -> str:
    """Why the first value in a body is no JSON; "": it is valid."""
    try:
        _scan(body.decode("latin-1"))
    except _InvalidError as error:
        return str(error)
    return ""


def _scan(text: str) -> None:
    """Raises `_InvalidError`. Bytes above 127 are single characters here, as in Go's scanner."""
    position, state = 0, _VALUE
    #: The open brackets.
    stack: list[str] = []
    while True:
        position = _end(_SPACE, text, position)
        if state == _AFTER_VALUE and not stack:
            return
        character = _at(text, position)
        match state:
            case _ if (character == "]" and state == _FIRST_ELEMENT) or (character == "}" and state == _FIRST_KEY):
                stack.pop()
                state, position = _AFTER_VALUE, position + 1
            case _ if state in (_VALUE, _FIRST_ELEMENT):
                if character in "{[":
                    stack.append(character)
                    if len(stack) > MAX_DEPTH:
                        raise _invalid(character, "exceeded max depth")
                    state, position = _FIRST_KEY if character == "{" else _FIRST_ELEMENT, position + 1
                else:
                    state, position = _AFTER_VALUE, _end_of_scalar(text, position)
            case _ if state in (_KEY, _FIRST_KEY):
                if character != '"':
                    raise _invalid(character, "looking for beginning of object key string")
                state, position = _COLON, _end_of_string(text, position)
            case _ if state == _COLON:
                if character != ":":
                    raise _invalid(character, "after object key")
                state, position = _VALUE, position + 1
            case _:
                state = _after(stack, character)
                position += 1


def _after(stack: list[str], character: str) -> int:
    """What follows a character after an element or a member."""
    is_object = stack[-1] == "{"
    if character == ",":
        return _KEY if is_object else _VALUE
    if character != ("}" if is_object else "]"):
        raise _invalid(character, "after object key:value pair" if is_object else "after array element")
    stack.pop()
    return _AFTER_VALUE


def _end_of_scalar(text: str, position: int) -> int:
    first = text[position]
    if first == '"':
        return _end_of_string(text, position)
    literal = _LITERALS.get(first)
    if literal is not None:
        for offset, expected in enumerate(literal):
            found = _at(text, position + offset)
            if found != expected:
                raise _invalid(found, f"in literal {literal} (expecting '{expected}')")
        return position + len(literal)
    if first != "-" and not _is_digit(first):
        raise _invalid(first, "looking for beginning of value")
    end = _end(_NUMBER, text, position)
    if end == position:
        raise _invalid(_at(text, position + 1), "in numeric literal")
    _check_end_of_number(text, position, end)
    return end


def _check_end_of_number(text: str, start: int, end: int) -> None:
    """A point needs digits, and so does an exponent."""
    following, number = text[end : end + 1], text[start:end].lower()
    if following == "." and "." not in number and "e" not in number:
        raise _invalid(_at(text, end + 1), "after decimal point in numeric literal")
    if following in ("e", "E") and "e" not in number:
        sign = 1 if text[end + 1 : end + 2] in ("+", "-") else 0
        raise _invalid(_at(text, end + 1 + sign), "in exponent of numeric literal")


def _end_of_string(text: str, position: int) -> int:
    end = _end(_STRING, text, position)
    character = _at(text, end)
    if character == '"':
        return end + 1
    if character != "\\":
        raise _invalid(character, "in string literal")
    escape = _at(text, end + 1)
    if escape != "u":
        raise _invalid(escape, "in string escape code")
    digits = _end(_HEX_DIGITS, text, end + 2)
    raise _invalid(_at(text, digits), "in \\u hexadecimal character escape")


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return position if match is None else match.end()


def _at(text: str, position: int) -> str:
    if position >= len(text):
        raise _InvalidError(_UNEXPECTED_END)
    return text[position]


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"


def _invalid(character: str, where: str) -> _InvalidError:
    return _InvalidError(f"invalid character '{_shown(character)}' {where}")


def _shown(character: str) -> str:
    """Upstream: scanner.go quoteChar"""
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if 0x7F < code < 0xA1 or code == 0xAD:
        return f"\\u{code:04x}"
    return character if 0x20 <= code != 0x7F else f"\\x{code:02x}"
