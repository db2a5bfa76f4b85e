"""Full cycle details: requested here, computed by replay in an io worker, and cached."""

from __future__ import annotations

import logging
import time
import zlib
from typing import Any
from uuid import UUID

import msgspec
import redis
from django.db import IntegrityError
from django.db.models import Q, QuerySet

from schedviz import __version__
from schedviz.sessions.errors import HistoryUnavailable, SessionError, SessionGone
from schedviz.sessions.history import cycle_groups, lineage
from schedviz.sessions.models import CycleDetail
from schedviz.sessions.redis import single_flight, stream, wakeups

logger = logging.getLogger(__name__)

#: Cached rows for each session. The oldest are deleted first and can be computed again.
MAX_CACHED_DETAILS = 200
_POLL_SECONDS = 0.25


class DetailLate(SessionError):
    """The replay takes longer than the caller waits. It continues, and a repeated request finds its result."""

    code = "detail_late"


class DetailNotStored(SessionError):
    """The detail was computed and could not be stored, because a disk is full. The message names the disk by its role."""

    code = "disk_full"


class DetailTooSlow(SessionError):
    """The replay met the time limit of its task. Nothing is stored: a worker that is less busy may succeed."""

    code = "analysis_failed"


#: What a worker reports in these cases.
SESSION_GONE = "The session was deleted."
TOO_SLOW = "Replaying the cycle takes longer than 60 s, which is the limit."


def cycle_detail(session_id: UUID, cycle: int, *, timeout_seconds: float, sender: str = "") -> dict[str, Any]:
    """The full detail of a completed scheduling cycle and its binding. Waits for the replay. `sender`: who asks.

    Raises `HistoryUnavailable` if the cycle does not exist or cannot be replayed, `DetailNotStored` if a disk is full, `SessionGone`,
    `DetailTooSlow`, and `DetailLate` after the timeout.
    """
    session_id = session_of_cycle(session_id, cycle)
    if (stored := stored_detail(session_id, cycle)) is not None:
        return stored
    if not cycle_groups.exists(session_id, cycle):
        raise HistoryUnavailable(f"Cycle {cycle} has not ended or does not exist.")
    deadline = time.monotonic() + timeout_seconds
    _request(session_id, cycle, sender)
    while (remaining := deadline - time.monotonic()) > 0:
        if stream.wait_for_detail(session_id, cycle, min(remaining, _POLL_SECONDS)) is None:
            time.sleep(min(remaining, _POLL_SECONDS))
        if (stored := stored_detail(session_id, cycle)) is not None:
            return stored
        if reason := stream.detail_failure(session_id, cycle):
            errors = {TOO_SLOW: DetailTooSlow, SESSION_GONE: SessionGone}
            raise errors.get(reason, DetailNotStored)(reason)
        # A request that nobody repeats is dropped.
        _request(session_id, cycle, sender)
    raise DetailLate(f"Cycle {cycle} is not replayed yet. The replay continues; try again in a moment.")


def session_of_cycle(session_id: UUID, cycle: int) -> UUID:
    """The session in which a cycle ran: for a fork, the one from which it has the cycle."""
    segment = lineage.of_cycle(session_id, cycle)
    return session_id if segment is None else segment.session_id


def _request(session_id: UUID, cycle: int, sender: str) -> None:
    """Send the request to the workers, unless it waits for one already. Raises `DetailLate`."""
    flight = flight_key(session_id, cycle)
    try:
        if not single_flight.claim_request(flight, sender):
            return
        if wakeups.enqueue(wakeups.CYCLE_DETAIL, str(session_id), cycle, queue=wakeups.IO_QUEUE):
            return
        single_flight.release_request(flight)
    except redis.RedisError as error:
        logger.debug("Redis is unavailable: %s", error)
    raise DetailLate("The details of the cycle cannot be computed now, because the workers cannot be reached. Try again in a moment.")


def flight_key(session_id: UUID, cycle: int) -> str:
    """The key under which requests for the same detail are one (`single_flight`); the detail itself is in the database."""
    return f"schedviz:cycle-detail:{session_id}:{cycle}"


def is_stored(session_id: UUID, cycle: int) -> bool:
    """Whether the detail, or the reason why there is none, is cached."""
    return _rows(session_id, cycle).exists()


def _rows(session_id: UUID, cycle: int) -> QuerySet[CycleDetail]:
    """The cached row, if any. Another version of the engine may succeed where one failed."""
    failed_elsewhere = ~Q(error="") & ~Q(engine_version=__version__)
    return CycleDetail.objects.filter(session_id=session_id, cycle=cycle).exclude(failed_elsewhere)


def stored_detail(session_id: UUID, cycle: int) -> dict[str, Any] | None:
    """The cached detail, if any. Raises `HistoryUnavailable` if an earlier replay failed."""
    row = _rows(session_id, cycle).first()
    if row is None:
        return None
    if row.error:
        raise HistoryUnavailable(row.error)
    detail: dict[str, Any] = msgspec.json.decode(zlib.decompress(bytes(row.data)))
    return detail


def store_detail(session_id: UUID, cycle: int, detail: dict[str, Any] | None, *, error: str = "", engine_version: str) -> None:
    """Store a detail, or the reason why there is none, and notify waiting clients. Raises `SessionGone`."""
    values = {
        "data": b"" if detail is None else zlib.compress(msgspec.json.encode(detail), 3),
        "error": error,
        "engine_version": engine_version,
    }
    try:
        CycleDetail.objects.update_or_create(session_id=session_id, cycle=cycle, defaults=values)
    except IntegrityError as missing:
        raise SessionGone from missing
    rows = CycleDetail.objects.filter(session_id=session_id)
    oldest = list(rows.order_by("-pk").values_list("pk", flat=True)[MAX_CACHED_DETAILS : MAX_CACHED_DETAILS + 50])
    if oldest:
        rows.filter(pk__in=oldest).delete()
    stream.notify_detail(session_id, cycle)
