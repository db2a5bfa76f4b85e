"""Commits what an engine did, in one transaction that is fenced by the epoch and by the previous position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction

from schedviz.engine import Simulation
from schedviz.engine.extenders.calls import ExtenderResponse
from schedviz.sessions import frames
from schedviz.sessions.commands import breakpoints
from schedviz.sessions.commands.breakpoints import Hit
from schedviz.sessions.errors import Fenced
from schedviz.sessions.extenders import stored_responses
from schedviz.sessions.frames import SessionState
from schedviz.sessions.history import cycle_groups, object_index, packing, reading, timeline
from schedviz.sessions.hosting.lease import Lease
from schedviz.sessions.models import Session, shown_status
from schedviz.sessions.observing import agreement
from schedviz.sessions.observing.agreement import ShadowRecord
from schedviz.sessions.queries import prepared
from schedviz.sessions.queries.prepared import InboxHead
from schedviz.trace.comparing import Summary
from schedviz.trace.events import AnyEvent, CycleEnded, CycleStarted, PodGroupStarted
from schedviz.trace.tally import Levels, Tally, tally
from schedviz.trace.view import CycleView

#: A slice with more events is stored as several chunks, so that reading one of them takes little time and memory. A slice has that many if
#: one unit of a command has, as when many pods move in the queue at once.
MAX_CHUNK_EVENTS: Final = 8192
#: What the database stores for a chunk beside its data and names: the rows of both and of its tally, and their entries in indexes.
_CHUNK_ROWS_BYTES: Final = 500


def chunks_of(events: Sequence[AnyEvent]) -> int:
    """The number of chunks in which these events are stored."""
    return -(-len(events) // MAX_CHUNK_EVENTS)


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

    @classmethod
    def before_commands(cls, simulation: Simulation) -> Position:
        """The position of a session that begins with this engine: it has applied no command and stored no chunk."""
        return cls(applied_seq=0, chunk=0, cycle=simulation.cycle, event=simulation.event, clock_seconds=simulation.clock_seconds)


class CompletedCommand(msgspec.Struct, frozen=True):
    """A command that ended."""

    seq: int
    outcome: dict[str, Any]
    #: A pause, a breakpoint, a quota or the quarantine interrupted it after this event.
    stopped_event: int | None = None
    #: It crashed its workers or broke the engine.
    quarantined: bool = False
    #: The command was made from an observation of a followed cluster, and no client waits for its outcome.
    is_observed: bool = False


class SliceContents(msgspec.Struct, frozen=True):
    """What an engine did since the last commit."""

    after: Position
    done: Sequence[CompletedCommand]
    events: Sequence[AnyEvent]
    cycles: Sequence[CycleView]
    status: Session.Status
    message: str
    extender_responses: Sequence[ExtenderResponse] = ()
    #: The pod of the scheduling cycle in progress; "" if there is none.
    running_pod: str = ""
    #: The breakpoints at which runs stopped.
    hits: Sequence[Hit] = ()
    #: Whether the breakpoint at which the session is stopped has changed.
    hit_changed: bool = False
    #: What the shadow scheduler of a followed session recorded.
    shadow_records: Sequence[ShadowRecord] = ()
    #: The number of objects of all kinds, of which a large one counts as several (`ObjectStore.total_weight`); None: unchanged.
    object_count: int | None = None


class CommitResult(msgspec.Struct, frozen=True):
    """The result of a commit: the frames for viewers with the numbers of their chunks, and the state of the inbox in that transaction."""

    frames: list[tuple[int, bytes]]
    last_seq: int
    interrupt_seq: int
    breakpoints_edit: int
    #: The queue lengths and object counts after the slice's last chunk; None without events.
    levels: Levels | None


class _Chunk(NamedTuple):
    """A part of a slice's events, as it is stored."""

    number: int
    #: The first and the last event, and the last cycle before and after it.
    events: tuple[int, int]
    cycles: tuple[int, int]
    clock_seconds: float
    #: For viewers, and as it is stored.
    frame: bytes
    data: bytes
    names: bytes
    tally: Tally


