"""`.schedviz`: one session in one file, gzip-compressed JSON lines. docs/files.md defines the format.

A file may come from anywhere. It is read in pieces, each line is decoded to its struct, and sizes and counts are limited before anything is
processed. Nothing in it is used as a path, an address or code.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated, Any, Final

import msgspec

from schedviz.ingest.errors import LimitExceeded, UnreadableFile
from schedviz.ingest.limits import Limits
from schedviz.kube.nesting import is_nested_deeper
from schedviz.trace.view import View

FORMAT: Final = "schedviz-session/1"
MAX_LINE_BYTES: Final = 64 << 20
MAX_COMMANDS: Final = 1_000_000
MAX_EXTENDER_RESPONSES: Final = 1_000_000

#: The largest numbers of events, commands and objects: what the database and a browser can represent.
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]

_GZIP = b"\x1f\x8b"
_BEGINNING = re.compile(rb'\s*{\s*"format"\s*:\s*"schedviz-session/')
_STEP = 1 << 20
_HEAD_BYTES = 4 << 20


class Manifest(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The first line: the session's settings, and the contents of the file."""

    format: str
    engine_version: str
    name: str
    #: The engine's SimulationSettings.
    settings: dict[str, Any]
    #: For users: what the session was created from. An import ignores it.
    source: dict[str, Any] = {}
    #: The report of the session's own import. An import keeps it if it has the form of a report and is small.
    report: dict[str, Any] | None = None
    objects: Number
    commands: Number
    answers: Number
    #: The events at which its ancestors were forked, the oldest ancestor first.
    forks: list[Number] = []
    #: The events of the file: those after `after_event`, up to `last_event`.
    after_event: Number = msgspec.field(name="firstEvent")
    last_event: Number
    last_cycle: Number
    clock_seconds: Seconds
    #: The digest of the view after the last event.
    view_digest: str


class Line(msgspec.Struct, frozen=True, rename="camel", tag_field="line"):
    """Any line after the first."""


class ObjectLine(Line, frozen=True, tag="object"):
    """An imported object, in order."""

    object: dict[str, Any]


class ExtenderResponseLine(Line, frozen=True, tag="answer"):
    """An extender's response at an event, or its error."""

    event: Number
    body: bytes
    error: str = ""


