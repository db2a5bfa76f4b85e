"""What a reader of a format does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import msgspec

from schedviz.ingest.file_result import Steps
from schedviz.ingest.limits import Limits
from schedviz.ingest.scheduler_log import SchedulerLog
from schedviz.ingest.scheduler_messages import Said
from schedviz.kube import codec
from schedviz.kube.meta import KubeObject


class Item(msgspec.Struct, frozen=True):
    """One object of a file, not yet decoded: its place, and its JSON or what YAML gave."""

    document: int
    path: str
    content: msgspec.Raw | dict[str, Any]
    #: The kind of an item of a PodList and the like, which need not say it.
    kind: str = ""
    #: How many items the file has, where that is known when the first is read.
    total: int | None = None

    def decode(self) -> KubeObject:
        """The object. Raises `DecodeError`."""
        if isinstance(self.content, msgspec.Raw):
            return codec.decode(bytes(self.content), kind=self.kind)
        return codec.from_dict(self.content, kind=self.kind)

    def inner(self) -> list[Item]:
        """What is in it, where it is a list itself (in a List of Lists, as scripts put them together); else nothing."""
        kind, items = _listed(self.content)
        return [Item(self.document, f"{self.path}.items[{number}]", one, list_kind(kind)) for number, one in enumerate(items)]


def _listed(content: msgspec.Raw | dict[str, Any]) -> tuple[str, Iterable[msgspec.Raw | dict[str, Any]]]:
    if isinstance(content, msgspec.Raw):
        raw = msgspec.json.decode(content, type=_RawList)
        return raw.kind, raw.items
    plain = msgspec.convert(content, _List)
    return plain.kind, plain.items


class _RawList(msgspec.Struct, gc=False):
    kind: str
    items: list[msgspec.Raw] = []


class _List(msgspec.Struct, gc=False):
    kind: str
    items: list[dict[str, Any]] = []


class Reader(Protocol):
    """One format. A reader is asked once whether it knows a text, and reads it then."""

    #: What people call the format.
    format: str

    def recognises(self, text: bytes) -> bool:
        """Whether the text looks like this format; a look at its beginning must do."""
        ...

    def read(self, name: str, text: bytes, limits: Limits, /) -> Iterator[Item | SchedulerLog | Said | Steps]:
        """What is in the text. Raises `IngestError`."""
        ...

    def documents(self, text: bytes, /) -> int:
        """How many documents the text has; for messages."""
        ...

    def line_of(self, text: bytes, document: int, path: str, /) -> int:
        """The line of what is at `path` of a document (both as in `Item`); 0 where it cannot be found. Slow: for errors only."""
        ...


def list_kind(kind: object) -> str:
    """The kind of the items of a list kind: `PodList` gives `Pod`, `List` nothing."""
    return kind.removesuffix("List") if isinstance(kind, str) else ""
