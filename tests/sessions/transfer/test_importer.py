"""Files, generated clusters and traces become sessions, or an error message."""

from __future__ import annotations

import gzip
import json
import threading
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
import yaml
from django.core.files.base import ContentFile
from django.db import connection
from django.db.models.signals import post_save

from schedviz.engine import Simulation, SimulationSettings
from schedviz.sessions import frames
from schedviz.sessions.errors import NotExportable, SourceRefused
from schedviz.sessions.history import checkpoints, reading
from schedviz.sessions.hosting import lease
from schedviz.sessions.models import Checkpoint, Chunk, Command, Session, Upload
from schedviz.sessions.redis import stream
from schedviz.sessions.transfer import create, deletion, import_job, importer, trace_export
from schedviz.sessions.transfer.initial_state import initial_state_of
from schedviz.sessions.transfer.lesson_draft import lesson_draft
from schedviz.sessions.uploads.encryption import OVERHEAD_BYTES
from schedviz.trace.policies import Policies
from tests.conftest import RedisServer
from tests.sessions.conftest import dump, node, pod, work_off

pytestmark = pytest.mark.usefixtures("transactional_db", "redis")
SAMPLES = Path(__file__).parents[2] / "samples"


def imported(source: create.Source, **options: Any) -> Session:
    session = create.create_session(None, "a test", source, **options)
    assert session.status == Session.Status.IMPORTING
    import_job.run_import(session.pk)
    session.refresh_from_db()
    return session


def file(data: bytes, name: str = "cluster.json") -> create.Files:
    return create.Files([ContentFile(data, name=name)])


def test_the_report_of_a_log_with_its_objects_has_the_doctors_findings() -> None:
    case = SAMPLES / "sigusr2" / "07-stale-handlers"
    files = [ContentFile((case / name).read_bytes(), name=name) for name in ("objects.json", "scheduler.log")]
    session = imported(create.Files([*files, ContentFile(b'{"kind":', name="damaged.json")]))
    assert session.status == Session.Status.READY
    (examination,) = session.report["doctor"]
    assert (examination["differences"], examination["notes"]) == (4, 1)
    assert any("Node worker-4 is in the API server" in warning and "event handler" in warning for warning in session.report["warnings"])
    assert [refused["name"] for refused in session.report["refused"]] == ["damaged.json"]


def test_a_pasted_dump_without_objects_becomes_a_session_with_warnings() -> None:
    session = imported(file((SAMPLES / "sigusr2" / "04-ghost-node" / "scheduler.log").read_bytes(), name="pasted"))
    assert session.status == Session.Status.READY
    assert "made from a SIGUSR2 dump alone" in session.report["warnings"][0]
    assert any("Node worker-2 was deleted" in warning for warning in session.report["warnings"])
    assert len(reading.state_at_head(session).view.cache.list) == 3


def test_a_dump_becomes_a_session(redis: RedisServer) -> None:
    session = imported(file(dump(3, 10)))

    assert (session.status, session.progress, session.message) == (Session.Status.READY, None, "")
    assert session.report["kinds"] == {"Node": 3, "Pod": 10}
    assert not Upload.objects.filter(session=session).exists()
    view = reading.state_at_head(session).view
    assert len(view.cache.list) == 3
    assert len(view.queue.active_q) == 10


