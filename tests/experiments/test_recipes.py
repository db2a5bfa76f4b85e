"""The recipes of docs/experiments run, and answer their questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.experiments.plans.plan_text import read_plan
from schedviz.experiments.plans.validation import check_plan
from schedviz.experiments.report import html_report
from schedviz.experiments.results.document import Results, results_of
from schedviz.experiments.results.summary import summary
from schedviz.experiments.trials.pool import run_all
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

RECIPES = sorted((ROOT / "docs/experiments").glob("*.yaml"))


def results(path: Path) -> Results:
    checked = check_plan(read_plan(path), path.parent)
    return results_of(checked.experiment, run_all(checked, jobs=1))


def test_there_are_four_recipes() -> None:
    assert len(RECIPES) == 4


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_runs_and_has_a_report(path: Path) -> None:
    result = results(path)
    assert [row.error for row in result.trials] == [""] * len(result.trials)
    assert result.question in html_report(result)


def test_packing_uses_fewer_nodes() -> None:
    found = results(ROOT / "docs/experiments/packing-or-spreading.yaml")
    answer = summary(found)
    assert answer is not None
    assert answer.headline.startswith("Choose packing")
    assert answer.reasons[0].startswith("Nodes used: ")
    assert answer.costs[0].startswith("Memory fragmentation: ")
    assert found.variant("packing").differences["nodesUsed"].excludes_zero
