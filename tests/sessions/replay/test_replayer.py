"""A replay that differs from the original run is reported with the plugins that could be the cause."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.sessions import frames
from schedviz.sessions.errors import ReplayDiverged
from schedviz.sessions.models import Checkpoint, Chunk, Session
from schedviz.sessions.replay import replayer
from schedviz.trace.added_members import without_added_members
from schedviz.trace.events import CycleEnded
from tests.sessions.conftest import MakeSession, crash, send, work_off

MOODY = """
MOOD = {"score": 1, "refuses": ""}

class Moody:
    def __init__(self, args, handle): pass

    def score_node(self, state, pod, node):
        return MOOD["score"] * (node.name == "node-2")

    def permit(self, state, pod, node):
        from schedviz.engine.framework.status import SUCCESS, unschedulable
        return (unschedulable("no") if pod.pod.name == MOOD["refuses"] else SUCCESS), 0

class Calm:
    def __init__(self, args, handle): pass

    def score_node(self, state, pod, node):
        return 1

    def permit(self, state, pod, node):
        from schedviz.engine.framework.status import SUCCESS
        return SUCCESS, 0
"""
CONFIG = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Moody"}, {"name": "Calm"}]}}}]}


@pytest.fixture
def mood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, Any]]:
    """Two installed plugins; the name of one of them."""
    info = tmp_path / "moody-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moody\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[schedviz.plugins]\nMoody = schedviz_moody:Moody\nCalm = schedviz_moody:Calm\n")
    (tmp_path / "schedviz_moody.py").write_text(MOODY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "schedviz_moody", raising=False)

    def found() -> dict[str, Any]:
        module: Any = sys.modules["schedviz_moody"]
        mood: dict[str, Any] = module.MOOD
        return mood

    return found


def _run(make_session: MakeSession) -> UUID:
    session_id = make_session()
    send(session_id, "configure", config=CONFIG)
    send(session_id, "run")
    work_off(session_id)
    crash(session_id)
    # A slow machine may have saved checkpoints, too; earlier commands are not replayed.
    Checkpoint.objects.filter(session_id=session_id, event__gt=0).delete()
    return session_id


def _load(session_id: UUID) -> Simulation:
    session = Session.objects.get(pk=session_id)
    simulation, _, _ = replayer.load(session_id, to_seq=session.applied_seq, to_event=session.event, alive=lambda: None)
    return simulation


def test_a_deterministic_plugin_is_replayed(make_session: MakeSession, mood: Callable[[], dict[str, Any]]) -> None:
    session_id = _run(make_session)

    assert _load(session_id).event == Session.objects.get(pk=session_id).event
    assert mood()["score"] == 1


def test_a_session_stored_by_an_earlier_build_is_replayed(make_session: MakeSession, mood: Callable[[], dict[str, Any]]) -> None:
    session_id = _run(make_session)
    # A slow machine stores several chunks, and not every chunk ends with a cycle.
    ended = []
    for chunk in Chunk.objects.filter(session_id=session_id):
        before = frames.open_frame(bytes(chunk.data))
        events = [without_added_members(event) for event in frames.events_of(bytes(chunk.data))]
        ended += [event for event in events if isinstance(event, CycleEnded)]
        chunk.data = frames.frame(chunk.number, events, before.session)
        chunk.save()

    assert ended
    assert all(event.pod == "" for event in ended)
    assert _load(session_id).event == Session.objects.get(pk=session_id).event
    assert mood()["score"] == 1


def test_a_plugin_with_different_scores_is_named(make_session: MakeSession, mood: Callable[[], dict[str, Any]]) -> None:
    session_id = _run(make_session)
    mood()["score"] = 100

    with pytest.raises(
        ReplayDiverged, match=r"The replay differs from the recording at event \d+: .* The installed plugin Moody gave a different result"
    ):
        _load(session_id)


def test_a_plugin_that_causes_different_events_is_named(make_session: MakeSession, mood: Callable[[], dict[str, Any]]) -> None:
    session_id = _run(make_session)
    mood()["refuses"] = "pod-9"

    with pytest.raises(
        ReplayDiverged, match=r"The replay differs from the recording at event \d+: .* The installed plugin Moody gave a different result"
    ):
        _load(session_id)


def test_an_error_about_the_progress_of_a_replay_names_the_installed_plugins(mood: Callable[[], dict[str, Any]]) -> None:
    with pytest.raises(ReplayDiverged, match=r"The installed plugins \(Calm, Moody\) may be the cause"):
        replayer._require_event(Simulation(SimulationSettings(config=CONFIG)), 7)
    with pytest.raises(ReplayDiverged, match=r"the recording ended at event 7\.$"):
        replayer._require_event(Simulation(SimulationSettings()), 7)
    assert mood()