def test_a_large_compressed_file_is_stored_in_rows_of_one_mebibyte() -> None:
    noise = "".join(chr(97 + (n * n + n // 7) % 26) for n in range(3 << 20))
    items = [node("node-1"), {**pod("pod-1"), "status": {"phase": "Pending", "message": noise}}]
    data = gzip.compress(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}).encode(), 0)
    session = create.create_session(None, "large", file(data, "cluster.json.gz"))
    sizes = [len(bytes(row)) for row in Upload.objects.filter(session=session).order_by("number").values_list("data", flat=True)]

    import_job.run_import(session.pk)

    assert sum(sizes) == len(data) + OVERHEAD_BYTES * len(sizes)
    assert sizes[:-1] == [1 << 20] * (len(sizes) - 1)
    session.refresh_from_db()
    assert session.status == Session.Status.READY


def test_a_generated_cluster_becomes_a_session() -> None:
    session = imported(create.Generate({"nodes": 4, "pods": 12}))

    assert session.status == Session.Status.READY, session.message
    assert session.report["kinds"]["Node"] == 4


def test_invalid_generator_parameters_are_reported() -> None:
    session = imported(create.Generate({"nodes": -4}))

    assert session.status == Session.Status.FAILED
    assert "nodes" in session.message


def test_a_trace_becomes_a_session_whose_commands_are_its_steps() -> None:
    steps = [{"op": "create", "object": node("node-1")}, {"op": "create", "object": pod("pod-1")}, {"op": "cycle"}, {"op": "dump"}]
    session = imported(create.Trace({"format": "schedviz-trace/1", "name": "small", "tickMillis": 5, "steps": steps}))

    assert session.status == Session.Status.READY, session.message
    assert session.last_seq == 3
    after = work_off(session.pk)
    assert (after.applied_seq, after.cycle) == (3, 1)
    assert after.clock_seconds == 0.015


def test_an_interrupted_import_restarts_and_queues_no_step_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [{"op": "create", "object": node("node-1")}, {"op": "cycle"}]
    session = create.create_session(None, "a test", create.Trace({"format": "schedviz-trace/1", "steps": steps}))
    opened = importer.Importer.open

    def die(*_: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(importer.Importer, "open", die)
    with pytest.raises(SystemExit):
        import_job.run_import(session.pk)
    lease.clear_owner(lease.owner_prefix())
    monkeypatch.setattr(importer.Importer, "open", opened)
    import_job.run_import(session.pk)

    session.refresh_from_db()
    assert session.status == Session.Status.READY
    assert Command.objects.filter(session=session).count() == session.last_seq == 2


def test_an_invalid_file_fails_the_session_with_file_line_and_path() -> None:
    pod = b'{"kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"resources":{"requests":{"cpu":"10x"}}}]}}'
    session = imported(file(b'{"kind":"List","items":[%s]}' % pod))

    assert session.status == Session.Status.FAILED
    assert "cluster.json" in session.message
    assert "items[0].spec.containers[0].resources.requests.cpu" in session.message
    assert not Upload.objects.filter(session=session).exists()
    assert not Checkpoint.objects.filter(session=session).exists()


def test_an_invalid_object_is_skipped_and_named_and_the_others_are_imported() -> None:
    session = imported(file(dump(1, 1).replace(b'"10m"', b'"10x"')))

    assert session.status == Session.Status.READY
    assert session.report["kinds"] == {"Node": 1}
    [skipped] = session.report["skipped"]
    assert "items[1].spec.containers[0].resources.requests.cpu" in skipped["message"]
    assert any("1 of its parts could not be read" in warning for warning in session.report["warnings"])


def test_a_cancelled_import_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    session = create.create_session(None, "a test", file(dump(3, 600)))
    monkeypatch.setattr(importer, "_PROGRESS_SECONDS", 0.0)
    # A worker had begun it.
    Session.objects.filter(pk=session.pk).update(epoch=1)
    assert create.cancel_import(session.pk)

    import_job.run_import(session.pk)

    session.refresh_from_db()
    assert session.status == Session.Status.FAILED
    assert "cancelled" in session.message
    assert not create.cancel_import(session.pk)


def test_an_import_that_is_cancelled_before_its_start_does_not_start() -> None:
    session = create.create_session(None, "a test", file(dump(3, 6)))
    assert create.cancel_import(session.pk)

    import_job.run_import(session.pk)

    session.refresh_from_db()
    assert (session.status, session.message, session.epoch) == (Session.Status.FAILED, "The import was cancelled.", 0)


def test_an_import_that_is_cancelled_at_its_end_opens_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    session = create.create_session(None, "a test", file(dump(3, 6)))
    open_session = importer.Importer.open

    def cancel_and_open(self: importer.Importer, report: dict[str, Any]) -> None:
        assert create.cancel_import(session.pk)
        open_session(self, report)

    monkeypatch.setattr(importer.Importer, "open", cancel_and_open)
    import_job.run_import(session.pk)

    session.refresh_from_db()
    assert (session.status, session.message) == (Session.Status.FAILED, "The import was cancelled.")
    # The sweeper deletes it as any import that failed.
    assert not Checkpoint.objects.filter(session=session).exists()
    assert not Upload.objects.filter(session=session).exists()


@pytest.mark.parametrize("deleted", [False, True])
def test_a_cancelled_or_deleted_import_stops_in_the_middle_of_a_long_step(*, deleted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    session = create.create_session(None, "a test", file(dump(1, 1)))

    def spin(*_: Any) -> None:
        if deleted:
            Session.objects.filter(pk=session.pk).delete()
        else:
            assert create.cancel_import(session.pk)
        while True:
            pass

    monkeypatch.setattr(Simulation, "load", spin)
    monkeypatch.setattr(lease, "RENEWAL_SECONDS", 0.1)

    import_job.run_import(session.pk)

    left = Session.objects.filter(pk=session.pk).first()
    assert (left is None) == deleted
    assert left is None or (left.status, left.message) == (Session.Status.FAILED, "The import was cancelled.")


def test_an_import_that_kills_three_workers_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    session = create.create_session(None, "a test", file(dump(1, 1)))

    def die(*_: Any, **__: Any) -> Any:
        raise SystemExit

    monkeypatch.setattr(importer, "load", die)
    for _ in range(3):
        with pytest.raises(SystemExit):
            import_job.run_import(session.pk)
        lease.clear_owner(lease.owner_prefix())
    import_job.run_import(session.pk)

    session.refresh_from_db()
    assert session.status == Session.Status.FAILED
    assert "3 worker processes" in session.message


def test_an_import_that_runs_out_of_memory_names_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def take_too_much(*_: Any, **__: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(importer, "load", take_too_much)

    session = imported(file(dump(1, 1)))

    assert session.status == Session.Status.FAILED
    assert "IMPORT_MEGABYTES" in session.message


def test_too_many_bytes_or_files_are_refused_immediately(settings: Any) -> None:
    settings.UPLOAD_BYTES = 100
    with pytest.raises(SourceRefused, match="UPLOAD_BYTES"):
        create.create_session(None, "a test", file(dump(1, 1)))
    settings.UPLOAD_BYTES = 1 << 20
    settings.UPLOAD_FILES = 1
    with pytest.raises(SourceRefused, match="UPLOAD_FILES"):
        create.create_session(None, "a test", create.Files([ContentFile(b"{}", name="a"), ContentFile(b"{}", name="b")]))

    assert not Session.objects.exists()


def test_an_invalid_configuration_fails_the_session() -> None:
    session = imported(file(dump(1, 1)), simulation={"config": {"profiles": "none"}})

    assert session.status == Session.Status.FAILED
    assert "profiles" in session.message


def test_a_long_message_of_a_failed_import_is_truncated() -> None:
    fields = "".join(f"field{n}: 1\n" for n in range(5_000))
    config = f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{fields}".encode()

    session = imported(create.Files([ContentFile(dump(1, 1), name="c.json"), ContentFile(config, name="scheduler.yaml")]))

    assert session.status == Session.Status.FAILED
    assert "unknown field" in session.message
    assert "…" in session.message
    assert len(session.message) < 8_100


def test_a_configuration_among_the_files_is_used_by_the_session() -> None:
    text = b"""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: mine
"""
    cluster, config = ContentFile(dump(2, 1), name="c.json"), ContentFile(text, name="scheduler.yaml")

    session = imported(create.Files([cluster, config]))

    assert (session.status, session.message) == (Session.Status.READY, "")
    assert session.report["configuration"] == "scheduler.yaml"
    assert not reading.state_at_head(session).view.queue.active_q  # its pods ask for another scheduler

    session = imported(create.Files([cluster, config]), simulation={"config": {}})
    assert session.status == Session.Status.FAILED
    assert session.message == "settings.config: scheduler.yaml also contains a scheduler configuration. Remove one of them."


def test_an_unknown_plugin_fails_the_session() -> None:
    config = {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "Nope"}]}}}]}

    session = imported(file(dump(1, 1)), simulation={"config": config})

    assert session.status == Session.Status.FAILED
    assert 'FilterPlugin "Nope" does not exist' in session.message


