"""Exports a session, or the part that led to a moment, as a schedviz-trace/1 input, for example as a regression test.

The trace first creates the objects of the import, or those of the moment at which it begins, one by one, so times differ by milliseconds;
then the commands follow. A trace has whole cycles and a scheduler that does not restart. A session that it cannot express is refused, and
the error names the command.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from schedviz.ingest.session_file import CommandLine
from schedviz.ingest.trace_file import FORMAT, trace_from_dict
from schedviz.kube import codec
from schedviz.kube.errors import DecodeError
from schedviz.sessions.errors import NotExportable
from schedviz.sessions.models import Session
from schedviz.sessions.transfer.session_file_export import RecordedHistory
from schedviz.trace.commands import Pause, Run, Step, decode_command
from schedviz.trace.controllers import ControllerSettings
from schedviz.trace.policies import Policies
from schedviz.trace.releases import DEFAULT_RELEASE, release_in

#: Members of SimulationSettings that a trace's header can contain.
_HEADER = {
    "config": "config",
    "assumed_pod_ttl_seconds": "assumedPodTTLSeconds",
    "pod_max_in_unschedulable_seconds": "podMaxInUnschedulableSeconds",
    "tick_millis": "tickMillis",
    "graceful_victims": "gracefulVictims",
    "fake_extenders": "fakeExtenders",
    "feature_gates": "featureGates",
    "hold_preemption": "holdPreemption",
    "hold_dispatch": "holdDispatch",
}


class Start(msgspec.Struct, frozen=True):
    """The beginning of a trace that starts later than its session."""

    event: int
    settings: dict[str, Any]
    objects: list[dict[str, Any]]


def trace(session: Session, *, until: int | None = None, start: Start | None = None) -> dict[str, Any]:
    """The trace up to an event. Raises `NotExportable`, which names the command that a trace cannot express."""
    history = RecordedHistory(session)
    until = history.last_event if until is None else min(until, history.last_event)
    after = history.first_event if start is None else start.event
    settings = history.initial_state.settings if start is None else start.settings
    if not settings.get("first_of_tied", True) or settings.get("random_of_tied"):
        raise NotExportable(
            "The session chooses randomly among tied nodes, but a trace always takes the first. Export a session file instead."
        )
    _require_no_controllers(settings)
    objects = list(map(codec.to_dict, history.initial_state.objects())) if start is None else start.objects
    steps = [{"op": "create", "object": obj} for obj in objects]
    for command in _commands(history, after, until):
        steps += command
    header = {member: settings[setting] for setting, member in _HEADER.items() if settings.get(setting)}
    if header.get("gracefulVictims"):
        header["gracefulVictims"] = True
    if (release := release_in(settings)) != DEFAULT_RELEASE:
        header["release"] = release
    if settings.get("first_of_heap"):
        header["tieBreak"] = "first"
    if policies := _without_defaults(settings.get("policies") or {}):
        header["policies"] = policies
    since = "" if start is None else f"from event {after} "
    description = f"Session {session.name!r} {since}until event {until}, as schedviz {session.engine_version} ran it."
    document = {"format": FORMAT, "name": session.name, "description": description, **header, "steps": steps}
    try:
        trace_from_dict(document)
    except DecodeError as error:
        raise NotExportable(f"A trace cannot express this: {error}") from error
    return document


def _without_defaults(policies: dict[str, Any]) -> dict[str, Any]:
    defaults: dict[str, Any] = msgspec.to_builtins(Policies())
    policies_json: dict[str, Any] = msgspec.to_builtins(msgspec.convert(policies, Policies))
    return {name: value for name, value in policies_json.items() if value != defaults.get(name)}


def _require_no_controllers(settings: dict[str, Any]) -> None:
    if settings.get("helpers", {}) != msgspec.to_builtins(ControllerSettings()):
        raise NotExportable(
            "The session began with simulated controllers enabled; a trace enables them by commands. Export a session file instead."
        )


def _commands(history: RecordedHistory, after: int, until: int) -> Iterator[list[dict[str, Any]]]:
    """The steps of each command. For one in progress at the beginning or the end, only the cycles that ended in between count."""
    before = history.first_event
    for command, until_event in history.commands():
        if before >= until:
            return
        end = min(int(command.outcome.get("event", 1 << 62)), until_event, until)
        if end <= after:
            before = end
            continue
        if not (command.quarantined and command.stopped_after_event is None):
            _require_whole_cycles_before(history, command, before)
            yield _steps(command, cycles=history.ended_cycles(max(before, after), end))
        before = end


def _require_whole_cycles_before(history: RecordedHistory, command: CommandLine, event: int) -> None:
    """Raises `NotExportable` for a command that was executed between two stages of a cycle: a trace can only execute it before or after."""
    if isinstance(decode_command(bytes(command.command)), Run | Step | Pause):
        return
    if history.is_between_stages(event):
        op = msgspec.json.decode(command.command)["op"]
        raise NotExportable(
            f"Command {command.seq} ({op}) was executed between two stages of a cycle, but a trace has only whole cycles. "
            "Export a session file instead."
        )


def _steps(line: CommandLine, *, cycles: int) -> list[dict[str, Any]]:
    command = decode_command(bytes(line.command))
    match command:
        case Run():
            return [{"op": "run", "max": cycles}] if cycles else []
        case Step():
            return [{"op": "cycle"}] * cycles
        case Pause():
            return []
    body: dict[str, Any] = msgspec.json.decode(line.command)
    return [body]
