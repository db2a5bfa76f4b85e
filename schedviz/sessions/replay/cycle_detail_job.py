"""Computes the full detail of a cycle in an io worker: restores the nearest checkpoint before it and replays the stored commands."""

from __future__ import annotations

import logging
import math
import time
from typing import Any
from uuid import UUID

import redis
from billiard.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError

from schedviz.engine import Simulation
from schedviz.sessions.analysis.analysis_turns import run_in_turn
from schedviz.sessions.disk import full_disk
from schedviz.sessions.errors import HistoryUnavailable, ReplayDiverged, SessionGone
from schedviz.sessions.history import checkpoints
from schedviz.sessions.models import Checkpoint, Session
from schedviz.sessions.redis import single_flight, stream
from schedviz.sessions.replay import cycle_details, replayer
from schedviz.sessions.replay.cycle_details import DetailLate
from schedviz.sessions.senders import name_of

logger = logging.getLogger(__name__)


def run(session_id: UUID, cycle: int) -> bool:
    """Make the detail of a cycle, in a turn of who asked for it, or of the session's owner. False: it is not their turn.

    Does nothing if the detail is stored, another worker is computing it, or nobody has asked for it in the last seconds.
    """
    owner = Session.objects.filter(pk=session_id).values_list("owner_id").first()
    if owner is None:
        stream.report_detail_failure(session_id, cycle, cycle_details.SESSION_GONE)
        return True
    if cycle_details.is_stored(session_id, cycle):
        return True
    flight = cycle_details.flight_key(session_id, cycle)
    senders = single_flight.senders_of(flight) or [name_of(owner[0])]
    return run_in_turn(senders, flight, lambda: _make_in_time(session_id, cycle))


def _make_in_time(session_id: UUID, cycle: int) -> None:
    try:
        make_cycle_detail(session_id, cycle)
    except SoftTimeLimitExceeded:
        logger.warning("replaying cycle %s of session %s met the time limit", cycle, session_id)
        stream.report_detail_failure(session_id, cycle, cycle_details.TOO_SLOW)


def computed_detail(session_id: UUID, cycle: int, *, deadline: float) -> dict[str, Any] | None:
    """The detail of a completed cycle, which is computed in this process unless it is stored; None if a full disk cannot hold it.
    `deadline`: of the monotonic clock.

    Raises `HistoryUnavailable` if the cycle cannot be replayed, and `DetailLate` after the deadline.
    """
    session_id = cycle_details.session_of_cycle(session_id, cycle)
    make_cycle_detail(session_id, cycle, deadline=deadline)
    return cycle_details.stored_detail(session_id, cycle)


def make_cycle_detail(session_id: UUID, cycle: int, *, deadline: float = math.inf) -> None:
    """Store the detail of a completed cycle, or the reason why it cannot be computed, and notify waiting clients.

    If a full disk cannot hold it, or the session is deleted meanwhile, they are notified of that. Raises `DetailLate` after the deadline,
    and what is not because of the cycle, such as `DatabaseError` and `SoftTimeLimitExceeded`.
    """
    try:
        _make(session_id, cycle, deadline)
    except SessionGone:
        stream.report_detail_failure(session_id, cycle, cycle_details.SESSION_GONE)
    except DatabaseError as error:
        if (full := full_disk(error)) is None:
            raise
        logger.warning("the detail of cycle %s of session %s was not stored: %s", cycle, session_id, full)
        stream.report_detail_failure(session_id, cycle, f"{full} The detail of cycle {cycle} was computed and could not be stored.")


def _make(session_id: UUID, cycle: int, deadline: float) -> None:
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        raise SessionGone
    if cycle_details.is_stored(session_id, cycle):
        return
    try:
        detail = replay_cycle(session, cycle, deadline=deadline)
    except (DetailLate, SoftTimeLimitExceeded, DatabaseError, redis.RedisError, MemoryError):
        # Not because of the cycle, so nothing is stored.
        raise
    except (ReplayDiverged, HistoryUnavailable) as error:
        cycle_details.store_detail(session_id, cycle, None, error=str(error), engine_version=replayer.ENGINE_VERSION)
    except Exception as error:
        if Session.is_deleted(session_id):
            # Without its rows, a replay fails in many ways.
            raise SessionGone from error
        logger.exception("the replay of cycle %s of session %s failed", cycle, session_id)
        message = f"Cycle {cycle} could not be replayed, because the engine failed. The server's log has the details."
        cycle_details.store_detail(session_id, cycle, None, error=message, engine_version=replayer.ENGINE_VERSION)
    else:
        cycle_details.store_detail(session_id, cycle, detail, engine_version=replayer.ENGINE_VERSION)


def replay_cycle(session: Session, cycle: int, *, deadline: float = math.inf) -> dict[str, Any]:
    """The detail of a cycle. Raises `HistoryUnavailable`, `ReplayDiverged` or, after the deadline, `DetailLate`."""
    record, before = _replayed(session, cycle, detail_from=cycle - 1, deadline=deadline)
    if record is None and before < cycle - 1:
        # The cycle is part of that of a pod group, which began after `before`.
        record, _ = _replayed(session, cycle, detail_from=before, deadline=deadline)
    if record is None:
        raise HistoryUnavailable(f"The replay contains no cycle {cycle}.")
    return record


def _replayed(session: Session, cycle: int, *, detail_from: int, deadline: float) -> tuple[dict[str, Any] | None, int]:
    """The record of a cycle, if it was kept, and the last cycle before it after which the replay could stop."""
    simulation, checkpoint = _engine_before(session, cycle, detail_from)
    wanted: dict[str, Any] | None = None
    before = 0

    def should_stop() -> bool:
        nonlocal wanted, before
        if time.monotonic() > deadline:
            raise DetailLate(f"Replaying cycle {cycle} takes too long.")
        if simulation.cycle < cycle:
            before = simulation.cycle
        # Records are large, so they are not made for earlier cycles.
        if simulation.cycle >= detail_from and simulation.records != "full":
            simulation.records = "full"
            simulation.time_plugins(time.perf_counter_ns)
        wanted = simulation.record_of(cycle)
        has_passed = simulation.cycle > cycle and simulation.scheduler.cycle is None
        return wanted is not None or has_passed

    should_stop()
    replayer.replay(simulation, checkpoint, to_seq=session.applied_seq, to_event=session.event, between_cycles=should_stop)
    should_stop()
    return wanted, before


def _engine_before(session: Session, cycle: int, detail_from: int) -> tuple[Simulation, Checkpoint]:
    """An engine before the cycle has begun, and the checkpoint from which to replay the session's commands."""
    checkpoint = checkpoints.newest(session.pk, before_cycle=cycle)
    if checkpoint is not None:
        return replayer.starting_engine(session.pk, before_cycle=cycle)
    first = checkpoints.newest(session.pk, until_event=session.fork_event)
    if first is None or session.forked_from_id is None:
        why = " It began in the session's parent, which was deleted." if session.fork_event else ""
        raise HistoryUnavailable(f"No checkpoint before cycle {cycle} is stored.{why}")

    # The session was forked within the cycle, so the cycle began in the parent.
    def keep_records(simulation: Simulation) -> None:
        simulation.records = "full" if simulation.cycle >= detail_from else ""

    return replayer.engine_at(session.forked_from_id, session.fork_event, between_units=keep_records), first
