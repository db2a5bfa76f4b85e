"""A session exported as a trace: the trace reproduces the session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml
from click.testing import CliRunner
from pytest_django import DjangoAssertNumQueries

from schedviz.cli.conformance.command import conformance
from schedviz.engine import run_trace
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.sessions.errors import HistoryUnavailable, NotExportable
from schedviz.sessions.history import reading
from schedviz.sessions.models import Command, Session
from schedviz.sessions.transfer import trace_export, trace_recording
from schedviz.sessions.transfer.lesson_draft import lesson_draft
from tests.sessions.conftest import MakeSession, pod, send, work_off


def trace(session_id: UUID, *, until: int | None = None) -> dict[str, Any]:
    return trace_export.trace(Session.objects.get(pk=session_id), until=until)


@pytest.fixture
def done(make_session: MakeSession) -> UUID:
    session_id = make_session(nodes=3, pods=12)
    for op, members in (
        ("step", {"unit": "cycle", "count": 2}),
        ("step", {"unit": "stage", "count": 4}),
        ("run", {"max": 3}),
        ("create", {"object": pod("big", cpu="99")}),
        ("cordon", {"node": "node-2"}),
        ("run", {}),
        ("delete", {"kind": "Pod", "name": "pod-1"}),
        ("advance", {"seconds": 12}),
        ("run", {}),
    ):
        send(session_id, op, **members)
    work_off(session_id)
    return session_id


def test_the_number_of_queries_does_not_grow_with_the_number_of_commands(
    make_session: MakeSession, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session_id = make_session(nodes=1, pods=2)
    send(session_id, "run")
    for _ in range(40):
        send(session_id, "advance", seconds=0.001)
    work_off(session_id)

    with django_assert_max_num_queries(30):
        steps = trace(session_id)["steps"]

    assert [step["op"] for step in steps[-41:]] == ["run", *["advance"] * 40]


def test_the_trace_of_a_session_places_its_pods_on_the_same_nodes(done: UUID) -> None:
    session = Session.objects.get(pk=done)
    cycles = [one.cycle for one in reading.cycles(done, limit=100)]

    document = trace(done)
    ran = run_trace(trace_from_dict(document))

    observed = [cycle for step in ran["steps"] for cycle in _cycles(step["observed"])]
    assert [(cycle["pod"], cycle.get("selectedNode") or cycle.get("node") or "") for cycle in observed] == [
        (cycle.pod, cycle.node) for cycle in cycles
    ]
    assert session.cycle == len(observed)


def _cycles(observed: dict[str, Any]) -> list[dict[str, Any]]:
    return observed.get("cycles") or ([observed["cycle"]] if observed.get("cycle") else [])


def test_a_trace_until_a_moment_ends_there(done: UUID) -> None:
    third = reading.cycles(done, limit=4)[3]

    document = trace(done, until=third.last_event)

    ran = run_trace(trace_from_dict(document))
    assert sum(len(_cycles(step["observed"])) for step in ran["steps"]) == 4
    assert document["steps"][-1] == {"op": "run", "max": 2}


def conforms(document: dict[str, Any], folder: Path) -> tuple[int, str]:
    """The exit code of `schedviz conformance`, and its last line."""
    path = folder / "moment.json"
    path.write_text(json.dumps(document))
    result = CliRunner().invoke(conformance, [str(path)])
    return result.exit_code, result.output.splitlines()[-1]


def test_a_recording_of_a_session_conforms(done: UUID, tmp_path: Path) -> None:
    document = trace_recording.recording(Session.objects.get(pk=done), after=None, until=None, observed=True)

    code, last_line = conforms(document, tmp_path)
    assert (code, last_line.split(",")[0]) == (0, "agreed 1/1")

    cycle = next(step for step in document["steps"] if step["op"] == "run")["observed"]["cycles"][0]
    cycle["node"] = "elsewhere"
    assert conforms(document, tmp_path)[0] == 1


def test_a_recording_of_a_part_has_only_its_cycles_and_conforms(done: UUID, tmp_path: Path) -> None:
    cycles = reading.cycles(done, limit=100)
    session = Session.objects.get(pk=done)

    for first, last in ((3, 6), (4, 9), (0, 5)):
        document = trace_recording.recording(session, after=cycles[first].last_event, until=cycles[last].last_event, observed=True)

        ran = [cycle for step in document["steps"] for cycle in _cycles(step["observed"])]
        assert [cycle["pod"] for cycle in ran] == [cycle.cycle.pod for cycle in cycles[first + 1 : last + 1]]
        code, last_line = conforms(document, tmp_path)
        assert (code, last_line.split(",")[0]) == (0, "agreed 1/1")


def test_a_large_recording_has_only_placements(done: UUID, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_recording, "_FULL_RECORDS", 10)

    document = trace_recording.recording(Session.objects.get(pk=done), after=None, until=None, observed=True)

    assert (document["recordCycles"], document["recordState"]) == ("placement", "last")
    assert conforms(document, tmp_path)[0] == 0


def test_a_part_that_depends_on_earlier_events_is_refused(make_session: MakeSession) -> None:
    session_id = make_session(nodes=1, pods=0)
    send(session_id, "create", object=pod("big", cpu="99"))
    send(session_id, "run")
    send(session_id, "create", object=pod("small"))
    after = work_off(session_id).event
    send(session_id, "run")
    session = work_off(session_id)

    # The big pod is in unschedulablePods; in a trace that starts here it would be tried.
    with pytest.raises(HistoryUnavailable, match=r"[Tt]he trace would differ.*Begin earlier") as refused:
        trace_recording.recording(session, after=after, until=None, observed=True)
    assert "default/big was unschedulable where default/small was scheduled on node-1" in str(refused.value)


@pytest.mark.parametrize(
    ("op", "members", "message"), [("restart", {}, "'restart'"), ("latency", {"kind": "Pod", "seconds": 1}, "'latency'")]
)
def test_a_command_that_a_trace_cannot_express_is_named(make_session: MakeSession, op: str, members: dict[str, Any], message: str) -> None:
    session_id = make_session(nodes=1, pods=1)
    send(session_id, op, **members)
    work_off(session_id)

    with pytest.raises(NotExportable, match=message):
        trace(session_id)


def test_a_lesson_draft_has_the_executed_part_of_an_interrupted_command(make_session: MakeSession) -> None:
    session_id = make_session(nodes=2, pods=5)
    send(session_id, "run", max=2)
    send(session_id, "step", unit="cycle", count=2)
    send(session_id, "run")
    work_off(session_id)
    # As if the engine had failed in the second cycle of the step, and before the last command.
    first = reading.cycles(session_id, limit=3)[2]
    commands = Command.objects.filter(session=session_id)
    error: dict[str, Any] = {"error": "The command was quarantined: it failed."}
    commands.filter(seq=2).update(quarantined=True, stopped_event=first.last_event, outcome={**error, "event": first.last_event})
    commands.filter(seq=3).update(quarantined=True, outcome={**error, "event": first.last_event})

    plan = yaml.safe_load(lesson_draft(Session.objects.get(pk=session_id), name="mine")["lesson.yaml"])

    assert [stop.get("do", []) for stop in plan["stops"]] == [[], [{"op": "run", "max": 2}], [{"op": "run", "max": 1}]]


def test_a_command_between_two_stages_is_named(make_session: MakeSession) -> None:
    session_id = make_session(nodes=1, pods=2)
    send(session_id, "step", unit="stage", count=4)
    send(session_id, "create", object=pod("late"))
    send(session_id, "run")
    work_off(session_id)

    with pytest.raises(NotExportable, match=r"Command 2 \(create\) was executed between two stages of a cycle"):
        trace(session_id)