def commit(lease: Lease, session: Session, before: Position, work: SliceContents, *, levels: Levels | None = None) -> CommitResult:
    """Store a slice.

    `session` provides what the frame says of the session beside the new position: its name, the last accepted
    command, and the breakpoint at which it is stopped. `levels` are the queue lengths and object counts before the slice; None: not known.

    Raises `Fenced` if another owner wrote to the session.
    """
    after = work.after
    state = msgspec.structs.replace(
        frames.session_state(session),
        status=shown_status(work.status, applied_seq=after.applied_seq, last_seq=session.last_seq),
        message=work.message,
        clock_seconds=after.clock_seconds,
        cycle=after.cycle,
        event=after.event,
        chunk=after.chunk,
        applied_seq=after.applied_seq,
    )
    chunks: list[_Chunk] = []
    if work.events:
        chunks += _chunks(before, work, state, levels or timeline.levels_after(lease.session_id, before.chunk))
    levels = chunks[-1].tally.levels if chunks else None
    cycles = list(_summaries(lease.session_id, work))
    group = cycle_groups.pack(cycles) if cycles else b""
    try:
        with transaction.atomic():
            moved = _move(lease, before, work, added_bytes=sum(map(_stored_bytes, chunks)) + len(group), levels=levels)
            prepared.update_commands(
                lease.session_id,
                [
                    (completed.seq, msgspec.json.encode(completed.outcome), completed.stopped_event, completed.quarantined)
                    for completed in work.done
                ],
            )
            for number, events, of_cycles, clock_seconds, _, data, names, counted in chunks:
                prepared.insert_chunk(lease.session_id, number, events=events, cycles=of_cycles, data=data)
                prepared.insert_tally(lease.session_id, number, events=events, clock_seconds=clock_seconds, tally=counted)
                prepared.insert_chunk_names(lease.session_id, number, names)
            for hit in work.hits:
                breakpoints.count_hit(lease.session_id, hit)
            if work.hit_changed:
                Session.objects.filter(pk=lease.session_id).update(hit=session.hit)
            if work.extender_responses:
                stored_responses.store(lease.session_id, list(work.extender_responses))
            if work.shadow_records:
                agreement.store(lease.session_id, work.shadow_records)
            if cycles:
                numbers = (cycles[0].cycle.cycle, cycles[-1].cycle.cycle)
                prepared.insert_cycle_group(lease.session_id, cycles=numbers, last_event=cycles[-1].last_event, data=group)
    except IntegrityError as error:
        raise Fenced(lease.session_id) from error
    return CommitResult(
        frames=[(chunk.number, chunk.frame) for chunk in chunks],
        last_seq=moved.last_seq,
        interrupt_seq=moved.interrupt_seq,
        breakpoints_edit=moved.breakpoints_edit,
        levels=levels,
    )


def _chunks(before: Position, work: SliceContents, state: SessionState, levels: Levels) -> Iterator[_Chunk]:
    """The chunks of a slice. `state` is that after the slice, `levels` are those before it."""
    cycle = before.cycle
    for number in range(before.chunk + 1, work.after.chunk + 1):
        first = (number - before.chunk - 1) * MAX_CHUNK_EVENTS
        events = work.events[first : first + MAX_CHUNK_EVENTS]
        last, cycle_before = events[-1], cycle
        if number == work.after.chunk:
            cycle, state_after = work.after.cycle, state
        else:
            cycle = max((event.cycle for event in events if isinstance(event, CycleStarted | PodGroupStarted)), default=cycle)
            position = {"clock_seconds": last.at, "cycle": cycle, "event": last.event, "chunk": number, "applied_seq": before.applied_seq}
            state_after = msgspec.structs.replace(state, **position)
        text = frames.frame_text(number, events, state_after)
        counted = tally(events, levels)
        levels = counted.levels
        yield _Chunk(
            number=number,
            events=(events[0].event, last.event),
            cycles=(cycle_before, cycle),
            clock_seconds=state_after.clock_seconds,
            frame=frames.compressed(text),
            data=packing.pack(text),
            # Of all cycles of the slice, because the events of a cycle can be in several of its chunks.
            names=object_index.names_of(events, work.cycles, work.running_pod),
            tally=counted,
        )


def _stored_bytes(chunk: _Chunk) -> int:
    return len(chunk.data) + len(chunk.names) + _CHUNK_ROWS_BYTES


def _summaries(session_id: UUID, work: SliceContents) -> Iterator[Summary]:
    """The cycles that ended, each with its first and last event."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    started: set[int] = set()
    for event in work.events:
        if event.cycle:
            first.setdefault(event.cycle, event.event)
        if isinstance(event, CycleStarted):
            started.add(event.cycle)
        elif isinstance(event, CycleEnded):
            last[event.cycle] = event.event
    for cycle in work.cycles:
        number = cycle.cycle
        if number not in started:
            # It was executed stage by stage, and began in an earlier slice.
            began = reading.spans_of_cycles(session_id, number, number).get(number)
            first[number] = began[0] if began else first.get(number, work.events[0].event)
        yield Summary(cycle=cycle, first_event=first[number], last_event=last.get(number, work.events[-1].event))


def _move(lease: Lease, before: Position, work: SliceContents, *, added_bytes: int, levels: Levels | None) -> InboxHead:
    """Move the session's position, and count the bytes that the history has grown by. Raises `Fenced`."""
    after = work.after
    moved = prepared.move_session(
        lease.session_id,
        epoch=lease.epoch,
        applied_seq=before.applied_seq,
        chunk=before.chunk,
        lease_seconds=lease.seconds,
        values=(after.applied_seq, after.chunk, after.cycle, after.event, after.clock_seconds, str(work.status), work.message),
        added_bytes=added_bytes,
        levels=levels,
        object_count=work.object_count,
    )
    if moved is None:
        raise Fenced(lease.session_id)
    return moved