def test_viewers_get_the_progress_of_the_import() -> None:
    session = imported(file(dump(3, 10)))

    entries: Any = stream.client().xrange(stream.notes_key(session.pk))
    statuses = [json.loads(members[b"note"])["session"] for _, members in entries]
    assert {status["status"] for status in statuses[:-1]} == {"importing"}
    assert statuses[-1]["status"] == "ready"
    assert statuses[0]["progress"]["phase"]


def test_commands_accepted_during_an_import_are_executed_after_it() -> None:
    from tests.sessions.conftest import send

    session = create.create_session(None, "a test", file(dump(2, 5)))
    send(session.pk, "cycle")

    import_job.run_import(session.pk)

    assert work_off(session.pk).cycle == 1


def _delete(session_id: UUID) -> None:
    deletion.delete_session(session_id)
    connection.close()


def test_a_session_deleted_during_its_import_leaves_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    session = create.create_session(None, "a test", file(dump(2, 5)))
    load = importer.load
    # As in a server, another thread deletes it: the importing thread is interrupted as soon as the lease is seen to be lost.
    deleting = threading.Thread(target=_delete, args=(session.pk,))

    def load_and_delete(*arguments: Any, **options: Any) -> Any:
        result = load(*arguments, **options)
        deleting.start()
        deleting.join()
        return result

    monkeypatch.setattr(importer, "load", load_and_delete)

    import_job.run_import(session.pk)

    deleting.join()
    assert not Session.objects.exists()
    assert not Checkpoint.objects.exists()


