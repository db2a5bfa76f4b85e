"""Quotas of users and of the installation: the message names the limit that is reached, and existing data is kept."""

from __future__ import annotations

import itertools
import json
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.commands import cycle_runner
from schedviz.kube import codec
from schedviz.sessions import quotas
from schedviz.sessions.cluster_growth import ClusterGrowth
from schedviz.sessions.commands import inbox
from schedviz.sessions.forks import requests
from schedviz.sessions.models import Command, Session, Upload
from schedviz.sessions.quotas import KINDS, QuotaReached
from schedviz.sessions.transfer import create, import_job, session_file_export
from tests.sessions.conftest import MakeSession, command, dump, node, pod, send, work_off
from tests.sessions.transfer.test_session_file import imported, packed

_keys = itertools.count(1)
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}


@pytest.fixture
def owned(make_session: MakeSession) -> UUID:
    """A session with 3 nodes, 12 pods and 4 cycles."""
    session_id = make_session(nodes=3, pods=12)
    owner = User.objects.create_user("owner")
    Session.objects.filter(pk=session_id).update(owner=owner)
    send(session_id, "run", max=4)
    work_off(session_id)
    quotas.clear_cache()
    return session_id


def used(session_id: UUID) -> dict[str, int]:
    quotas.clear_cache()
    owner = Session.objects.get(pk=session_id).owner_id
    return {one.kind: one.used for one in quotas.quotas_of(owner) if one.is_own}


def accept(session_id: UUID, op: str, **members: Any) -> None:
    quotas.clear_cache()
    inbox.accept(session_id, command(op, **members), f"asked-{next(_keys)}")


def workload(kind: str, name: str, replicas: int | None) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "registry.example/app:1"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template, **({} if replicas is None else {"replicas": replicas})}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def stored_command_bytes(session_id: UUID) -> int:
    rows = Command.objects.filter(session_id=session_id).values_list("key", "body")
    return sum(len(body) + 2 * len(key) + 400 for key, body in rows)


def labelled_node(labels: int) -> dict[str, Any]:
    result = node("node-1")
    return {**result, "metadata": {**result["metadata"], "labels": {f"example.org/label-{number}": "x" * 60 for number in range(labels)}}}


def test_existing_objects_and_cycles_are_counted(owned: UUID) -> None:
    result = used(owned)

    assert {kind: result[kind] for kind in KINDS[:5]} == {"sessions": 1, "nodes": 3, "pods": 12, "objects": 15, "cycles": 4}
    assert result["bytes"] > 1000
    send(owned, "create", object=node("more"))
    send(owned, "delete", kind="Pod", name="pod-12")
    work_off(owned)
    assert (used(owned)["nodes"], used(owned)["pods"]) == (4, 11)


def test_a_fork_counts_only_its_own_cycles(owned: UUID) -> None:
    session = Session.objects.get(pk=owned)
    assert session.owner is not None
    made = requests.fork(session, session.owner).session
    import_job.run_import(made.pk)
    send(made.pk, "run", max=2)
    work_off(made.pk)

    result = used(owned)

    assert {kind: result[kind] for kind in KINDS[:5]} == {"sessions": 2, "nodes": 6, "pods": 24, "objects": 30, "cycles": 6}


