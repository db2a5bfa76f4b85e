"""Making the full detail of a cycle again, in an io worker: the nearest checkpoint before it, then the stored commands."""

from __future__ import annotations

import logging
import time
from typing import Any
from uuid import UUID

from schedviz.engine import Simulation
from schedviz.sessions.errors import HistoryUnavailable, ReplayDiverged
from schedviz.sessions.history import checkpoints
from schedviz.sessions.models import Checkpoint, CycleDetail, Session
from schedviz.sessions.replay import cycle_details, replayer

logger = logging.getLogger(__name__)


def make_cycle_detail(session_id: UUID, cycle: int) -> None:
    """Store the detail of a cycle that has ended, or why it cannot be made, and tell who waits."""
    session = Session.objects.filter(pk=session_id).first()
    if session is None or CycleDetail.objects.filter(session_id=session_id, cycle=cycle).exists():
        return
    try:
        detail = replay_cycle(session, cycle)
    except (ReplayDiverged, HistoryUnavailable) as error:
        cycle_details.store_detail(session_id, cycle, None, error=str(error), engine_version=replayer.ENGINE_VERSION)
    except Exception:
        logger.exception("cycle %s of session %s cannot be made again", cycle, session_id)
        message = f"Cycle {cycle} could not be made again: the engine failed. The server's log says more."
        cycle_details.store_detail(session_id, cycle, None, error=message, engine_version=replayer.ENGINE_VERSION)
    else:
        cycle_details.store_detail(session_id, cycle, detail, engine_version=replayer.ENGINE_VERSION)


def replay_cycle(session: Session, cycle: int) -> dict[str, Any]:
    """The detail of a cycle. Raises `HistoryUnavailable` or `ReplayDiverged`."""
    simulation, checkpoint = _engine_before(session, cycle)
    wanted: dict[str, Any] | None = None

    def found() -> bool:
        nonlocal wanted
        # Records are large: none is made of the cycles before.
        if simulation.cycle >= cycle - 1 and not simulation.detail:
            simulation.detail = True
            simulation.watch_plugins(time.perf_counter_ns)
        wanted = next((record for number, record in reversed(simulation.cycle_records) if number == cycle), None)
        return wanted is not None

    found()
    replayer.replay(simulation, checkpoint, to_seq=session.applied_seq, to_event=session.event, between_cycles=found)
    if not found() or wanted is None:
        raise HistoryUnavailable(f"The replay came by no cycle {cycle}.")
    return wanted


def _engine_before(session: Session, cycle: int) -> tuple[Simulation, Checkpoint]:
    """An engine for which the cycle has not begun, and the checkpoint after which the session's commands are to be done with it."""
    checkpoint = checkpoints.newest(session.pk, before_cycle=cycle)
    if checkpoint is not None:
        return replayer.begin(session.pk, before_cycle=cycle)
    first = checkpoints.newest(session.pk, until_event=session.fork_event)
    if first is None or session.forked_from_id is None:
        why = " It began in the session that this one was forked from, which was deleted." if session.fork_event else ""
        raise HistoryUnavailable(f"Nothing is stored from before cycle {cycle}.{why}")

    # The session was forked within the cycle: its beginning is the other session's.
    def keep_records(simulation: Simulation) -> None:
        simulation.detail = simulation.cycle >= cycle - 1

    return replayer.engine_at(session.forked_from_id, session.fork_event, between_units=keep_records), first
