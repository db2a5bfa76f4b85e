"""The one place where what an engine did becomes true: a transaction fenced by the epoch and by the position before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from schedviz.sessions import frames
from schedviz.sessions.database import DatabaseSeconds
from schedviz.sessions.errors import Fenced
from schedviz.sessions.lease import LEASE_SECONDS, Lease
from schedviz.sessions.models import MAIN_BRANCH, Chunk, Command, CycleSummary, Session
from schedviz.trace.events import AnyEvent
from schedviz.trace.view import CycleView


class Position(msgspec.Struct, frozen=True):
    """How far a session is committed."""

    applied_seq: int
    chunk: int
    cycle: int
    event: int
    clock_seconds: float

    @classmethod
    def of(cls, session: Session) -> Position:
        return cls(session.applied_seq, session.chunk, session.cycle, session.event, session.clock_seconds)


class Done(msgspec.Struct, frozen=True):
    """A command that ended. `stopped_event`: a pause cut it short after this event; `quarantined`: it was set aside."""

    seq: int
    outcome: dict[str, Any]
    stopped_event: int | None = None
    quarantined: bool = False


class Work(msgspec.Struct, frozen=True):
    """What an engine did since the last commit."""

    after: Position
    done: Sequence[Done]
    events: Sequence[AnyEvent]
    cycles: Sequence[CycleView]
    status: Session.Status
    message: str


class Committed(msgspec.Struct, frozen=True):
    """What came of it: the stored frame, None where there were no events, and what the inbox looked like in the same moment."""

    frame: bytes | None
    last_seq: int
    interrupt_seq: int


def commit(lease: Lease, session: Session, before: Position, work: Work) -> Committed:
    """Store a slice. `session` gives the names that a frame repeats. Raises `Fenced` when anybody else wrote to the session."""
    after = work.after
    shown = msgspec.structs.replace(
        frames.session_state(session),
        status=str(work.status),
        message=work.message,
        clock_seconds=after.clock_seconds,
        cycle=after.cycle,
        event=after.event,
        chunk=after.chunk,
        applied_seq=after.applied_seq,
    )
    frame = frames.frame(after.chunk, work.events, shown) if work.events else None
    try:
        with transaction.atomic():
            _move(lease, before, work)
            _store_done(lease, work.done)
            if frame is not None:
                _store_chunk(lease, before, work, frame)
            _store_cycles(lease, work.cycles)
            last_seq, interrupt_seq = Session.objects.values_list("last_seq", "interrupt_seq").get(pk=lease.session_id)
    except IntegrityError as error:
        raise Fenced(f"Session {lease.session_id} was deleted or written to by another owner.") from error
    return Committed(frame=frame, last_seq=last_seq, interrupt_seq=interrupt_seq)


def _move(lease: Lease, before: Position, work: Work) -> None:
    after = work.after
    moved = Session.objects.filter(pk=lease.session_id, epoch=lease.epoch, applied_seq=before.applied_seq, chunk=before.chunk).update(
        applied_seq=after.applied_seq,
        chunk=after.chunk,
        cycle=after.cycle,
        event=after.event,
        clock_seconds=after.clock_seconds,
        status=work.status,
        message=work.message,
        acquisitions=1,
        trying_seq=0,
        lease_until=DatabaseSeconds() + LEASE_SECONDS,
        updated_at=Now(),
    )
    if not moved:
        raise Fenced(f"Another owner has taken session {lease.session_id}.")


def _store_done(lease: Lease, done: Sequence[Done]) -> None:
    for one in done:
        Command.objects.filter(session_id=lease.session_id, branch=MAIN_BRANCH, seq=one.seq).update(
            outcome=one.outcome, applied_at=Now(), stopped_event=one.stopped_event, quarantined=one.quarantined
        )


def _store_chunk(lease: Lease, before: Position, work: Work, frame: bytes) -> None:
    Chunk.objects.create(
        session_id=lease.session_id,
        branch=MAIN_BRANCH,
        number=work.after.chunk,
        first_event=work.events[0].event,
        last_event=work.events[-1].event,
        first_cycle=before.cycle,
        last_cycle=work.after.cycle,
        data=frame,
    )


def _store_cycles(lease: Lease, cycles: Sequence[CycleView]) -> None:
    encode = msgspec.json.encode
    CycleSummary.objects.bulk_create(
        CycleSummary(session_id=lease.session_id, branch=MAIN_BRANCH, cycle=one.cycle, data=encode(one)) for one in cycles
    )