@pytest.mark.parametrize("ending", ["PER_USER", "IN_ALL"])
@pytest.mark.parametrize(
    ("kind", "limit", "op", "members"),
    [
        ("NODES", 3, "create", {"object": node("more")}),
        ("PODS", 12, "create", {"object": pod("more")}),
        ("CYCLES", 4, "run", {}),
        ("CYCLES", 4, "step", {"unit": "cycle"}),
        ("BYTES", 100, "run", {}),
        ("BYTES", 100, "create", {"object": pod("more")}),
        ("BYTES", 100, "update", {"object": node("node-1")}),
        ("BYTES", 100, "configure", {"config": None}),
        ("BYTES", 100, "helper", {"name": "kubelet"}),
        ("BYTES", 100, "advance", {"seconds": 1}),
        ("PODS", 14, "create", {"object": workload("Deployment", "many", 3)}),
        ("PODS", 14, "create", {"object": workload("ReplicaSet", "many", 3)}),
        ("PODS", 14, "create", {"object": workload("StatefulSet", "many", 3)}),
        ("PODS", 12, "create", {"object": workload("Deployment", "one", None)}),
        ("OBJECTS", 15, "create", {"object": SERVICE}),
        ("OBJECTS", 15, "create", {"object": pod("more")}),
        ("PODS", 14, "update", {"object": workload("Deployment", "many", 15)}),
    ],
)
def test_a_command_that_exceeds_a_quota_is_refused(
    owned: UUID, settings: Any, ending: str, kind: str, limit: int, op: str, members: dict[str, Any]
) -> None:
    setattr(settings, f"{kind}_{ending}", limit)

    with pytest.raises(QuotaReached, match=rf"SCHEDVIZ_{kind}_{ending} allows {limit}"):
        accept(owned, op, **members)

    setattr(settings, f"{kind}_{ending}", 0)
    accept(owned, op, **members)


def test_deletions_and_repeated_commands_are_accepted_at_the_quota(owned: UUID, settings: Any) -> None:
    seq = inbox.accept(owned, command("run", max=1), "again").seq
    send(owned, "update", object=labelled_node(400))
    work_off(owned)
    settings.CYCLES_PER_USER = settings.PODS_PER_USER = 1
    settings.BYTES_PER_USER = used(owned)["bytes"]

    quotas.clear_cache()
    assert inbox.accept(owned, command("run", max=1), "again").seq == seq
    accept(owned, "delete", kind="Pod", name="pod-2")
    accept(owned, "evict", pod="default/pod-3")
    accept(owned, "reset")
    accept(owned, "pause")

    assert Session.objects.get(pk=owned).last_seq == 7


def test_commands_that_free_nothing_are_refused_at_a_tenth_above_the_byte_quota(owned: UUID, settings: Any) -> None:
    send(owned, "update", object=labelled_node(400))
    settings.BYTES_PER_USER = limit = used(owned)["bytes"]

    with pytest.raises(QuotaReached, match="SCHEDVIZ_BYTES_PER_USER allows"):
        inbox.accept_all(owned, [(f"together-{number}", command("pause")) for number in range(10)])
    accepted = 0
    with suppress(QuotaReached):
        for number in range(limit):
            accepted += inbox.accept(owned, command("pause"), f"{'long' * 40}-{number}").seq > 0

    assert 0 < accepted < limit
    assert used(owned)["bytes"] == pytest.approx(limit * 1.1, abs=1000)


@pytest.mark.parametrize("together", [True, False])
def test_the_estimated_size_of_a_command_is_close_to_its_stored_size(owned: UUID, *, together: bool) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL does not report the size of an uncommitted table.")

    def stored_pages_bytes() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT (SELECT page_count FROM pragma_page_count()) - (SELECT freelist_count FROM pragma_freelist_count())")
            return int(cursor.fetchone()[0]) * 4096

    def counted() -> int:
        session = Session.objects.get(pk=owned)
        return session.command_bytes + (0 if together else session.history_bytes)

    before, counted_before = stored_pages_bytes(), counted()
    for batch in range(10 if together else 200):
        inbox.accept_all(owned, [(f"{batch}-{number}-{'k' * 190}", command("pause")) for number in range(100 if together else 1)])
        work_off(owned)

    assert counted() - counted_before == pytest.approx(stored_pages_bytes() - before, rel=0.3)


def test_command_bodies_are_counted_before_execution(owned: UUID, settings: Any) -> None:
    before, first = used(owned)["bytes"], Session.objects.get(pk=owned).command_bytes

    send(owned, "update", object=labelled_node(200))
    inbox.accept_all(owned, [("one", command("cordon", node="node-1")), ("two", command("pause"))])

    session = Session.objects.get(pk=owned)
    assert session.command_bytes == stored_command_bytes(owned) > 200 * 60
    assert used(owned)["bytes"] == before + session.command_bytes - first
    settings.BYTES_PER_USER = used(owned)["bytes"] + 1500
    with pytest.raises(QuotaReached, match=r"SCHEDVIZ_BYTES_PER_USER allows .* more are too many"):
        accept(owned, "update", object=labelled_node(100))
    accept(owned, "update", object=labelled_node(1))


