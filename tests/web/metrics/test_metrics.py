"""`GET /metrics`: access, contents, and the metrics of all processes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from schedviz.sessions.metrics import definitions as scheduler
from schedviz.sessions.metrics import process, process_reports, stored_metrics
from schedviz.sessions.metrics.metric_values import MetricValues
from schedviz.sessions.metrics.process_reports import Family, Report
from schedviz.sessions.models import Observer, SchedulerMetrics, Session, ShadowedPod
from schedviz.sessions.queries import prepared
from schedviz.sessions.redis import heartbeat
from schedviz.web.metrics import renamed, service
from tests.conftest import RedisServer
from tests.web.conftest import People, make_session

pytestmark = pytest.mark.django_db

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture
def reader(settings: Any, redis: RedisServer) -> Client:
    settings.METRICS_TOKEN = TOKEN
    return Client(headers={"authorization": f"Bearer {TOKEN}"})


def read(client: Client, query: str = "") -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Sample name → labels → value."""
    response = client.get(f"/metrics{query}")
    assert response.status_code == 200, response.content
    results: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(response.content.decode()):
        for sample in family.samples:
            results.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return results


def with_values(session: Session, **counted: float) -> MetricValues:
    values = MetricValues(event=1, gauges={"scheduler_pending_pods": {("active",): 7}})
    for result, number in counted.items():
        values.count(scheduler.SCHEDULE_ATTEMPTS, result, "default-scheduler", by=number)
    stored_metrics.store(session.pk, values)
    return values


# --- Permissions


@pytest.mark.parametrize("role", ["anonymous", "stranger", "owner", "owner-token", "link", "viewer"])
def test_users_have_no_access_by_default(people: People, redis: RedisServer, role: str) -> None:
    assert people.client(role).get("/metrics").status_code == 404


def test_staff_read_it_without_the_names_of_sessions(db: None, redis: RedisServer) -> None:
    with_values(make_session(None, "merger-with-acme"), scheduled=1)
    client = Client()
    client.force_login(User.objects.create_user("operator", is_staff=True))

    response = client.get("/metrics")

    assert response.status_code == 200
    assert b"schedviz_session_info" in response.content
    assert b"merger-with-acme" not in response.content


@pytest.mark.parametrize("sent", ["", "wrong", TOKEN + "x"])
def test_an_unknown_token_grants_no_access(settings: Any, redis: RedisServer, sent: str) -> None:
    settings.METRICS_TOKEN = TOKEN

    assert Client(headers={"authorization": f"Bearer {sent}"}).get("/metrics").status_code == 404


def test_an_empty_token_grants_no_access(settings: Any, redis: RedisServer) -> None:
    settings.METRICS_TOKEN = ""

    assert Client(headers={"authorization": "Bearer "}).get("/metrics").status_code == 404


@pytest.mark.parametrize(("address", "status"), [("10.1.2.3", 200), ("10.2.0.1", 404), ("::1", 200), ("::ffff:10.1.2.3", 200)])
def test_networks_can_be_let_in(settings: Any, redis: RedisServer, address: str, status: int) -> None:
    settings.METRICS_FROM = ["10.1.0.0/16", "::1/128"]

    assert Client(REMOTE_ADDR=address).get("/metrics").status_code == status


def test_a_forged_address_is_ignored(settings: Any, redis: RedisServer) -> None:
    settings.METRICS_FROM = ["10.1.0.0/16"]

    assert Client(REMOTE_ADDR="192.0.2.1", headers={"x-forwarded-for": "10.1.2.3"}).get("/metrics").status_code == 404


def test_an_address_that_a_proxy_forwards_with_its_port_can_be_let_in(settings: Any, redis: RedisServer) -> None:
    settings.METRICS_FROM, settings.PROXIES = ["10.1.0.0/16"], 1

    assert Client(REMOTE_ADDR="192.0.2.1", headers={"x-forwarded-for": "10.1.2.3:51234"}).get("/metrics").status_code == 200


def test_metrics_are_read_only(reader: Client) -> None:
    assert reader.post("/metrics").status_code == 405
    assert reader.head("/metrics").status_code == 200


# --- Sessions' schedulers