class RecordedOutcome(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The outcome of a command in a file. An import replays the command and stores its own outcome."""

    result: str = ""
    error: str = ""
    cycles: Number = 0
    event: Number = 0
    clock_seconds: Seconds = 0.0
    stopped: str = ""
    breakpoint: Number | None = None
    breakpoint_event: Number | None = None


class CommandLine(Line, frozen=True, tag="command"):
    """A completed command. `stopped_after_event`: it was interrupted after this event."""

    seq: Number
    command: msgspec.Raw
    #: As stored; an import reads it as a `RecordedOutcome`.
    outcome: dict[str, Any]
    stopped_after_event: Number | None = msgspec.field(default=None, name="stopped")
    quarantined: bool = False


class ForkLine(Line, frozen=True, tag="fork"):
    """The commands before this line belong to the ancestor that was forked after `event`; the numbers of the next ones begin at 1 again."""

    event: Number


class EventsLine(Line, frozen=True, tag="events"):
    """Some events, in order."""

    events: msgspec.Raw


class EndLine(Line, frozen=True, tag="end"):
    """The last line: a digest of everything before it."""

    digest: str


AnyLine = ObjectLine | ExtenderResponseLine | CommandLine | ForkLine | EventsLine | EndLine
#: The order of the kinds of lines.
_ORDER: dict[type[Line], int] = {ObjectLine: 0, ExtenderResponseLine: 1, CommandLine: 2, ForkLine: 2, EventsLine: 3, EndLine: 4}

_encoder = msgspec.json.Encoder()
_manifest_decoder = msgspec.json.Decoder(Manifest)
_line_decoder = msgspec.json.Decoder(AnyLine)


def write(manifest: Manifest, lines: Iterable[AnyLine]) -> Iterator[bytes]:
    """The file, in pieces; the end line is added."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    seen = hashlib.blake2b(digest_size=16)
    waiting = bytearray()
    for line in _and_end(manifest, lines, seen):
        waiting += line
        if len(waiting) >= _STEP:
            if piece := packer.compress(waiting):
                yield piece
            waiting.clear()
    yield packer.compress(waiting) + packer.flush()


def _and_end(manifest: Manifest, lines: Iterable[AnyLine], seen: Any) -> Iterator[bytes]:
    for line in chain((manifest,), lines):
        text = _encoder.encode(line) + b"\n"
        seen.update(text)
        yield text
    yield _encoder.encode(EndLine(digest=seen.hexdigest())) + b"\n"


def looks_like_session(first: bytes) -> bool:
    """Whether the first kilobytes are those of a session file."""
    if not first.startswith(_GZIP):
        return False
    try:
        head = zlib.decompressobj(31).decompress(first, 256)
    except zlib.error:
        return False
    return _BEGINNING.match(head) is not None


def validate_head(name: str, first: bytes, limits: Limits) -> None:
    """Validate the first line, if it is in the first bytes. Raises `UnreadableFile` or `LimitExceeded`."""
    try:
        if b"\n" not in zlib.decompressobj(31).decompress(first, _HEAD_BYTES):
            return
    except zlib.error:
        return
    SessionFile(name, [first], limits)


def view_digest(view: View) -> str:
    """A digest with which two views can be compared. Empty members count as absent, because views are made both ways."""
    return hashlib.blake2b(msgspec.json.encode(_without_empty(msgspec.to_builtins(view)), order="sorted"), digest_size=16).hexdigest()


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        members = {name: _without_empty(inner) for name, inner in value.items()}
        return {name: inner for name, inner in members.items() if inner not in (None, "", 0, [], {})}
    return [_without_empty(inner) for inner in value] if isinstance(value, list) else value


class SessionFile:
    """Reads a session file: first the `manifest`, then all `lines`. Raises `UnreadableFile` or `LimitExceeded` for invalid contents."""

    def __init__(self, name: str, pieces: Iterable[bytes], limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._seen = hashlib.blake2b(digest_size=16)
        self._texts = self._split(self._unpacked(iter(pieces)))
        self.manifest = self._manifest()

    def lines(self) -> Iterator[AnyLine]:
        """All lines except the last, which is verified. In order: objects, answers, commands, events."""
        counts: dict[type[Line], int] = dict.fromkeys(_ORDER, 0)
        rank = 0
        for number, text in enumerate(self._texts, start=2):
            line = self._decoded(number, text)
            kind = type(line)
            if isinstance(line, EndLine):
                if line.digest != self._seen.hexdigest():
                    raise self._refused(f"line {number}: the digest does not match the file's lines; the file was damaged or changed.")
                if next(self._texts, None) is not None:
                    raise self._refused("it has data after its last line.")
                self._check_counts(counts)
                return
            self._seen.update(text + b"\n")
            if _ORDER[kind] < rank:
                raise self._refused(
                    f"line {number}: {kind.__struct_config__.tag} is out of order; expected objects, answers, commands, events."
                )
            rank = _ORDER[kind]
            counts[kind] += 1
            self._check_limits(counts)
            yield line
        raise self._refused("the last line is missing, so the file is truncated; download it again.")

    def _manifest(self) -> Manifest:
        text = next(self._texts, b"")
        try:
            manifest = _manifest_decoder.decode(text)
        except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError) as error:
            raise self._refused(f"line 1 is no manifest of {FORMAT}: {error}.") from None
        if manifest.format != FORMAT:
            raise self._refused(f"it has the format {manifest.format[:40]!r}; this version of schedviz reads {FORMAT}.")
        self._check_nesting(1, [manifest.settings, manifest.source, manifest.report])
        self._seen.update(text + b"\n")
        for kind, count, limit in self._limited(manifest.objects, manifest.commands, manifest.answers):
            if count > limit:
                raise LimitExceeded(self._name, f"there are too many {kind}", kind, limit)
        return manifest

    def _decoded(self, number: int, text: bytes) -> AnyLine:
        try:
            line: AnyLine = _line_decoder.decode(text)
        except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError) as error:
            raise self._refused(f"line {number}: {error}.") from None
        match line:
            case ObjectLine():
                self._check_nesting(number, line.object)
            case CommandLine():
                self._check_nesting(number, line.outcome)
        return line

    def _check_nesting(self, number: int, value: Any) -> None:
        if is_nested_deeper(value, self._limits.nesting_depth):
            where = f"{self._name}, line {number}"
            raise LimitExceeded(where, "lists and objects are nested too deep", "nesting_depth", self._limits.nesting_depth)

    def _check_limits(self, counts: dict[type[Line], int]) -> None:
        for kind, count, limit in self._limited(counts[ObjectLine], counts[CommandLine], counts[ExtenderResponseLine]):
            if count > limit:
                raise LimitExceeded(self._name, f"there are too many {kind}", kind, limit)

    def _limited(self, objects: int, commands: int, answers: int) -> tuple[tuple[str, int, int], ...]:
        return (
            ("objects", objects, self._limits.objects),
            ("commands", commands, MAX_COMMANDS),
            ("answers", answers, MAX_EXTENDER_RESPONSES),
        )

    def _check_counts(self, counts: dict[type[Line], int]) -> None:
        manifest = self.manifest
        for kind, declared, actual in (
            ("objects", manifest.objects, counts[ObjectLine]),
            ("commands", manifest.commands, counts[CommandLine]),
            ("answers", manifest.answers, counts[ExtenderResponseLine]),
            ("forks", len(manifest.forks), counts[ForkLine]),
        ):
            if declared != actual:
                raise self._refused(f"its manifest declares {declared} {kind}, but it has {actual}.")

    def _unpacked(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        stream = zlib.decompressobj(31)
        size = 0
        for piece in pieces:
            waiting = piece
            while waiting and not stream.eof:
                try:
                    data = stream.decompress(waiting, _STEP)
                except zlib.error as error:
                    raise self._refused(f"the gzip file is damaged ({error}); fetch it again.") from None
                waiting = stream.unconsumed_tail
                size += len(data)
                if size > self._limits.unpacked_bytes:
                    raise LimitExceeded(self._name, "unpacked, the file is too large", "unpacked_bytes", self._limits.unpacked_bytes)
                yield data
            if stream.eof and (stream.unused_data or waiting):
                raise self._refused("it has data after the end of the gzip stream.")
        if not stream.eof:
            raise self._refused("the gzip file is truncated; download it again.")

    def _split(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        rest = b""
        for piece in pieces:
            *complete_lines, rest = (rest + piece).split(b"\n") if b"\n" in piece else [rest + piece]
            yield from complete_lines
            if len(rest) > MAX_LINE_BYTES:
                raise LimitExceeded(self._name, "a line is too long", "line_bytes", MAX_LINE_BYTES)
        if rest:
            yield rest

    def _refused(self, message: str) -> UnreadableFile:
        return UnreadableFile(f"{self._name}: {message}")
