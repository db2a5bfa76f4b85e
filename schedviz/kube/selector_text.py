"""Parses label selectors in `kubectl -l` syntax: `zone=a,tier!=web,gpu,!spot,arch in (amd64, arm64)`.

Upstream: apimachinery/pkg/labels/selector.go Parse
"""

from __future__ import annotations

import re
from typing import Final

from schedviz.kube.selectors import EVERYTHING, Requirement, Selector, SelectorError, requirement

_SET: Final = re.compile(r"(?P<key>[^\s!=,()]+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_VALUE: Final = re.compile(r"(?P<key>[^\s!=,()]+)\s*(?P<operator>==|=|!=)\s*(?P<value>[^\s!=,()]*)")
_KEY: Final = re.compile(r"(?P<no>!?)\s*(?P<key>[^\s!=,()]+)")
_EXPECTED: Final = "key, !key, key=value, key!=value, key in (a,b) or key notin (a,b)"


def parse_selector(text: str) -> Selector:
    """The selector of a text; an empty text selects everything. Raises `SelectorError`."""
    requirements: list[Requirement] = []
    place = _skip(text, 0)
    while place < len(text):
        found, place = _requirement_at(text, place)
        requirements.append(found)
        place = _skip(text, place)
        if place == len(text):
            break
        if text[place] != "," or _skip(text, place + 1) == len(text):
            raise SelectorError([f"{text}: at {text[place:]!r}: one of {_EXPECTED} is expected, with commas between them"])
        place = _skip(text, place + 1)
    return EVERYTHING.with_requirements(*requirements)


def _requirement_at(text: str, place: int) -> tuple[Requirement, int]:
    if found := _SET.match(text, place):
        values = tuple(value.strip() for value in found["values"].split(","))
        return requirement(found["key"], found["operator"], values), found.end()
    if found := _VALUE.match(text, place):
        return requirement(found["key"], found["operator"], (found["value"],)), found.end()
    if found := _KEY.match(text, place):
        return requirement(found["key"], "!" if found["no"] else "exists", ()), found.end()
    raise SelectorError([f"{text}: at {text[place:]!r}: one of {_EXPECTED} is expected"])


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place
