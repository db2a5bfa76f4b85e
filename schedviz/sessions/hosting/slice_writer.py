"""Commits what a slice did, then publishes it to viewers and counts it for metrics."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec
from django.db import transaction

from schedviz.engine import Simulation
from schedviz.sessions import frames
from schedviz.sessions.commands.breakpoints import Hit
from schedviz.sessions.errors import Fenced
from schedviz.sessions.history import reading
from schedviz.sessions.hosting import slice_commit
from schedviz.sessions.hosting.lease import Lease, renew
from schedviz.sessions.hosting.slice_commit import CommitResult, CompletedCommand, Position, SliceContents
from schedviz.sessions.hosting.slice_runner import SliceResult, SliceRunner
from schedviz.sessions.metrics import plugin_durations
from schedviz.sessions.metrics import process as process_metrics
from schedviz.sessions.metrics.stored_metrics import MetricsRecorder
from schedviz.sessions.models import Session
from schedviz.sessions.observing import agreement
from schedviz.sessions.observing.agreement import ShadowRecord
from schedviz.sessions.redis import stream
from schedviz.sessions.replay.replayer import StoredCommand
from schedviz.trace.commands import Pause, Run, Step
from schedviz.trace.tally import Levels

logger = logging.getLogger(__name__)

#: The maximum number of chunks that a new owner publishes again.
_MAX_REPUBLISHED_CHUNKS = 50


class SliceWriter:
    """Writes the slices of one session."""

    def __init__(self, lease: Lease, session: Session, simulation: Simulation, *, position: Position) -> None:
        self._lease = lease
        self._session = session
        self._simulation = simulation
        self._metrics = MetricsRecorder(session.pk, event=position.event, release=simulation.release.version)
        #: The chunk that this writer committed last, and the queue lengths and object counts after it.
        self._levels: tuple[int, Levels] | None = None

    def take_over(self, lease: Lease, session: Session) -> None:
        """Continue under a new lease."""
        self._lease, self._session = lease, session

    def write(self, result: SliceResult, runner: SliceRunner, *, before: Position, last_seq: int) -> tuple[Position, CommitResult] | None:
        """Commit and publish a slice; returns the new position, or None when nothing happened. Raises `Fenced`."""
        events = self._simulation.drain_events()
        cycles, responses = self._simulation.drain_cycles(), self._simulation.drain_extender_responses()
        timings = self._simulation.recorder.drain_stage_timings()
        shadow_records = runner.shadow.drain(self._simulation)
        done = [completed for _, completed in result.done]
        if not events and not done:
            return None
        after = Position(
            applied_seq=done[-1].seq if done else before.applied_seq,
            chunk=before.chunk + slice_commit.chunks_of(events),
            cycle=self._simulation.cycle,
            event=events[-1].event if events else before.event,
            clock_seconds=self._simulation.clock_seconds,
        )
        self._session.status = self._status_after(result, runner.running)
        self._session.last_seq = last_seq
        hit_before, self._session.hit = self._session.hit, self._hit_after(result.hits)
        work = SliceContents(
            after=after,
            done=done,
            events=events,
            cycles=cycles,
            status=self._session.status,
            message=self._session.message,
            extender_responses=responses,
            running_pod=self._simulation.running_pod,
            hits=result.hits,
            hit_changed=self._session.hit != hit_before,
            shadow_records=shadow_records,
            object_count=self._simulation.cluster.store.total_weight(),
        )
        levels = self._levels[1] if self._levels is not None and self._levels[0] == before.chunk else None
        committed = slice_commit.commit(self._lease, self._session, before, work, levels=levels)
        if committed.levels is not None:
            self._levels = (after.chunk, committed.levels)
        self._publish(work, committed.frames)
        for completed in done:
            logger.debug("command done", extra={"command": completed.seq, "outcome": completed.outcome})
        process_metrics.CYCLES.inc(len(cycles))
        process_metrics.COMMANDS.inc(len(done))
        process_metrics.QUARANTINED.inc(sum(completed.quarantined for completed in done))
        self._metrics.count(events, timings)
        plugin_durations.observe(events, timings)
        self._metrics.store_if_due(self._lease, self._simulation)
        return after, committed

    def publish_missed(self, position: Position) -> None:
        """Publish the chunks that the previous owner committed and did not publish."""
        published = stream.last_published(self._session.pk)
        if published is not None and published < position.chunk:
            after = max(published, position.chunk - _MAX_REPUBLISHED_CHUNKS)
            stream.publish(self._session.pk, reading.frames_after(self._session.pk, after, limit=_MAX_REPUBLISHED_CHUNKS))

    def store_shadow_records(self, shadow_records: Sequence[ShadowRecord]) -> None:
        """Store records of the shadow scheduler that belong to no slice. Raises `Fenced`."""
        if not shadow_records:
            return
        with transaction.atomic():
            if not renew(self._lease):
                raise Fenced(self._session.pk)
            agreement.store(self._session.pk, shadow_records)

    def store_metrics(self, *, now: bool = False) -> None:
        """Store the session's metrics if that is due; `now`: even if it is not."""
        if now:
            self._metrics.store(self._lease, self._simulation)
        else:
            self._metrics.store_if_due(self._lease, self._simulation)

    def _status_after(self, result: SliceResult, running: StoredCommand | None) -> Session.Status:
        if running is not None:
            return Session.Status.RUNNING if isinstance(running.command, Run | Step) else Session.Status(self._session.status)
        if result.hits or any(_is_paused(outcome) for _, outcome in result.done):
            return Session.Status.PAUSED
        if self._session.status == Session.Status.PAUSED and all(isinstance(stored.command, Pause) for stored, _ in result.done):
            return Session.Status.PAUSED
        return Session.Status.READY

    def _hit_after(self, hits: list[Hit]) -> dict[str, Any] | None:
        """The breakpoint at which the session is stopped; it stays set until another command is executed."""
        if hits:
            members: dict[str, Any] = msgspec.to_builtins(hits[-1])
            return members
        return self._session.hit if self._session.status == Session.Status.PAUSED else None

    def _publish(self, work: SliceContents, frames_of_chunks: list[tuple[int, bytes]]) -> None:
        notes = [frames.outcome(completed.seq, completed.outcome) for completed in work.done if not completed.is_observed]
        if any(completed.quarantined for completed in work.done):
            self._session.applied_seq = work.after.applied_seq
            notes.append(frames.status(frames.session_state(self._session)))
        stream.publish(self._session.pk, frames_of_chunks, notes)


def _is_paused(done: CompletedCommand) -> bool:
    """Whether a pause, a breakpoint or a quota ended a command."""
    return done.stopped_event is not None and not done.quarantined
