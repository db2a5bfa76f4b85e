"""Selects the engine from which replay starts: the newest that this version of schedviz can read, otherwise the session's beginning."""

from __future__ import annotations

import logging
from uuid import UUID

from schedviz import __version__
from schedviz.engine import Simulation
from schedviz.engine.checkpointing.checkpoint import CheckpointError
from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.history import checkpoints
from schedviz.sessions.models import Checkpoint

logger = logging.getLogger(__name__)


class OtherEngineVersion(HistoryUnavailable):
    """Another version saved all engines of the session. `first`: the checkpoint of its beginning, from which its commands can be
    replayed.
    """

    def __init__(self, message: str, first: Checkpoint) -> None:
        super().__init__(message)
        self.first = first


def find(session_id: UUID, *, until_event: int | None = None, before_cycle: int | None = None) -> tuple[Simulation, Checkpoint]:
    """An engine and its checkpoint: the newest, optionally the newest up to an event or before a cycle began.

    Raises `HistoryUnavailable`, or `OtherEngineVersion` if only another version can continue. Checkpoints in another version's format are
    skipped; an older readable one only makes the replay longer. If there is none, the session's initial objects are read from its first
    checkpoint, and the returned checkpoint is not a stored one.
    """
    rows = list(checkpoints.engines(session_id, before_cycle=before_cycle, until_event=until_event))
    if not rows:
        raise HistoryUnavailable("The engine of that moment cannot be rebuilt, because no earlier checkpoint is stored.")
    for row in rows:
        try:
            return Simulation.restore(checkpoints.stored_engine(row)), row
        except checkpoints.EngineDeleted:
            continue
        except CheckpointError as error:
            logger.warning(
                "session %s: skipping the checkpoint at event %s, saved by %s: %s", session_id, row.event, row.engine_version, error
            )
    return _beginning(rows[-1], rows[0])


def _beginning(first: Checkpoint, newest: Checkpoint) -> tuple[Simulation, Checkpoint]:
    simulation: Simulation | None = None
    try:
        simulation = Simulation.begin_again(checkpoints.stored_engine(first))
    except checkpoints.EngineDeleted:
        raise HistoryUnavailable("The engine of that moment was deleted while it was read.") from None
    except CheckpointError as error:
        why = str(error)
    else:
        why = f"the first of them was made at event {first.event}, not at the session's beginning"
    if simulation is None or simulation.event != first.event:
        raise OtherEngineVersion(
            f"This session was last saved by schedviz {newest.engine_version}, and this is {__version__}, which cannot read its saved "
            f"engines ({why}). Its history can still be viewed. To continue the session, run the version that saved it.",
            first,
        )
    return simulation, session_beginning(first)


def session_beginning(first: Checkpoint) -> Checkpoint:
    """The beginning of a session, as an unsaved checkpoint before its first command."""
    return Checkpoint(
        session_id=first.session_id,
        event=first.event,
        cycle=first.cycle,
        clock_seconds=first.clock_seconds,
        cost_seconds=first.cost_seconds,
    )
