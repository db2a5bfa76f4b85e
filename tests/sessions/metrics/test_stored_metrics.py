"""A session's metrics are stored with it, and its next owner continues them."""

from __future__ import annotations

import pytest

from schedviz.sessions.metrics import metric_values, stored_metrics
from schedviz.sessions.metrics.metric_values import MetricValues
from schedviz.sessions.models import SchedulerMetrics, Session
from tests.sessions.conftest import MakeSession, crash, send, work_off

ATTEMPTS = "scheduler_schedule_attempts_total"
SCHEDULED = ("scheduled", "default-scheduler")


def metrics_of(session_id: object) -> MetricValues:
    return metric_values.decode(bytes(SchedulerMetrics.objects.get(pk=session_id).data))


def test_a_new_session_has_gauges(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=10)

    assert metrics_of(session_id).gauges["scheduler_pending_pods"]["active",] == 10
    assert metrics_of(session_id).gauges["scheduler_cache_size"]["nodes",] == 3


def test_metrics_are_stored_when_hosting_ends(make_session: MakeSession) -> None:
    session_id = make_session(pods=10)
    send(session_id, "run", max=4)
    work_off(session_id)
    first = metrics_of(session_id)
    send(session_id, "run")

    session = work_off(session_id)

    assert first.counters[ATTEMPTS] == {SCHEDULED: 4}
    assert metrics_of(session_id).counters[ATTEMPTS] == {SCHEDULED: 10}
    assert metrics_of(session_id).event == session.event
    assert metrics_of(session_id).gauges["scheduler_pending_pods"]["active",] == 0


def test_the_next_owner_counts_what_a_crashed_owner_did_not_store(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session(pods=10)
    with monkeypatch.context() as patched:
        # It crashes before it stores anything.
        patched.setattr(stored_metrics, "store", lambda *_: None)
        send(session_id, "run", max=6)
        work_off(session_id)
    crash(session_id)
    assert ATTEMPTS not in metrics_of(session_id).counters
    send(session_id, "run")

    work_off(session_id)

    assert metrics_of(session_id).counters[ATTEMPTS] == {SCHEDULED: 10}


def test_metrics_in_the_format_of_another_version_are_counted_again(make_session: MakeSession) -> None:
    session_id = make_session(pods=2)
    SchedulerMetrics.objects.filter(pk=session_id).update(data=b"something else")
    send(session_id, "run")

    work_off(session_id)

    assert metrics_of(session_id).counters[ATTEMPTS] == {SCHEDULED: 2}


def test_deleting_a_session_deletes_its_metrics(make_session: MakeSession) -> None:
    session_id = make_session()

    Session.objects.filter(pk=session_id).delete()

    assert not SchedulerMetrics.objects.filter(pk=session_id).exists()
