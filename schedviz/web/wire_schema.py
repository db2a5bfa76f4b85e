"""Writes docs/wire.schema.json, the JSON Schema of the WebSocket messages: `python -m schedviz.web.wire_schema [--check]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import msgspec

TARGET = Path(__file__).resolve().parent.parent.parent / "docs" / "wire.schema.json"
_TEMPLATE = "#/$defs/{name}"


def wire_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12): a message is one of `oneOf`, selected by `type`; messages of rooms are `Room…` in `$defs`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    import django

    django.setup()
    from schedviz.sessions import frames
    from schedviz.trace.commands import AnyCommand
    from schedviz.trace.events import AnyEvent
    from schedviz.web.live import messages
    from schedviz.web.member_descriptions import describe_members
    from schedviz.web.rooms.live import messages as of_rooms

    to_client = {
        "view": frames.ViewMessage,
        "frame": frames.FrameMessage,
        "ack": frames.Ack,
        "outcome": frames.OutcomeMessage,
        "error": frames.ErrorMessage,
        "gap": frames.Gap,
        "status": frames.StatusMessage,
        "heartbeat": frames.Heartbeat,
        "pong": messages.Pong,
    }
    to_server = {"command": messages.CommandMessage, "resume": messages.ResumeMessage, "ping": messages.PingMessage}
    room_to_client = [of_rooms.RoomMessage, of_rooms.MomentMessage, of_rooms.RoomError, of_rooms.RoomHeartbeat, of_rooms.RoomPong]
    room_to_server = [of_rooms.TeacherMoved, of_rooms.Following, of_rooms.RoomPing]
    roots = [*to_client.values(), *to_server.values(), *room_to_client, *room_to_server, AnyEvent, AnyCommand]
    schemas, definitions = msgspec.json.schema_components(roots, ref_template=_TEMPLATE)
    any_event, any_command = list(schemas)[-2:]
    definitions = dict(definitions)
    describe_members(definitions, roots)
    definitions["AnyEvent"] = any_event
    definitions["AnyCommand"] = any_command
    # In memory, the events of a frame are undecoded bytes, and a command is decoded in a second step.
    definitions["FrameMessage"]["properties"]["events"] = {"type": "array", "items": {"$ref": _TEMPLATE.format(name="AnyEvent")}}
    definitions["CommandMessage"]["properties"]["command"] = {"$ref": _TEMPLATE.format(name="AnyCommand")}
    definitions["ToClient"] = _one_of([struct.__name__ for struct in to_client.values()])
    definitions["ToServer"] = _one_of([struct.__name__ for struct in to_server.values()])
    definitions["RoomToClient"] = _one_of([struct.__name__ for struct in room_to_client])
    definitions["RoomToServer"] = _one_of([struct.__name__ for struct in room_to_server])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "schedviz wire",
        "description": "Every message of /ws/v1/sessions/{id}/ and, in RoomToClient and RoomToServer, of /ws/v1/rooms/{id}/; "
        "docs/wire.md describes them.",
        "oneOf": [{"$ref": _TEMPLATE.format(name="ToClient")}, {"$ref": _TEMPLATE.format(name="ToServer")}],
        "$defs": dict(sorted(definitions.items())),
    }


def _one_of(names: list[str]) -> dict[str, Any]:
    return {"oneOf": [{"$ref": _TEMPLATE.format(name=name)} for name in names]}


def main(arguments: list[str]) -> int:
    """Write the schema; with --check, only report whether it is up to date."""
    text = msgspec.json.format(msgspec.json.encode(wire_schema()), indent=2).decode() + "\n"
    return write_or_check(TARGET, text, arguments, f"{TARGET.name} is out of date: run make gen.")


def write_or_check(target: Path, text: str, arguments: list[str], stale: str) -> int:
    """Write a generated file; with --check, print `stale` to standard error if it is out of date. Returns the exit code."""
    if "--check" in arguments:
        if target.exists() and target.read_text() == text:
            return 0
        sys.stderr.write(f"{stale}\n")
        return 1
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
