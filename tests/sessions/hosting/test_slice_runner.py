"""The slice runner executes commands until the slice ends, and commits nothing."""

from __future__ import annotations

from uuid import UUID

import pytest

from schedviz.sessions.commands import breakpoints
from schedviz.sessions.hosting import lease, slice_runner
from schedviz.sessions.hosting.inbox_reader import InboxReader
from schedviz.sessions.hosting.slice_runner import SliceRunner
from schedviz.sessions.models import Session
from schedviz.sessions.replay import replayer
from tests.sessions.conftest import MakeSession, send


def runner_of(session_id: UUID, to_quarantine: dict[int, str] | None = None) -> SliceRunner:
    taken = lease.acquire(session_id)
    assert taken is not None
    mine, session = taken
    simulation, running, _ = replayer.load(session_id, to_seq=0, to_event=session.event, alive=lambda: None)
    return SliceRunner(mine, session, simulation, inbox=InboxReader(session), to_quarantine=to_quarantine or {}, running=running)


def test_a_slice_executes_all_waiting_commands(make_session: MakeSession) -> None:
    session_id = make_session()
    for _ in range(3):
        send(session_id, "cycle")

    result = runner_of(session_id).run(after_seq=0, is_suspicious=False)

    assert [(stored.seq, done.seq, done.outcome["cycles"]) for stored, done in result.done] == [(1, 1, 1), (2, 2, 1), (3, 3, 1)]
    assert Session.objects.get(pk=session_id).applied_seq == 0


def test_a_suspicious_slice_executes_one_command_and_stores_its_number_first(make_session: MakeSession) -> None:
    session_id = make_session()
    for _ in range(3):
        send(session_id, "cycle")

    result = runner_of(session_id).run(after_seq=0, is_suspicious=True)

    assert [done.seq for _, done in result.done] == [1]
    assert Session.objects.get(pk=session_id).trying_seq == 1


def test_a_slice_ends_at_its_cycle_limit_and_the_run_continues_in_the_next(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slice_runner, "SLICE_CYCLES", 4)
    session_id = make_session(pods=6)
    send(session_id, "run")
    runner = runner_of(session_id)

    first = runner.run(after_seq=0, is_suspicious=False)
    running = runner.running
    slices = [runner.run(after_seq=0, is_suspicious=False)]
    while runner.running is not None:
        slices.append(runner.run(after_seq=0, is_suspicious=False))

    assert first.done == []
    assert running is not None
    assert slices[-1].done[0][1].outcome["cycles"] == 6


def test_a_slice_with_long_messages_ends_early(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slice_runner, "SLICE_MESSAGE_CHARS", 40)
    session_id = make_session(nodes=1, pods=6)
    send(session_id, "delete", kind="Node", name="node-1")
    send(session_id, "run")
    runner = runner_of(session_id)

    slices = []
    while not slices or runner.running is not None:
        runner.run(after_seq=0, is_suspicious=False)
        slices.append([cycle.message for cycle in runner._simulation.drain_cycles()])

    assert slices == [["no nodes available to schedule pods"] * 2] * 3


def test_a_quarantined_command_is_skipped_with_its_reason(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    send(session_id, "cycle")

    result = runner_of(session_id, {1: "it broke."}).run(after_seq=0, is_suspicious=False)

    assert [(done.seq, done.quarantined) for _, done in result.done] == [(1, True), (2, False)]
    assert result.done[0][1].outcome["error"] == "The command was quarantined: it broke."


def test_a_breakpoint_stops_a_run_and_ends_the_slice(make_session: MakeSession) -> None:
    session_id = make_session()
    breakpoints.create(session_id, "cycle == 3")
    send(session_id, "run")
    send(session_id, "cycle")

    result = runner_of(session_id).run(after_seq=0, is_suspicious=False)

    (stored, done) = result.done[0]
    assert (stored.seq, done.outcome["stopped"]) == (1, slice_runner.STOPPED_BY_BREAKPOINT)
    assert [hit.breakpoint for hit in result.hits] == [1]
    assert done.stopped_event is not None


def test_a_rate_limited_run_starts_in_the_next_slice_with_a_pace(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "run", rate=5)
    runner = runner_of(session_id)

    result = runner.run(after_seq=0, is_suspicious=False)

    assert result.done == []
    assert runner.pace is not None
    assert runner.seconds_until_due == 0
