"""Breakpoints stop runs in the host of the engine, and replay stops there too."""

from __future__ import annotations

from uuid import UUID

import pytest

from schedviz.sessions.commands import breakpoints
from schedviz.sessions.commands.breakpoints import MAX_BREAKPOINTS, TooManyBreakpoints
from schedviz.sessions.history import reading
from schedviz.sessions.hosting import worker_loop
from schedviz.sessions.models import Breakpoint, Session
from schedviz.sessions.replay import replayer
from schedviz.trace.breakpoint_grammar import BreakpointError
from schedviz.trace.events import QueueMoved
from tests.sessions.conftest import MakeSession, crash, send, stored_events, work_off


def outcome_of(session_id: UUID, seq: int) -> dict[str, object]:
    command = reading.command(session_id, seq)
    assert command is not None
    outcome: dict[str, object] = command.outcome
    return outcome


def test_a_run_stops_after_the_matching_cycle(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=10)
    row = breakpoints.create(session_id, "popped default/pod-4")

    seq = send(session_id, "run")
    session = work_off(session_id)

    hit = next(
        event
        for event in stored_events(session_id)
        if isinstance(event, QueueMoved) and event.moves and event.moves[0].pod == "default/pod-4"
    )
    outcome = outcome_of(session_id, seq)
    assert (outcome["stopped"], outcome["breakpoint"], outcome["breakpointEvent"], outcome["cycles"]) == ("breakpoint", 1, hit.event, 4)
    assert session.status == Session.Status.PAUSED
    assert session.hit == {"breakpoint": 1, "event": hit.event, "when": "popped default/pod-4"}
    row.refresh_from_db()
    assert (row.hits, row.last_event) == (1, hit.event)


def test_the_next_run_continues_and_clears_the_hit(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=10)
    breakpoints.create(session_id, "popped default/pod-4")
    send(session_id, "run")
    work_off(session_id)

    seq = send(session_id, "run")
    session = work_off(session_id)

    assert outcome_of(session_id, seq)["stopped"] == "empty"
    assert (session.hit, session.status, session.cycle) == (None, Session.Status.READY, 10)


def test_a_run_that_ends_with_the_matching_cycle_reports_the_breakpoint(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=10)
    breakpoints.create(session_id, "cycle == 4")

    seq = send(session_id, "run", max=4)
    work_off(session_id)

    assert outcome_of(session_id, seq)["stopped"] == "breakpoint"
    worker_loop.WARM.clear()
    send(session_id, "cycle")
    assert work_off(session_id).cycle == 5


def test_breakpoints_ignore_the_events_of_other_commands(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=10)
    breakpoints.create(session_id, "node node-2 changed")
    send(session_id, "cordon", node="node-2")
    seq = send(session_id, "run", max=1)

    work_off(session_id)

    assert outcome_of(session_id, seq)["stopped"] == "max"


def test_a_disabled_or_deleted_breakpoint_stops_no_run(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=10)
    breakpoints.create(session_id, "popped default/pod-2")
    breakpoints.create(session_id, "popped default/pod-3", enabled=False)
    breakpoints.create(session_id, "popped default/pod-4")
    assert breakpoints.remove(session_id, 1)
    assert not breakpoints.remove(session_id, 1)

    send(session_id, "run")
    assert work_off(session_id).cycle == 4

    breakpoints.change(session_id, 3, enabled=False)
    breakpoints.change(session_id, 2, when="popped default/pod-7", enabled=True)
    send(session_id, "run")
    assert work_off(session_id).cycle == 7


def test_replay_stops_where_the_run_stopped_regardless_of_current_breakpoints(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=10)
    breakpoints.create(session_id, "popped default/pod-4 or popped default/pod-6")
    for _ in range(3):
        send(session_id, "run")
    session = work_off(session_id)
    assert session.cycle == 10
    assert Breakpoint.objects.get(session_id=session_id).hits == 2
    Breakpoint.objects.all().delete()

    replayed, running, _ = replayer.load(session_id, to_seq=session.applied_seq, to_event=session.event, alive=lambda: None)

    assert running is None
    assert (replayed.event, replayed.cycle) == (session.event, 10)
    crash(session_id)
    send(session_id, "advance", seconds=1)
    assert work_off(session_id).status == Session.Status.READY


def test_the_breakpoints_of_a_session_are_limited_and_invalid_ones_are_refused(make_session: MakeSession) -> None:
    session_id = make_session(nodes=1, pods=1)
    for number in range(MAX_BREAKPOINTS):
        assert breakpoints.create(session_id, f"cycle == {number}").number == number + 1
    with pytest.raises(TooManyBreakpoints, match="at most 20"):
        breakpoints.create(session_id, "cycle == 99")
    with pytest.raises(BreakpointError, match="column 9"):
        breakpoints.change(session_id, 1, when="cycle ==")
    assert breakpoints.change(session_id, 99, enabled=False) is None
