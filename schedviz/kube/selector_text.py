"""Parses label selectors in `kubectl -l` syntax: `zone=a,tier!=web,gpu,!spot,cores>8,arch in (amd64, arm64)`.

Upstream: apimachinery/pkg/labels/selector.go Parse
"""

from __future__ import annotations

import re
from typing import Final

from schedviz.kube.selectors import EVERYTHING, Requirement, Selector, SelectorError, requirement

_SET: Final = re.compile(r"(?P<key>[^\s!=<>,()]+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_VALUE: Final = re.compile(r"(?P<key>[^\s!=<>,()]+)\s*(?P<operator>==|=|!=|[<>])\s*(?P<value>[^\s!=<>,()]*)")
_KEY: Final = re.compile(r"(?P<no>!?)\s*(?P<key>[^\s!=<>,()]+)")
_COMPARISONS: Final = {">": "gt", "<": "lt"}
_EXPECTED: Final = "key, !key, key=value, key!=value, key>1, key<1, key in (a,b) or key notin (a,b)"


def parse_selector(text: str) -> Selector:
    """The selector of a text; an empty text selects everything. Raises `SelectorError`."""
    requirements: list[Requirement] = []
    position = _skip(text, 0)
    while position < len(text):
        parsed, position = _requirement_at(text, position)
        requirements.append(parsed)
        position = _skip(text, position)
        if position == len(text):
            break
        if text[position] != "," or _skip(text, position + 1) == len(text):
            raise SelectorError([f"{text}: at {text[position:]!r}: one of {_EXPECTED} is expected, with commas between them"])
        position = _skip(text, position + 1)
    return EVERYTHING.with_requirements(*requirements)


def _requirement_at(text: str, position: int) -> tuple[Requirement, int]:
    if match := _SET.match(text, position):
        values = tuple(value.strip() for value in match["values"].split(","))
        return requirement(match["key"], match["operator"], values), match.end()
    if match := _VALUE.match(text, position):
        operator = _COMPARISONS.get(match["operator"], match["operator"])
        return requirement(match["key"], operator, (match["value"],)), match.end()
    if match := _KEY.match(text, position):
        return requirement(match["key"], "!" if match["no"] else "exists", ()), match.end()
    raise SelectorError([f"{text}: at {text[position:]!r}: one of {_EXPECTED} is expected"])


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position
