"""The details of cycles: replayed when they are first requested, and stored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError, connection

from schedviz.sessions.errors import HistoryUnavailable, SessionGone
from schedviz.sessions.history import cycle_groups, reading
from schedviz.sessions.models import CycleDetail, Session
from schedviz.sessions.redis import single_flight, stream
from schedviz.sessions.replay import cycle_detail_job, cycle_details, replayer
from schedviz.sessions.transfer import deletion
from tests.sessions.conftest import crash, send, work_off


def test_the_detail_of_a_cycle_matches_its_summary(busy: UUID) -> None:
    for number in (1, 7, 11, 13):
        stored = reading.cycle_summary(busy, number)
        assert stored is not None
        summary = stored.cycle

        detail = cycle_detail_job.replay_cycle(Session.objects.get(pk=busy), number)

        assert (detail["pod"], detail["outcome"], detail["node"]) == (summary.pod, summary.outcome, summary.node)
        assert detail["feasibleNodes"] == summary.feasible_nodes
        assert detail["scores"]


def test_a_detail_has_the_time_of_each_plugin(busy: UUID) -> None:
    nanos = cycle_detail_job.replay_cycle(Session.objects.get(pk=busy), 7)["pluginNanos"]

    assert {"PreFilter", "Filter", "PreScore", "Score", "NormalizeScore", "Reserve"} <= set(nanos)
    assert nanos["Filter"]["NodeResourcesFit"] > 0
    assert all(taken >= 0 for of_point in nanos.values() for taken in of_point.values())


def test_the_detail_of_a_cycle_in_a_run_has_its_binding(busy: UUID) -> None:
    detail = cycle_detail_job.replay_cycle(Session.objects.get(pk=busy), 3)

    assert detail["binding"]["outcome"] == "bound"


def test_each_cycle_of_a_pod_group_has_a_detail(grouped: UUID) -> None:
    cycles = reading.cycles(grouped)
    assert [cycle.cycle.pod_group for cycle in cycles] == ["default/small"] * 3 + ["default/large"] * 3 + [""]

    for cycle in cycles:
        detail = cycle_detail_job.replay_cycle(Session.objects.get(pk=grouped), cycle.cycle.cycle)

        assert (detail["pod"], detail["outcome"], detail["node"]) == (cycle.cycle.pod, cycle.cycle.outcome, cycle.cycle.node)


def test_a_detail_is_computed_once(busy: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    cycle_detail_job.make_cycle_detail(busy, 2)
    made = cycle_details.cycle_detail(busy, 2, timeout_seconds=0)

    def make_again(*_: Any, **_kwargs: Any) -> Any:
        raise AssertionError("it was made again")

    monkeypatch.setattr(cycle_detail_job, "replay_cycle", make_again)
    cycle_detail_job.make_cycle_detail(busy, 2)

    assert cycle_details.cycle_detail(busy, 2, timeout_seconds=0) == made
    assert CycleDetail.objects.filter(session_id=busy).count() == 1


def run_requested(session_id: UUID, cycle: int) -> bool:
    """Run the task of a request that somebody waits for."""
    single_flight.claim_request(cycle_details.flight_key(session_id, cycle))
    return cycle_detail_job.run(session_id, cycle)


def test_a_detail_that_nobody_waits_for_any_more_is_not_computed(busy: UUID) -> None:
    flight = cycle_details.flight_key(busy, 5)
    assert single_flight.claim_request(flight, "user 7")
    stream.client().pexpire(f"{flight}:senders", 34_000)
    assert cycle_detail_job.run(busy, 5)
    assert not cycle_details.is_stored(busy, 5)

    assert run_requested(busy, 5), "the next request sends a task"
    assert cycle_details.is_stored(busy, 5)


def test_a_future_cycle_has_no_detail(busy: UUID) -> None:
    with pytest.raises(HistoryUnavailable):
        cycle_details.cycle_detail(busy, 999, timeout_seconds=1)


def test_a_request_that_waits_too_long_is_asked_to_retry(busy: UUID) -> None:
    with pytest.raises(cycle_details.DetailLate, match="try again"):
        cycle_details.cycle_detail(busy, 4, timeout_seconds=0.05)


def test_a_cycle_that_cannot_be_replayed_is_reported_to_every_request(busy: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    def diverge(*_: Any, **_kwargs: Any) -> Any:
        raise replayer.ReplayDiverged("it leads elsewhere")

    monkeypatch.setattr(cycle_detail_job, "replay_cycle", diverge)
    cycle_detail_job.make_cycle_detail(busy, 5)

    with pytest.raises(HistoryUnavailable, match="elsewhere"):
        cycle_details.cycle_detail(busy, 5, timeout_seconds=1)


@pytest.mark.parametrize("error", [SoftTimeLimitExceeded(), OperationalError("server closed the connection unexpectedly"), MemoryError()])
def test_errors_that_the_cycle_did_not_cause_are_not_stored(busy: UUID, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: Any, **_kwargs: Any) -> Any:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(cycle_detail_job, "replay_cycle", fail)
        if isinstance(error, SoftTimeLimitExceeded):
            assert run_requested(busy, 5)
            with pytest.raises(cycle_details.DetailTooSlow, match="60 s"):
                cycle_details.cycle_detail(busy, 5, timeout_seconds=30)
        else:
            with pytest.raises(type(error)):
                run_requested(busy, 5)
    assert run_requested(busy, 5)
    assert cycle_details.cycle_detail(busy, 5, timeout_seconds=0)["node"]


@pytest.mark.parametrize("error", [None, HistoryUnavailable("No checkpoint is stored."), KeyError("no row")])
def test_a_request_whose_session_is_deleted_meanwhile_learns_it_at_once(
    busy: UUID, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    def delete(*_: Any, **_kwargs: Any) -> Any:
        deletion.delete_session(busy)
        if error is not None:
            raise error

    monkeypatch.setattr(cycle_detail_job, "replay_cycle", delete)
    monkeypatch.setattr(cycle_groups, "exists", lambda *_: True)
    assert run_requested(busy, 5)

    with pytest.raises(SessionGone):
        cycle_details.cycle_detail(busy, 5, timeout_seconds=30)
    stream.client().flushdb()
    assert run_requested(busy, 5)
    with pytest.raises(SessionGone):
        cycle_details.cycle_detail(busy, 5, timeout_seconds=30)


def test_a_failure_stored_by_another_version_is_retried(busy: UUID) -> None:
    cycle_details.store_detail(busy, 5, None, error="The engine failed.", engine_version="0.0.1")

    cycle_detail_job.make_cycle_detail(busy, 5)

    assert cycle_details.cycle_detail(busy, 5, timeout_seconds=0)["node"]


def test_a_detail_that_cannot_be_stored_on_a_full_disk_is_reported_at_once(busy: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle_detail_job, "replay_cycle", lambda *_, **_kwargs: {"node": os.urandom(200_000).hex()})
    with small_database():
        cycle_detail_job.make_cycle_detail(busy, 6)

    with pytest.raises(cycle_details.DetailNotStored, match=r"is full.* The detail of cycle 6 was computed and could not be stored"):
        cycle_details.cycle_detail(busy, 6, timeout_seconds=60)
    # Once there is space again, it is computed again.
    cycle_detail_job.make_cycle_detail(busy, 6)
    assert cycle_details.cycle_detail(busy, 6, timeout_seconds=0)["node"]


@contextmanager
def small_database() -> Iterator[None]:
    """The database cannot grow, as on a full disk."""
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite can be limited to its present size")
    with connection.cursor() as cursor:
        # No pages are free.
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA max_page_count")
        (maximum,) = cursor.fetchone()
        # SQLite takes the present number of pages, if it is larger.
        cursor.execute("PRAGMA max_page_count = 1")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA max_page_count = {maximum}")


def test_a_crash_does_not_change_the_details_of_cycles(busy: UUID) -> None:
    before = cycle_detail_job.replay_cycle(Session.objects.get(pk=busy), 9)
    crash(busy)
    send(busy, "cycle")
    work_off(busy)
    after = cycle_detail_job.replay_cycle(Session.objects.get(pk=busy), 9)

    # How long each plugin took is measured anew.
    assert {**after, "pluginNanos": None} == {**before, "pluginNanos": None}
