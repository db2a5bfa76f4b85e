"""Session files: an exported and imported session is the same, and continues identically."""

from __future__ import annotations

import copy
import json
import random
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from django.db import connection

from schedviz.ingest.session_file import view_digest
from schedviz.sessions import frames
from schedviz.sessions.commands import breakpoints, inbox, stored_form
from schedviz.sessions.errors import SourceRefused
from schedviz.sessions.forks import requests
from schedviz.sessions.history import checkpoints, reading
from schedviz.sessions.models import Checkpoint, Chunk, Command, Session
from schedviz.sessions.transfer import create, deletion, file_replay, import_job, importer, session_file_export
from schedviz.trace.added_members import view_without_added_facts, view_without_taints
from schedviz.trace.events import encode_events
from tests.sessions.conftest import MakeSession, command, node, pod, send, stored_events, work_off


def packed(session_id: UUID) -> bytes:
    return b"".join(session_file_export.export(Session.objects.get(pk=session_id)))


def imported(data: bytes, name: str = "a.schedviz", **options: Any) -> Session:
    made = create.create_session(None, "again", create.Files([ContentFile(data, name=name)]), **options)
    import_job.run_import(made.pk)
    return Session.objects.get(pk=made.pk)


def engine_digest(session_id: UUID) -> str:
    """Of the newest checkpoint."""
    newest = checkpoints.newest(session_id)
    assert newest is not None
    return newest.digest


def changed(
    data: bytes,
    change: Callable[[list[dict[str, Any]]], None],
    *,
    end: bool = True,
    separators: tuple[str, str] = (",", ":"),
) -> bytes:
    """The file with other lines, and a correct last line unless that is under test."""
    import hashlib

    lines = [json.loads(line) for line in zlib.decompress(data, 31).splitlines()]
    change(lines)
    text = b"".join(json.dumps(line, separators=separators).encode() + b"\n" for line in lines[:-1])
    last = {**lines[-1], "digest": hashlib.blake2b(text, digest_size=16).hexdigest()} if end else lines[-1]
    return gzipped(text + json.dumps(last).encode() + b"\n")


