"""Invariants after a fault run, checked in its database."""

from __future__ import annotations

from typing import Any

import msgspec
import redis
from django.db.models import F

from schedviz.engine import Simulation
from schedviz.sessions.history import checkpoints, cycle_groups
from schedviz.sessions.models import Checkpoint, Command, Session
from schedviz.sessions.queries.database import DatabaseSeconds
from schedviz.sessions.redis import heartbeat, stream
from schedviz.sessions.replay import replayer
from schedviz.trace.events import CommandDone, CycleEnded
from tests.sessions.conftest import stored_events

_TOLD = ("status", "lease_owner", "epoch", "acquisitions", "trying_seq", "applied_seq", "last_seq", "interrupt_seq", "chunk", "message")


def all_commands_are_applied() -> bool:
    """Whether all accepted commands are applied."""
    return not Session.objects.exclude(applied_seq=F("last_seq")).exists()


def check(session_id: str, sent: list[tuple[str, int]]) -> int:
    """Check that sent, accepted and applied commands are the same, in order; that events, chunks and cycles have no gaps; and that one
    uninterrupted engine produces the same events.

    Returns the number of compared events.
    """
    session = Session.objects.get(pk=session_id)
    assert session.status != Session.Status.FAILED, session.message
    rows = list(Command.objects.filter(session=session).order_by("seq"))
    assert [(row.key, row.seq) for row in rows] == sent, "the accepted commands differ from the sent ones"
    assert [row.seq for row in rows] == list(range(1, session.last_seq + 1))
    assert all(row.outcome is not None for row in rows), "accepted commands were never applied"
    assert not [row.seq for row in rows if row.quarantined], session.message

    events = stored_events(session.pk)
    assert [event.seq for event in events if isinstance(event, CommandDone)] == [row.seq for row in rows]
    cycles = cycle_groups.numbers(session.pk)
    assert cycles == sorted(event.cycle for event in events if isinstance(event, CycleEnded)), "cycles without a summary, or with two"

    first = Checkpoint.objects.filter(session=session, complete=True).order_by("event", "pk")[0]
    simulation = Simulation.restore(checkpoints.stored_engine(first))
    replayer.replay(simulation, first, to_seq=0, to_event=first.event)
    straight: list[Any] = []
    for stored in replayer.stored_commands(session.pk, after_seq=0):
        replayer._do(simulation, stored, begun=False, between_cycles=lambda: False)
        straight += simulation.drain_events()
    assert msgspec.json.encode(straight) == msgspec.json.encode(events), "an uninterrupted replay produced different events"
    return len(events)


def waiting_seconds(session_id: str) -> list[float]:
    """The seconds from acceptance to application of each command."""
    times = Command.objects.filter(session_id=session_id).values_list("accepted_at", "applied_at")
    return [(applied - accepted).total_seconds() for accepted, applied in times if applied is not None]


def state_of_sessions() -> str:
    """The state of all sessions, for failure messages."""
    lines: list[str] = []
    for session in Session.objects.annotate(leased=F("lease_until") - DatabaseSeconds()):
        members = " ".join(f"{name}={getattr(session, name)!r}" for name in _TOLD)
        lines.append(f"session {session.pk} leased for {session.leased:.1f} s: {members}")
    try:
        lines.append(f"workers {sorted(heartbeat.alive())}; turns that wait: {stream.client().llen('engine')}")
    except redis.RedisError as error:
        lines.append(f"Redis: {error}")
    return "\n".join(lines)
