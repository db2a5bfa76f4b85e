"""A session as a trace: the trace does what the session did."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from schedviz.engine import run_trace
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.sessions import history, trace_export
from schedviz.sessions.exporting import NotExportable
from schedviz.sessions.models import Session
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


def test_a_trace_of_a_session_places_its_pods_alike(done: UUID) -> None:
    session = Session.objects.get(pk=done)
    cycles = [one.cycle for one in history.cycles(done, limit=100)]

    document = trace(done)
    ran = run_trace(trace_from_dict(document))

    observed = [cycle for step in ran["steps"] for cycle in _cycles(step["observed"])]
    assert [(cycle["pod"], cycle.get("selectedNode") or cycle.get("node") or "") for cycle in observed] == [
        (cycle.pod, cycle.node) for cycle in cycles
    ]
    assert session.cycle == len(observed)


def _cycles(observed: dict[str, Any]) -> list[dict[str, Any]]:
    return observed.get("cycles") or ([observed["cycle"]] if observed.get("cycle") else [])


def test_a_trace_ends_with_the_moment(done: UUID) -> None:
    third = history.cycles(done, limit=4)[3]

    document = trace(done, until=third.last_event)

    ran = run_trace(trace_from_dict(document))
    assert sum(len(_cycles(step["observed"])) for step in ran["steps"]) == 4
    assert document["steps"][-1] == {"op": "run", "max": 2}


@pytest.mark.parametrize(("op", "members", "said"), [("restart", {}, "'restart'"), ("latency", {"kind": "Pod", "seconds": 1}, "'latency'")])
def test_what_no_trace_can_have_is_named(make_session: MakeSession, op: str, members: dict[str, Any], said: str) -> None:
    session_id = make_session(nodes=1, pods=1)
    send(session_id, op, **members)
    work_off(session_id)

    with pytest.raises(NotExportable, match=said):
        trace(session_id)


def test_what_came_between_two_stages_is_named(make_session: MakeSession) -> None:
    session_id = make_session(nodes=1, pods=2)
    send(session_id, "step", unit="stage", count=4)
    send(session_id, "create", object=pod("late"))
    send(session_id, "run")
    work_off(session_id)

    with pytest.raises(NotExportable, match=r"Command 2 \(create\) came while a cycle stood between two stages"):
        trace(session_id)
