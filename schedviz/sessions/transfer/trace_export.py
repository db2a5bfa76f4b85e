"""A session, or as much of it as led to a moment, as a schedviz-trace/1 input: a moment becomes a regression test.

The objects of the import, or those of the moment at which the trace begins, are created one by one, so that times differ by milliseconds;
then the commands follow. A trace has whole cycles and a scheduler that runs through: what it has no words for is refused, with the command
that is in the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from schedviz.ingest.session_file import CommandLine
from schedviz.ingest.trace_file import FORMAT, trace_from_dict
from schedviz.kube import codec
from schedviz.kube.errors import DecodeError
from schedviz.sessions.history import cycle_groups, lineage
from schedviz.sessions.models import Session
from schedviz.sessions.transfer.session_file_export import NotExportable, Past
from schedviz.trace.commands import Pause, Run, Step, decode_command
from schedviz.trace.controllers import HelperSettings
from schedviz.trace.policies import Policies
from schedviz.trace.releases import DEFAULT_RELEASE, release_in

#: Members of SimulationSettings, as a trace's header has them.
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
    """What a trace begins with that does not begin with the session."""

    event: int
    settings: dict[str, Any]
    objects: list[dict[str, Any]]


def trace(session: Session, *, until: int | None = None, start: Start | None = None) -> dict[str, Any]:
    """The trace of all that was done until an event. Raises `NotExportable`, which names the command that no trace can have."""
    past = Past(session)
    until = past.last_event if until is None else min(until, past.last_event)
    after = past.first_event if start is None else start.event
    settings = past.beginning.settings if start is None else start.settings
    if not settings.get("first_of_tied", True):
        raise NotExportable("The session draws among tied nodes; a trace takes the first, so it would be another run.")
    objects = list(map(codec.to_dict, past.beginning.objects())) if start is None else start.objects
    steps = [{"op": "create", "object": each} for each in objects]
    steps += _helpers(settings)
    for each in _commands(past, after, until):
        steps += each
    header = {there: settings[here] for here, there in _HEADER.items() if settings.get(here)}
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
        raise NotExportable(f"No trace can have this: {error}") from error
    return document


def _without_defaults(policies: dict[str, Any]) -> dict[str, Any]:
    defaults: dict[str, Any] = msgspec.to_builtins(Policies())
    written: dict[str, Any] = msgspec.to_builtins(msgspec.convert(policies, Policies))
    return {name: value for name, value in written.items() if value != defaults.get(name)}


def _helpers(settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if settings.get("helpers", {}) != msgspec.to_builtins(HelperSettings()):
        raise NotExportable("The session began with helpers of the cluster; a trace switches them on by commands.")
    return iter(())


def _commands(past: Past, after: int, until: int) -> Iterator[list[dict[str, Any]]]:
    """The steps of each command. One that was under way at the beginning or the end gives the cycles that ended in between."""
    before = past.first_event
    for one, left_at in past.commands():
        if before >= until:
            return
        end = min(int(one.outcome.get("event", 1 << 62)), left_at, until)
        if end <= after:
            before = end
            continue
        if not (one.quarantined and one.stopped is None):
            _check_between(past, one, before)
            yield _steps(one, cycles=_cycles(past, max(before, after), end))
        before = end


def _check_between(past: Past, one: CommandLine, event: int) -> None:
    """Refuse what was done while a cycle stood between two stages: a trace would do it before the cycle or after it."""
    if isinstance(decode_command(bytes(one.command)), Run | Step | Pause):
        return
    for session_id, _, _ in lineage.between(past.session.pk, event - 1, event + 1):
        if cycle_groups.stands_in(session_id, event):
            op = msgspec.json.decode(one.command)["op"]
            raise NotExportable(f"Command {one.seq} ({op}) came while a cycle stood between two stages; a trace has whole cycles only.")


def _steps(one: CommandLine, *, cycles: int) -> list[dict[str, Any]]:
    command = decode_command(bytes(one.command))
    match command:
        case Run():
            return [{"op": "run", "max": cycles}] if cycles else []
        case Step():
            return [{"op": "cycle"}] * cycles
        case Pause():
            return []
    body: dict[str, Any] = msgspec.json.decode(one.command)
    return [body]


def _cycles(past: Past, after: int, until: int) -> int:
    """How many cycles ended after one event, until another."""
    return sum(
        cycle_groups.count_ended(session_id, last) - cycle_groups.count_ended(session_id, first)
        for session_id, first, last in lineage.between(past.session.pk, after, until + 1)
    )
