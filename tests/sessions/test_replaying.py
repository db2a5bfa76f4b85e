"""A replay that differs says which plugins could be the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.sessions import replaying
from schedviz.sessions.errors import ReplayDiverged


def test_a_replay_that_differs_names_the_installed_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "moody-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moody\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[schedviz.plugins]\nMoody = schedviz_moody:Moody\n")
    (tmp_path / "schedviz_moody.py").write_text(
        "class Moody:\n    def __init__(self, args, handle): pass\n    def score_node(self, state, pod, node): return 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = {"profiles": [{"plugins": {"score": {"enabled": [{"name": "Moody"}]}}}]}

    with pytest.raises(ReplayDiverged, match="It runs with installed plugins: Moody"):
        replaying._expect(Simulation(SimulationSettings(config=config)), 7)
    with pytest.raises(ReplayDiverged, match=r"led to event 7\.$"):
        replaying._expect(Simulation(SimulationSettings()), 7)
