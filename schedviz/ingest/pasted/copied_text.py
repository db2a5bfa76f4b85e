"""`CopiedText`: a text that somebody copied, in the forms that its readers need, of which each is made once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schedviz.ingest.logs.json_log_lines import with_text_lines
from schedviz.ingest.pasted.plain_text import plain
from schedviz.ingest.pasted.text_items import items_in
from schedviz.ingest.pasted.text_objects import may_have_objects, objects_among


@dataclass(frozen=True)
class CopiedText:
    """A text, as it was copied."""

    text: str

    @cached_property
    def items(self) -> list[Any]:
        """Its objects, if it is JSON or YAML as a whole, or the lines of a JSON log."""
        return items_in(self.text)

    @cached_property
    def plain(self) -> str:
        """As `plain` returns it."""
        return plain(self.text)

    @cached_property
    def lines(self) -> str:
        """The same with the lines of a JSON log as lines of a text log."""
        return with_text_lines(self.plain)

    def objects_of(self, kind: str) -> list[dict[str, Any]]:
        """The objects of one kind in YAML or JSON, also among other text; empty for a long text. What cannot be read is left out."""
        return [content for content in self._objects if content.get("kind") == kind] if may_have_objects(self._shown, kind) else []

    @property
    def _shown(self) -> str:
        return self.text if self.items else self.plain

    @cached_property
    def _objects(self) -> list[dict[str, Any]]:
        return objects_among(self._shown)
