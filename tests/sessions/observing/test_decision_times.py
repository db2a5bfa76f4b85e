"""The times of decisions: only those of the newest batches are kept."""

from __future__ import annotations

from uuid import UUID

from schedviz.explain.shadowing.decision_times import DecisionTime
from schedviz.sessions.models import DecisionBatch
from schedviz.sessions.observing import decision_times
from tests.sessions.conftest import MakeSession


def _times(count: int, name: str) -> list[DecisionTime]:
    return [DecisionTime(f"{number}-{name}"[:512], "added", 1, 2, "n" * 512, "u" * 512) for number in range(count)]


def _stored(session_id: UUID) -> dict[int, int]:
    return {row.n: len(bytes(row.times)) for row in DecisionBatch.objects.filter(session_id=session_id).order_by("n")}


def test_the_newest_batches_are_kept_up_to_four_megabytes(make_session: MakeSession) -> None:
    session = make_session()
    for n in range(1, 9):
        decision_times.store(session, n, _times(decision_times.MAX_TIMES, "p" * 512))

    stored = _stored(session)
    assert list(stored) == [8]
    last, times = decision_times.read_after(session, 0)
    assert (last, len(times)) == (8, decision_times.MAX_TIMES)


def test_small_batches_are_kept_below_the_limit(make_session: MakeSession) -> None:
    session = make_session()
    for n in range(1, 13):
        decision_times.store(session, n, _times(100, "p"))

    assert list(_stored(session)) == list(range(1, 13))