def gzipped(text: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(text) + packer.flush()


@pytest.fixture
def busy(make_session: MakeSession) -> UUID:
    """A session with a long and varied history."""
    session_id = make_session(nodes=4, pods=30)
    breakpoints.create(session_id, "popped default/pod-4")
    for op, members in (
        ("step", {"unit": "stage", "count": 3}),
        ("run", {}),
        ("delete", {"kind": "Pod", "name": "pod-5"}),
        ("create", {"object": pod("pod-5", cpu="9")}),
        ("latency", {"kind": "Pod", "seconds": 0.5}),
        ("run", {"max": 9}),
        ("advance", {"seconds": 2}),
        ("restart", {}),
        ("cordon", {"node": "node-2"}),
        ("run", {}),
    ):
        send(session_id, op, **members)
    work_off(session_id)
    return session_id


@pytest.mark.parametrize("cycles_at_once", [1, 64])
def test_an_imported_session_equals_the_exported_one(busy: UUID, monkeypatch: pytest.MonkeyPatch, cycles_at_once: int) -> None:
    monkeypatch.setattr(file_replay, "_SLICE_CYCLES", cycles_at_once)
    before = Session.objects.get(pk=busy)

    session = imported(packed(busy))

    assert session.status == Session.Status.READY, session.message
    assert session.report["file"]["verified"] is True
    for member in ("applied_seq", "last_seq", "cycle", "event", "clock_seconds"):
        assert getattr(session, member) == getattr(before, member), member
    assert encode_events(stored_events(session.pk)) == encode_events(stored_events(busy))
    assert reading.state_at_head(session).view == reading.state_at_head(before).view
    assert [one.cycle for one in reading.cycles(session.pk, limit=100)] == [one.cycle for one in reading.cycles(busy, limit=100)]
    for row in Command.objects.filter(session_id=busy):
        again = Command.objects.get(session=session, seq=row.seq)
        assert (bytes(again.body), again.outcome, again.stopped_event) == (bytes(row.body), row.outcome, row.stopped_event)


@pytest.mark.parametrize(
    "report",
    [
        {"warnings": ["A" * 100_000]},
        {"warnings": 5},
        {"kinds": []},
        {"doctor": [{"finding": "made up"}], "differs": {"command": 1}, "anything": "else"},
    ],
)
def test_a_forged_report_in_a_session_file_is_ignored(busy: UUID, report: dict[str, Any]) -> None:
    def forge(lines: list[dict[str, Any]]) -> None:
        lines[0].update(report=report, name="n" * 5000, engineVersion="9" * 5000)

    session = imported(changed(packed(busy), forge))

    assert session.status == Session.Status.READY, session.message
    assert len(json.dumps(session.report)) < 1000
    assert not {"doctor", "differs", "anything"} & set(session.report)
    assert session.report.get("warnings", []) == []


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ({"result": 5}, "Expected `str`, got `int` - at `$.result`"),
        ({"error": ["a"] * 1000}, "Expected `str`, got `array` - at `$.error`"),
        ({"event": -1}, "Expected `int` >= 0 - at `$.event`"),
        ({"cycles": 2**60}, "Expected `int` <= 9007199254740992 - at `$.cycles`"),
        ({"clockSeconds": 1e300}, "Expected `float` <= 1000000000000000.0 - at `$.clockSeconds`"),
        ({"breakpoint": {"a": 1}}, "got `object` - at `$.breakpoint`"),
    ],
)
def test_an_outcome_of_the_wrong_type_is_refused_with_its_position(busy: UUID, outcome: dict[str, Any], message: str) -> None:
    def forge(lines: list[dict[str, Any]]) -> None:
        next(line for line in lines if line.get("line") == "command")["outcome"] = outcome

    session = imported(changed(packed(busy), forge))

    assert session.status == Session.Status.FAILED
    assert "command 1: outcome: " in session.message
    assert message in session.message


