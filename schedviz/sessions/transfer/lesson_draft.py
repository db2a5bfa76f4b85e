"""A session, or what led to some of its moments, as a lesson that is to be written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from schedviz.kube import codec
from schedviz.lessons.drafting import DraftStop, draft
from schedviz.lessons.lesson import Settings
from schedviz.sessions.models import Session
from schedviz.sessions.transfer.session_file_export import NotExportable, Past
from schedviz.trace.commands import AnyCommand, Pause, Run, decode_command
from schedviz.trace.controllers import HelperSettings
from schedviz.trace.policies import Policies
from schedviz.trace.releases import DEFAULT_RELEASE

#: More than this is no lesson of ten minutes, nor a file that somebody would read.
MOST_OBJECTS = 300
MOST_STOPS = 30
#: A lesson has no words for these; other settings it has.
_MUST_BE: dict[str, Any] = {"tick_millis": 1, "seed": 0, "first_of_tied": True, "release": DEFAULT_RELEASE}


def lesson_draft(session: Session, *, name: str, moments: Iterable[int] = ()) -> dict[str, str]:
    """The files of a lesson with a stop for each moment, or after each command where none is given. Raises `NotExportable`."""
    past = Past(session)
    objects = list(map(codec.to_dict, past.beginning.objects()))
    if len(objects) > MOST_OBJECTS:
        raise NotExportable(f"The session began with {len(objects)} objects; a lesson is made of {MOST_OBJECTS} at most.")
    stops = [DraftStop("beginning", []), *_stops(past, sorted(set(moments)))]
    if len(stops) > MOST_STOPS:
        raise NotExportable(f"That would be {len(stops)} stops; a lesson has {MOST_STOPS} at most. Choose moments.")
    return draft(name, objects, _settings(past.beginning.settings), stops)


def _settings(settings: dict[str, Any]) -> Settings:
    for member, value in _MUST_BE.items():
        if settings.get(member, value) != value:
            raise NotExportable(f"The session was made with {member} {settings[member]!r}; a lesson has no words for that.")
    parts = {"helpers": HelperSettings, "policies": Policies}
    known = {member: settings[member] for member in Settings.__struct_fields__ if settings.get(member) is not None}
    return Settings(**{member: msgspec.convert(value, parts[member]) if member in parts else value for member, value in known.items()})


def _stops(past: Past, moments: list[int]) -> Iterable[DraftStop]:
    """What was done until each moment: a command that was under way then belongs to it. After the last one nothing is told."""
    waiting: list[AnyCommand] = []
    number = 0
    left = list(moments)
    for one, left_at in past.commands():
        if one.quarantined:
            continue
        command = decode_command(bytes(one.command))
        cycles = int(one.outcome.get("cycles", 0))
        if isinstance(command, Run):
            waiting += [Run(max=cycles)] if cycles else []
        elif not isinstance(command, Pause):
            waiting.append(command)
        reached = min(int(one.outcome.get("event", left_at)), left_at)
        if moments and not (left and left[0] <= reached):
            continue
        left = [moment for moment in left if moment > reached]
        number += 1
        yield DraftStop(f"stop-{number}", waiting)
        waiting = []
        if moments and not left:
            return