def test_each_session_has_the_schedulers_own_metrics(reader: Client) -> None:
    one, two = make_session(None, "one"), make_session(None, 'a "name"\n')
    with_values(one, scheduled=3, unschedulable=1)
    with_values(two, scheduled=5)

    result = read(reader)

    def of(session: Session, **labels: str) -> tuple[tuple[str, str], ...]:
        return tuple(sorted({"session": str(session.pk), **labels}.items()))

    attempts = result["scheduler_schedule_attempts_total"]
    assert attempts == {
        of(one, result="scheduled", profile="default-scheduler"): 3,
        of(one, result="unschedulable", profile="default-scheduler"): 1,
        of(two, result="scheduled", profile="default-scheduler"): 5,
    }
    assert result["scheduler_pending_pods"][of(one, queue="active")] == 7
    assert result["schedviz_session_info"][of(two, name='a "name"\n')] == 1
    # Metrics without labels exist from the start.
    assert result["scheduler_preemption_attempts_total"][of(one)] == 0
    assert result["scheduler_pod_scheduling_attempts_bucket"][of(one, le="16.0")] == 0


def test_a_histogram_is_cumulative_and_ends_with_inf(reader: Client) -> None:
    session = make_session(None)
    values = MetricValues(event=1)
    for attempts in (1, 2, 2, 40):
        values.observe(scheduler.POD_SCHEDULING_ATTEMPTS, attempts)
    stored_metrics.store(session.pk, values)

    result = read(reader)

    buckets = {dict(labels)["le"]: value for labels, value in result["scheduler_pod_scheduling_attempts_bucket"].items()}
    assert buckets == {"1.0": 1, "2.0": 3, "4.0": 3, "8.0": 3, "16.0": 3, "+Inf": 4}
    assert list(result["scheduler_pod_scheduling_attempts_sum"].values()) == [45]
    assert list(result["scheduler_pod_scheduling_attempts_count"].values()) == [4]


def test_help_and_names_are_upstreams(reader: Client) -> None:
    session = make_session(None)
    with_values(session, scheduled=1)

    text = reader.get("/metrics").content.decode()

    assert "# HELP scheduler_preemption_victims [STABLE] Number of selected preemption victims\n" in text
    assert "# TYPE scheduler_schedule_attempts_total counter\n" in text
    assert "# TYPE scheduler_framework_extension_point_duration_seconds histogram\n" in text


def test_only_the_most_recently_active_sessions_are_exported(reader: Client, settings: Any) -> None:
    settings.METRICS_SESSIONS = 2
    sessions = [make_session(None, str(n)) for n in range(3)]
    for minute, session in ((2, sessions[0]), (0, sessions[1]), (1, sessions[2])):
        with_values(session, scheduled=1)
        SchedulerMetrics.objects.filter(pk=session.pk).update(updated_at=datetime(2026, 1, 1, 0, minute, tzinfo=UTC))

    result = read(reader)

    exported = {dict(labels)["session"] for labels in result["scheduler_schedule_attempts_total"]}
    assert exported == {str(sessions[0].pk), str(sessions[2].pk)}
    assert result["schedviz_sessions_not_exported"] == {(): 1}


def test_renamed_metrics_keep_their_old_names(reader: Client) -> None:
    text = reader.get("/metrics").content.decode()

    result = read(reader)

    assert result["schedviz_sessions_left_out"] == result["schedviz_sessions_not_exported"]
    assert result["schedviz_sessions_resting"] == result["schedviz_sessions_in_backoff"]
    assert "# HELP schedviz_sessions_resting Deprecated: renamed to schedviz_sessions_in_backoff.\n" in text
    counters = {metric.name for metric in process.ENGINE_WORKER.collect()}
    assert counters >= {"schedviz_hostings", "schedviz_commands_quarantined"} <= renamed.RENAMED.keys()


def test_a_renamed_counter_keeps_its_labels_and_values() -> None:
    counter = CounterMetricFamily("schedviz_hostings", "Reasons.", labels=["ended"])
    counter.add_metric(["idle"], 3)

    new, old = renamed.with_old_names([counter])

    assert [(sample.name, sample.labels, sample.value) for sample in new.samples] == [("schedviz_hostings_total", {"ended": "idle"}, 3)]
    assert [(sample.name, sample.labels, sample.value) for sample in old.samples] == [("schedviz_turns_total", {"ended": "idle"}, 3)]