def test_unknown_members_of_an_outcome_are_not_stored(busy: UUID) -> None:
    def forge(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line.get("line") == "command":
                line["outcome"] |= {"result": "r" * 100_000, "anything": {"else": [1] * 1000}}

    session = imported(changed(packed(busy), forge))

    assert session.status == Session.Status.READY, session.message
    for row in Command.objects.filter(session=session):
        assert row.outcome == Command.objects.get(session_id=busy, seq=row.seq).outcome


@pytest.mark.parametrize(
    "settings",
    [{"helpers": 5}, {"seed": "x"}, {"seed": 2**70}, {"config": []}, {"config": {"profiles": 5}}, {"fake_extenders": {"a": 5}}],
)
def test_settings_of_the_wrong_type_are_refused(busy: UUID, settings: dict[str, Any]) -> None:
    session = imported(changed(packed(busy), lambda lines: lines[0]["settings"].update(settings)))

    assert session.status == Session.Status.FAILED
    assert f"settings.{next(iter(settings))}" in session.message or "settings: " in session.message


def test_the_source_in_a_session_file_is_ignored(busy: UUID) -> None:
    forged = {"files": 5, "lesson": {"a": 1}, "fork": {"session": "x", "name": ["y"]}, "follows": "a cluster"}

    session = imported(changed(packed(busy), lambda lines: lines[0].update(source=forged)))

    assert session.status == Session.Status.READY, session.message
    assert session.source == {"files": ["a.schedviz"]}
    assert not session.follows


def test_text_that_postgresql_cannot_store_fails_the_import(busy: UUID) -> None:
    session = imported(changed(packed(busy), lambda lines: lines[0].update(name="a\0b", report={"warnings": ["a\0b"]})))

    if connection.vendor == "postgresql":
        assert session.status == Session.Status.FAILED
        assert "U+0000" in session.message
    else:
        assert session.status == Session.Status.READY


def test_a_session_file_without_a_release_is_v1_27_1(busy: UUID) -> None:
    def forget(lines: list[dict[str, Any]]) -> None:
        for member in ("release", "feature_gates", "hold_preemption", "hold_dispatch", "first_of_heap"):
            del lines[0]["settings"][member]

    session = imported(changed(packed(busy), forget))

    assert session.status == Session.Status.READY, session.message
    assert session.settings["release"] == "v1.27.1"


def test_a_session_of_v1_36_is_exported_imported_and_forked_as_one(make_session: MakeSession, django_user_model: Any) -> None:
    gates = {"SchedulerAsyncPreemption": False}
    made = make_session(pods=8, release="v1.36", feature_gates=gates)
    send(made, "run", max=5)
    work_off(made)

    session = imported(packed(made))
    forked = requests.fork(session, django_user_model.objects.create(username="somebody"), at=session.event // 2).session
    import_job.run_import(forked.pk)
    forked.refresh_from_db()

    assert session.status == Session.Status.READY, session.message
    assert session.report["file"]["verified"] is True
    assert forked.status == Session.Status.READY, forked.message
    for one in (session, forked):
        assert (one.settings["release"], one.settings["feature_gates"]) == ("v1.36", gates)


def test_a_session_file_is_not_replayed_with_another_release(busy: UUID) -> None:
    session = imported(packed(busy), simulation={"release": "v1.36"})

    assert session.status == Session.Status.FAILED
    assert "is replayed with the release and the feature gates that it was recorded with (v1.27.1)" in session.message


def test_the_original_and_the_import_continue_identically(busy: UUID) -> None:
    again = imported(packed(busy)).pk
    assert breakpoints.remove(busy, 1)

    for session_id in (busy, again):
        send(session_id, "create", object=pod("late"))
        send(session_id, "advance", seconds=400)
        send(session_id, "run")
        send(session_id, "reset")
        send(session_id, "run", max=5)
        work_off(session_id)

    assert encode_events(stored_events(again)) == encode_events(stored_events(busy))
    assert imported(packed(again)).event == Session.objects.get(pk=busy).event


def test_the_engines_are_byte_identical(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=5)
    send(session_id, "run")
    work_off(session_id)

    again = imported(packed(session_id))

    first = Checkpoint.objects.filter(session_id=session_id).order_by("event")[0]
    assert Checkpoint.objects.filter(session=again).order_by("event")[0].digest == first.digest
    twice = imported(packed(again.pk))
    assert engine_digest(twice.pk) == engine_digest(again.pk)


def test_waiting_commands_are_not_in_the_file(busy: UUID) -> None:
    inbox.accept(busy, command("run"), "waits")

    session = imported(packed(busy))

    assert session.last_seq == Session.objects.get(pk=busy).applied_seq


def test_a_session_without_commands_can_be_exported_and_imported(make_session: MakeSession) -> None:
    session = imported(packed(make_session(nodes=2, pods=2)))

    assert (session.status, session.event, session.last_seq) == (Session.Status.READY, 0, 0)
    send(session.pk, "run")
    assert work_off(session.pk).cycle == 2


@pytest.mark.parametrize(
    "config",
    [
        {"percentageOfNodesToScore": 400},
        {"profiles": [{"schedulerName": "default-scheduler", "plugins": {"score": {"enabled": [{"name": "NodeResourcesFitt"}]}}}]},
    ],
)
def test_a_session_with_a_refused_configuration_can_be_imported(make_session: MakeSession, config: dict[str, Any]) -> None:
    session_id = make_session(nodes=2, pods=2)
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    send(session_id, "configure", config={**kind, **config})
    send(session_id, "run")
    work_off(session_id)
    assert "error" in Command.objects.get(session_id=session_id, seq=1).outcome

    session = imported(packed(session_id))

    assert session.status == Session.Status.READY, session.message
    assert stored_events(session.pk) == stored_events(session_id)


@pytest.mark.parametrize("place", ["settings", "command"])
def test_a_file_of_an_earlier_version_with_credentials_is_imported_without_them(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    extender = {"urlPrefix": "https://ada:secret@extender/", "tlsConfig": {"keyData": "c2VjcmV0"}, "filterVerb": "f", "enableHTTPS": True}
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "extenders": [extender]}
    with monkeypatch.context() as earlier_version:
        for module in (stored_form, importer):
            earlier_version.setattr(module, "without_credentials", lambda given: given)
        session_id = make_session(nodes=2, pods=2, **({"config": config} if place == "settings" else {}))
        if place == "command":
            send(session_id, "configure", config=config)
        send(session_id, "run")
        work_off(session_id)
        data = packed(session_id)
    assert b"ada:secret" in zlib.decompress(data, 31)

    session = imported(data)

    assert session.status == Session.Status.READY, session.message
    again = zlib.decompress(packed(session.pk), 31)
    assert b"ada:secret" not in again
    assert b"c2VjcmV0" not in again
    assert imported(gzipped(again)).status == Session.Status.READY


def test_the_file_of_a_fork_contains_the_history_of_its_parents(busy: UUID, django_user_model: Any) -> None:
    owner = django_user_model.objects.create_user("forker")
    whole = Session.objects.get(pk=busy)
    cycle = reading.cycles(busy, limit=6)[-1]
    made = requests.fork(whole, owner, at=cycle.first_event + 6).session
    import_job.run_import(made.pk)
    send(made.pk, "create", object=pod("other"))
    send(made.pk, "run", max=3)
    at = work_off(made.pk).event
    twice = requests.fork(Session.objects.get(pk=made.pk), owner, at=at - 20).session
    import_job.run_import(twice.pk)
    send(twice.pk, "run")
    work_off(twice.pk)

    for session_id in (made.pk, twice.pk):
        again = imported(packed(session_id))
        assert again.status == Session.Status.READY, again.message
        own = list(Chunk.objects.filter(session_id=session_id).order_by("number"))
        assert again.event == own[-1].last_event
        assert encode_events(stored_events(again.pk)) == encode_events([e for row in own for e in frames.events_of(bytes(row.data))])
        assert reading.state_at_head(again).view == reading.state_at_head(Session.objects.get(pk=session_id)).view
    deletion.delete_session(busy)
    with pytest.raises(session_file_export.NotExportable, match="was deleted"):
        packed(twice.pk)


def test_a_file_of_a_build_that_did_not_record_the_scores_of_stages_is_imported(make_session: MakeSession) -> None:
    session_id = make_session(nodes=4, pods=3)
    send(session_id, "run")
    work_off(session_id)
    view = reading.state_at_head(Session.objects.get(pk=session_id)).view
    assert view.cycle is not None
    assert any("best" in stage.facts for stage in view.cycle.stages), "the state at the end has them, too"

    def older(lines: list[dict[str, Any]]) -> None:
        lines[0]["viewDigest"] = view_digest(view_without_added_facts(view))
        for line in lines:
            for event in line.get("events", []) if line.get("line") == "events" else []:
                if event.get("stage") in ("Score", "NormalizeScore"):
                    event.get("facts", {}).pop("best", None)
                    event.get("facts", {}).pop("weights", None)
                    if not event.get("facts"):
                        event.pop("facts", None)

    session = imported(changed(packed(session_id), older))

    assert session.status == Session.Status.READY, session.message


def test_a_file_of_a_build_that_did_not_record_taints_is_imported(make_session: MakeSession) -> None:
    session_id = make_session(nodes=2, pods=3)
    send(session_id, "create", object={**node("tainted"), "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}})
    send(session_id, "run")
    work_off(session_id)
    view = reading.state_at_head(Session.objects.get(pk=session_id)).view
    stripped: list[Any] = []

    def older(lines: list[dict[str, Any]]) -> None:
        lines[0]["viewDigest"] = view_digest(view_without_taints(view))
        for line in lines:
            for event in line.get("events", []) if line.get("line") == "events" else []:
                stripped.extend(
                    change.pop("taints") for change in event.get("nodes", []) if isinstance(change, dict) and "taints" in change
                )

    session = imported(changed(packed(session_id), older))

    assert stripped == [["gpu:NoSchedule"]]
    assert session.status == Session.Status.READY, session.message


def test_a_file_that_another_program_rewrote_is_imported(busy: UUID) -> None:
    send(busy, "advance", seconds=1e-6)
    work_off(busy)
    assert b"1e-6" in zlib.decompress(packed(busy), 31)

    again = changed(packed(busy), lambda _lines: None, separators=(", ", ": "))

    assert b"1e-06" in zlib.decompress(again, 31)
    session = imported(again)
    assert session.status == Session.Status.READY, session.message
    assert encode_events(stored_events(session.pk)) == encode_events(stored_events(busy))


def test_a_diverging_replay_is_reported_with_its_position(busy: UUID) -> None:
    def other(lines: list[dict[str, Any]]) -> None:
        lines[0]["engineVersion"] = "0.0.9"
        events = next(line for line in lines if line["line" if "line" in line else "format"] == "events")["events"]
        next(event for event in events if event["t"] == "cycleEnded")["outcome"] = "unschedulable"

    session = imported(changed(packed(busy), other))

    assert session.status == Session.Status.FAILED
    assert "at command 2 (run) this engine's events differ from the file's. Event " in session.message
    assert "Version 0.0.9 of schedviz wrote the file" in session.message
    difference = session.report["differs"]
    assert (difference["command"], difference["engineVersion"]) == (2, "0.0.9")
    assert '"outcome":"unschedulable"' in difference["was"]
    assert '"outcome":"scheduled"' in difference["is"]
    assert not stored_events(session.pk)


def _objects(lines: list[dict[str, Any]]) -> None:
    lines[1]["object"]["kind"] = "Secret"


def _settings(lines: list[dict[str, Any]]) -> None:
    lines[0]["settings"]["tick_millis"] = -1


def _plugin(lines: list[dict[str, Any]]) -> None:
    profile = {"schedulerName": "default-scheduler", "plugins": {"filter": {"enabled": [{"name": "Sleeper"}]}}}
    lines[0]["settings"]["config"] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }


def _plugin_of_command(lines: list[dict[str, Any]]) -> None:
    _plugin(lines)
    config = lines[0]["settings"].pop("config")
    next(line for line in lines if line.get("line") == "command")["command"] = {"op": "configure", "config": config}


def _command(lines: list[dict[str, Any]]) -> None:
    next(line for line in lines if line.get("line") == "command")["command"] = {"op": "format", "disk": "/"}


def _seq(lines: list[dict[str, Any]]) -> None:
    next(line for line in lines if line.get("line") == "command")["seq"] = 7


def _order(lines: list[dict[str, Any]]) -> None:
    lines.insert(-1, lines[1])


def _count(lines: list[dict[str, Any]]) -> None:
    lines[0]["objects"] += 1


def _many(lines: list[dict[str, Any]]) -> None:
    lines[0]["commands"] = 2_000_000


def _format(lines: list[dict[str, Any]]) -> None:
    lines[0]["format"] = "schedviz-session/9"


def _unknown(lines: list[dict[str, Any]]) -> None:
    lines.insert(2, {"line": "exec", "path": "../../etc/passwd"})


def _release(lines: list[dict[str, Any]]) -> None:
    lines[0]["settings"]["release"] = "v1.40"


def _events(lines: list[dict[str, Any]]) -> None:
    next(line for line in lines if line.get("line") == "events")["events"] = {"t": 1}


def _fewer(lines: list[dict[str, Any]]) -> None:
    lines[:] = [line for line in lines if line.get("line") != "events"] + []


def _view(lines: list[dict[str, Any]]) -> None:
    lines[0]["viewDigest"] = "0"


def _stop(lines: list[dict[str, Any]]) -> None:
    next(line for line in lines if line.get("line") == "command")["stopped"] = 1 << 40


def _nested(levels: int) -> dict[str, Any]:
    deep: dict[str, Any] = {}
    for _ in range(levels):
        deep = {"a": deep}
    return deep


def _deep_settings(lines: list[dict[str, Any]]) -> None:
    lines[0]["settings"]["config"] = _nested(600)


def _deep_object(lines: list[dict[str, Any]]) -> None:
    lines[1]["object"]["spec"] = _nested(600)


def _deep_command(lines: list[dict[str, Any]]) -> None:
    next(line for line in lines if line.get("line") == "command")["command"] = {"op": "configure", "config": _nested(600)}


def _first_event(lines: list[dict[str, Any]]) -> None:
    lines[0]["firstEvent"] = 3


def _cycles(lines: list[dict[str, Any]]) -> None:
    lines[0]["lastCycle"] = 1 << 50


def _clock(lines: list[dict[str, Any]]) -> None:
    lines[0]["clockSeconds"] = 1e9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_deep_object, "line 2: lists and objects are nested too deep; the limit nesting_depth is 100"),
        (_deep_command, "command 1: config: lists and objects are nested deeper than 100 levels"),
        (_first_event, "its manifest declares the firstEvent 3, but its commands lead to 0"),
        (_cycles, "its manifest declares the lastCycle 1125899906842624, but its commands lead to "),
        (_clock, "its manifest declares the clockSeconds 1000000000.0, but its commands lead to "),
        (_objects, "object 1: kind: the scheduler does not read the kind 'Secret'"),
        (_settings, "settings.tick_millis: is -1"),
        (
            _release,
            "settings.release: there is no release 'v1.40'; this version of schedviz simulates v1.27.1 and v1.36. Import the file with",
        ),
        (_plugin, "a session file may not run installed plugins"),
        (_plugin_of_command, "command 1: config: it enables plugins that are not schedviz's own (Sleeper)"),
        (_command, "command 1: "),
        (_seq, "found command 7; expected command 1"),
        (_order, "object is out of order"),
        (_count, "its manifest declares"),
        (_unknown, "line 3: "),
        (_events, "events: "),
        (_fewer, "was nothing, and is now"),
        (_view, "the state after event"),
        (_stop, "in the recording it continued to event"),
    ],
)
def test_an_invalid_file_is_refused_with_a_message(busy: UUID, change: Callable[[list[dict[str, Any]]], None], message: str) -> None:
    session = imported(changed(packed(busy), change))

    assert session.status == Session.Status.FAILED
    assert message in session.message, session.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_many, "the limit commands is 1,000,000"),
        (_format, "this version of schedviz reads schedviz-session/1"),
        (_deep_settings, "line 1: lists and objects are nested too deep; the limit nesting_depth is 100"),
    ],
)
def test_an_invalid_manifest_is_refused_before_the_upload_has_finished(
    busy: UUID, change: Callable[[list[dict[str, Any]]], None], message: str
) -> None:
    with pytest.raises(SourceRefused, match=message):
        imported(changed(packed(busy), change))


