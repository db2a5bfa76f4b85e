"""The checkpoint saver saves an engine, or only a view, at the committed position when one is due."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from schedviz.engine import Simulation
from schedviz.sessions.history import checkpoints
from schedviz.sessions.hosting.watchdog import WATCHDOG
from schedviz.sessions.models import Checkpoint
from schedviz.sessions.replay import starting_point
from tests.sessions.conftest import MakeSession, send
from tests.sessions.hosting.conftest import HostOf


def saved(session_id: UUID) -> list[tuple[int, bool]]:
    """The position and the kind of each checkpoint after the first: True for an engine."""
    rows = Checkpoint.objects.filter(session_id=session_id, complete=True, applied_seq__gt=0).order_by("pk")
    return list(rows.values_list("applied_seq", "has_engine"))


def test_a_saved_engine_is_restored_unchanged(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    send(session_id, "run", max=3)
    host = host_of(session_id)
    host.work_slice()

    host.save_checkpoint()

    newest = checkpoints.newest(session_id)
    assert newest is not None
    assert (newest.event, newest.cycle, newest.applied_seq) == (host.position.event, 3, 1)
    assert Simulation.restore(checkpoints.stored_engine(newest)).state_hash() == host._simulation.state_hash()


def test_the_next_older_engine_is_loaded_if_one_is_thinned_while_it_is_read(
    make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = make_session()
    send(session_id, "run", max=3)
    host = host_of(session_id)
    host.work_slice()
    host.save_checkpoint()
    listed = checkpoints.engines

    def thinned_after(*args: Any, **kwargs: Any) -> list[Checkpoint]:
        rows = list(listed(*args, **kwargs))
        # On a busy machine, the slice has saved an engine by itself, too.
        checkpoints.delete_engines([row.pk for row in rows if row.event])
        return rows

    monkeypatch.setattr(checkpoints, "engines", thinned_after)
    simulation, found = starting_point.find(session_id)
    assert (found.event, simulation.event) == (0, 0)


def test_a_checkpoint_is_saved_when_replay_would_be_slow(
    make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "is_due", lambda replay_seconds, _cost_seconds: replay_seconds > 0)
    session_id = make_session()
    send(session_id, "cycle")
    host = host_of(session_id)

    host.work_slice()

    assert saved(session_id) == [(1, True)]


def test_only_a_view_is_saved_when_folding_would_be_slow(
    make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "is_due", lambda _replay_seconds, _cost_seconds: False)
    monkeypatch.setattr(checkpoints, "VIEW_EVENTS", 1)
    session_id = make_session()
    send(session_id, "cycle")
    host = host_of(session_id)

    host.work_slice()

    assert saved(session_id) == [(1, False)]


def test_a_checkpoint_that_takes_too_long_is_skipped(make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch) -> None:
    def compute_without_end(_simulation: Simulation) -> bytes:
        while True:
            pass

    session_id = make_session()
    send(session_id, "cycle")
    host = host_of(session_id)
    monkeypatch.setattr(checkpoints, "is_due", lambda replay_seconds, _cost_seconds: replay_seconds > 0)
    monkeypatch.setattr(WATCHDOG, "seconds", 0.5)
    monkeypatch.setattr(Simulation, "checkpoint", compute_without_end)

    host.work_slice()

    assert saved(session_id) == []
    assert host.position.applied_seq == 1
