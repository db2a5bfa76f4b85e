"""Exports a session as one file: its initial state, its commands, the responses of extenders and the recorded events.

The file ends after the last completed command. For a fork it includes everything that led to the fork, so that the file is self-contained.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec

from schedviz.ingest import session_file
from schedviz.ingest.session_file import AnyLine, CommandLine, EventsLine, ExtenderResponseLine, ForkLine, Manifest, ObjectLine, view_digest
from schedviz.kube import codec
from schedviz.kube.meta import KubeObject
from schedviz.sessions import frames
from schedviz.sessions.commands.limits import COMMANDS_PER_BATCH
from schedviz.sessions.errors import NotExportable
from schedviz.sessions.history import cycle_groups, lineage, reading
from schedviz.sessions.history.lineage import Segment
from schedviz.sessions.models import Checkpoint, Chunk, Command, ExtenderAnswer, Session
from schedviz.sessions.queries.keyset import read_in_batches
from schedviz.sessions.transfer.initial_state import InitialState, initial_state_of
from schedviz.trace.events import encode_events

#: How many chunks are read at a time.
_BATCH_CHUNKS = 16


def export(session: Session) -> Iterator[bytes]:
    """The `.schedviz` file of a session, in chunks. Raises `NotExportable` before the first one."""
    return _Export(session).write()


class RecordedHistory:
    """How a session got to its position: the initial state of its oldest ancestor, and all commands since."""

    def __init__(self, session: Session) -> None:
        #: The session whose history it is.
        self.session = session
        initial_state = None if session.status == Session.Status.IMPORTING else initial_state_of(session.pk)
        if initial_state is None:
            raise NotExportable("The session is not ready, so there is nothing to export yet.")
        own, first_checkpoint = initial_state
        #: The session's first checkpoint.
        self.first_checkpoint: Checkpoint = first_checkpoint
        segments = lineage.segments(session.pk)
        #: The oldest first.
        self._segments = segments[::-1]
        #: The cycles that each session of the lineage stores.
        self._cycles = {segment.session_id: cycle_groups.OwnCycles(segment.session_id) for segment in segments}
        #: The ancestors, the oldest first.
        self.ancestors: list[Segment] = segments[:0:-1]
        #: The initial state of the oldest ancestor, and the event before its first command.
        self.initial_state, self.first_event = self._initial_state(own, segments[-1])
        #: The end of the last completed command: its event, the clock, and the number of the last cycle.
        self.last_event, self.clock_seconds, self.last_cycle = self._end(self.first_checkpoint)

    def commands(self) -> Iterator[tuple[CommandLine, int]]:
        """All completed commands, in order, each with the last event of its session that belongs to this history."""
        for segment in self.ancestors:
            for command in self.commands_before_fork(segment):
                yield command, segment.until
        for command in _commands(self.session.pk, until_seq=self.session.applied_seq):
            yield command, self.last_event

    def ended_cycles(self, after: int, until: int) -> int:
        """How many cycles ended between two events."""
        count = 0
        for session_id, after_event, until_event in lineage.within(self._segments, after, until + 1):
            # In the order of events: both numbers are usually of one group.
            ended_before = self._cycles[session_id].count_ended(after_event)
            count += self._cycles[session_id].count_ended(until_event) - ended_before
        return count

    def is_between_stages(self, event: int) -> bool:
        """Whether a cycle had begun by an event and had not ended."""
        parts = lineage.within(self._segments, event - 1, event + 1)
        return any(self._cycles[session_id].is_between_stages(event) for session_id, _, _ in parts)

    def commands_before_fork(self, segment: Segment) -> Iterator[CommandLine]:
        """The commands of an ancestor that led to its fork; the last of them may have continued after the fork."""
        for command in _commands(segment.session_id, until_seq=1 << 62):
            yield command
            if int(command.outcome.get("event", 1 << 62)) >= segment.until:
                return

    def _initial_state(self, own: InitialState, oldest: Segment) -> tuple[InitialState, int]:
        if oldest.session_id == self.session.pk:
            came_from = self.session.source.get("fork", {})
            if self.session.fork_event or (came_from and "release" not in came_from):
                raise NotExportable(
                    "The session that this one was forked from was deleted. A session file must contain its commands, which are lost."
                )
            return own, self.first_checkpoint.event
        initial_state = initial_state_of(oldest.session_id)
        if initial_state is None or oldest.after:
            raise NotExportable("An ancestor of this session was deleted. A session file must contain its commands, which are lost.")
        return initial_state[0], initial_state[1].event

    def _end(self, first: Checkpoint) -> tuple[int, float, int]:
        """The last event of the last completed command, the clock then, and the number of cycles before."""
        row = (
            Command.objects.filter(session=self.session, seq__lte=self.session.applied_seq, outcome__isnull=False).order_by("-seq").first()
        )
        event = first.event if row is None else int(row.outcome.get("event") or first.event)
        view = reading.state_at_event(self.session, event).view
        return event, view.clock_seconds, view.cycle.cycle if view.cycle else 0


class _Export(RecordedHistory):
    def write(self) -> Iterator[bytes]:
        objects = self.initial_state.objects()
        view = reading.state_at_event(self.session, self.last_event).view
        commands_of_ancestors = [list(self.commands_before_fork(ancestor)) for ancestor in self.ancestors]
        responses = self._responses()
        manifest = Manifest(
            format=session_file.FORMAT,
            engine_version=self.session.engine_version,
            name=self.session.name,
            settings=self.initial_state.settings,
            source=self.session.source_without_origin,
            report=self.session.report,
            objects=len(objects),
            commands=sum(map(len, commands_of_ancestors)) + self.session.applied_seq,
            answers=responses.count(),
            forks=[ancestor.until for ancestor in self.ancestors],
            after_event=self.first_checkpoint.event,
            last_event=self.last_event,
            last_cycle=self.last_cycle,
            clock_seconds=self.clock_seconds,
            view_digest=view_digest(view),
        )
        return session_file.write(manifest, self._lines(objects, commands_of_ancestors))

    def _lines(self, objects: list[KubeObject], commands_of_ancestors: list[list[CommandLine]]) -> Iterator[AnyLine]:
        """The lines after the manifest. Objects are released as they are written, because a client may read slowly."""
        objects.reverse()
        while objects:
            yield ObjectLine(codec.to_dict(objects.pop()))
        for event, body, error in read_in_batches(self._responses(), "event", "body", "error", batch_size=COMMANDS_PER_BATCH):
            yield ExtenderResponseLine(event=event, body=bytes(body), error=error)
        for segment, commands in zip(self.ancestors, commands_of_ancestors, strict=True):
            yield from commands
            yield ForkLine(segment.until)
        yield from _commands(self.session.pk, until_seq=self.session.applied_seq)
        yield from self._events()

    def _responses(self) -> Any:
        rows = ExtenderAnswer.objects.none()
        for session_id, _, until in lineage.between(self.session.pk, -1, self.last_event + 1):
            rows = rows | ExtenderAnswer.objects.filter(session_id=session_id, event__lte=until)
        return rows

    def _events(self) -> Iterator[EventsLine]:
        rows = Chunk.objects.filter(session=self.session, first_event__lte=self.last_event)
        for _, last_event, data in read_in_batches(rows, "number", "last_event", "data", batch_size=_BATCH_CHUNKS):
            if last_event <= self.last_event:
                yield EventsLine(frames.open_frame(bytes(data)).events)
            else:
                events = [event for event in frames.events_of(bytes(data)) if event.event <= self.last_event]
                yield EventsLine(msgspec.Raw(encode_events(events)))


def _commands(session_id: UUID, *, until_seq: int) -> Iterator[CommandLine]:
    rows = Command.objects.filter(session_id=session_id, seq__lte=until_seq)
    for seq, body, outcome, stopped, quarantined in read_in_batches(
        rows, "seq", "body", "outcome", "stopped_event", "quarantined", batch_size=COMMANDS_PER_BATCH
    ):
        yield CommandLine(
            seq=seq, command=msgspec.Raw(bytes(body)), outcome=outcome or {}, stopped_after_event=stopped, quarantined=quarantined
        )
