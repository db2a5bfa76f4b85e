"""Plugins and measures in files next to a plan run if the user allows it, and their errors are part of the results."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedviz.engine.framework.plugins import installed
from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.plans.validation import CheckedPlan, check_plan
from schedviz.experiments.trials.pool import run_all
from schedviz.experiments.trials.trial_result import TrialResult

PLUGINS = '''
import random
from schedviz.engine.framework.status import SUCCESS, unschedulable
from schedviz.experiments.measures import measure


class Drawn:
    """A node that the seed draws."""

    name = "Drawn"

    def __init__(self, args, handle):
        self.handle, self.fails = handle, (args or {}).get("fails")

    def filter_node(self, state, pod, info):
        if self.fails:
            raise KeyError("zone")
        drawn = random.Random(f"{self.handle.seed}/{pod.key}").choice(sorted(self.handle.snapshot.node_info_map))
        return SUCCESS if info.name == drawn else unschedulable("not drawn")


@measure("doubled", title="Pods, twice")
def doubled(trial):
    return 2 * len(trial.workload)
'''

PLAN = """\
experiment: 1
base: {generate: {shape: basic, nodes: 3, pods: 6}}
code:
  plugins: {Drawn: drawn_plugins.py:Drawn}
  measures: {doubled: drawn_plugins.py:doubled}
measures: [doubled, placed]
variants:
  - {name: plain}
  - {name: drawn, plugins: {Drawn: true}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the code. Modules that this process loads from it are unloaded afterwards."""
    (tmp_path / "drawn_plugins.py").write_text(PLUGINS)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(installed, "_offered", {})
    yield tmp_path
    sys.modules.pop("drawn_plugins", None)


def check(text: str, folder: Path, *, is_trusted: bool = True) -> CheckedPlan:
    return check_plan(parse_plan(text), folder, is_trusted=is_trusted)


def results(text: str, folder: Path, *, jobs: int = 1) -> list[TrialResult]:
    return sorted(run_all(check(text, folder), jobs=jobs), key=lambda result: result.number)


def refusal(text: str, folder: Path, *, is_trusted: bool = True) -> str:
    with pytest.raises(PlanError) as caught:
        check(text, folder, is_trusted=is_trusted)
    return str(caught.value)


@pytest.mark.slow
def test_plugins_and_measures_in_the_files_of_a_plan_run_in_every_process(folder: Path) -> None:
    text = PLAN + "seeds: 2\n"
    found = results(text, folder)
    assert [result.error for result in found] == [""] * 4
    assert [result.values["doubled"] for result in found] == [12.0] * 4
    assert found[2].placements != found[3].placements
    assert [result.placements for result in results(text, folder, jobs=2)] == [result.placements for result in found]


def test_code_is_not_loaded_unless_the_user_allows_it(folder: Path) -> None:
    (folder / "drawn_plugins.py").write_text("raise SystemExit('loaded')")
    assert refusal(PLAN, folder, is_trusted=False) == (
        "line 4: code: the plan runs Python code of drawn_plugins.py with your rights; read it, and run the command again with --trust-code"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("drawn_plugins.py:Drawn", "none.py:Drawn", "line 4: code.plugins.Drawn: there is no file "),
        ("drawn_plugins.py:Drawn", "drawn_plugins.py:Else", "line 4: code.plugins.Drawn: drawn_plugins.py has no Else"),
        ("drawn_plugins.py:Drawn", "drawn_plugins:Drawn", "line 4: code.plugins.Drawn: expected `file.py:Name`"),
        ("drawn_plugins.py:doubled", "drawn_plugins.py:Drawn", "line 5: code.measures.doubled: drawn_plugins.py:Drawn is not a Measure"),
        ("{doubled: d", "{halved: d", "line 5: code.measures.halved: the measure calls itself 'doubled'"),
    ],
)
def test_an_invalid_name_is_rejected_with_its_line(folder: Path, old: str, new: str, message: str) -> None:
    assert refusal(PLAN.replace(old, new), folder).startswith(message)


def test_an_exception_in_the_code_is_part_of_the_message(folder: Path) -> None:
    (folder / "drawn_plugins.py").write_text("import nothing_here")
    assert "drawn_plugins.py cannot be loaded: ModuleNotFoundError: No module named 'nothing_here'" in refusal(PLAN, folder)


def test_a_file_cannot_shadow_another_module(folder: Path) -> None:
    (folder / "json.py").write_text(PLUGINS)
    assert "another module is called json" in refusal(PLAN.replace("drawn_plugins.py:D", "json.py:D"), folder)


def test_a_plugin_of_the_release_cannot_be_replaced(folder: Path) -> None:
    text = PLAN.replace("{Drawn: drawn_plugins.py:Drawn}", "{NodeName: drawn_plugins.py:Drawn}").replace("Drawn: true", "NodeName: true")
    assert [result.error for result in results(text, folder)] == ["", ""]
    assert results(text, folder)[1].values["placed"] == 6


def test_a_plugin_that_raises_fails_its_trial_with_a_traceback(folder: Path) -> None:
    text = PLAN.replace("plugins: {Drawn: true}", "plugins: {Drawn: true}, pluginArgs: {Drawn: {fails: true}}")
    plain, failed = results(text, folder)
    assert (plain.error, failed.error, failed.failed_part) == ("", "plugin Drawn: KeyError: 'zone'", "Drawn")
    assert 'raise KeyError("zone")' in failed.traceback
