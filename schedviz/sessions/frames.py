"""The messages that browsers receive. They are made only here; docs/wire.md defines them.

Frames and views are binary: zlib-compressed JSON, compressed once by the worker and published unchanged. All others are JSON text. Stored
frames are packed differently (see packing.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

from schedviz.sessions.history import packing
from schedviz.sessions.models import Session
from schedviz.trace.events import AnyEvent
from schedviz.trace.past_events import PastEvent
from schedviz.trace.view import View

#: zlib levels, of which 1 is the fastest.
_FRAME_LEVEL = 3
_VIEW_LEVEL = 1


class SessionState(msgspec.Struct, frozen=True, rename="camel"):
    """The part of a session's state that is not in its view."""

    id: str
    name: str
    status: str
    message: str
    progress: dict[str, Any] | None
    clock_seconds: float
    cycle: int
    event: int
    chunk: int
    applied_seq: int
    last_seq: int
    #: The breakpoint at which the session is stopped: {"breakpoint", "event", "when"}.
    hit: dict[str, Any] | None = None


class FrameMessage(msgspec.Struct, frozen=True, tag_field="type", tag="frame", rename="camel"):
    """The events of the chunks `first_chunk` to `chunk`; `event` is the last of them."""

    chunk: int
    first_chunk: int
    event: int
    session: SessionState
    events: msgspec.Raw


class _Events(msgspec.Struct, frozen=True):
    """The events of a frame, decoded without its other members."""

    events: list[AnyEvent]


class _PastEvents(msgspec.Struct, frozen=True):
    events: list[PastEvent]


class ViewMessage(msgspec.Struct, frozen=True, tag_field="type", tag="view", rename="camel"):
    """The whole state after a chunk."""

    chunk: int
    event: int
    session: SessionState
    view: View


class Ack(msgspec.Struct, frozen=True, tag_field="type", tag="ack"):
    """A command was accepted, now or before, under this number."""

    key: str
    seq: int


class OutcomeMessage(msgspec.Struct, frozen=True, tag_field="type", tag="outcome"):
    """A command ended."""

    seq: int
    outcome: Any


class ErrorMessage(msgspec.Struct, frozen=True, tag_field="type", tag="error", omit_defaults=True):
    """A request of the viewer failed."""

    code: str
    message: str
    key: str | None = None
    detail: Any = None


class Gap(msgspec.Struct, frozen=True, tag_field="type", tag="gap"):
    """The frame of chunk `expected`, which would be next, is not sent; the view after chunk `found` follows, then the frames after it."""

    expected: int
    found: int


class StatusMessage(msgspec.Struct, frozen=True, tag_field="type", tag="status"):
    """The session after a view or a resume, and whenever it changed without an event."""

    session: SessionState


class Heartbeat(msgspec.Struct, frozen=True, tag_field="type", tag="heartbeat"):
    """The newest chunk and event, sent every 15 s."""

    chunk: int
    event: int


_encoder = msgspec.json.Encoder()
_frame_decoder = msgspec.json.Decoder(FrameMessage)
_events_decoder = msgspec.json.Decoder(_Events)
_past_events_decoder = msgspec.json.Decoder(_PastEvents)


def session_state(session: Session) -> SessionState:
    """The state of a stored session that pages show."""
    return SessionState(
        id=str(session.pk),
        name=session.name,
        status=session.shown_status,
        message=session.message,
        progress=session.progress,
        clock_seconds=session.clock_seconds,
        cycle=session.cycle,
        event=session.event,
        chunk=session.chunk,
        applied_seq=session.applied_seq,
        last_seq=session.last_seq,
        hit=session.hit,
    )


def frame(chunk: int, events: Sequence[AnyEvent], session: SessionState) -> bytes:
    """The compressed frame of one chunk."""
    return compressed(frame_text(chunk, events, session))


def frame_text(chunk: int, events: Sequence[AnyEvent], session: SessionState) -> bytes:
    """The JSON of the frame of one chunk."""
    last = events[-1].event if events else session.event
    message = FrameMessage(chunk=chunk, first_chunk=chunk, event=last, session=session, events=msgspec.Raw(_encoder.encode(events)))
    return _encoder.encode(message)


def compressed(text: bytes) -> bytes:
    """A frame's JSON, compressed for viewers."""
    return zlib.compress(text, _FRAME_LEVEL)


def to_send(data: bytes) -> bytes:
    """A stored frame, compressed for viewers."""
    return compressed(packing.unpack(data)) if packing.is_packed(data) else data


def coalesce(frames: Sequence[bytes]) -> bytes:
    """Merge several consecutive frames, given in order, into one."""
    if len(frames) == 1:
        return frames[0]
    parts = [open_frame(data) for data in frames]
    inner = b",".join(body for part in parts if (body := bytes(part.events)[1:-1]))
    last = parts[-1]
    message = msgspec.structs.replace(last, first_chunk=parts[0].first_chunk, events=msgspec.Raw(b"[" + inner + b"]"))
    return compressed(_encoder.encode(message))


def open_frame(data: bytes) -> FrameMessage:
    """Decode a frame from storage, `frame` or `coalesce`; its events are left as JSON."""
    return _frame_decoder.decode(packing.unpack(data))


def events_of(data: bytes) -> list[AnyEvent]:
    """The events in a frame, stored or compressed."""
    return sized_events_of(data)[0]


def sized_events_of(data: bytes) -> tuple[list[AnyEvent], int]:
    """The events in a frame, and their size in bytes of JSON."""
    text = packing.unpack(data)
    return _events_decoder.decode(text).events, len(text)


def past_events_of(data: bytes) -> list[PastEvent]:
    """As `events_of`, limited to the events that a view needs when a later cycle has begun."""
    return _past_events_decoder.decode(packing.unpack(data)).events


def view(chunk: int, state: View, session: SessionState) -> bytes:
    """The compressed view after a chunk."""
    return zlib.compress(_encoder.encode(ViewMessage(chunk=chunk, event=state.event, session=session, view=state)), _VIEW_LEVEL)


def ack(key: str, seq: int) -> bytes:
    """A command was accepted, now or before."""
    return _encoder.encode(Ack(key=key, seq=seq))


def outcome(seq: int, result: Any) -> bytes:
    """A command ended."""
    return _encoder.encode(OutcomeMessage(seq=seq, outcome=result))


def error(code: str, message: str, *, key: str | None = None, detail: Any = None) -> bytes:
    """A request of the viewer failed."""
    return _encoder.encode(ErrorMessage(code=code, message=message, key=key, detail=detail))


def gap(expected: int, found: int) -> bytes:
    """The frame of chunk `expected` is not sent; the view after chunk `found` is the next message."""
    return _encoder.encode(Gap(expected=expected, found=found))


def status(session: SessionState) -> bytes:
    """The session, sent after a view or a resume, and when it changed without an event, for example during an import or by a failure."""
    return _encoder.encode(StatusMessage(session=session))


def heartbeat(chunk: int, event: int) -> bytes:
    """The head, sent every 15 s so that viewers notice lost frames."""
    return _encoder.encode(Heartbeat(chunk=chunk, event=event))
