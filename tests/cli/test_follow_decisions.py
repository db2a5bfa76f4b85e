"""`schedviz follow` reads from the scheduler's log, or from its events, when the scheduler decided."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedviz.cli.follow import kubeconfig
from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.decisions import Decisions
from schedviz.cli.follow.errors import FollowError
from schedviz.cli.follow.pushing import Pusher
from schedviz.cli.follow.redaction import Redaction
from schedviz.cli.follow.scheduler_log import LogDecisions, SchedulerLog
from schedviz.cli.follow.scheduling_events import FAILED, SCHEDULED, EventDecisions, EventWatch
from schedviz.cli.rest_client import ServerResponse
from schedviz.explain.shadowing.decision_times import DecisionTime
from tests.conftest import until
from tests.kubernetes_api import KubernetesApi

BEGUN = 'schedule_one.go:123] "Attempting to schedule pod" pod="shop/p"'
CHOSEN = 'default_binder.go:69] "Attempting to bind pod to node" pod="shop/p" node="n"'
BOUND = 'schedule_one.go:481] "Successfully bound pod to node" pod="shop/p" node="n" evaluatedNodes=50 feasibleNodes=42'
ADDED = 'eventhandlers.go:374] "Add event for scheduled pod" pod="shop/p"'
DEQUEUED = 'eventhandlers.go:335] "Delete event for unscheduled pod" pod="shop/p"'
DELETED = 'eventhandlers.go:443] "Delete event for scheduled pod" pod="shop/p"'
REJECTED = 'schedule_one.go:1239] "Unable to schedule pod; no fit; waiting" pod="shop/p" err="0/1 nodes are available: 1 Insufficient cpu."'
PLUGIN_FAILED = 'framework.go:1805] "Plugin Failed" err="pods \\"p\\" not found" pod="shop/p" plugin="DefaultBinder" node="n"'
FAILED_LINE = 'schedule_one.go:1243] "Error scheduling pod; retrying" err="pods \\"p\\" not found" pod="shop/p"'


def lines(*messages: str, second: int = 0) -> bytes:
    """Lines of a log, a millisecond apart."""
    return b"".join(f"I1125 20:00:{second:02}.{place * 1000:06} 24532 {message}\n".encode() for place, message in enumerate(messages))


def decisions_in(*data: bytes) -> list[tuple[str, int, int, str, bool]]:
    """The decisions with times in milliseconds after the first one's second."""
    found: list[DecisionTime] = []
    reader = LogDecisions(found.append)
    for one in data:
        reader.read(one)
    begin = min((time for one in found for time in (one.after, one.before) if time), default=0) // 60_000_000 * 60_000_000
    return [
        (one.move, (one.after and one.after - begin) // 1000, (one.before and one.before - begin) // 1000, one.node, one.exact)
        for one in found
    ]


def test_a_level_3_log_has_cycle_starts_and_the_deletions_that_the_scheduler_saw() -> None:
    assert decisions_in(lines(BEGUN, CHOSEN, ADDED, DEQUEUED, BOUND, DELETED)) == [("added", 0, 1, "n", True), ("removed", 5, 5, "", False)]


@pytest.mark.parametrize(
    "decision",
    [DecisionTime("shop/" + "p" * 600, "added"), DecisionTime("a/p", "added", before=-1), DecisionTime("a/p", "added", node="n" * 600)],
)
def test_a_decision_that_the_server_would_refuse_is_skipped(decision: DecisionTime) -> None:
    decisions = Decisions(Redaction())
    decisions.add(decision)
    decisions.add(DecisionTime("shop/p", "added"))
    assert [one.pod for one in decisions.next_batch()] == ["shop/p"]


def test_a_too_deeply_nested_line_is_skipped() -> None:
    nested = b'{"ts": 1, "msg": "Attempting to bind pod to node", "pod": ' + b"[" * 5000 + b"]" * 5000 + b"}\n"
    assert decisions_in(nested + lines(ADDED, BOUND)) == [("added", 0, 1, "n", False)]


def test_a_level_2_log_has_only_rejections_and_bindings() -> None:
    assert decisions_in(lines(REJECTED, BOUND)) == [("added", 0, 1, "n", False)]
    assert decisions_in(lines(ADDED, BOUND)) == [("added", 0, 1, "n", False)]


def test_a_pod_whose_binding_fails_uses_capacity_until_the_failure() -> None:
    expected = [("added", 0, 1, "n", True), ("removed", 2, 4, "", False)]
    assert decisions_in(lines(BEGUN, CHOSEN, DEQUEUED, PLUGIN_FAILED, FAILED_LINE)) == expected
    # The pod is retried.
    assert decisions_in(lines(BEGUN, CHOSEN, DEQUEUED, PLUGIN_FAILED, FAILED_LINE), lines(BEGUN, CHOSEN, second=9)) == [
        *expected,
        ("added", 9000, 9001, "n", True),
    ]


def test_json_lines_and_container_runtime_lines_are_read_too() -> None:
    json_line = b'{"ts":1764100000123.456,"caller":"x.go:1","msg":"Delete event for scheduled pod","v":3,"pod":"shop/p"}\n'
    found: list[DecisionTime] = []
    reader = LogDecisions(found.append)
    reader.read(json_line + b"2026-11-25T20:00:00.5Z stderr F " + lines(DELETED, second=7))
    assert [(one.move, one.before % 60_000_000) for one in found] == [("removed", 40_123_456), ("removed", 7_000_000)]


@pytest.mark.parametrize("line", [b"", b"\n", b'I1399 99:99:99.000000 1 x.go:1] "Attempting to schedule pod" pod="shop/p"', b"{" * 1000])
def test_lines_that_are_not_log_records_are_skipped(line: bytes) -> None:
    assert decisions_in(line + b'\nI1125 x "Attempting to schedule pod" pod=\n') == []


@pytest.fixture
def log(tmp_path: Path) -> Iterator[tuple[Path, list[DecisionTime]]]:
    """A log that is read while it is written, and the decisions."""
    path, found, stop = tmp_path / "scheduler.log", list[DecisionTime](), threading.Event()
    path.write_bytes(lines(BEGUN, CHOSEN))
    thread = threading.Thread(target=SchedulerLog(path, LogDecisions(found.append)).run, args=(stop,))
    thread.start()
    yield path, found
    stop.set()
    thread.join()


def test_a_log_is_read_from_its_end_in_whole_lines_and_across_rotations(log: tuple[Path, list[DecisionTime]]) -> None:
    path, found = log
    whole = lines(DELETED)
    with path.open("ab") as file:
        file.write(whole[:30])
        file.flush()
        file.write(whole[30:])
    until(lambda: len(found) == 1)
    path.rename(path.with_suffix(".1"))
    path.write_bytes(lines(DELETED, DELETED))
    until(lambda: len(found) == 3)
    # As logrotate's copytruncate does.
    path.write_bytes(lines(DELETED))
    until(lambda: len(found) == 4)

    assert {one.move for one in found} == {"removed"}


def test_an_unreadable_log_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FollowError, match="No such file"):
        SchedulerLog(tmp_path / "none", LogDecisions(lambda _: None))


