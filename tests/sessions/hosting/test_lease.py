"""One owner at a time, by the database's clock."""

from __future__ import annotations

import time
from uuid import uuid4

import pytest
from django.db.models import F

from schedviz.sessions.hosting import lease
from schedviz.sessions.models import Session
from schedviz.sessions.queries.database import DatabaseSeconds
from tests.sessions.conftest import MakeSession, send


def test_a_held_lease_cannot_be_acquired(make_session: MakeSession) -> None:
    session_id = make_session()

    assert lease.acquire(session_id) is not None
    assert lease.acquire(session_id) is None


def test_an_expired_lease_is_acquired_with_a_higher_epoch(make_session: MakeSession) -> None:
    session_id = make_session()
    first = lease.acquire(session_id)
    Session.objects.filter(pk=session_id).update(lease_until=DatabaseSeconds() - 0.001)

    second = lease.acquire(session_id)

    assert first is not None
    assert second is not None
    assert second[0].epoch == first[0].epoch + 1
    assert not lease.renew(first[0])
    assert lease.renew(second[0])


@pytest.mark.parametrize(("resting", "hours", "is_free"), [(False, 3, True), (True, 3, True), (False, 0, False), (True, 0, False)])
def test_a_lease_from_before_a_clock_setback_can_be_acquired(
    make_session: MakeSession, *, resting: bool, hours: int, is_free: bool
) -> None:
    session_id = make_session()
    taken = lease.acquire(session_id)
    assert taken is not None
    if resting:
        lease.back_off(taken[0], lease.MAX_BACKOFF_SECONDS, "", has_tried=False)
    # Written by its owner before the clock changed.
    Session.objects.filter(pk=session_id).update(lease_until=F("lease_until") + hours * 3600)

    assert (lease.acquire(session_id) is not None) == is_free
    assert lease.renew(taken[0]) != is_free


def test_a_live_owner_keeps_its_lease_when_the_clock_is_set_back(make_session: MakeSession) -> None:
    session_id = make_session()
    taken = lease.acquire(session_id)
    assert taken is not None
    Session.objects.filter(pk=session_id).update(lease_until=F("lease_until") + 3 * 3600)

    assert lease.renew_all([taken[0]]) == []
    assert lease.acquire(session_id) is None


def test_the_clock_of_the_database_is_in_seconds_since_1970(make_session: MakeSession) -> None:
    session_id = make_session()

    seconds = Session.objects.annotate(now=DatabaseSeconds()).values_list("now", flat=True).get(pk=session_id)

    assert abs(seconds - time.time()) < 5


def test_a_host_with_work_is_not_released(make_session: MakeSession) -> None:
    session_id = make_session()
    taken = lease.acquire(session_id)
    assert taken is not None
    send(session_id, "cycle")

    assert not lease.release_idle(taken[0])
    Session.objects.filter(pk=session_id).update(applied_seq=F("last_seq"))
    assert lease.release_idle(taken[0])


def test_only_the_leases_of_a_crashed_process_are_cleared(make_session: MakeSession, monkeypatch: object) -> None:
    ours, theirs = make_session(), make_session()
    monkeypatch.setenv("SCHEDVIZ_OWNER", "worker-1")  # type: ignore[attr-defined]
    lease.acquire(ours)
    monkeypatch.setenv("SCHEDVIZ_OWNER", "worker-10")  # type: ignore[attr-defined]
    lease.acquire(theirs)

    assert lease.clear_owner("worker-1") == 1

    assert lease.acquire(ours) is not None
    assert lease.acquire(theirs) is None


def test_owners_of_an_earlier_run_are_cleared_and_those_of_this_run_kept(make_session: MakeSession, monkeypatch: object) -> None:
    earlier, this = make_session(), make_session()
    monkeypatch.setenv("SCHEDVIZ_OWNER", "up-1.100.engine-1")  # type: ignore[attr-defined]
    lease.acquire(earlier)
    monkeypatch.setenv("SCHEDVIZ_OWNER", "up-1.2000.engine-1")  # type: ignore[attr-defined]
    lease.acquire(this)

    assert lease.clear_owner("up-1", but="up-1.2000") == 1

    assert lease.acquire(earlier) is not None
    assert lease.acquire(this) is None


def test_a_failed_or_missing_session_has_no_lease(make_session: MakeSession) -> None:
    session_id = make_session()
    Session.objects.filter(pk=session_id).update(status=Session.Status.FAILED)

    assert lease.acquire(session_id) is None
    assert lease.acquire(uuid4()) is None


def test_leases_are_renewed_while_the_engine_computes(make_session: MakeSession, monkeypatch: object) -> None:
    session_id = make_session()
    monkeypatch.setattr(lease, "RENEWAL_SECONDS", 0.05)  # type: ignore[attr-defined]
    taken = lease.acquire(session_id)
    assert taken is not None
    before = Session.objects.get(pk=session_id).lease_until
    renewals = lease.LeaseRenewer()

    renewals.hold(taken[0])
    deadline = time.monotonic() + 10
    while Session.objects.get(pk=session_id).lease_until <= before:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    renewals.drop(taken[0])

    assert Session.objects.get(pk=session_id).lease_until > before
    while renewals._thread is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
