"""A failing user plugin fails its trial with its name and traceback, and the other trials continue."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from schedviz.experiments.report import html_report
from schedviz.experiments.results.document import results_of
from tests.experiments.small_plans import checked, run

PLUGIN = """
from schedviz.engine.framework.status import SUCCESS

class Bad:
    def __init__(self, args, handle):
        wrong = (args or {}).get("wrong", "")
        if wrong == "filter":
            self.filter_node = self.look
        elif wrong == "score":
            self.score_node = self.look
        elif wrong == "reserve":
            self.reserve = lambda state, pod, node: self.zones["a"]
            self.unreserve = lambda state, pod, node: None
        elif wrong == "post_bind":
            self.post_bind = lambda state, pod, node: self.zones["a"]
        else:
            self.permit = lambda state, pod, node: "yes"
        self.zones = {}

    def look(self, state, pod, info):
        return self.zones[info.name]
"""
PLAN = """\
base: {generate: {shape: basic, nodes: 3, pods: 9}}
variants:
  - {name: without}
  - {name: bad, plugins: {Bad: true}, pluginArgs: {Bad: {wrong: WRONG}}}
  - {name: new, release: v1.36, plugins: {Bad: true}, pluginArgs: {Bad: {wrong: WRONG}}}
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "bad-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[schedviz.plugins]\nBad = schedviz_bad_trial:Bad\n")
    (tmp_path / "schedviz_bad_trial.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "schedviz_bad_trial", raising=False)


@pytest.mark.parametrize("wrong", ["filter", "score", "reserve", "post_bind"])
def test_an_exception_fails_the_trial_with_name_and_traceback(wrong: str) -> None:
    without, *bad = run(PLAN.replace("WRONG", wrong))
    assert (without.error, without.values["placed"]) == ("", 9)
    for result in bad:
        assert result.error.startswith("plugin Bad: KeyError: '")
        assert result.failed_part == "Bad"
        assert "self.zones[" in result.traceback
        assert result.values == {}


def test_an_invalid_return_value_fails_the_trial_too() -> None:
    _, bad, _ = run(PLAN.replace("WRONG", "permit"))
    assert bad.error == "plugin Bad: expected a Status and a timeout in nanoseconds, found 'yes'"


def test_the_report_has_the_traceback() -> None:
    plan = checked(PLAN.replace("WRONG", "filter"))
    found = run(PLAN.replace("WRONG", "filter"))
    results = results_of(plan.experiment, found)
    assert (results.variant("bad").failed, results.variant("without").failed) == (1, 0)
    assert "return self.zones[info.name]" in html_report(results)
