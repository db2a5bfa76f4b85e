"""Responses of extenders are inputs of a session: they are committed with its events and used by replay, which calls no extender."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection

from schedviz.sessions.hosting import slice_commit, worker_loop
from schedviz.sessions.models import Checkpoint, ExtenderAnswer, Session
from schedviz.sessions.replay import cycle_detail_job
from schedviz.sessions.transfer import create, import_job, session_file_export
from schedviz.trace.events import CycleEnded, ExtenderAnswered
from tests.extender_server import ExtenderServer
from tests.sessions.conftest import crash, dump, send, stored_events, work_off
from tests.sessions.hosting.test_worker_loop import digest_at_head

pytestmark = pytest.mark.usefixtures("transactional_db", "redis")


@pytest.fixture
def server(settings: Any) -> Iterator[ExtenderServer]:
    with ExtenderServer().running() as running:
        calls = iter(range(1_000_000))
        # Different each time, so only a replay without calls ends in the same state.
        running.answers["filter"] = lambda args: {"NodeNames": [args["NodeNames"][next(calls) % len(args["NodeNames"])]]}
        settings.EXTENDER_HOSTS = [running.host]
        settings.EXTENDER_USERS = ["ann"]
        yield running
    worker_loop.WARM.clear()


def session_of(server: ExtenderServer, *, calls_extenders: bool = True, owner: str = "ann") -> UUID:
    simulation = {"config": server.config(filterVerb="filter", nodeCacheCapable=True)}
    source = create.Files([ContentFile(dump(3, 8), name="cluster.json")])
    user = User.objects.create_user(owner)
    session_id: UUID = create.create_session(user, "a test", source, simulation=simulation, calls_extenders=calls_extenders).pk
    import_job.run_import(session_id)
    assert Session.objects.get(pk=session_id).status == Session.Status.READY
    return session_id


def nodes_of(session_id: UUID) -> list[str]:
    return [event.node for event in stored_events(session_id) if isinstance(event, CycleEnded)]


def test_a_replay_calls_no_extender(server: ExtenderServer) -> None:
    session_id = session_of(server)
    send(session_id, "run", max=5)
    work_off(session_id)
    assert len(server.requests) == ExtenderAnswer.objects.filter(session_id=session_id).count() == 5
    worker_loop.WARM.clear()

    first = digest_at_head(session_id)
    detail = cycle_detail_job.replay_cycle(Session.objects.get(pk=session_id), 4)

    assert digest_at_head(session_id) == first
    assert detail["extenderFilter"][0]["feasible"] == [nodes_of(session_id)[3]]
    assert len(server.requests) == 5


def test_a_new_owner_continues_from_stored_responses(server: ExtenderServer) -> None:
    session_id = session_of(server)
    send(session_id, "run", max=3)
    work_off(session_id)
    before = nodes_of(session_id)
    crash(session_id)

    send(session_id, "run", max=2)
    work_off(session_id)

    assert nodes_of(session_id)[:3] == before
    assert len(server.requests) == 5
    assert digest_at_head(session_id) == digest_at_head(session_id)


def test_a_response_is_committed_before_the_engine_continues(server: ExtenderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    committed: list[tuple[int, int]] = []
    commit = slice_commit.commit

    def note(lease: Any, session: Any, before: Any, work: Any, **keywords: Any) -> Any:
        answered = [event.event for event in work.events if isinstance(event, ExtenderAnswered)]
        assert [response.event for response in work.extender_responses] == answered
        committed.append((work.after.cycle, len(answered)))
        return commit(lease, session, before, work, **keywords)

    monkeypatch.setattr(slice_commit, "commit", note)
    session_id = session_of(server)
    send(session_id, "run")
    work_off(session_id)

    assert [pair for pair in committed if pair[1]] == [(cycle, 1) for cycle in range(1, 9)]
    assert Checkpoint.objects.filter(session_id=session_id).exists()


@pytest.mark.parametrize(("requested", "owner"), [(False, "ann"), (True, "bob")])
def test_a_session_calls_extenders_only_on_request_and_with_permission(server: ExtenderServer, *, requested: bool, owner: str) -> None:
    session_id = session_of(server, calls_extenders=requested, owner=owner)
    send(session_id, "cycle")
    work_off(session_id)

    [answered] = [event for event in stored_events(session_id) if isinstance(event, ExtenderAnswered)]
    assert "is not listed in SCHEDVIZ_EXTENDER_HOSTS" in answered.error
    assert server.requests == []


def test_an_imported_file_never_calls_an_extender(server: ExtenderServer) -> None:
    session_id = session_of(server)
    send(session_id, "run", max=5)
    work_off(session_id)
    data = b"".join(session_file_export.export(Session.objects.get(pk=session_id)))
    owner = User.objects.get(username="ann")

    made = create.create_session(owner, "again", create.Files([ContentFile(data, name="a.schedviz")]))
    import_job.run_import(made.pk)
    send(made.pk, "run", max=2)
    again = work_off(made.pk)

    assert again.report["file"]["verified"] is True, again.message
    assert nodes_of(again.pk)[:5] == nodes_of(session_id)
    assert len(server.requests) == 5


def test_a_session_deleted_during_a_cycle_calls_no_further_extender(server: ExtenderServer, caplog: pytest.LogCaptureFixture) -> None:
    def score(args: dict[str, Any]) -> list[dict[str, Any]]:
        Session.objects.filter(pk=session_id).delete()
        connection.close()
        return [{"Host": name, "Score": 1} for name in args["NodeNames"]]

    server.answers["prioritize"] = score
    server.answers["filter"] = lambda args: {"NodeNames": args["NodeNames"]}
    first = server.config(filterVerb="filter", prioritizeVerb="prioritize", weight=1, nodeCacheCapable=True)
    first["extenders"] *= 3
    source = create.Files([ContentFile(dump(3, 8), name="cluster.json")])
    user = User.objects.create_user("ann")
    session_id = create.create_session(user, "a test", source, simulation={"config": first}, calls_extenders=True).pk
    import_job.run_import(session_id)
    send(session_id, "run", max=5)

    worker_loop.host_session(session_id, linger_seconds=0)

    assert [verb for verb, _ in server.requests] == ["filter", "filter", "filter", "prioritize"]
    assert "broke the engine" not in caplog.text