def test_a_session_runs_until_the_steps_of_its_trace_have_been_executed(redis: RedisServer) -> None:
    steps = [{"op": "create", "object": node(f"node-{number}")} for number in range(3)]

    session = imported(create.Trace({"format": "schedviz-trace/1", "steps": steps}))

    entries: Any = stream.client().xrange(stream.notes_key(session.pk))
    last = json.loads(entries[-1][1][b"note"])["session"]
    assert (session.shown_status, last["status"], last["appliedSeq"], last["lastSeq"]) == ("running", "running", 0, 3)
    assert work_off(session.pk).shown_status == "ready"
    newest = list(stored_frames(session.pk))[-1]
    assert newest.session.status == "ready"


def stored_frames(session_id: Any) -> Any:
    return [
        frames.open_frame(bytes(data))
        for data in Chunk.objects.filter(session_id=session_id).order_by("number").values_list("data", flat=True)
    ]


def test_the_engine_uses_the_policies_of_a_trace_unless_the_session_overrides_them() -> None:
    document = {"format": "schedviz-trace/1", "steps": [], "policies": {"cache": "v1.14"}}

    engines = [
        _engine_of(session)
        for session in (
            imported(create.Trace(document)),
            imported(create.Trace(document), simulation={"policies": {"preemption": "v1.18"}}),
        )
    ]

    assert [engine.settings.policies for engine in engines] == [Policies(cache="v1.14"), Policies(preemption="v1.18")]


