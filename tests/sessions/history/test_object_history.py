"""Histories of objects from stored chunks: the same as from all events, whichever chunks are opened."""

from __future__ import annotations

from uuid import UUID

import pytest

from schedviz.sessions import frames
from schedviz.sessions.history import object_history, object_index, reading
from schedviz.sessions.models import Chunk, ChunkNames, Session
from schedviz.trace.events import AnyEvent, CycleStarted
from schedviz.trace.story import CyclePod, Entry, StoryBuilder, lives_of
from tests.sessions.conftest import MakeSession, pod, send, stored_events, work_off


def history_entries(
    session_id: UUID, kind: str, name: str, *, after: int = 0, before: int = 1 << 40, limit: int = 1000, tail: bool = False
) -> list[Entry]:
    session = Session.objects.get(pk=session_id)
    return object_history.read(session, kind, name, after=after, before=before, limit=limit, tail=tail).entries


def entries_of_all_events(session_id: UUID, kind: str, name: str) -> list[Entry]:
    events: list[AnyEvent] = stored_events(session_id)
    lives = lives_of(name, events) if kind == "pods" else []
    return list(StoryBuilder(kind, name, lives=lives, find_cycle=lambda _: CyclePod()).entries(events))


@pytest.fixture
def busy(make_session: MakeSession) -> UUID:
    """A session with steps by stage and by cycle, a pod that was deleted and recreated, and a restart."""
    session_id = make_session(nodes=3, pods=6)
    for _ in range(5):
        send(session_id, "step", unit="stage")
        work_off(session_id)
    for op, members in (
        ("step", {"unit": "cycle"}),
        ("delete", {"kind": "Pod", "name": "pod-5"}),
        ("create", {"object": pod("pod-5", cpu="9")}),
        ("run", {}),
        ("restart", {}),
        ("cordon", {"node": "node-2"}),
        ("run", {}),
    ):
        send(session_id, op, **members)
        work_off(session_id)
    return session_id


def test_the_chunks_that_mention_an_object_contain_its_whole_history(busy: UUID) -> None:
    for kind, name in [("pods", f"default/pod-{n}") for n in range(1, 7)] + [("nodes", f"node-{n}") for n in range(1, 4)]:
        whole = entries_of_all_events(busy, kind, name)
        assert history_entries(busy, kind, name) == whole
        assert len(whole) > 5
        opened = object_index.chunks_about(busy, kind, name)  # type: ignore[arg-type]
        assert len(opened) < Chunk.objects.filter(session_id=busy).count()


def test_pages_in_either_direction_add_up_to_the_whole_history(busy: UUID) -> None:
    for kind, name in (("pods", "default/pod-1"), ("nodes", "node-1")):
        whole = history_entries(busy, kind, name)
        forwards: list[Entry] = []
        while page := history_entries(busy, kind, name, after=forwards[-1].event if forwards else 0, limit=4):
            forwards += page
        assert forwards == whole
        backwards: list[Entry] = []
        while page := history_entries(busy, kind, name, before=backwards[0].event if backwards else 1 << 40, limit=4, tail=True):
            backwards = page + backwards
        assert backwards == whole


def test_a_stage_that_ends_in_a_later_chunk_is_in_the_history_of_its_pod(busy: UUID) -> None:
    first = next(event for event in stored_events(busy) if isinstance(event, CycleStarted))
    chunk = Chunk.objects.get(session_id=busy, first_event__lte=first.event, last_event__gte=first.event)

    entries = history_entries(busy, "pods", first.pod, after=chunk.last_event)

    assert [entry.text for entry in entries if entry.stage == "Filter" and entry.cycle == first.cycle] == [
        "Filter passed 3 of the 3 nodes evaluated"
    ]


def test_a_history_contains_both_pods_with_the_same_name(busy: UUID) -> None:
    session = Session.objects.get(pk=busy)

    result = object_history.read(session, "pods", "default/pod-5", after=0, before=1 << 40, limit=1000, tail=False)

    assert [(life.uid, life.born == 0, life.died is None) for life in result.lives] == [
        ("default/pod-5", True, False),
        ("default/pod-5#2", False, True),
    ]
    assert {entry.uid for entry in result.entries} == {"default/pod-5", "default/pod-5#2"}
    before_the_second = object_history.read(session, "pods", "default/pod-5", after=0, before=result.lives[1].born, limit=1000, tail=False)
    assert [life.uid for life in before_the_second.lives] == ["default/pod-5"]


def test_histories_include_chunks_that_an_older_version_wrote(busy: UUID) -> None:
    whole = history_entries(busy, "pods", "default/pod-5")
    ChunkNames.objects.filter(session_id=busy, number__lte=8).delete()
    assert history_entries(busy, "pods", "default/pod-5") == whole

    ChunkNames.objects.filter(session_id=busy).delete()
    assert history_entries(busy, "pods", "default/pod-5") == whole


def test_the_history_of_an_unknown_pod_has_only_restarts(busy: UUID) -> None:
    assert [entry.t for entry in history_entries(busy, "pods", "default/nobody")] == ["restarted"]


def test_the_index_of_a_chunk_has_four_bytes_for_each_name(busy: UUID) -> None:
    for row in ChunkNames.objects.filter(session_id=busy):
        data = Chunk.objects.get(session_id=busy, number=row.number).data
        speaks_of = {event.event for event in frames.events_of(bytes(data))}
        assert len(row.names) % 4 == 0
        assert len(row.names) <= 4 * 12 * len(speaks_of)
    assert reading.events(busy, limit=1)
