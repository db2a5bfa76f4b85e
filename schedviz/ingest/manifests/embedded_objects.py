"""Reads objects between other text: YAML or JSON in the code fences of Markdown, or among prose and prompts.

The other lines become blank and the fences become document separators, so that `YamlReader` reads the rest with the same line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schedviz.ingest.errors import Problem
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests.yaml_dump import YamlReader
from schedviz.ingest.reader import Item

#: How much of a text is examined for fences.
_HEAD_BYTES: Final = 64 << 10
_FENCE: Final = re.compile(r"[ \t]{0,8}+(?:```|~~~)")
#: At the beginning only: elsewhere, each of many spaces would be tried.
_QUOTE: Final = re.compile(r"^[ \t]*+(?:>[ \t]?)++")
#: The first line of an object.
_BEGIN: Final = re.compile(r"(?P<indent>[ \t]*+)(?:- )?(?:apiVersion|kind|metadata|spec):(?:\s|$)")
#: A member of an object, or an item of a list, at the object's own indentation.
_MEMBER: Final = re.compile(r"(?:[a-z][\w.-]*+:(?:\s|$)|- |#)")
#: What a block must have to be read.
_OBJECT: Final = re.compile(r"^\s*+(?:- )?[\"']?(?:kind|spec|containers)[\"']?\s*+:", re.MULTILINE)
_JSON_OBJECT: Final = re.compile(r'"(?:kind|spec)"\s*+:')


class EmbeddedObjectsReader:
    """Reads the objects of Markdown."""

    format = "text with objects"

    def __init__(self) -> None:
        self._yaml = YamlReader()

    def recognises(self, text: bytes) -> bool:
        """Whether a line near the beginning is a code fence, and no object precedes it."""
        head = text[:_HEAD_BYTES].decode("utf-8", "replace")
        for line in head.split("\n"):
            bare = _QUOTE.sub("", line)
            if bare.startswith(("```", "~~~")):
                return True
            if bare.startswith(("apiVersion:", "kind:", "{", "[")):
                return False
        return False

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[Item | Problem]:
        """The objects in the text, and the parts of them that cannot be read."""
        yield from self._yaml.read(name, objects_alone(text.decode()).encode(), limits)

    def documents(self, text: bytes) -> int:
        """The number of blocks."""
        return self._yaml.documents(objects_alone(text.decode()).encode())

    def line_of(self, text: bytes, document: int, path: str) -> int:
        """The line number of `path`."""
        return self._yaml.line_of(objects_alone(text.decode()).encode(), document, path)


def objects_alone(text: str) -> str:
    """The text with everything but its objects replaced by blank lines; only blank lines and separators if it has none."""
    lines = [_QUOTE.sub("", line) for line in text.replace("\r\n", "\n").split("\n")]
    result = [""] * len(lines)
    inside = False
    begin = 0
    for number, line in enumerate(lines):
        if not _FENCE.match(line):
            continue
        if inside:
            _take(lines, result, begin + 1, number)
        else:
            _unfenced(lines, result, begin, number)
        inside, begin = not inside, number
        result[number] = "---"
    _unfenced(lines, result, begin + 1 if begin or inside else 0, len(lines))
    return "\n".join(result)


def _take(lines: list[str], result: list[str], start: int, stop: int) -> None:
    """Keep the lines of a fenced block, if it has objects: from the first line of an object on, because a prompt may precede it."""
    text = "\n".join(lines[start:stop])
    if _JSON_OBJECT.search(text) and text.lstrip()[:1] in "{[":
        result[start:stop] = lines[start:stop]
    elif _OBJECT.search(text):
        first = next((number for number in range(start, stop) if _begins(lines[number])), stop)
        indent = min((len(line) - len(line.lstrip()) for line in lines[first:stop] if line.strip()), default=0)
        result[first:stop] = [line[indent:] for line in lines[first:stop]]


def _begins(line: str) -> bool:
    return _BEGIN.match(line) is not None or line.lstrip().startswith(("containers:", "nodeSelector:", "affinity:", "---"))


def _unfenced(lines: list[str], result: list[str], start: int, stop: int) -> None:
    """Keep the objects among prose: from a line that begins one to the last line that can belong to it."""
    line_number = start
    while line_number < stop:
        begin = _BEGIN.match(lines[line_number])
        if begin is None:
            line_number += 1
            continue
        indent = len(begin["indent"])
        end = line_number + 1
        while end < stop and _belongs(lines[end], indent):
            end += 1
        if _OBJECT.search("\n".join(lines[line_number:end])):
            result[line_number:end] = [line[indent:] for line in lines[line_number:end]]
            if end < stop:
                result[end] = "---"
        line_number = end


def _belongs(line: str, indent: int) -> bool:
    bare = line.lstrip(" \t")
    if not bare:
        return True
    depth = len(line) - len(bare)
    return depth > indent or (depth == indent and (_MEMBER.match(bare) is not None or bare.startswith("---")))