NANOSECONDS = 1_795_636_597_123_456_789


def event(cluster: KubernetesApi, reason: str, **members: Any) -> None:
    """An event of pod p, as a kube-scheduler of v1.36 makes it."""
    second = "2026-11-25T19:56:37Z"
    cluster.put(
        "events",
        members.pop("name", f"p.{NANOSECONDS:x}"),
        namespace="shop",
        involvedObject={"kind": "Pod", "namespace": "shop", "name": "p", "uid": "uid-p"},
        reason=reason,
        **{"count": 1, "firstTimestamp": second, "lastTimestamp": second, "eventTime": None, **members},
    )


@pytest.mark.parametrize(
    ("failed", "after"),
    [
        ({}, NANOSECONDS // 1000),
        # An event that is repeated has the time of its last occurrence in whole seconds.
        ({"count": 2, "lastTimestamp": "2026-11-25T19:56:40Z"}, 1_795_636_600_000_000),
        ({"eventTime": "2026-11-25T19:56:38.500000Z"}, 1_795_636_598_500_000),
        ({"series": {"count": 9, "lastObservedTime": "2026-11-25T19:56:41.000001Z"}}, 1_795_636_601_000_001),
        ({"name": "p.of-a-driver"}, 1_795_636_597_000_000),
    ],
)
def test_events_have_the_last_rejection_and_the_binding_of_a_pod(failed: dict[str, Any], after: int) -> None:
    found: list[DecisionTime] = []
    stop = threading.Event()
    with KubernetesApi() as cluster:
        decisions = EventDecisions(found.append)
        api = ClusterApi(kubeconfig.Access(context="dev", server=cluster.address, token=cluster.token))
        for reason in (FAILED, SCHEDULED):
            threading.Thread(target=EventWatch(api, reason, decisions, say=lambda _: None).run, args=(stop,), daemon=True).start()
        until(lambda: cluster.watching("events") == 2)
        event(cluster, FAILED, **failed)
        event(cluster, "Pulled", name="p.other")
        until(lambda: decisions.has_rejected("uid-p"))
        event(cluster, SCHEDULED, name="p.bound", eventTime="2026-11-25T19:56:45.000002Z")
        until(lambda: bool(found))
        stop.set()

    assert found == [DecisionTime("shop/p", "added", after, 1_795_636_605_000_002, uid="uid-p")]


def test_a_role_without_access_to_events_is_reported_once_and_nothing_else_changes() -> None:
    said: list[str] = []
    with KubernetesApi() as cluster:
        cluster.forbidden.add(("list", "events"))
        api = ClusterApi(kubeconfig.Access(context="dev", server=cluster.address, token=cluster.token))
        EventWatch(api, FAILED, EventDecisions(lambda _: None), say=said.append).run(threading.Event())
    assert [one.partition(":")[0] for one in said] == ["events cannot be read"]


def test_names_in_decisions_get_pseudonyms() -> None:
    decisions = Decisions(Redaction("a secret"))
    decisions.add(DecisionTime("shop/p", "added", 1, 2, "node-1"))
    (one,) = decisions.next_batch()
    assert "shop" not in one.pod
    assert one.pod.count("/") == 1
    assert one.node not in ("", "node-1")
    assert decisions.next_batch() == []


class Receiver:
    """A server that sends the next of these responses to each request."""

    address = "server"

    def __init__(self, *responses: ServerResponse) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._responses = list(responses)

    def request(self, _path: str, body: Any = None) -> ServerResponse:
        self.bodies.append(body)
        return self._responses.pop(0)


def test_decisions_are_not_sent_again_to_a_server_that_does_not_support_them() -> None:
    refused = b'{"error": {"code": "invalid", "message": "decisions: unknown"}}'
    server = Receiver(ServerResponse(400, refused, {}))
    pusher = Pusher(server, "id", "dev", say=lambda _: None, sleep=lambda _: None)  # type: ignore[arg-type]
    decision = DecisionTime("shop/p", "removed", 1, 1)

    pusher.push([], [decision])
    assert server.bodies[0]["decisions"] == [{"pod": "shop/p", "move": "removed", "after": 1, "before": 1}]
    pusher.push([], [decision])
    assert len(server.bodies) == 1
