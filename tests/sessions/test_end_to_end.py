"""The whole path with a real worker on a real Redis: import, command, commit, stream."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile

from schedviz.sessions import frames
from schedviz.sessions.commands import inbox
from schedviz.sessions.hosting import lease, sweep
from schedviz.sessions.models import Command, Session
from schedviz.sessions.redis import stream
from schedviz.sessions.replay import cycle_details
from schedviz.sessions.transfer import create
from schedviz.trace.events import CommandDone, CycleEnded
from tests.conftest import RedisServer, Worker, until
from tests.sessions.conftest import command, dump, send, stored_events

pytestmark = pytest.mark.usefixtures("transactional_db", "redis", "engine_worker", "io_worker")


def ready(pods: int = 30) -> UUID:
    """A session whose import the io worker has done."""
    session_id: UUID = create.create_session(None, "a test", create.Files([ContentFile(dump(3, pods), name="cluster.json")])).pk
    until(lambda: Session.objects.get(pk=session_id).status != Session.Status.IMPORTING)
    session = Session.objects.get(pk=session_id)
    assert session.status == Session.Status.READY, session.message
    return session_id


def outcome(session_id: UUID, seq: int) -> Any:
    return until(lambda: Command.objects.get(session_id=session_id, seq=seq).outcome)


def test_a_command_to_an_imported_session_is_executed_and_its_frame_is_published() -> None:
    session_id = ready()

    seq = send(session_id, "cycle")

    assert outcome(session_id, seq)["cycles"] == 1
    entries: Any = until(lambda: stream.client().xrange(stream.frames_key(session_id)))
    events = frames.events_of(entries[0][1][b"frame"])
    assert any(isinstance(event, CycleEnded) and event.outcome == "scheduled" for event in events)
    assert isinstance(events[-1], CommandDone)


def test_commands_to_a_lingering_owner_are_executed_quickly() -> None:
    session_id = ready()
    outcome(session_id, send(session_id, "cycle"))
    taken: list[float] = []
    for _ in range(20):
        last: Any = until(lambda: stream.client().xrevrange(stream.frames_key(session_id), count=1))
        began = time.perf_counter()
        send(session_id, "cycle")
        assert stream.blocking_client().xread({stream.frames_key(session_id): last[0][0]}, block=4000)
        taken.append(time.perf_counter() - began)

    # Some 5 ms on an idle machine; tests share theirs.
    assert sorted(taken)[10] < 0.2


def test_the_io_worker_computes_cycle_details() -> None:
    session_id = ready()
    outcome(session_id, send(session_id, "run", max=5))

    detail = cycle_details.cycle_detail(session_id, 3, timeout_seconds=30)

    assert detail["outcome"] == "scheduled"
    assert detail["scores"]["NodeResourcesFit"]


def test_a_killed_worker_loses_nothing(engine_worker: Worker) -> None:
    session_id = ready(pods=3000)
    run = send(session_id, "run")
    until(lambda: Session.objects.get(pk=session_id).cycle > 100)

    engine_worker.kill()
    behind = send(session_id, "cycle")
    engine_worker.start()
    until(engine_worker.is_ready)
    lease.clear_owner("engine-1")
    sweep.sweep()

    assert outcome(session_id, run)["stopped"] == "empty"
    assert outcome(session_id, behind)["result"]
    events = stored_events(session_id)
    assert sum(isinstance(event, CycleEnded) for event in events) == 3000


def test_a_stopping_worker_hands_its_sessions_over(engine_worker: Worker) -> None:
    session_id = ready()
    outcome(session_id, send(session_id, "cycle"))
    assert Session.objects.get(pk=session_id).lease_owner

    began = time.monotonic()
    engine_worker.stop()
    took = time.monotonic() - began

    assert Session.objects.get(pk=session_id).lease_owner == ""
    assert took < 5
    seq = send(session_id, "cycle")
    engine_worker.start()
    assert outcome(session_id, seq)["cycles"] == 1
    until(engine_worker.is_ready)


def test_commands_are_executed_while_redis_is_down_and_after_it_restarts_empty(redis: RedisServer) -> None:
    session_id = ready()
    outcome(session_id, send(session_id, "cycle"))

    redis.kill()
    without = inbox.accept(session_id, command("cycle"), "while redis is away").seq
    assert outcome(session_id, without)["cycles"] == 1
    redis.start()

    assert outcome(session_id, send(session_id, "cycle"))["cycles"] == 1
    assert len([event for event in stored_events(session_id) if isinstance(event, CommandDone)]) == 3


def test_the_sweeper_finds_an_unhosted_session_after_redis_returned(redis: RedisServer, engine_worker: Worker) -> None:
    session_id = ready()
    engine_worker.stop()
    redis.kill()
    seq = send(session_id, "cycle")
    redis.start()
    engine_worker.start()
    until(engine_worker.is_ready)
    assert Command.objects.get(session_id=session_id, seq=seq).outcome is None

    assert sweep.sweep() == 1

    assert outcome(session_id, seq)["cycles"] == 1