def test_commands_in_quick_succession_are_counted_without_another_database_query(owned: UUID, settings: Any) -> None:
    settings.BYTES_PER_USER = used(owned)["bytes"] + 20_000
    update = command("update", object=labelled_node(100))

    for number in range(2):
        inbox.accept(owned, update, f"fast-{number}")
    with pytest.raises(QuotaReached):
        inbox.accept(owned, update, "fast-2")


def test_the_commands_of_a_batch_count_together_towards_a_quota(owned: UUID, settings: Any) -> None:
    settings.PODS_PER_USER = 13
    quotas.clear_cache()

    with pytest.raises(QuotaReached, match="2 more are too many"):
        inbox.accept_all(owned, [(name, command("create", object=pod(name))) for name in ("a", "b")])


def test_a_refused_command_does_not_count(owned: UUID) -> None:
    before = Session.objects.get(pk=owned).command_bytes
    inbox.accept(owned, command("pause"), "once")
    once = Session.objects.get(pk=owned).command_bytes

    assert inbox.accept(owned, command("pause"), "once").duplicate

    assert (once - before, Session.objects.get(pk=owned).command_bytes) == (quotas.command_bytes("once", b'{"op":"pause"}'), once)


def test_at_the_quota_a_replica_set_can_be_updated_and_scaled_to_zero_but_not_up(owned: UUID, settings: Any) -> None:
    send(owned, "helper", name="replicaSets")
    send(owned, "create", object=workload("ReplicaSet", "set", 5))
    work_off(owned)
    assert used(owned)["pods"] == 17
    settings.PODS_PER_USER = 17

    accept(owned, "update", object=workload("ReplicaSet", "set", 5))
    with pytest.raises(QuotaReached, match="SCHEDVIZ_PODS_PER_USER allows 17"):
        accept(owned, "update", object=workload("ReplicaSet", "set", 18))
    settings.PODS_PER_USER = 10
    accept(owned, "update", object=workload("ReplicaSet", "set", 0))


def test_the_commands_of_traces_and_session_files_count(owned: UUID, settings: Any) -> None:
    file = packed(owned)
    of_file = imported(file)
    trace = create.create_session(
        None, "a trace", create.Trace({"format": "schedviz-trace/1", "steps": [{"op": "create", "object": labelled_node(100)}]})
    )
    import_job.run_import(trace.pk)
    trace.refresh_from_db()

    assert of_file.command_bytes == stored_command_bytes(of_file.pk) > 0
    assert trace.command_bytes == stored_command_bytes(trace.pk) > 100 * 60

    quotas.clear_cache()
    used = next(one.used for one in quotas.quotas_of(None) if one.kind == "bytes" and not one.is_own)
    again = create.create_session(
        None, "a trace", create.Trace({"format": "schedviz-trace/1", "steps": [{"op": "create", "object": labelled_node(100)}]})
    )
    settings.BYTES_IN_ALL = used + 5000
    import_job.run_import(again.pk)
    again.refresh_from_db()
    assert (again.status, again.command_bytes) == (Session.Status.FAILED, 0)
    assert "SCHEDVIZ_BYTES_IN_ALL allows" in again.message


def test_an_import_counts_the_pods_that_its_controllers_would_create(transactional_db: None, settings: Any) -> None:
    settings.PODS_IN_ALL = 20
    items = [workload("Deployment", "web", 21)]
    file = ContentFile(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode(), name="a.json")

    made = create.create_session(None, "of controllers", create.Files([file]))
    import_job.run_import(made.pk)

    made.refresh_from_db()
    assert "SCHEDVIZ_PODS_IN_ALL allows 20. 21 more are too many." in made.message