def test_the_metrics_of_one_session_can_be_requested(reader: Client) -> None:
    one, two = make_session(None), make_session(None)
    with_values(one, scheduled=1)
    with_values(two, scheduled=1)

    result = read(reader, f"?session={one.pk}")

    assert {dict(labels)["session"] for labels in result["scheduler_schedule_attempts_total"]} == {str(one.pk)}
    assert "schedviz_sessions" not in result
    assert reader.get("/metrics?session=nonsense").status_code == 400
    assert reader.get("/metrics?session=00000000-0000-0000-0000-000000000000").status_code == 404


# --- The service


def test_waiting_commands_are_reported(reader: Client) -> None:
    make_session(None, last_seq=5, applied_seq=2)
    make_session(None, status=Session.Status.FAILED, last_seq=5)

    result = read(reader)

    assert result["schedviz_commands_waiting"] == {(): 3}
    assert result["schedviz_sessions_unowned"] == {(): 1}
    assert result["schedviz_sessions"][("status", "failed"),] == 1
    assert result["schedviz_sessions"][("status", "importing"),] == 0


def test_verdicts_on_followed_clusters_are_summed_over_sessions(reader: Client) -> None:
    for number in (1, 2):
        prepared.add_to_agreement(make_session(None).pk, agrees=number, not_best=1, infeasible=0, undecided=0, unjudged=0)

    found = read(reader)["schedviz_followed_bindings"]

    assert {dict(labels)["verdict"]: value for labels, value in found.items()} == {
        "agrees": 3,
        "notBest": 2,
        "infeasible": 0,
        "undecided": 0,
        "unjudged": 0,
    }


def test_each_followed_session_has_the_rate_of_its_last_bindings(reader: Client) -> None:
    followed, quiet = make_session(None), make_session(None)
    for session, pushed_at in ((followed, timezone.now()), (quiet, timezone.now() - timedelta(days=1))):
        Observer.objects.create(session=session, source="kind", pushed_at=pushed_at)
        for event, verdict in enumerate(("agrees", "agrees", "agrees", "infeasible", "unjudged"), start=1):
            ShadowedPod.objects.create(session=session, pod=f"default/p{event}", uid=str(event), bound_event=event, verdict=verdict)

    assert read(reader)["schedviz_followed_agreement_ratio"] == {(("session", str(followed.pk)),): 0.75}


def test_requests_are_timed_under_their_route_and_not_their_address(reader: Client) -> None:
    reader.get("/healthz")
    reader.get("/no/such/address")
    reader.generic("MADE-UP", "/healthz")

    result = read(reader)

    labels = [dict(labels) for labels in result["schedviz_http_request_duration_seconds_count"]]
    assert {(label["method"], label["route"]) for label in labels} >= {("GET", "healthz"), ("GET", "other"), ("other", "healthz")}
    assert not any("such" in label["route"] for label in labels)


def test_metrics_of_other_processes_come_through_redis(reader: Client) -> None:
    slots = Family("schedviz_slots_taken", "…", "gauge", [("schedviz_slots_taken", {}, 12.0)])
    process_reports.publish(Report(process="worker@elsewhere-1", role="worker", families=[slots]))

    result = read(reader)

    assert result["schedviz_slots_taken"][("process", "worker@elsewhere-1"), ("role", "worker")] == 12
    # And the web server that responds, once.
    mine = [labels for labels in result["process_resident_memory_bytes"] if dict(labels)["role"] == "web"]
    assert len(mine) == 1


def test_every_queue_has_its_length_and_its_workers(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "alive", lambda: {"engine@a": ["engine"], "io@a": ["io"], "io@b": ["io"]})

    result = read(reader)

    assert result["schedviz_workers"] == {
        (("queue", "engine"),): 1,
        (("queue", "io"),): 2,
        (("queue", "experiments"),): 0,
    }
    assert result["schedviz_queue_length"].keys() == result["schedviz_workers"].keys()


def test_without_redis_a_server_reports_its_own_metrics(reader: Client, redis: RedisServer) -> None:
    redis.kill()
    try:
        result = read(reader)
    finally:
        redis.start()

    assert result["schedviz_redis_up"] == {(): 0}
    assert result["schedviz_database_up"] == {(): 1}
    assert "process_resident_memory_bytes" in result


def test_without_the_database_process_metrics_are_reported(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> Any:
        raise OperationalError

    monkeypatch.setattr(service, "database_metrics", away)

    result = read(reader)

    assert result["schedviz_database_up"] == {(): 0}
    assert "process_resident_memory_bytes" in result