def test_damaged_bytes_are_refused_with_a_message(busy: UUID, settings: Any) -> None:
    whole = packed(busy)
    end = changed(whole, lambda lines: lines[1]["object"]["metadata"].update(labels={"a": "b"}), end=False)
    head = zlib.decompress(whole, 31).splitlines()[0]
    cases = [
        (whole[:-20], "truncated"),
        (whole + b"more", "it has data after the end"),
        (whole[:200] + bytes(50) + whole[250:], "damaged"),
        (gzipped(head + b"\n"), "the last line is missing"),
        (gzipped(head + b"\n" + b'{"line":"object","object":' + b"[" * 100_000 + b"\n"), "line 2"),
        (gzipped(head.replace(b'"objects":', b'"objects":"x","o":')), "line 1 is no manifest"),
        (end, "the digest does not match"),
    ]
    for data, said in cases:
        session = imported(data)
        assert session.status == Session.Status.FAILED, said
        assert said in session.message, session.message


def test_an_archive_bomb_is_stopped_at_the_limit(busy: UUID, settings: Any) -> None:
    settings.IMPORT_UNPACKED_BYTES = 2 << 20
    head = zlib.decompress(packed(busy), 31).splitlines()[0]

    session = imported(gzipped(head + b"\n" + b" " * (64 << 20)))

    assert session.status == Session.Status.FAILED
    assert "the limit unpacked_bytes is 2,097,152" in session.message


