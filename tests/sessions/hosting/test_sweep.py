"""The sweeper wakes workers for sessions that have work and no live owner."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db.models.functions import Now

from schedviz.sessions.hosting import lease, sweep
from schedviz.sessions.hosting.steady_clock import SteadyClock
from schedviz.sessions.models import Session
from schedviz.sessions.redis import stream, wakeups
from schedviz.sessions.transfer import create
from schedviz.sessions.uploads import stored_files
from tests.sessions.conftest import MakeSession, send


@pytest.fixture
def notified(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, UUID]]:
    heard: list[tuple[str, UUID]] = []

    def notify(session_id: UUID, **_: Any) -> None:
        heard.append(("host", session_id))

    def notify_import(session_id: UUID) -> None:
        heard.append(("import", session_id))

    monkeypatch.setattr(wakeups, "notify", notify)
    monkeypatch.setattr(wakeups, "notify_import", notify_import)
    return heard


def test_the_sweeper_wakes_a_worker_for_commands_without_an_owner(make_session: MakeSession, notified: list[tuple[str, UUID]]) -> None:
    session_id = make_session()
    assert sweep.sweep() == 0
    send(session_id, "cycle")
    notified.clear()

    assert sweep.sweep() == 1
    assert notified == [("host", session_id)]


def test_the_sweeper_wakes_a_worker_only_when_the_owners_lease_has_expired(
    make_session: MakeSession, notified: list[tuple[str, UUID]]
) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    lease.acquire(session_id)
    notified.clear()

    assert sweep.sweep() == 0
    Session.objects.filter(pk=session_id).update(lease_until=1.0)
    assert sweep.sweep() == 1


def test_the_sweeper_wakes_a_worker_for_an_import_that_no_worker_runs(transactional_db: None, notified: list[tuple[str, UUID]]) -> None:
    waiting = Session.objects.create(name="complete", uploaded=True)
    Session.objects.create(name="still being sent")

    sweep.sweep()

    assert notified == [("import", waiting.pk)]


def test_the_sweeper_ignores_failed_sessions(make_session: MakeSession, notified: list[tuple[str, UUID]]) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    Session.objects.filter(pk=session_id).update(status=Session.Status.FAILED)

    assert sweep.sweep() == 0


def test_a_late_import_task_does_not_suppress_hosting_tasks(
    make_session: MakeSession, redis: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = make_session()
    stream.task_has_begun(session_id)
    sent: list[str] = []
    monkeypatch.setattr(wakeups, "enqueue", lambda task, *_, queue: sent.append(task))

    # It was imported after the sweeper had read it as waiting.
    wakeups.notify_import(session_id)
    wakeups.notify(session_id, owned=False)
    wakeups.notify(session_id, owned=False)
    wakeups.notify_import(session_id)

    assert sent == [wakeups.IMPORT, wakeups.HOST_SESSION]


@pytest.mark.usefixtures("notified")
def test_a_failed_import_is_deleted_after_an_hour_and_a_session_that_fails_later_is_kept(make_session: MakeSession) -> None:
    later = Session.objects.get(pk=make_session())
    failed, fresh = (Session.objects.create(name="bad", uploaded=True) for _ in range(2))
    Session.objects.update(status=Session.Status.FAILED, message="no nodes")
    Session.objects.filter(pk__in=[later.pk, failed.pk]).update(created_at=Now() - timedelta(hours=1, seconds=1))
    sweep._periodic_interval.reset()

    sweep.sweep()

    assert set(Session.objects.values_list("pk", flat=True)) == {later.pk, fresh.pk}


def long_ago() -> Any:
    return Now() - timedelta(minutes=sweep.UPLOAD_MINUTES, seconds=1)


@pytest.mark.usefixtures("transactional_db", "redis", "notified")
def test_a_stalled_upload_is_deleted_after_minutes() -> None:
    interrupted, slow, fresh, stored, trial = (Session.objects.create(name=name) for name in "abcde")
    Session.objects.exclude(pk=fresh.pk).update(created_at=long_ago(), updated_at=long_ago())
    Session.objects.filter(pk=stored.pk).update(uploaded=True)
    Session.objects.filter(pk=trial.pk).update(source={"experiment": str(uuid4()), "trial": 0})
    # A chunk of it was stored a moment ago.
    create.store_upload(slow.pk, stored_files.new_cipher(slow.pk), "nodes.yaml", iter([b"kind: List"]))
    sweep._periodic_interval.reset()

    sweep.sweep()

    assert not Session.objects.filter(pk=interrupted.pk).exists()
    assert set(Session.objects.values_list("pk", flat=True)) == {slow.pk, fresh.pk, stored.pk, trial.pk}


@pytest.mark.usefixtures("transactional_db", "notified")
def test_nothing_is_deleted_by_age_just_after_a_clock_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session.objects.create(name="interrupted")
    Session.objects.update(created_at=long_ago(), updated_at=long_ago())
    now = [1e9]
    clock = SteadyClock(wall=lambda: now[0])
    clock.trust()
    monkeypatch.setattr(sweep, "CLOCK", clock)

    now[0] += 25 * 3600
    sweep._periodic_interval.reset()
    sweep.sweep()
    assert Session.objects.filter(pk=session.pk).exists()

    clock.trust()
    sweep._periodic_interval.reset()
    sweep.sweep()
    assert not Session.objects.filter(pk=session.pk).exists()
