"""The interface of format readers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import msgspec

from schedviz.ingest.errors import Problem
from schedviz.ingest.file_contents import RecordedSteps
from schedviz.ingest.limits import Limits
from schedviz.ingest.logs.scheduler_log import SchedulerLog
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube import codec
from schedviz.kube.meta import KubeObject


class Item(msgspec.Struct, frozen=True):
    """One object of a file before decoding: its position, and its JSON or parsed YAML."""

    document: int
    path: str
    content: msgspec.Raw | dict[str, Any]
    #: The kind of an item in a PodList or similar list, where items need not have one.
    kind: str = ""
    #: The number of items in the file, if known in advance.
    total: int | None = None

    def decode(self) -> KubeObject:
        """The decoded object. Raises `DecodeError`."""
        if isinstance(self.content, msgspec.Raw):
            return codec.decode(bytes(self.content), kind=self.kind)
        return codec.from_dict(self.content, kind=self.kind)

    def inner(self) -> list[Item]:
        """The items of an item that is a list itself (scripts concatenate Lists); otherwise none."""
        kind, items = _listed(self.content)
        return [Item(self.document, f"{self.path}.items[{number}]", item, list_kind(kind)) for number, item in enumerate(items)]


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
    """A reader of one format. `recognises` is called before `documents`."""

    #: The format's name for users.
    format: str

    def recognises(self, text: bytes) -> bool:
        """Whether the text has this format, judged by its beginning."""
        ...

    def read(self, name: str, text: bytes, limits: Limits, /) -> Iterator[Item | SchedulerLog | PodMessage | RecordedSteps | Problem]:
        """The items in the text, and the problems of parts that cannot be read. Raises `IngestError` if nothing can be."""
        ...

    def documents(self, text: bytes, /) -> int:
        """The number of documents, for messages."""
        ...

    def line_of(self, text: bytes, document: int, path: str, /) -> int:
        """The line number of `path` in a document (both as in `Item`); 0 if it cannot be found. Slow, so for errors only."""
        ...


def list_kind(kind: object) -> str:
    """The kind of the items of a list kind: `Pod` for `PodList`, "" for `List`."""
    return kind.removesuffix("List") if isinstance(kind, str) else ""
