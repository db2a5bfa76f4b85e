"""Commands as they are stored: whatever the scheduler does not read never reaches the disk."""

from __future__ import annotations

import msgspec

from schedviz.kube import codec
from schedviz.kube.errors import KubeError
from schedviz.sessions.errors import CommandRefused
from schedviz.trace.commands import AnyCommand, Create, Update


def canonical(command: AnyCommand) -> AnyCommand:
    """The command with its object decoded and encoded again. Raises `CommandRefused` with the path of what is wrong."""
    if not isinstance(command, Create | Update):
        return command
    try:
        stripped = codec.to_dict(codec.from_dict(command.object, strict=True))
    except KubeError as error:
        raise CommandRefused(f"object.{error}") from None
    return msgspec.structs.replace(command, object=stripped)
