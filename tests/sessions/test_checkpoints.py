"""Saved engines: when they are due, in what pieces, and which are kept."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedviz.sessions import checkpoints, lease, pieces
from schedviz.sessions.checkpoints import Saved
from schedviz.sessions.errors import Fenced
from schedviz.sessions.models import Checkpoint, CheckpointPiece
from tests.sessions.conftest import MakeSession, send, work_off


def saved(event: int, engine: bytes = b"engine") -> Saved:
    return Saved(
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


def test_a_checkpoint_is_due_by_time_and_by_what_it_costs() -> None:
    assert not checkpoints.is_due(0.19, cost_seconds=0.001)
    assert checkpoints.is_due(0.21, cost_seconds=0.001)
    assert not checkpoints.is_due(0.9, cost_seconds=0.1)
    assert checkpoints.is_due(1.1, cost_seconds=0.1)
    assert checkpoints.is_due(2.1, cost_seconds=0.5)
    assert not checkpoints.is_due(10, cost_seconds=5)


def test_large_values_are_cut_into_pieces_of_4_megabytes() -> None:
    data = random.Random(1).randbytes(9 << 20)

    cut = list(pieces.cut(data))

    assert len(cut) == 3
    assert max(len(piece) for piece in cut) <= 4 << 20
    assert pieces.join(cut) == data


def test_a_checkpoint_that_was_fenced_on_the_way_never_counts(make_session: MakeSession) -> None:
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


def test_the_next_owner_sweeps_what_was_left_unfinished(make_session: MakeSession) -> None:
    session_id = make_session()
    unfinished = Checkpoint.objects.create(
        session_id=session_id, event=5, chunk=1, cycle=1, digest="d", engine_version="v", epoch=0, complete=False
    )
    CheckpointPiece.objects.create(checkpoint=unfinished, part="engine", number=0, data=b"half")
    send(session_id, "cycle")

    work_off(session_id)

    assert not Checkpoint.objects.filter(pk=unfinished.pk).exists()


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=200))
def test_thinning_keeps_the_first_the_newest_and_gaps_that_grow_with_age(gaps: list[int]) -> None:
    events: list[int] = [0]
    for gap in gaps:
        # As in life: a checkpoint comes, and the older ones are thinned.
        events.insert(0, events[0] + gap)
        superfluous = checkpoints.thinned(events)
        newest = events[:8]
        events = [event for index, event in enumerate(events) if index not in superfluous]

        assert events[-1] == 0
        assert events[:8] == newest


def test_a_long_session_keeps_few_checkpoints() -> None:
    events = [0]
    for number in range(1, 2000):
        events.insert(0, number * 100)
        superfluous = checkpoints.thinned(events)
        events = [event for index, event in enumerate(events) if index not in superfluous]

    assert len(events) < 80
    gaps = [later - earlier for later, earlier in itertools.pairwise(events)]
    assert max(gaps) < 200_000 / 4