def test_the_engine_uses_the_release_of_a_trace_unless_the_session_overrides_it() -> None:
    header = {
        "release": "v1.36",
        "featureGates": {"SchedulerAsyncPreemption": False},
        "holdPreemption": True,
        "holdDispatch": True,
        "tieBreak": "first",
    }
    document = {"format": "schedviz-trace/1", "steps": [], **header}

    of_trace = imported(create.Trace(document))
    chosen = imported(create.Trace(document), simulation={"release": "v1.27.1", "feature_gates": {}})

    settings = _settings_of(of_trace)
    assert (settings.release, settings.feature_gates) == ("v1.36", {"SchedulerAsyncPreemption": False})
    assert (settings.hold_preemption, settings.hold_dispatch, settings.first_of_tied_v1_36) == (True, True, True)
    assert (of_trace.settings["release"], of_trace.settings["feature_gates"]) == ("v1.36", {"SchedulerAsyncPreemption": False})
    assert (_settings_of(chosen).release, _settings_of(chosen).feature_gates) == ("v1.27.1", {})
    exported = trace_export.trace(of_trace)
    assert {name: exported[name] for name in header} == header


def test_a_trace_without_a_release_is_v1_27_1_and_exported_without_one() -> None:
    session = imported(create.Trace({"format": "schedviz-trace/1", "steps": []}))

    assert _settings_of(session).release == "v1.27.1"
    assert not {"release", "featureGates", "holdPreemption", "holdDispatch", "tieBreak"} & set(trace_export.trace(session))


def test_the_lesson_draft_of_a_v1_36_session_is_for_v1_36() -> None:
    document = {"format": "schedviz-trace/1", "steps": [], "release": "v1.36", "holdPreemption": True}
    session = imported(create.Trace(document))

    plan = yaml.safe_load(lesson_draft(session, name="mine")["lesson.yaml"])
    assert (plan["release"], plan["settings"]["holdPreemption"]) == ("v1.36", True)


@pytest.mark.parametrize("setting", [{"tieBreak": "first"}, {"holdDispatch": True}])
def test_a_session_with_a_setting_that_lessons_do_not_support_has_no_lesson_draft(setting: dict[str, Any]) -> None:
    session = imported(create.Trace({"format": "schedviz-trace/1", "steps": [], "release": "v1.36", **setting}))

    with pytest.raises(NotExportable, match="a lesson cannot express that setting"):
        lesson_draft(session, name="mine")


def test_a_feature_gate_unknown_to_the_chosen_release_fails_the_import_with_upstreams_message() -> None:
    document = {"format": "schedviz-trace/1", "steps": [], "release": "v1.36", "featureGates": {"OpportunisticBatching": False}}

    session = imported(create.Trace(document), simulation={"release": "v1.27.1"})

    assert session.status == Session.Status.FAILED
    assert session.message.startswith("settings: unrecognized feature gate: OpportunisticBatching")


def nodes_of(*kubelets: str) -> create.Files:
    items = [node(f"node-{number}") for number, _ in enumerate(kubelets)]
    for item, version in zip(items, kubelets, strict=True):
        item["status"]["nodeInfo"] = {"kubeletVersion": version}
    return file(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode())


@pytest.mark.parametrize(
    ("kubelets", "release", "newest"),
    [
        (("v1.33.4-eks-1", "v1.9.2"), "v1.36", "v1.33.4-eks-1"),
        (("v1.31.0",), "v1.36", "v1.31.0"),
        (("v1.30.9+k3s1", "v1.28.0"), "v1.27.1", "v1.30.9+k3s1"),
    ],
)
def test_the_newest_kubelet_selects_the_release_and_the_report_says_so(kubelets: tuple[str, ...], release: str, newest: str) -> None:
    session = imported(nodes_of(*kubelets))

    assert _settings_of(session).release == session.settings["release"] == session.report["release"] == release
    warning = session.report["warnings"][0]
    assert warning.startswith(
        f"The session simulates kube-scheduler {release}: the newest kubelet of its nodes is {newest}, and schedviz simulates "
        "v1.27.1, v1.36 and no release in between. Known differences: "
    )
    assert warning.endswith(").")


