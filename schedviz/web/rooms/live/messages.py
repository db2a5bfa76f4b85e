"""The messages of a room's WebSocket, as structs."""

from __future__ import annotations

import msgspec

from schedviz.web.rooms.schemas import Moment, RoomBody


class RoomMessage(msgspec.Struct, frozen=True, tag_field="type", tag="room"):
    """The room as this member may see it."""

    room: RoomBody


class MomentMessage(msgspec.Struct, frozen=True, tag_field="type", tag="moment"):
    """The teacher's new position, to all members."""

    moment: Moment


class RoomError(msgspec.Struct, frozen=True, tag_field="type", tag="error"):
    """A message was refused."""

    code: str
    message: str


class RoomHeartbeat(msgspec.Struct, frozen=True, tag_field="type", tag="heartbeat"):
    """A heartbeat."""


class RoomPong(msgspec.Struct, frozen=True, tag_field="type", tag="pong"):
    """The response to a ping."""


class Incoming(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """A message to the server."""


class TeacherMoved(Incoming, frozen=True, tag="moment"):
    """The teacher moved to this position."""

    moment: Moment


class Following(Incoming, frozen=True, tag="following"):
    """Whether a participant follows the teacher."""

    following: bool


class RoomPing(Incoming, frozen=True, tag="ping"):
    """Requests a pong."""


AnyIncoming = TeacherMoved | Following | RoomPing

HEARTBEAT = msgspec.json.encode(RoomHeartbeat())
PONG = msgspec.json.encode(RoomPong())
_decoder = msgspec.json.Decoder(AnyIncoming)


def decode_incoming(data: str) -> AnyIncoming:
    """A message from its JSON. Raises `msgspec.ValidationError` or `msgspec.DecodeError`."""
    message: AnyIncoming = _decoder.decode(data)
    return message


def error(code: str, message: str) -> bytes:
    return msgspec.json.encode(RoomError(code, message))
