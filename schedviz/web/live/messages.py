"""What a viewer may send, as structs."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta


class Incoming(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """A message from a viewer."""


class CommandMessage(Incoming, frozen=True, tag="command"):
    """A command, with the key by which it may be sent again."""

    key: Annotated[str, Meta(min_length=1, max_length=200)]
    command: dict[str, Any]


class ResumeMessage(Incoming, frozen=True, tag="resume"):
    """Go on after this chunk: frames, or a view where that is too long ago."""

    from_: Annotated[int, Meta(ge=0)] = msgspec.field(name="from")


class PingMessage(Incoming, frozen=True, tag="ping"):
    """Answered with a pong."""


AnyIncoming = CommandMessage | ResumeMessage | PingMessage


class Pong(msgspec.Struct, frozen=True, tag_field="type", tag="pong"):
    """The answer to a ping."""


PONG = msgspec.json.encode(Pong())
_decoder = msgspec.json.Decoder(AnyIncoming)


def decode_incoming(data: str) -> AnyIncoming:
    """A message from its JSON. Raises `msgspec.ValidationError` or `msgspec.DecodeError`."""
    message: AnyIncoming = _decoder.decode(data)
    return message
