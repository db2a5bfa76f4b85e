"""Batches of observations become commands, once and in order; a worker applies them to the session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Literal
from uuid import UUID

import pytest
from django.db import connection

from schedviz.sessions.commands import inbox
from schedviz.sessions.errors import CommandRefused, TooManyCommands
from schedviz.sessions.hosting import worker_loop
from schedviz.sessions.models import Command, Observed, Session
from schedviz.sessions.observing import observations
from schedviz.sessions.observing.observations import AcceptedBatch, CannotFollow, Seen, WrongBatch
from schedviz.sessions.queries import observed
from schedviz.sessions.transfer import create, deletion, import_job
from schedviz.trace.events import ApiWritten
from tests.conftest import RedisServer
from tests.sessions.conftest import MakeSession, node, pod, stored_events, work_off


@pytest.fixture
def empty(transactional_db: None, redis: RedisServer) -> UUID:
    """A session as `schedviz follow` makes one."""
    session = create.create_session(None, "follows", create.Trace({"format": "schedviz-trace/1", "steps": []}))
    import_job.run_import(session.pk)
    session.refresh_from_db()
    assert (session.status, session.nodes, session.pods) == ("ready", 0, 0), session.message
    worker_loop.WARM.clear()
    return session.pk


def seen(type_: Literal["ADDED", "MODIFIED", "DELETED"], obj: dict[str, Any], **meta: object) -> Seen:
    return Seen(type=type_, object={**obj, "metadata": {**obj["metadata"], **meta}}, version="1")


def take(session_id: UUID, n: int, *events: Seen, source: str = "kind") -> AcceptedBatch:
    return observations.accept_batch(session_id, source, n, events, digest=hashlib.sha256(repr(events).encode()).hexdigest())


def written(session_id: UUID) -> list[tuple[str, str]]:
    return [(event.verb, event.key) for event in stored_events(session_id) if isinstance(event, ApiWritten)]


def test_a_session_has_the_observed_objects(empty: UUID) -> None:
    bound = {**pod("p"), "spec": {**pod("p")["spec"], "nodeName": "n"}}
    take(empty, 1, seen("ADDED", node("n")), seen("ADDED", pod("p"), uid="u1"), seen("ADDED", pod("q"), uid="u2"))
    take(empty, 2, seen("MODIFIED", bound, uid="u1"), seen("DELETED", pod("q"), uid="u2"))

    session = work_off(empty)

    assert (session.nodes, session.pods, session.applied_seq) == (1, 1, 5)
    assert written(empty) == [
        ("create", "n"),
        ("create", "default/p"),
        ("create", "default/q"),
        ("update", "default/p"),
        ("delete", "default/q"),
    ]
    assert list(Command.objects.filter(session_id=empty).order_by("seq").values_list("key", flat=True))[2:4] == ["kind:1:2", "kind:2:0"]
    assert set(Observed.objects.filter(session_id=empty).values_list("kind", "key")) == {("Node", "n"), ("Pod", "default/p")}


def test_a_recreated_pod_replaces_the_old_one_and_a_terminating_pod_is_deleted_gracefully(empty: UUID) -> None:
    bound = {**pod("p"), "spec": {**pod("p")["spec"], "nodeName": "n"}}
    take(empty, 1, seen("ADDED", bound, uid="u1"))
    take(empty, 2, seen("MODIFIED", bound, uid="u2"), seen("MODIFIED", bound, uid="u2", deletionTimestamp="2026-01-01T00:00:30Z"))

    work_off(empty)

    bodies = [bytes(one).decode() for one in Command.objects.filter(session_id=empty).order_by("seq").values_list("body", flat=True)]
    assert ['"graceful":true' in body for body in bodies] == [False, False, False, True, False]
    assert [verb for verb, _ in written(empty)][:4] == ["create", "delete", "create", "delete"]


def test_a_claim_that_its_finalizers_keep_is_terminating(empty: UUID) -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"}}
    take(empty, 1, seen("ADDED", claim, uid="u1"), seen("MODIFIED", claim, uid="u1", deletionTimestamp="2026-01-01T00:00:00Z"))

    work_off(empty)

    bodies = [bytes(one).decode() for one in Command.objects.filter(session_id=empty).order_by("seq").values_list("body", flat=True)]
    assert ['"finalizers":true' in body for body in bodies] == [False, True, False]
    assert written(empty) == [("create", "default/c"), ("delete", "default/c")]


def test_a_batch_is_accepted_once_and_in_order(empty: UUID) -> None:
    first = take(empty, 1, seen("ADDED", node("n")))

    assert take(empty, 1, seen("ADDED", node("n"))) == AcceptedBatch(n=1, seq=first.seq, duplicate=True)
    with pytest.raises(WrongBatch) as wrong:
        take(empty, 3, seen("ADDED", node("m")))
    assert wrong.value.expected == 2
    with pytest.raises(WrongBatch):
        take(empty, 1, seen("ADDED", node("another")))
    with pytest.raises(CannotFollow, match="follows 'kind'"):
        take(empty, 2, source="another")
    assert Command.objects.filter(session_id=empty).count() == 1


def test_a_batch_with_an_invalid_event_is_rejected_as_a_whole(empty: UUID) -> None:
    bad = node("m")
    bad["status"]["allocatable"]["cpu"] = "10x"

    with pytest.raises(CommandRefused, match=r"^events\[1\]\.object\.status\.allocatable\.cpu"):
        take(empty, 1, seen("ADDED", node("n")), seen("ADDED", bad))

    assert observations.observer_of(empty) is None
    assert not Command.objects.filter(session_id=empty).exists()
    assert Session.objects.get(pk=empty).last_seq == 0
    take(empty, 1, seen("ADDED", node("n")))


def test_a_batch_is_rejected_as_a_whole_while_the_inbox_is_full(empty: UUID, settings: Any) -> None:
    settings.COMMANDS_WAITING = 2
    take(empty, 1, seen("ADDED", node("n")))

    with pytest.raises(TooManyCommands):
        take(empty, 2, seen("ADDED", node("m")), seen("ADDED", node("o")))

    assert observations.observer_of(empty).n == 1  # type: ignore[union-attr]
    work_off(empty)
    assert take(empty, 2, seen("ADDED", node("m")), seen("ADDED", node("o"))).seq == 3


def test_a_session_with_objects_and_a_fork_cannot_follow_a_cluster(make_session: MakeSession, empty: UUID) -> None:
    with pytest.raises(CannotFollow, match="3 nodes and 10 pods"):
        take(make_session(), 1)
    Session.objects.filter(pk=empty).update(forked_from=make_session())
    with pytest.raises(CannotFollow, match="forks are detached"):
        take(empty, 1)


def test_observations_are_deleted_with_their_session(empty: UUID) -> None:
    take(empty, 1, seen("ADDED", node("n")))

    assert deletion.delete_session(empty)

    assert not Observed.objects.exists()


def test_objects_are_decoded_and_encoded_before_the_transaction(empty: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    in_transaction: list[bool] = []

    def noting(inner: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            in_transaction.append(connection.in_atomic_block)
            return inner(*arguments)

        return call

    for module, name in ((observations, "_identity"), (inbox, "_encoded")):
        monkeypatch.setattr(module, name, noting(getattr(module, name)))
    take(empty, 1, seen("ADDED", node("a")), seen("ADDED", node("b")))
    take(empty, 2, seen("MODIFIED", node("a", cpu="8")), seen("DELETED", node("b")))

    assert in_transaction == [False] * 8


def test_commands_are_derived_from_the_state_stored_when_the_batch_is_accepted(empty: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    take(empty, 1, seen("ADDED", node("a")))
    own_select, calls = observed.select_states, []

    def select_states(*arguments: Any) -> Any:
        calls.append(arguments)
        # At first, as if the batch before were not stored yet.
        return {} if len(calls) == 1 else own_select(*arguments)

    monkeypatch.setattr(observed, "select_states", select_states)
    take(empty, 2, seen("MODIFIED", node("a", cpu="8")))

    assert len(calls) == 2
    work_off(empty)
    assert [op for op, _ in written(empty)] == ["create", "update"]
