"""The slice writer commits a slice at once, and publishes the same chunk to viewers afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.sessions.commands import breakpoints
from schedviz.sessions.history import object_history, reading, timeline
from schedviz.sessions.hosting import slice_commit
from schedviz.sessions.models import Chunk, Command, Session
from schedviz.sessions.redis import stream
from tests.sessions.conftest import MakeSession, send, stored_events
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


def test_a_slice_without_events_stores_no_chunk(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    host = host_of(session_id)
    before = host.position

    host.work_slice()

    assert host.position == before
    assert not Chunk.objects.filter(session_id=session_id).exists()


@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
def test_a_slice_with_many_events_is_split_into_chunks(
    release: str, make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = [make_session(nodes=4, pods=8, release=release) for _ in range(2)]
    for session_id, most in zip(sessions, (100_000, 40), strict=True):
        monkeypatch.setattr(slice_commit, "MAX_CHUNK_EVENTS", most)
        send(session_id, "step", unit="stage", count=3)
        send(session_id, "run")
        host = host_of(session_id)
        while host.has_work:
            host.work_slice()
    whole, divided = (Session.objects.get(pk=session_id) for session_id in sessions)
    chunks = list(Chunk.objects.filter(session=divided).order_by("number"))

    assert [chunk.number for chunk in chunks] == list(range(1, divided.chunk + 1))
    assert max(chunk.last_event - chunk.first_event + 1 for chunk in chunks) == 40
    assert published(divided.pk) == [b"%d-0" % chunk.number for chunk in chunks]
    # Reading the chunks gives the same result.
    assert stored_events(divided.pk) == stored_events(whole.pk)
    assert reading.state_at_head(divided).view == reading.state_at_head(whole).view
    for event in range(0, whole.event, 7):
        assert reading.state_at_event(divided, event).view == reading.state_at_event(whole, event).view
    assert reading.spans_of_cycles(divided.pk, 2, 6) == reading.spans_of_cycles(whole.pk, 2, 6)
    assert [(one.first_event, one.last_event) for one in reading.cycles(divided)] == [
        (one.first_event, one.last_event) for one in reading.cycles(whole)
    ]
    for kind, name in (("pods", "default/pod-3"), ("nodes", "node-2")):
        divided_history, history = (
            object_history.read(one, kind, name, after=0, before=one.event + 1, limit=1000, tail=False) for one in (divided, whole)
        )
        assert divided_history.entries == history.entries
    assert (divided.pods, divided.nodes, divided.cycle) == (whole.pods, whole.nodes, whole.cycle)
    for one in (divided, whole):
        assert sum(bucket.counts.cycles for bucket in timeline.buckets(one, after=0, until=one.event, max_buckets=10)) == 8


def test_the_next_owner_publishes_unpublished_chunks(make_session: MakeSession, host_of: HostOf) -> None:
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