def test_a_run_that_exhausts_a_quota_stops_with_the_reason(owned: UUID, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr("schedviz.sessions.hosting.slice_runner.SLICE_CYCLES", 1)
    settings.CYCLES_PER_USER = 7

    seq = send(owned, "run")
    session = work_off(owned)

    outcome = session.commands.get(seq=seq).outcome
    assert outcome["stopped"] == "quota"
    assert outcome["result"].startswith("Your sessions have 7 cycles; SCHEDVIZ_CYCLES_PER_USER allows 7.")
    assert (session.status, session.applied_seq) == (Session.Status.PAUSED, seq)
    assert 7 <= session.cycle < 12
    settings.CYCLES_PER_USER = 0
    send(owned, "run")
    assert work_off(owned).cycle == 12
    again = imported(packed(owned))
    assert (again.status, again.commands.get(seq=seq).outcome["stopped"]) == (Session.Status.READY, "quota"), again.message


def test_a_large_batch_of_deletions_needs_quota_for_its_bytes(owned: UUID, settings: Any) -> None:
    send(owned, "update", object=labelled_node(400))
    settings.BYTES_PER_USER = used(owned)["bytes"]
    many = [(f"nothing-{number}", command("delete", kind="Pod", name="x" * 240)) for number in range(30)]
    quotas.clear_cache()

    assert len(inbox.accept_all(owned, many[:3])) == 3
    with pytest.raises(QuotaReached, match="SCHEDVIZ_BYTES_PER_USER allows"):
        inbox.accept_all(owned, many[3:])
    settings.BYTES_PER_USER = 0
    assert len(inbox.accept_all(owned, many[3:])) == 27


@pytest.mark.parametrize("is_graceful", [False, True])
def test_a_command_that_replaces_pods_does_not_count_as_growth(
    owned: UUID, settings: Any, monkeypatch: pytest.MonkeyPatch, *, is_graceful: bool
) -> None:
    monkeypatch.setattr(cycle_runner, "MAX_SYNCS", 1)
    monkeypatch.setattr("schedviz.sessions.hosting.slice_runner.MAX_SLICE_SECONDS", 0.0)
    send(owned, "helper", name="replicaSets")
    if is_graceful:
        send(owned, "helper", name="kubelet")
    send(owned, "create", object=workload("ReplicaSet", "a", 5))
    send(owned, "run")
    pods = work_off(owned).pods
    quotas.clear_cache()
    settings.PODS_PER_USER = pods

    seqs = [send(owned, "drain", node=f"node-{number}") for number in (1, 2)]
    session = work_off(owned)

    assert [session.commands.get(seq=seq).outcome["stopped"] for seq in seqs] == ["", ""]


def test_the_commands_of_a_session_file_count_during_their_replay(owned: UUID, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedviz.sessions.transfer.file_replay._SLICE_SECONDS", 0.0)
    send(owned, "helper", name="replicaSets")
    send(owned, "create", object=workload("ReplicaSet", "a", 30))
    work_off(owned)
    file = packed(owned)
    settings.PODS_IN_ALL = 42 + 40
    quotas.clear_cache()

    session = imported(file)

    assert session.status == Session.Status.FAILED
    assert "SCHEDVIZ_PODS_IN_ALL allows 82." in session.message
    assert (session.chunk, session.commands.count()) == (0, 0)
    settings.PODS_IN_ALL = 42 + 42
    quotas.clear_cache()
    assert imported(file).status == Session.Status.READY


def test_the_commands_before_the_fork_in_a_session_file_count_during_their_replay(owned: UUID, settings: Any) -> None:
    send(owned, "helper", name="replicaSets")
    send(owned, "create", object=workload("ReplicaSet", "a", 30))
    parent = work_off(owned)
    assert parent.owner is not None
    made = requests.fork(parent, parent.owner).session
    import_job.run_import(made.pk)
    file = packed(made.pk)
    settings.PODS_IN_ALL = 2 * 42 + 40
    quotas.clear_cache()

    session = imported(file)

    assert session.status == Session.Status.FAILED
    assert "SCHEDVIZ_PODS_IN_ALL allows 124." in session.message


def test_a_trace_counts_the_objects_that_its_steps_create(transactional_db: None, settings: Any) -> None:
    settings.PODS_IN_ALL = 5
    steps: list[dict[str, Any]] = [{"op": "create", "object": pod(f"pod-{number}")} for number in range(4)]
    steps += [{"op": "delete", "kind": "Pod", "name": "pod-0"}, {"op": "create", "object": pod("pod-4")}]
    for replicas, status in ((1, Session.Status.READY), (2, Session.Status.FAILED)):
        trace = {"format": "schedviz-trace/1", "steps": [*steps, {"op": "create", "object": workload("ReplicaSet", "a", replicas)}]}
        made = create.create_session(None, "a trace", create.Trace(trace))
        import_job.run_import(made.pk)

        made.refresh_from_db()
        assert made.status == status, made.message
    assert "SCHEDVIZ_PODS_IN_ALL allows 5. 6 more are too many." in made.message


def test_an_import_over_a_quota_fails_with_the_limit(owned: UUID, settings: Any) -> None:
    file = b"".join(session_file_export.export(Session.objects.get(pk=owned)))
    settings.PODS_IN_ALL = 20

    session = imported(file)
    assert session.status == Session.Status.FAILED
    assert "The sessions of this server have 12 pods; SCHEDVIZ_PODS_IN_ALL allows 20. 12 more are too many." in session.message

    made = create.create_session(None, "made up", create.Generate({"nodes": 2, "pods": 9}))
    import_job.run_import(made.pk)
    made.refresh_from_db()
    assert "9 more are too many" in made.message


@pytest.mark.parametrize(("kind", "limit"), [("SESSIONS", 1), ("NODES", 5), ("PODS", 20), ("CYCLES", 3), ("BYTES", 50)])
def test_a_new_session_needs_free_quota(owned: UUID, settings: Any, kind: str, limit: int) -> None:
    owner = Session.objects.get(pk=owned).owner_id
    quotas.require_session_quota(owner, nodes=3, pods=12)

    setattr(settings, f"{kind}_PER_USER", limit)
    with pytest.raises(QuotaReached, match=f"SCHEDVIZ_{kind}_PER_USER allows {limit}"):
        quotas.require_session_quota(owner, nodes=3, pods=12)


def test_enabling_controllers_counts_the_pods_that_they_would_create(owned: UUID, settings: Any) -> None:
    for name in ("first", "second"):
        send(owned, "create", object=workload("Deployment", name, 10))
    send(owned, "helper", name="deployments")
    work_off(owned)
    settings.PODS_PER_USER = 31

    refused = send(owned, "helper", name="replicaSets")
    send(owned, "delete", kind="Deployment", name="second")
    enabled = send(owned, "helper", name="replicaSets")
    session = work_off(owned)

    assert session.commands.get(seq=refused).outcome["stopped"] == "quota"
    assert session.commands.get(seq=enabled).outcome["stopped"] == ""
    assert used(owned)["pods"] == 12 + 10


def test_writes_during_a_scheduling_cycle_count(owned: UUID, settings: Any) -> None:
    settings.NODES_PER_USER = 4

    seq = send(owned, "schedule", during=[{"op": "create", "object": node(f"added-{n}")} for n in range(2)])
    session = work_off(owned)

    assert session.commands.get(seq=seq).outcome["stopped"] == "quota"
    assert used(owned)["nodes"] == 3


def test_a_workload_that_gets_its_template_counts_with_all_its_pods(owned: UUID, settings: Any) -> None:
    without_template = workload("ReplicaSet", "set", 15)
    del without_template["spec"]["template"]
    send(owned, "create", object=without_template)
    send(owned, "helper", name="replicaSets")
    work_off(owned)
    quotas.clear_cache()
    settings.PODS_PER_USER = 20

    seq = send(owned, "update", object=workload("ReplicaSet", "set", 15))
    session = work_off(owned)

    assert (session.pods, session.commands.get(seq=seq).outcome["stopped"]) == (12, "quota")


def test_no_command_lets_controllers_catch_up_beyond_the_quota(owned: UUID, settings: Any) -> None:
    simulation = Simulation(SimulationSettings())
    simulation.load([codec.from_dict(pod(f"pod-{number}")) for number in range(3)])
    growth = ClusterGrowth(None, simulation)
    settings.PODS_IN_ALL = 3 + used(owned)["pods"]
    quotas.clear_cache()

    growth.begin(command("snapshot"))
    simulation.cluster.controllers.is_catching_up = True
    settings.PODS_IN_ALL = used(owned)["pods"]
    quotas.clear_cache()

    with pytest.raises(QuotaReached, match="SCHEDVIZ_PODS_IN_ALL"):
        growth.begin(command("snapshot"))


def test_objects_of_all_kinds_are_counted(owned: UUID, settings: Any) -> None:
    assert used(owned)["objects"] == Session.objects.get(pk=owned).object_count == 15

    for number in range(3):
        send(owned, "create", object={**SERVICE, "metadata": {"name": f"s-{number}", "namespace": "default"}})
    send(owned, "delete", kind="Service", name="s-0")
    session = work_off(owned)
    assert (session.object_count, session.pods) == (17, 12)
    assert requests.size_at(session, None)["objects"] == 17

    # A worker refuses commands that were accepted while quota was free.
    seq = send(owned, "create", object=SERVICE)
    settings.OBJECTS_PER_USER = 17
    quotas.clear_cache()
    work_off(owned)
    assert "SCHEDVIZ_OBJECTS_PER_USER allows 17" in Command.objects.get(session_id=owned, seq=seq).outcome["result"]
    forked = requests.fork(session, User.objects.get(pk=session.owner_id)).session
    import_job.run_import(forked.pk)
    assert Session.objects.get(pk=forked.pk).object_count == 17


def test_a_large_object_counts_as_several(owned: UUID, settings: Any) -> None:
    settings.OBJECTS_PER_USER = 300
    accept(owned, "update", object=labelled_node(1500))
    work_off(owned)
    assert 70 < used(owned)["objects"] < 220
    accept(owned, "create", object={**(large := labelled_node(5000)), "metadata": {**large["metadata"], "name": "another"}})
    work_off(owned)
    assert used(owned)["objects"] < 220
    assert "SCHEDVIZ_OBJECTS_PER_USER allows 300" in Command.objects.filter(session=owned).latest("seq").outcome["result"]


def test_the_objects_of_an_import_are_limited(settings: Any, transactional_db: None, redis: object) -> None:
    settings.IMPORT_OBJECTS = 5
    made = create.create_session(None, "many", create.Files([ContentFile(dump(3, 3), name="cluster.json")]))
    import_job.run_import(made.pk)
    made.refresh_from_db()
    assert (made.status, "5" in made.message) == (Session.Status.FAILED, True)


def test_uploads_count_until_their_import_has_ended(owned: UUID, settings: Any) -> None:
    before, owner = used(owned)["bytes"], User.objects.get(username="owner")
    settings.BYTES_PER_USER = before + 300_000

    def upload(name: str) -> Session:
        file = ContentFile(dump(3, 3) + b" " * 200_000, name="cluster.json")
        return create.create_session(owner, name, create.Files([file]))

    made = upload("first")
    assert used(owned)["bytes"] > before + 200_000
    for _ in range(2):
        with pytest.raises(QuotaReached, match="SCHEDVIZ_BYTES_PER_USER"):
            upload("second")
    assert Session.objects.filter(owner=owner).count() == 2, "a refused upload creates no session"
    assert set(Upload.objects.values_list("session_id", flat=True)) == {made.pk}

    import_job.run_import(made.pk)
    made.refresh_from_db()
    assert made.status == Session.Status.READY
    assert used(owned)["bytes"] < before + 100_000
    upload("second")


def test_uploaded_files_do_not_use_up_the_quota_of_their_own_import(owned: UUID, settings: Any) -> None:
    owner = User.objects.get(username="owner")
    file = ContentFile(dump(3, 3) + b" " * 200_000, name="cluster.json")
    made = create.create_session(owner, "at the quota", create.Files([file]))
    settings.BYTES_PER_USER = used(owned)["bytes"]

    import_job.run_import(made.pk)

    made.refresh_from_db()
    assert (made.status, made.message) == (Session.Status.READY, "")
