"""The slice writer commits a slice at once, and publishes the same chunk to viewers afterwards."""

from __future__ import annotations

from typing import Any

from schedviz.sessions.commands import breakpoints
from schedviz.sessions.history import reading
from schedviz.sessions.models import Chunk, Command, Session
from schedviz.sessions.redis import stream
from tests.sessions.conftest import MakeSession, send
from tests.sessions.hosting.conftest import HostOf


def published(session_id: Any) -> list[bytes]:
    entries: Any = stream.client().xrange(stream.frames_key(session_id))
    return [identifier for identifier, _ in entries]


def test_a_slice_is_stored_with_its_outcomes_and_published_under_its_chunk_number(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    host = host_of(session_id)

    host.work_slice()

    assert Chunk.objects.get(session_id=session_id).number == 1
    assert Command.objects.get(session_id=session_id).outcome["cycles"] == 1
    assert published(session_id) == [b"1-0"]


def test_a_slice_in_which_nothing_happened_stores_no_chunk(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    host = host_of(session_id)
    before = host.position

    host.work_slice()

    assert host.position == before
    assert not Chunk.objects.filter(session_id=session_id).exists()


def test_chunks_that_were_not_published_are_published_by_the_next_owner(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    host = host_of(session_id)
    for _ in range(2):
        send(session_id, "cycle")
        host.read_inbox()
        host.work_slice()
    stream.client().flushall()

    host.publish_missed()

    assert published(session_id) == [b"1-0", b"2-0"]
    assert len(reading.frames_after(session_id, 0, limit=10)) == 2


def test_a_session_is_paused_at_a_breakpoint_until_another_command_is_executed(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    breakpoints.create(session_id, "cycle == 3")
    send(session_id, "run")
    host = host_of(session_id)

    while host.has_work:
        host.work_slice()
    stopped = Session.objects.get(pk=session_id)
    send(session_id, "cycle")
    host.read_inbox()
    host.work_slice()
    continued = Session.objects.get(pk=session_id)

    assert stopped.status == Session.Status.PAUSED
    assert stopped.hit is not None
    assert stopped.hit["breakpoint"] == 1
    assert (continued.status, continued.hit) == (Session.Status.READY, None)
