"""Exports a session, or what led to some of its moments, as a lesson draft."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from schedviz.ingest.session_file import CommandLine
from schedviz.kube import codec
from schedviz.lessons.drafting import DraftStop, draft
from schedviz.lessons.lesson import Settings
from schedviz.sessions.errors import NotExportable
from schedviz.sessions.models import Session
from schedviz.sessions.transfer.session_file_export import RecordedHistory
from schedviz.trace.commands import AnyCommand, Pause, Run, Step, decode_command
from schedviz.trace.controllers import ControllerSettings
from schedviz.trace.policies import Policies
from schedviz.trace.releases import ReleaseName, release_in, unknown_release

#: Larger sessions are too long for a lesson of ten minutes and for a file that people read.
MAX_OBJECTS = 300
MAX_STOPS = 30
#: Settings that a lesson's file cannot express, with the only value that they may have.
_INEXPRESSIBLE_SETTINGS: dict[str, Any] = {
    "tick_millis": 1,
    "seed": 0,
    "first_of_tied": True,
    "first_of_heap": False,
    "random_of_tied": False,
    "hold_dispatch": False,
}


def lesson_draft(session: Session, *, name: str, moments: Iterable[int] = ()) -> dict[str, str]:
    """The files of a lesson with a stop at each moment, or after each command if none is given. Raises `NotExportable`."""
    history = RecordedHistory(session)
    objects = list(map(codec.to_dict, history.initial_state.objects()))
    if len(objects) > MAX_OBJECTS:
        raise NotExportable(f"The session began with {len(objects)} objects; a lesson has at most {MAX_OBJECTS}. Export a smaller session.")
    stops = [DraftStop("beginning", []), *_stops(history, sorted(set(moments)))]
    if len(stops) > MAX_STOPS:
        raise NotExportable(f"The lesson would have {len(stops)} stops; at most {MAX_STOPS} are allowed. Select fewer moments.")
    settings = history.initial_state.settings
    return draft(name, objects, _settings(settings), stops, _release(settings))


def _release(settings: dict[str, Any]) -> ReleaseName:
    session_release = release_in(settings)
    try:
        release: ReleaseName = msgspec.convert(session_release, ReleaseName)
    except msgspec.ValidationError:
        raise NotExportable(f"The lesson cannot be played: {unknown_release(session_release)}.") from None
    return release


def _settings(settings: dict[str, Any]) -> Settings:
    for member, value in _INEXPRESSIBLE_SETTINGS.items():
        if settings.get(member, value) != value:
            raise NotExportable(f"The session was made with {member} {settings[member]!r}; a lesson cannot express that setting.")
    parts = {"helpers": ControllerSettings, "policies": Policies}
    lesson_settings = {member: settings[member] for member in Settings.__struct_fields__ if settings.get(member) is not None}
    return Settings(
        **{member: msgspec.convert(value, parts[member]) if member in parts else value for member, value in lesson_settings.items()}
    )


def _commands_of(history: RecordedHistory, line: CommandLine, before: int, reached: int) -> list[AnyCommand]:
    """The command that repeats what a command did between two events: of one that was interrupted, only the cycles that ended."""
    command = decode_command(bytes(line.command))
    match command:
        case Pause():
            return []
        case Run() if not line.quarantined:
            cycles = int(line.outcome.get("cycles", 0))
        case Run() | Step() if line.stopped_after_event is not None:
            cycles = history.ended_cycles(before, reached)
        case _:
            return [command]
    return [Run(max=cycles)] if cycles else []


def _stops(history: RecordedHistory, moments: list[int]) -> Iterable[DraftStop]:
    """The commands before each moment. A command in progress at a moment belongs to its stop. Commands after the last moment are left
    out.
    """
    waiting: list[AnyCommand] = []
    number = 0
    remaining = list(moments)
    before = history.first_event
    for line, until_event in history.commands():
        if line.quarantined and line.stopped_after_event is None:
            continue
        reached = min(int(line.outcome.get("event", until_event)), until_event)
        waiting += _commands_of(history, line, before, reached)
        before = reached
        if moments and not (remaining and remaining[0] <= reached):
            continue
        remaining = [moment for moment in remaining if moment > reached]
        number += 1
        yield DraftStop(f"stop-{number}", waiting)
        waiting = []
        if moments and not remaining:
            return
