"""A following session judges the decisions of the cluster's scheduler by dry runs when a pod arrives and just before it is bound."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

import msgspec
import pytest
from django.contrib.auth.models import User

from schedviz.explain.shadowing.decision_times import DecisionTime
from schedviz.sessions.forks.requests import fork
from schedviz.sessions.hosting import lease, worker_loop
from schedviz.sessions.models import Agreement, Observer, Session, ShadowedPod
from schedviz.sessions.observing import agreement, bindings_in_flight, observations, recheck_queue
from schedviz.sessions.observing.observations import Seen
from schedviz.sessions.transfer import create, import_job
from tests.conftest import RedisServer
from tests.sessions.conftest import crash, node, pod, send, stored_events, work_off


@pytest.fixture
def followed(transactional_db: None, redis: RedisServer) -> UUID:
    """A session that follows two nodes, one of which has more free capacity."""
    session = create.create_session(None, "follows", create.Trace({"format": "schedviz-trace/1", "steps": []}))
    import_job.run_import(session.pk)
    worker_loop.WARM.clear()
    push(
        session.pk, 1, seen("ADDED", node("large", cpu="8")), seen("ADDED", node("small", cpu="1")), seen("ADDED", on(pod("old"), "small"))
    )
    work_off(session.pk)
    return session.pk


def seen(type_: Literal["ADDED", "MODIFIED", "DELETED"], obj: dict[str, Any], **meta: object) -> Seen:
    meta = {"uid": f"uid-{obj['metadata']['name']}", **meta}
    return Seen(type=type_, object={**obj, "metadata": {**obj["metadata"], **meta}}, version="1")


def on(waiting: dict[str, Any], node_name: str) -> dict[str, Any]:
    return {**waiting, "spec": {**waiting["spec"], "nodeName": node_name}}


def rejected(waiting: dict[str, Any]) -> dict[str, Any]:
    """The pod with the condition that a scheduler gives it if it fits nowhere."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/2 nodes are available: 2 Too many pods.",
    }
    return {**waiting, "status": {**waiting.get("status", {}), "conditions": [condition]}}


def push(session_id: UUID, n: int, *events: Seen, version: str = "", times: Sequence[DecisionTime] = ()) -> None:
    digest = hashlib.sha256(repr(events).encode()).hexdigest()
    observations.accept_batch(session_id, "kind", n, events, digest=digest, version=version, times=times)


def verdicts(session_id: UUID) -> dict[str, str]:
    return dict(ShadowedPod.objects.filter(session_id=session_id).values_list("pod", "verdict"))


