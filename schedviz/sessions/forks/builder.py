"""Builds the engine of a fork in an io worker: restores the nearest checkpoint before the fork's event, then replays the stored commands up
to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.checkpointing.checkpoint import CheckpointError
from schedviz.ingest.errors import ImportCancelled, IngestError
from schedviz.ingest.load import Import, Progress
from schedviz.sessions.errors import HistoryUnavailable, ReplayDiverged
from schedviz.sessions.history import lineage, reading, timeline
from schedviz.sessions.hosting import lease
from schedviz.sessions.hosting.slice_commit import Position
from schedviz.sessions.models import Session
from schedviz.sessions.replay import replayer
from schedviz.sessions.transfer.importer import Importer
from schedviz.trace.added_members import view_without_added_members
from schedviz.trace.events import AnyEvent
from schedviz.trace.simulation_settings import RULES_OF_NEW_SESSIONS, SimulationSettings
from schedviz.trace.tally import levels_of

_PARENT_DELETED = "The session to fork was deleted."


class ForkBuilder(Importer):
    """Makes the first checkpoint of a fork, or starts the scheduler of another release."""

    def make(self) -> dict[str, Any]:
        """Rebuild the engine at the fork's event and compare it with the stored view of that moment."""
        other_release = "release" in self.session.source["fork"]
        parent = self.session.origin
        if parent is None:
            raise IngestError(_PARENT_DELETED)
        event = self.session.source["fork"]["event"] if other_release else self.session.fork_event
        try:
            simulation = self.replay(parent, event)
            self.require_recorded_state(parent, simulation)
            if other_release:
                self.begin_other_release(simulation)
            else:
                self.store_beginning(parent, simulation)
        except (HistoryUnavailable, ReplayDiverged, CheckpointError) as error:
            if not Session.objects.filter(pk=parent.pk).exists():
                raise IngestError(_PARENT_DELETED) from None
            raise IngestError(f"The session cannot be forked at event {event}: {error}") from error
        report: dict[str, Any] = self.session.report or {}
        return report

    def replay(self, parent: Session, event: int) -> Simulation:
        """The engine at the event, or at the end of the stage or command that contains it."""
        began: int | None = None

        def report_replay(simulation: Simulation) -> None:
            nonlocal began
            began = simulation.event if began is None else began
            self.report_progress(Progress("forking", simulation.event - began, event - began, unit="events"))
            if self.is_cancelled():
                raise ImportCancelled

        return replayer.engine_at(parent.pk, event, between_units=report_replay)

    def require_recorded_state(self, parent: Session, simulation: Simulation) -> None:
        """Compare the engine with the stored view of the moment. Raises `ReplayDiverged`."""
        stored, view = reading.state_at_event(parent, simulation.event).view, simulation.view()
        # Earlier builds stored less. What they stored has to be the same.
        if stored != view and view_without_added_members(stored) != view_without_added_members(view):
            raise ReplayDiverged(
                f"replay with this version of schedviz ({replayer.ENGINE_VERSION}) leads to another "
                "state than was recorded when the session ran."
            )

    def store_beginning(self, parent: Session, simulation: Simulation) -> None:
        """Store the fork's position in history, its first tally and checkpoint, and the numbers of objects that it begins with."""
        self.report_progress(Progress("saving", 0, None, unit=""), now=True)
        event = simulation.event
        # A cycle that is in progress ends in the fork.
        running = simulation.scheduler.cycle
        ended = simulation.cycle if running is None else running.number - 1
        lease.require_update(self.lease, fork_event=event, fork_cycle=ended)
        view = simulation.view()
        levels = levels_of(view.queue, view.api.objects)
        timeline.store_initial(
            self.session.pk,
            levels,
            event=event,
            clock_seconds=simulation.clock_seconds,
            before=_events_of_divided_chunk(parent, event),
        )
        lease.require_update(self.lease, nodes=levels.nodes, pods=levels.pods, object_count=simulation.cluster.store.total_weight())
        self.save_checkpoint(simulation, Position.before_commands(simulation))

    def begin_other_release(self, simulation: Simulation) -> None:
        """Start the scheduler of the other release with the objects in this session's API server."""
        came_from = self.session.source["fork"] | {"event": simulation.event}
        lease.require_update(self.lease, source={"fork": came_from})
        # Stored as for a new session, without defaults, so that a comparison lists only what differs.
        defaults = msgspec.to_builtins(SimulationSettings())
        settings = {name: value for name, value in msgspec.to_builtins(simulation.settings).items() if value != defaults[name]}
        self.session.settings = {
            **settings,
            "config": simulation.config,
            "release": self.session.settings["release"],
            "feature_gates": self.session.settings["feature_gates"],
            "records_preemptions": RULES_OF_NEW_SESSIONS["records_preemptions"],
        }
        self.save(self.load_engine(Import(objects=tuple(simulation.stored_objects()))))


def _events_of_divided_chunk(parent: Session, event: int) -> Sequence[AnyEvent]:
    """The events up to this one in its chunk, if the chunk continues after it, so that the fork divides it; otherwise none."""
    segment = lineage.of_event(parent.pk, event)
    chunk = None if segment is None else reading.chunk_of_event(segment.session_id, event)
    if chunk is None or chunk.last_event == event:
        return ()
    return reading.events(parent.pk, after=chunk.first_event - 1, before=event + 1, limit=event)
