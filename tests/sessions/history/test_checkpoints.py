"""Checkpoints: when they are due, their parts, and retention."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedviz.sessions.errors import Fenced
from schedviz.sessions.history import blob_chunks, checkpoints, reading
from schedviz.sessions.history.checkpoints import CheckpointContents
from schedviz.sessions.hosting import lease
from schedviz.sessions.models import Checkpoint, CheckpointPiece, Session
from schedviz.sessions.replay import cycle_detail_job, replayer
from tests.sessions.conftest import MakeSession, send, work_off


def saved(event: int, engine: bytes = b"engine") -> CheckpointContents:
    return CheckpointContents(
        event=event,
        chunk=1,
        cycle=1,
        clock_seconds=0.0,
        applied_seq=1,
        in_command=False,
        digest="d",
        engine_version="v",
        engine=engine,
        view=b"{}",
    )


def test_a_checkpoint_is_due_by_elapsed_time_and_saving_cost() -> None:
    assert not checkpoints.is_due(0.19, cost_seconds=0.001)
    assert checkpoints.is_due(0.21, cost_seconds=0.001)
    assert not checkpoints.is_due(0.9, cost_seconds=0.1)
    assert checkpoints.is_due(1.1, cost_seconds=0.1)
    assert checkpoints.is_due(2.1, cost_seconds=0.5)
    assert not checkpoints.is_due(10, cost_seconds=5)


def test_large_values_are_split_into_chunks_of_4_megabytes() -> None:
    data = random.Random(1).randbytes(9 << 20)

    chunks = list(blob_chunks.split(data))

    assert len(chunks) == 3
    assert max(len(chunk) for chunk in chunks) <= 4 << 20
    assert blob_chunks.join(chunks) == data


def test_a_checkpoint_of_a_fenced_owner_is_never_used(make_session: MakeSession) -> None:
    session_id = make_session()
    taken = lease.acquire(session_id)
    assert taken is not None
    lease.clear_owner(lease.owner_prefix())
    assert lease.acquire(session_id) is not None

    with pytest.raises(Fenced):
        checkpoints.save(taken[0], saved(99), cost_seconds=0.1)

    newest = checkpoints.newest(session_id)
    assert newest is not None
    assert newest.event != 99


def test_the_next_owner_deletes_incomplete_checkpoints(make_session: MakeSession) -> None:
    session_id = make_session()
    unfinished = Checkpoint.objects.create(
        session_id=session_id, event=5, chunk=1, cycle=1, digest="d", engine_version="v", epoch=0, complete=False
    )
    CheckpointPiece.objects.create(checkpoint=unfinished, part="engine", number=0, data=b"half")
    send(session_id, "cycle")

    work_off(session_id)

    assert not Checkpoint.objects.filter(pk=unfinished.pk).exists()


def test_a_view_is_due_by_events_and_saving_cost() -> None:
    assert not checkpoints.is_view_due(1_999, work_seconds=60, cost_seconds=0.001)
    assert checkpoints.is_view_due(2_000, work_seconds=0.1, cost_seconds=0.001)
    assert not checkpoints.is_view_due(60_000, work_seconds=3, cost_seconds=0.4)
    assert checkpoints.is_view_due(60_000, work_seconds=4, cost_seconds=0.4)


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=200), st.integers(0, 300))
def test_thinning_keeps_the_first_and_the_newest_with_gaps_that_grow_with_age(gaps: list[int], allowed: int) -> None:
    events: list[int] = [0]
    for gap in gaps:
        # Each new checkpoint thins the older ones.
        events.insert(0, events[0] + gap)
        superfluous = checkpoints.thinned(events, [1] * len(events), excess=len(events) - allowed)
        newest = events[:8]
        events = [event for index, event in enumerate(events) if index not in superfluous]

        assert events[-1] == 0
        assert events[:8] == newest
        assert not superfluous or len(events) >= min(allowed, len(gaps))


def test_a_long_session_keeps_few_large_engines() -> None:
    events = [0]
    for number in range(1, 2000):
        events.insert(0, number * 100)
        superfluous = checkpoints.thinned(events, [1 << 20] * len(events), excess=1 << 40)
        events = [event for index, event in enumerate(events) if index not in superfluous]

    assert len(events) < 80
    gaps = [later - earlier for later, earlier in itertools.pairwise(events)]
    assert max(gaps) < 200_000 / 4


def test_no_engine_is_deleted_while_space_is_left() -> None:
    assert checkpoints.thinned(range(2000, -1, -1), [1 << 20] * 2001, excess=0) == set()


def test_every_moment_can_be_read_and_replayed_after_thinning(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "DUE_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "DUE_COSTS", 0.0)
    session_id = make_session(nodes=3, pods=60)
    for _ in range(30):
        send(session_id, "run", max=2)
        work_off(session_id)
    session = Session.objects.get(pk=session_id)
    events = range(0, session.event + 1, 7)
    before = {event: reading.state_at_event(session, event).view for event in events}
    rows = Checkpoint.objects.filter(session_id=session_id)
    had = rows.count()
    monkeypatch.setattr(checkpoints, "ENGINES_FREE_BYTES", -(1 << 40))

    send(session_id, "advance", seconds=1)
    work_off(session_id)

    assert rows.count() == had + 1
    assert rows.filter(has_engine=True).count() < had
    assert not CheckpointPiece.objects.filter(checkpoint__in=rows.filter(has_engine=False), part="engine").exists()
    assert {event: reading.state_at_event(session, event).view for event in events} == before
    for cycle in range(1, 61, 9):
        assert cycle_detail_job.replay_cycle(session, cycle)["pod"] == f"default/pod-{cycle}"
    engine = replayer.engine_at(session_id, events[20], between_units=lambda _: None)
    assert engine.view() == reading.state_at_event(session, engine.event).view


def test_a_long_run_stores_views_without_engines(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "DUE_SECONDS", 60.0)
    monkeypatch.setattr(checkpoints, "LATE_SECONDS", 60.0)
    monkeypatch.setattr(checkpoints, "VIEW_EVENTS", 300)
    session_id = make_session(nodes=3, pods=100)

    send(session_id, "run")
    session = work_off(session_id)

    rows = Checkpoint.objects.filter(session_id=session_id)
    assert rows.filter(has_engine=True).count() == 1
    assert rows.filter(has_engine=False, engine_bytes=0, view_bytes__gt=0).exists()
    straight = replayer.engine_at(session_id, session.event, between_units=lambda _: None)
    assert reading.state_at_head(session).view == straight.view()