def test_bindings_are_judged_in_the_order_of_observation(followed: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    wants = pod("wants", cpu="900m")
    push(followed, 2, *(seen("ADDED", one) for one in (pod("best"), pod("other"), wants, pod("waits"))))
    push(
        followed,
        3,
        seen("MODIFIED", on(pod("best"), "large")),
        seen("MODIFIED", on(pod("other"), "small")),
        seen("MODIFIED", on(wants, "small")),
    )
    work_off(followed)

    # By then, 10m of `old` and of `other` are on the small node, and 900m more still fit.
    assert verdicts(followed) == {"default/best": "agrees", "default/other": "notBest", "default/wants": "notBest", "default/waits": ""}
    late = pod("late", cpu="100m")
    push(followed, 4, seen("MODIFIED", rejected(pod("waits"))), seen("ADDED", late), seen("MODIFIED", on(late, "small")))
    work_off(followed)
    # The rejected pod may have been tried again before it.
    assert verdicts(followed)["default/late"] == ""
    monkeypatch.setattr(recheck_queue, "RECHECK_DELAY_SECONDS", 0.0)
    settle_idle(followed)

    late = ShadowedPod.objects.get(session_id=followed, pod="default/late")
    assert (late.profile, late.cause, late.plugin) == ("default-scheduler", "configuration", "NodeResourcesFit")
    assert (late.verdict, late.judgement["plugin"], late.judgement["reasons"]) == ("infeasible", "NodeResourcesFit", ["Insufficient cpu"])
    assert late.arrival["best"] == ["large"]
    result = agreement.counts(followed)
    assert (result.agrees, result.not_best, result.infeasible, result.unjudged, result.rate) == (1, 2, 1, 0, 0.25)
    assert agreement.recent(followed) == result == agreement.counts_of_all()
    assert agreement.waiting(followed) == 1


def test_a_pod_bound_immediately_gets_one_dry_run_and_a_waiting_pod_another_for_its_arrival(followed: UUID) -> None:
    gone = on(pod("old"), "small")
    at_once = pod("at-once", cpu="100m")
    push(
        followed,
        2,
        seen("ADDED", at_once),
        seen("ADDED", pod("waits", cpu="100m")),
        seen("DELETED", gone),
        seen("MODIFIED", on(at_once, "large")),
        seen("ADDED", pod("deleted")),
        seen("DELETED", pod("deleted")),
    )
    work_off(followed)

    rows = {row.pod: row for row in ShadowedPod.objects.filter(session_id=followed)}
    assert set(rows) == {"default/at-once", "default/waits"}
    assert rows["default/at-once"].arrival == rows["default/at-once"].judgement["choice"]
    assert rows["default/waits"].arrival["best"] == ["large"]


def test_bindings_in_flight_are_judged_in_the_order_of_the_queue(followed: UUID) -> None:
    """`first` came before `second`, so it was decided first, though its binding arrived later."""
    first, second = pod("first", cpu="4"), pod("second", cpu="3")
    push(followed, 2, seen("ADDED", node("third", cpu="4")), seen("ADDED", first), seen("ADDED", second))
    push(followed, 3, seen("MODIFIED", on(second, "third")))
    work_off(followed)

    assert verdicts(followed) == {"default/first": "", "default/second": ""}
    assert agreement.waiting(followed) == 1
    assert agreement.bindings(followed, [], before=None, limit=5) == []

    # Without `first`, which takes half of the large node, `second` would belong there.
    push(followed, 4, seen("MODIFIED", on(first, "large")))
    work_off(followed)

    assert verdicts(followed) == {"default/first": "agrees", "default/second": "agrees"}
    assert {row.judgement["inFlight"] for row in ShadowedPod.objects.filter(session_id=followed)} == {2}


def test_a_verdict_that_depends_on_an_unknown_order_is_undecided(followed: UUID) -> None:
    """A rejected pod is retried at an unknown time: before or after the pod that takes its capacity."""
    retried, other = pod("retried", cpu="500m"), pod("other", cpu="600m")
    push(followed, 2, seen("ADDED", retried), seen("MODIFIED", rejected(retried)), seen("ADDED", other))
    push(followed, 3, seen("MODIFIED", on(other, "small")), seen("MODIFIED", on(retried, "small")))
    work_off(followed)

    row = ShadowedPod.objects.get(session_id=followed, pod="default/retried")
    assert (row.verdict, row.cause) == ("undecided", "order")
    result = agreement.counts(followed)
    assert (result.undecided, result.infeasible) == (1, 0)


@pytest.mark.parametrize(("retried_at", "verdict"), [((1_000, 1_100), "agrees"), ((3_000, 3_100), "infeasible")])
def test_decision_times_settle_otherwise_undecided_verdicts(
    followed: UUID, monkeypatch: pytest.MonkeyPatch, retried_at: tuple[int, int], verdict: str
) -> None:
    """`retried` fits on the small node only if it was retried before `other` took the remaining capacity."""
    retried, other = pod("retried", cpu="800m"), pod("other", cpu="500m")
    push(followed, 2, seen("ADDED", pod("fills", cpu="8")), seen("MODIFIED", on(pod("fills", cpu="8"), "large")))
    push(followed, 3, seen("ADDED", retried), seen("MODIFIED", rejected(retried)), seen("ADDED", other))
    at = [
        DecisionTime("default/other", "added", 2_000, 2_100, exact=True),
        DecisionTime("default/retried", "added", *retried_at, exact=True),
    ]
    push(followed, 4, seen("MODIFIED", on(other, "small")), seen("MODIFIED", on(retried, "small")))
    push(followed, 5, times=at)
    work_off(followed)
    assert verdicts(followed)["default/retried"] == ""

    monkeypatch.setattr(recheck_queue, "RECHECK_DELAY_SECONDS", 0.0)
    settle_idle(followed)

    assert verdicts(followed)["default/retried"] == verdict
    assert Observer.objects.get(session_id=followed).last_times == 5


def test_a_binding_that_waits_for_a_pod_that_is_never_bound_is_judged_after_a_timeout(
    followed: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(followed, 2, seen("ADDED", pod("stuck")), seen("ADDED", pod("p")), seen("MODIFIED", on(pod("p"), "large")))
    work_off(followed)
    settle_idle(followed)
    assert verdicts(followed) == {"default/stuck": "", "default/p": ""}

    monkeypatch.setattr(bindings_in_flight, "_PATIENCE_SECONDS", 0.0)
    settle_idle(followed)
    assert verdicts(followed) == {"default/stuck": "", "default/p": "agrees"}

    # Later bindings do not wait for it again.
    monkeypatch.undo()
    push(followed, 3, seen("ADDED", pod("q")), seen("MODIFIED", on(pod("q"), "large")))
    work_off(followed)
    assert verdicts(followed)["default/q"] == "agrees"


def settle_idle(session_id: UUID) -> None:
    """What the worker that hosts a session does between two commands."""
    taken, engine = lease.acquire(session_id), worker_loop.WARM.pop(session_id)
    assert taken is not None
    assert engine is not None
    assert engine.take_over(*taken)
    engine.judge_due_bindings()
    assert lease.release_idle(engine.lease)
    worker_loop.WARM.put(engine)


def test_a_disagreeing_binding_that_was_found_by_a_list_is_undecided(followed: UUID) -> None:
    """The events during an interrupted watch and their order are unknown."""
    push(followed, 2, seen("ADDED", pod("p")), seen("ADDED", pod("q")))
    listed = [
        msgspec.structs.replace(seen("MODIFIED", on(pod(name), node)), listed=True) for name, node in (("p", "small"), ("q", "large"))
    ]
    push(followed, 3, *listed)
    work_off(followed)

    assert verdicts(followed) == {"default/p": "undecided", "default/q": "agrees"}


def test_a_release_other_than_the_clusters_is_the_cause_of_a_disagreement(followed: UUID) -> None:
    push(followed, 2, seen("ADDED", pod("p")), seen("MODIFIED", on(pod("p"), "small")), version="v1.33.2")
    work_off(followed)

    assert ShadowedPod.objects.get(session_id=followed, pod="default/p").cause == "release"


def test_the_stored_moments_of_a_pod_are_its_arrival_and_just_before_its_binding(followed: UUID) -> None:
    push(followed, 2, seen("ADDED", pod("p")))
    work_off(followed)
    came = Session.objects.get(pk=followed).event
    push(followed, 3, seen("MODIFIED", on(pod("p"), "large")))
    work_off(followed)

    row = ShadowedPod.objects.get(session_id=followed, pod="default/p")
    assert (row.arrived_event is not None and row.arrived_event <= came, row.bound_event, row.node) == (True, came, "large")


def test_dry_runs_do_not_change_the_engine(followed: UUID) -> None:
    push(followed, 2, seen("ADDED", pod("p")), seen("MODIFIED", on(pod("p"), "large")))
    work_off(followed)
    judged = stored_events(followed)

    crash(followed)
    # Loading does all commands again without a shadow, and compares every event.
    push(followed, 3, seen("ADDED", pod("q")))
    session = work_off(followed)

    assert session.status == "ready"
    assert stored_events(followed)[: len(judged)] == judged
    assert agreement.counts(followed).agrees == 1


def test_a_pod_whose_volume_is_being_provisioned_uses_capacity_of_the_node_in_its_claim(followed: UUID) -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "slow"},
        "provisioner": "slow.example",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "spec": {"storageClassName": "slow", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        "metadata": {"name": "c", "namespace": "default", "annotations": {"volume.kubernetes.io/selected-node": "large"}},
    }
    assumed = pod("assumed", cpu="7900m")
    assumed["spec"] = {**assumed["spec"], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}
    assumed["status"] = {"nominatedNodeName": "large"}
    later = pod("later", cpu="100m")
    push(followed, 2, seen("ADDED", storage), seen("ADDED", claim), seen("ADDED", assumed))
    push(followed, 3, seen("ADDED", later), seen("MODIFIED", on(later, "small")))
    push(followed, 4, seen("MODIFIED", on(assumed, "large")))
    work_off(followed)

    assert verdicts(followed) == {"default/later": "agrees", "default/assumed": "agrees"}


@pytest.mark.parametrize(("lag_seconds", "verdict"), [(60.0, "undecided"), (0.0, "notBest")])
def test_a_better_node_counts_only_if_the_scheduler_must_have_seen_it(
    lag_seconds: float, verdict: str, followed: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recheck_queue, "_INFORMER_LAG_SECONDS", lag_seconds)
    bound = pod("bound", cpu="100m")
    push(followed, 2, seen("ADDED", node("new", cpu="64")), seen("ADDED", bound), seen("MODIFIED", on(bound, "small")))
    work_off(followed)

    judged = ShadowedPod.objects.get(session_id=followed, pod="default/bound")
    assert judged.judgement["choice"]["best"] == ["large", "new"]
    assert judged.verdict == verdict


def test_a_pod_that_was_bound_when_it_was_first_seen_is_not_judged(followed: UUID) -> None:
    push(followed, 2, seen("ADDED", on(pod("static"), "small")))
    work_off(followed)
    assert verdicts(followed) == {}


def test_no_verdict_is_stored_for_a_pod_that_is_deleted_while_it_waits(followed: UUID) -> None:
    push(followed, 2, seen("ADDED", pod("p")), seen("ADDED", pod("q")))
    work_off(followed)
    push(followed, 3, seen("DELETED", pod("p")))
    work_off(followed)
    assert verdicts(followed) == {"default/q": ""}

    # A finalizer keeps it at the API server for a while.
    push(followed, 4, seen("MODIFIED", pod("q"), deletionTimestamp="2026-01-01T00:00:00Z"))
    work_off(followed)
    assert agreement.waiting(followed) == 0
    push(followed, 5, seen("DELETED", pod("q")))
    work_off(followed)
    assert verdicts(followed) == {}


def test_pods_of_other_schedulers_are_ignored_and_gated_pods_arrive_when_ungated(followed: UUID) -> None:
    gated = pod("gated")
    gated["spec"]["schedulingGates"] = [{"name": "quota"}]
    others = pod("others")
    others["spec"]["schedulerName"] = "another"
    push(followed, 2, seen("ADDED", gated), seen("ADDED", others), seen("MODIFIED", on(others, "large")))
    work_off(followed)
    assert verdicts(followed) == {}

    push(followed, 3, seen("MODIFIED", pod("gated")))
    work_off(followed)
    assert verdicts(followed) == {"default/gated": ""}


def test_a_session_without_an_observer_has_no_shadow(transactional_db: None, redis: RedisServer) -> None:
    session = create.create_session(None, "own", create.Trace({"format": "schedviz-trace/1", "steps": []}))
    import_job.run_import(session.pk)
    worker_loop.WARM.clear()
    send(session.pk, "create", object=node("n"))
    send(session.pk, "create", object=pod("p"))
    work_off(session.pk)
    assert verdicts(session.pk) == {}


def test_a_fork_is_detached_and_names_what_its_parent_follows(followed: UUID) -> None:
    push(followed, 2, seen("ADDED", pod("p")))
    parent = work_off(followed)
    assert parent.follows == "kind"
    forked = fork(parent, User.objects.create_user("somebody")).session
    import_job.run_import(forked.pk)
    forked.refresh_from_db()

    send(forked.pk, "update", object=on(pod("p"), "large"))
    work_off(forked.pk)

    assert (forked.follows, forked.source["fork"]["follows"]) == ("kind", "kind")
    assert verdicts(forked.pk) == {}


def test_the_oldest_bindings_are_forgotten_and_still_counted(followed: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MAX_STORED_BINDINGS", 2)
    monkeypatch.setattr(agreement, "_SWEEP_INTERVAL_BINDINGS", 1)
    for number in range(4):
        name = f"p{number}"
        push(followed, 2 + number, seen("ADDED", pod(name)), seen("MODIFIED", on(pod(name), "large")))
    work_off(followed)

    assert sorted(verdicts(followed)) == ["default/p2", "default/p3"]
    assert agreement.counts(followed).agrees == 4
    assert [row.pod for row in agreement.bindings(followed, ["agrees"], before=None, limit=5)] == ["default/p3", "default/p2"]
    assert Agreement.objects.count() == 1
