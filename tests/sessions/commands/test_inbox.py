"""Accepting commands: once for each key, numbered without gaps, and without the fields that the scheduler does not read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import msgspec
import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from schedviz.sessions.commands import inbox
from schedviz.sessions.errors import CommandRefused, KeyReused, SessionFailed, SessionGone, TooManyCommands
from schedviz.sessions.models import Command, Session
from schedviz.trace.commands import Delete
from tests.sessions.conftest import MakeSession, command, pod, send


def test_commands_are_numbered_from_one(make_session: MakeSession) -> None:
    session_id = make_session()

    assert [send(session_id, "cycle") for _ in range(3)] == [1, 2, 3]


def test_the_same_idempotency_key_returns_the_same_command(make_session: MakeSession) -> None:
    session_id = make_session()
    first = inbox.accept(session_id, command("cycle"), "a key")

    again = inbox.accept(session_id, command("cycle"), "a key")

    assert (first.seq, first.duplicate) == (1, False)
    assert (again.seq, again.duplicate) == (1, True)
    assert Command.objects.filter(session_id=session_id).count() == 1


def test_an_idempotency_key_cannot_be_reused_for_another_command(make_session: MakeSession) -> None:
    session_id = make_session()
    inbox.accept(session_id, command("cycle"), "a key")

    with pytest.raises(KeyReused, match="number 1"):
        inbox.accept(session_id, command("run"), "a key")


def test_concurrent_senders_get_distinct_numbers_and_repeated_keys_the_same_one(make_session: MakeSession) -> None:
    session_id = make_session()

    def accept(number: int) -> tuple[str, int]:
        try:
            accepted = inbox.accept(session_id, command("cycle"), f"key {number % 20}")
            return accepted.key, accepted.seq
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(accept, range(60)))

    assert len(set(responses)) == 20
    assert sorted(seq for _, seq in set(responses)) == list(range(1, 21))
    assert Session.objects.get(pk=session_id).last_seq == 20


def test_fields_that_the_scheduler_does_not_read_are_not_stored(make_session: MakeSession) -> None:
    session_id = make_session()
    secretive = pod("secretive")
    secretive["spec"]["containers"][0]["env"] = [{"name": "PASSWORD", "value": "hunter2"}]
    secretive["metadata"]["annotations"] = {"example.org/note": "do not keep"}

    seq = send(session_id, "create", object=secretive)

    body = bytes(Command.objects.get(session_id=session_id, seq=seq).body)
    assert b"hunter2" not in body
    assert b"do not keep" not in body
    assert b"secretive" in body


def test_an_invalid_object_is_refused_with_its_path(make_session: MakeSession) -> None:
    session_id = make_session()
    bad = pod("bad", cpu="10x")

    with pytest.raises(CommandRefused, match=r"object\.spec\.containers\[0\]\.resources\.requests\.cpu"):
        inbox.accept(session_id, command("create", object=bad), "a key")

    assert Session.objects.get(pk=session_id).last_seq == 0


def test_writes_during_a_scheduling_cycle_are_validated_and_stored_like_commands(make_session: MakeSession) -> None:
    session_id = make_session()
    secret = pod("late")
    secret["spec"]["containers"][0]["env"] = [{"name": "PASSWORD", "value": "a secret"}]
    many = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "many"}, "spec": {"replicas": 50_000_000}}

    seq = send(session_id, "schedule", during=[{"op": "create", "object": secret}])

    assert b"a secret" not in bytes(Command.objects.get(session_id=session_id, seq=seq).body)
    with pytest.raises(CommandRefused, match=r"during\[1\]\.object\.spec\.replicas: is 50,000,000"):
        send(session_id, "schedule", during=[{"op": "delete", "kind": "Pod", "name": "a"}, {"op": "create", "object": many}])
    with pytest.raises(CommandRefused, match=r"during\[0\]\.object\.metadata\.name"):
        send(session_id, "schedule", during=[{"op": "create", "object": pod("Not A Name")}])


def test_an_unknown_op_does_not_decode() -> None:
    with pytest.raises(msgspec.ValidationError):
        command("explode")


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_an_idempotency_key_has_1_to_200_characters(make_session: MakeSession, key: str) -> None:
    with pytest.raises(CommandRefused, match="key"):
        inbox.accept(make_session(), command("cycle"), key)


def test_an_unknown_session_accepts_no_commands(transactional_db: None) -> None:
    with pytest.raises(SessionGone):
        inbox.accept(uuid4(), command("cycle"), "a key")


def test_a_failed_session_refuses_commands_with_its_reason(make_session: MakeSession) -> None:
    session_id = make_session()
    Session.objects.filter(pk=session_id).update(status=Session.Status.FAILED, message="it was too large")

    with pytest.raises(SessionFailed, match="it was too large"):
        inbox.accept(session_id, command("cycle"), "a key")

    assert Session.objects.get(pk=session_id).last_seq == 0


def test_a_pause_applies_to_every_earlier_run(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "run")
    pause = send(session_id, "pause")
    send(session_id, "run")

    assert Session.objects.get(pk=session_id).interrupt_seq == pause


def test_commands_over_the_waiting_limit_are_refused_except_a_pause(make_session: MakeSession, settings: object) -> None:
    settings.COMMANDS_WAITING = 3  # type: ignore[attr-defined]
    session_id = make_session()
    for _ in range(3):
        send(session_id, "cycle")

    with pytest.raises(TooManyCommands, match="COMMANDS_WAITING"):
        send(session_id, "cycle")

    assert send(session_id, "pause") == 4


def test_a_batch_is_numbered_consecutively_and_its_last_pause_counts(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "cycle")

    accepted = inbox.accept_all(
        session_id, [(key, command(op)) for key, op in (("a", "run"), ("b", "pause"), ("c", "pause"), ("d", "run"))]
    )

    assert [(one.key, one.seq) for one in accepted] == [("a", 2), ("b", 3), ("c", 4), ("d", 5)]
    assert Session.objects.get(pk=session_id).interrupt_seq == 4
    assert list(Command.objects.filter(session_id=session_id).order_by("seq").values_list("key", flat=True))[1:] == ["a", "b", "c", "d"]


def test_a_batch_over_the_waiting_limit_is_refused_as_a_whole(make_session: MakeSession, settings: object) -> None:
    settings.COMMANDS_WAITING = 3  # type: ignore[attr-defined]
    session_id = make_session()
    send(session_id, "cycle")

    with pytest.raises(TooManyCommands, match="3 commands are waiting"):
        inbox.accept_all(session_id, [(f"key {number}", command("cycle")) for number in range(3)])
    assert Session.objects.get(pk=session_id).last_seq == 1

    inbox.accept_all(session_id, [("first", command("cycle")), ("second", command("cycle")), ("third", command("pause"))])
    assert Session.objects.get(pk=session_id).last_seq == 4


def test_two_commands_of_a_batch_with_one_key_are_refused_with_their_positions(make_session: MakeSession) -> None:
    session_id = make_session()
    with pytest.raises(CommandRefused, match=r"^commands\[2\].key: is that of commands\[0\]"):
        inbox.accept_all(session_id, [(key, command("cycle")) for key in ("a", "b", "a")])

    assert not Command.objects.filter(session_id=session_id).exists()


def test_commands_are_accepted_without_redis(make_session: MakeSession, settings: object) -> None:
    session_id = make_session()
    from schedviz.sessions.redis import stream

    settings.REDIS_URL = "unix:///nowhere/redis.sock"  # type: ignore[attr-defined]
    stream._client.cache_clear()
    try:
        assert send(session_id, "cycle") == 1
    finally:
        stream._client.cache_clear()


def test_text_and_numbers_that_cannot_be_stored_are_refused(make_session: MakeSession) -> None:
    session_id = make_session()

    for refused, key in ((Delete(kind="Pod", name="a\0b"), "a key"), (command("cycle"), "a\0key")):
        with pytest.raises(CommandRefused, match=r"U\+0000"):
            inbox.accept(session_id, refused, key)
    with pytest.raises(CommandRefused, match="out of range"):
        inbox.accept(session_id, command("configure", config={"profiles": 10**40}), "a key")
    # An escaped backslash before "u0000" is not an escape sequence of U+0000.
    inbox.accept(session_id, Delete(kind="Pod", name="a\\u0000"), "another key")

    assert Command.objects.filter(session_id=session_id).count() == 1


def test_the_last_commands_of_several_sessions_are_read_in_one_query(
    make_session: MakeSession, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    idle, *active = [make_session() for _ in range(3)]
    for session_id in [*active, *active]:
        send(session_id, "cycle")

    with django_assert_num_queries(1):
        times = inbox.last_command_times([idle, *active])

    assert times == {session_id: Command.objects.get(session_id=session_id, seq=2).accepted_at for session_id in active}