@pytest.mark.parametrize("kubelets", [(), ("v1.27.14",), ("v1.19.0",), ("latest",), (5,)])
def test_nodes_without_a_newer_release_select_the_default(kubelets: tuple[Any, ...]) -> None:
    session = imported(nodes_of(*kubelets) if kubelets else file(dump(nodes=1, pods=0)))

    assert (_settings_of(session).release, session.report["release"]) == ("v1.27.1", "v1.27.1")
    assert not any("kubelet" in warning for warning in session.report["warnings"])


@pytest.mark.parametrize("simulation", [{"release": "v1.27.1"}, {"policies": {"cache": "v1.14"}}])
def test_a_given_release_or_policy_has_precedence_over_the_kubelets(simulation: dict[str, Any]) -> None:
    session = imported(nodes_of("v1.34.0"), simulation=simulation)

    assert (_settings_of(session).release, session.report["release"]) == ("v1.27.1", "v1.27.1")
    assert not any("kubelet" in warning for warning in session.report["warnings"])


@pytest.mark.parametrize(
    ("kubelets", "simulation", "release"),
    [
        (("latest",), {}, "v1.36"),
        (("v1.28.4",), {}, "v1.27.1"),
        (("latest",), {"release": "v1.27.1"}, "v1.27.1"),
        (("latest",), {"policies": {"cache": "v1.14"}}, "v1.27.1"),
    ],
)
def test_the_creator_may_set_the_release_of_files_without_a_version(
    kubelets: tuple[str, ...], simulation: dict[str, Any], release: str
) -> None:
    source = msgspec.structs.replace(nodes_of(*kubelets), release_without_version="v1.36")

    session = imported(source, simulation=simulation)

    assert (_settings_of(session).release, session.report["release"]) == (release, release)


def test_the_release_of_files_without_a_version_does_not_apply_to_a_trace() -> None:
    trace = json.dumps({"format": "schedviz-trace/1", "steps": []}).encode()

    session = imported(msgspec.structs.replace(file(trace, "trace.json"), release_without_version="v1.36"))

    assert _settings_of(session).release == "v1.27.1"


def _settings_of(session: Session) -> SimulationSettings:
    result = initial_state_of(session.pk)
    assert result is not None
    return msgspec.convert(result[0].settings, SimulationSettings)


def test_the_controllers_that_a_session_is_created_with_are_on() -> None:
    helpers = {"kubelet": True, "kubeletSeconds": 3, "replicaSets": True}

    session = imported(create.Trace({"format": "schedviz-trace/1", "steps": []}), simulation={"helpers": helpers})

    assert _engine_of(session).view().api.helpers == {"kubelet": 3.0, "replicaSets": 0.0}


def _engine_of(session: Session) -> Simulation:
    checkpoint = checkpoints.newest(session.pk)
    assert checkpoint is not None
    return Simulation.restore(checkpoints.stored_engine(checkpoint))


def test_an_internal_error_reveals_nothing_about_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise KeyError("a secret of the file")

    monkeypatch.setattr(importer, "load", fail)

    session = imported(file(dump(1, 1)))

    assert session.status == Session.Status.FAILED
    assert "KeyError" in session.message
    assert "secret" not in session.message


def test_a_generated_session_is_stored_completely_in_case_its_web_server_crashes() -> None:
    stored: list[bool] = []

    def look(instance: Session, **_: Any) -> None:
        stored.append(instance.uploaded)

    post_save.connect(look, sender=Session)
    try:
        session = create.create_session(None, "a", create.Generate({"nodes": 4}))
    finally:
        post_save.disconnect(look, sender=Session)
    assert stored == [True]
    import_job.run_import(session.pk)
    assert Session.objects.get().nodes == 4