def test_a_cancelled_import_stores_no_commands(busy: UUID) -> None:
    made = create.create_session(None, "again", create.Files([ContentFile(packed(busy), name="a.schedviz")]))
    assert create.cancel_import(made.pk)

    import_job.run_import(made.pk)

    session = Session.objects.get(pk=made.pk)
    assert (session.status, session.message) == (Session.Status.FAILED, "The import was cancelled.")
    assert not Command.objects.filter(session=session).exists()


def test_an_import_whose_worker_crashed_restarts(busy: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    from schedviz.sessions.hosting import lease
    from schedviz.sessions.transfer.session_file_import import SessionFileImport

    made = create.create_session(None, "again", create.Files([ContentFile(packed(busy), name="a.schedviz")]))

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(SessionFileImport, "finish", die)
        with pytest.raises(Killed):
            import_job.run_import(made.pk)
    lease.clear_owner(lease.owner_prefix())

    import_job.run_import(made.pk)

    assert Session.objects.get(pk=made.pk).status == Session.Status.READY
    assert encode_events(stored_events(made.pk)) == encode_events(stored_events(busy))


HOSTILE = [None, -1, 2**63, 10**30, -(10**30), 1e308, 1.5, "x", True, [], {}, [1], {"a": 1}]


def forgeries(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Copies of the line, each with one scalar replaced by a hostile value, and its path."""

    def within(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
        if isinstance(value, dict | list):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                yield from within(inner, (*path, key))
        if path and not (isinstance(value, dict | list) and value):
            yield path

    for path in within(line, ()):
        for hostile in HOSTILE:
            forged = copy.deepcopy(line)
            at: Any = forged
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = hostile
            yield f"{path} = {hostile!r}", forged


@pytest.mark.any_database
@pytest.mark.parametrize("kind", ["manifest", "object", "command", "events"])
def test_forged_values_never_cause_an_internal_error(make_session: MakeSession, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    session_id = make_session(nodes=1, pods=2)
    send(session_id, "run")
    work_off(session_id)
    data = packed(session_id)
    lines = [json.loads(line) for line in zlib.decompress(data, 31).splitlines()]
    number = next(n for n, line in enumerate(lines) if line.get("line", "manifest") == kind)
    forged = list(forgeries(lines[number]))
    chosen = random.Random(16).sample(forged, min(120, len(forged)))
    if kind == "manifest":
        settings = ({**lines[0]["settings"], name: value} for name in ("config", "seed") for value in HOSTILE)
        chosen += [(f"settings {setting}", {**lines[0], "settings": setting}) for setting in settings]
    if kind == "command":
        chosen += [(f"stopped {value!r}", {**lines[number], "stopped": value}) for value in HOSTILE]

    for what, line in chosen:
        try:
            session = imported(changed(data, lambda lines, line=line: lines.__setitem__(number, line)))
        except SourceRefused:
            continue
        assert "inside schedviz" not in session.message, (what, session.message)
        assert session.status in (Session.Status.READY, Session.Status.FAILED), what
    assert not [record for record in caplog.records if record.exc_info]
