"""From which stored engine to go on: the newest that this version of schedviz can read, else the session's beginning."""

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


class Unreadable(HistoryUnavailable):
    """Another version saved all its engines. `first`: the checkpoint of its beginning, from which its commands would be done again."""

    def __init__(self, message: str, first: Checkpoint) -> None:
        super().__init__(message)
        self.first = first


def find(session_id: UUID, *, until_event: int | None = None, before_cycle: int | None = None) -> tuple[Simulation, Checkpoint]:
    """An engine and the checkpoint that it was made from: the newest, or the newest until an event, or before a cycle had begun. Raises
    `HistoryUnavailable`, or `Unreadable` where only another version could go on.

    A checkpoint that another version wrote in another format is passed over: an older one that can be read does as well, it only takes
    longer. Where there is none, the objects that the session began with are read from the first; then the checkpoint is not a stored one.
    """
    stored = Checkpoint.objects.filter(session_id=session_id, complete=True, has_engine=True).order_by("-event", "-pk")
    if until_event is not None:
        stored = stored.filter(event__lte=until_event)
    if before_cycle is not None:
        stored = stored.filter(cycle__lt=before_cycle)
    rows = list(stored)
    if not rows:
        raise HistoryUnavailable("Nothing is stored from which the engine of that moment could be made.")
    for row in rows:
        try:
            return Simulation.restore(checkpoints.engine_bytes(row)), row
        except CheckpointError as error:
            made_by = row.engine_version
            logger.warning("session %s: passing over the checkpoint at event %s, made by %s: %s", session_id, row.event, made_by, error)
    return _beginning(rows[-1], rows[0])


def _beginning(first: Checkpoint, newest: Checkpoint) -> tuple[Simulation, Checkpoint]:
    simulation: Simulation | None = None
    try:
        simulation = Simulation.begin_again(checkpoints.engine_bytes(first))
    except CheckpointError as error:
        why = str(error)
    else:
        why = f"the first of them was made at event {first.event}, not at the session's beginning"
    if simulation is None or simulation.event != first.event:
        raise Unreadable(
            f"This session was last saved by schedviz {newest.engine_version}, and this is {__version__}, which cannot read its saved "
            f"engines ({why}). What was recorded can still be looked at; to go on with it, run the version that saved it.",
            first,
        )
    return simulation, nothing_done(first)


def nothing_done(first: Checkpoint) -> Checkpoint:
    """The beginning of a session, as a checkpoint that is not a stored one: none of its commands was done."""
    return Checkpoint(
        session_id=first.session_id,
        event=first.event,
        cycle=first.cycle,
        clock_seconds=first.clock_seconds,
        cost_seconds=first.cost_seconds,
    )
