"""Parses a scheduler configuration in YAML or JSON, including its duplicate members.

Old JSON configurations may be relaxed: with `//` comments, trailing commas, and `...` where something was left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

import msgspec
import ryaml

from schedviz.ingest.errors import UnreadableFile

_DUPLICATE: Final = re.compile(r'(?:(.*): )?duplicate entry with key "([^"]*)"(?: at line (\d+))?')
#: Strings are matched first, so that comment characters in them do not count.
_RELAXED: Final = re.compile(
    r'("(?:\\.|[^"\\])*+(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*\.\.\.[ \t]*$|,(?=\s*[}\]])', re.DOTALL | re.MULTILINE
)
_TRAILING: Final = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\\?\Z))|,(?=\s*[}\]])', re.DOTALL)


class ConfigText(msgspec.Struct, frozen=True):
    """A parsed configuration. `duplicates` use the wording of upstream's strict decoder."""

    document: dict[str, Any]
    duplicates: tuple[str, ...] = ()
    #: Whether it is JSON that only a relaxed parser accepts.
    relaxed: bool = False


def parse_config(text: str) -> ConfigText:
    """Parse a configuration in JSON or YAML. Raises `UnreadableFile`."""
    bare = text.lstrip("\ufeff \t\r\n")
    parsed = _json(bare) if bare.startswith("{") else _yaml(text)
    if not isinstance(parsed.document, dict):
        raise UnreadableFile("expected a KubeSchedulerConfiguration: a map with apiVersion, kind and its members.")
    return parsed


def _json(text: str) -> ConfigText:
    try:
        return _strict_json(text)
    except (ValueError, RecursionError) as error:
        first = error
    # Remove comments first: a comma before a comment may be a trailing one.
    without_comments = _RELAXED.sub(lambda match: match[1] or "", text)
    try:
        parsed = _strict_json(_TRAILING.sub(lambda match: match[1] or "", without_comments))
    except (ValueError, RecursionError):
        raise UnreadableFile(f"this is not JSON ({first}).") from None
    return ConfigText(parsed.document, parsed.duplicates, relaxed=True)


def _strict_json(text: str) -> ConfigText:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            twice[id(result)] = [name for name, count in counts.items() if count > 1]
        return result

    twice: dict[int, list[str]] = {}
    document = json.loads(text, object_pairs_hook=members)
    return ConfigText(document, tuple(f'duplicate field "{path}"' for path in _paths(document, twice, "")))


def _paths(value: Any, twice: dict[int, list[str]], path: str) -> list[str]:
    """The paths of duplicate members."""
    if isinstance(value, dict):
        paths = [f"{path}.{name}".lstrip(".") for name in twice.get(id(value), ())]
        return paths + [inside for name, member in value.items() for inside in _paths(member, twice, f"{path}.{name}".lstrip("."))]
    if isinstance(value, list):
        return [inside for index, item in enumerate(value) for inside in _paths(item, twice, f"{path}[{index}]")]
    return []


def _yaml(text: str) -> ConfigText:
    try:
        return ConfigText(ryaml.loads(text))
    except ValueError as error:
        message = str(error)
    match = _DUPLICATE.search(message)
    if match is None:
        raise UnreadableFile(f"this is neither JSON nor YAML ({message}).")
    line = int(match[3] or 0) or _second_line_of(text, match[2])
    return ConfigText({}, (f'yaml: unmarshal errors:\n  line {line}: key "{match[2]}" already set in map',))


def _second_line_of(text: str, key: str) -> int:
    lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(rf'["\']?{re.escape(key)}["\']?\s*:', line)]
    return lines[1] if len(lines) > 1 else 0
