"""The inbox reader hands out accepted commands once, in order, and knows which ones a pause interrupts."""

from __future__ import annotations

import pytest

from schedviz.sessions.errors import Fenced
from schedviz.sessions.hosting import lease
from schedviz.sessions.hosting.inbox_reader import InboxReader
from schedviz.sessions.models import Session
from schedviz.sessions.replay import replayer
from tests.sessions.conftest import MakeSession, node, send


def test_commands_are_read_in_order(make_session: MakeSession) -> None:
    session_id = make_session()
    for op in ("cycle", "snapshot", "run"):
        send(session_id, op)
    reader = InboxReader(Session.objects.get(pk=session_id))

    read = [reader.next_after(seq) for seq in range(4)]

    assert [one.seq if one else None for one in read] == [1, 2, 3, None]


def test_few_large_commands_are_read_at_a_time(make_session: MakeSession) -> None:
    session_id = make_session()
    for number in range(8):
        labels = {f"label-{number}-{index}": "x" * 40 for index in range(5000)}
        send(session_id, "create", object=node(f"large-{number}") | {"metadata": {"name": f"large-{number}", "labels": labels}})
    send(session_id, "cycle")
    reader = InboxReader(Session.objects.get(pk=session_id))

    batch = replayer.next_commands(session_id, after_seq=0, limit=100)
    read = [reader.next_after(seq) for seq in range(10)]

    # Each has 0.3 MB.
    assert [one.seq for one in batch] == [1, 2, 3, 4]
    assert [one.seq if one else None for one in read] == [*range(1, 10), None]
    assert [one.seq for one in replayer.stored_commands(session_id, after_seq=2, limit=6)] == [3, 4, 5, 6, 7, 8]


def test_executed_commands_are_skipped(make_session: MakeSession) -> None:
    session_id = make_session()
    for _ in range(3):
        send(session_id, "cycle")
    reader = InboxReader(Session.objects.get(pk=session_id))
    reader.next_after(0)

    third = reader.next_after(2)

    assert third is not None
    assert third.seq == 3


def test_a_command_is_not_read_before_a_refresh(make_session: MakeSession) -> None:
    session_id = make_session()
    taken = lease.acquire(session_id)
    assert taken is not None
    reader = InboxReader(taken[1])
    send(session_id, "cycle")

    assert reader.next_after(0) is None
    reader.refresh(taken[0])
    assert reader.next_after(0) is not None
    lease.release(taken[0])


def test_a_pause_interrupts_only_earlier_runs(make_session: MakeSession) -> None:
    session_id = make_session()
    for op in ("run", "cycle", "pause", "run"):
        send(session_id, op)
    reader = InboxReader(Session.objects.get(pk=session_id))

    commands = [reader.next_after(seq) for seq in range(4)]

    assert [command is not None and reader.is_interrupted(command) for command in commands] == [True, False, False, False]


def test_another_owner_of_the_session_fences_the_reader(make_session: MakeSession) -> None:
    session_id = make_session()
    taken = lease.acquire(session_id)
    assert taken is not None
    lease.clear_owner(lease.owner_prefix())
    other = lease.acquire(session_id)
    assert other is not None

    with pytest.raises(Fenced):
        InboxReader(taken[1]).refresh(taken[0])
    lease.release(other[0])


def test_a_deleted_session_fences_the_reader(make_session: MakeSession) -> None:
    session_id = make_session()
    taken = lease.acquire(session_id)
    assert taken is not None
    reader = InboxReader(taken[1])
    Session.objects.filter(pk=session_id).delete()

    with pytest.raises(Fenced):
        reader.refresh(taken[0])
