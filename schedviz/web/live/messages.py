"""The messages that a viewer may send, as structs."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta


class Incoming(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """A message from a viewer."""


class CommandMessage(Incoming, frozen=True, tag="command"):
    """A command, with its idempotency key."""

    key: Annotated[str, Meta(min_length=1, max_length=200)]
    command: dict[str, Any]


class ResumeMessage(Incoming, frozen=True, tag="resume"):
    """Continue after this chunk: with frames, or with a view if the chunk is too old."""

    from_: Annotated[int, Meta(ge=0)] = msgspec.field(name="from")


class PingMessage(Incoming, frozen=True, tag="ping"):
    """Requests a pong."""


AnyIncoming = CommandMessage | ResumeMessage | PingMessage


class Pong(msgspec.Struct, frozen=True, tag_field="type", tag="pong"):
    """The response to a ping."""


PONG = msgspec.json.encode(Pong())
_decoder = msgspec.json.Decoder(AnyIncoming)


def decode_incoming(data: str) -> AnyIncoming:
    """A message from its JSON. Raises `msgspec.ValidationError` or `msgspec.DecodeError`."""
    message: AnyIncoming = _decoder.decode(data)
    return message
