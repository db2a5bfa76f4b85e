"""`objects_among`: the objects in YAML or JSON among the words of a text."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from schedviz.ingest.errors import IngestError
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests.embedded_objects import EmbeddedObjectsReader

#: In a longer text, objects in YAML are not looked for: parsing them takes seconds.
_MAX_LENGTH: Final = 100_000
#: What begins an object in JSON, and how many of them are tried.
_BRACE: Final = re.compile(r"^[ \t]*+\{", re.MULTILINE)
_MAX_ATTEMPTS: Final = 50
_KIND: Final = re.compile(r"""\bkind"?[ \t]*+:[ \t]*+["']?(?P<kind>[A-Z][A-Za-z]{1,60})\b""")


def may_have_objects(text: str, kind: str) -> bool:
    """Whether a text is not too long, and names the kind."""
    return len(text) <= _MAX_LENGTH and any(found["kind"] == kind for found in _KIND.finditer(text))


def objects_among(text: str) -> list[dict[str, Any]]:
    """The objects. What cannot be read is left out."""
    return [content for content in itertools.chain(_json(text), _yaml(text)) if isinstance(content, dict)]


def _json(text: str) -> Iterator[object]:
    """The objects in JSON that begin a line, and the items of lists."""
    end = 0
    for begin in itertools.islice(_BRACE.finditer(text), _MAX_ATTEMPTS):
        if begin.end() <= end:
            continue
        try:
            content, end = json.JSONDecoder().raw_decode(text, begin.end() - 1)
        except (ValueError, RecursionError):
            continue
        items = content.get("items")
        yield from items if isinstance(items, list) else [content]


def _yaml(text: str) -> Iterator[object]:
    try:
        for item in EmbeddedObjectsReader().read("text", text.encode("utf-8", "replace"), Limits()):
            yield getattr(item, "content", None)
    except (IngestError, RecursionError):
        return
