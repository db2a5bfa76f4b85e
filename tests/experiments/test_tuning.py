"""A search proposes the same candidates every time, and finds the best one that satisfies the constraints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan import Tune
from schedviz.experiments.plans.plan_text import read_plan
from schedviz.experiments.plans.validation import check_plan
from schedviz.experiments.report import html_report
from schedviz.experiments.results.document import Results, Tuning, decode_results, encode_results, results_of
from schedviz.experiments.tuning.goal import Goal, parse_constraint
from schedviz.experiments.tuning.report import as_yaml, printed
from schedviz.experiments.tuning.search import TuneError, search
from tests.conftest import ROOT
from tests.experiments.small_plans import checked, node, pod, write_cluster

pytestmark = pytest.mark.slow

SMALL = """
base: {generate: {shape: basic, nodes: 5, pods: 12}}
seeds: 2
measures: [nodesUsed, placed]
tune:
  minimize: nodesUsed
  constraints: [placed >= baseline]
  candidates: 5
  space:
    count: {set: nodes.count, from: 1, to: 5}
"""


def searched(text: str, folder: Path = Path(), *, jobs: int = 1) -> Results:
    found = search(checked(text, folder), jobs=jobs)
    return results_of(found.experiment, found.results, volatile=False, tuning=found.tuning)


def tuning(results: Results) -> Tuning:
    assert isinstance(results.tuning, Tuning)
    return results.tuning


def refusal(text: str) -> list[str]:
    with pytest.raises(PlanError) as caught:
        checked(text)
    return [str(fault) for fault in caught.value.faults]


def test_the_best_candidate_satisfies_the_constraints(tmp_path: Path) -> None:
    write_cluster(tmp_path, *(node(f"n{number}", cpu="2") for number in range(5)), *(pod(f"p{number}") for number in range(6)))
    found = searched(SMALL.replace("{generate: {shape: basic, nodes: 5, pods: 12}}", "{files: [cluster.json]}"), tmp_path)
    assert tuning(found).best == "count 3"
    assert sorted(tuning(found).candidates) == [f"count {count}" for count in range(1, 6)]
    assert sorted(tuning(found).feasible) == ["count 3", "count 4", "count 5"]


def test_candidates_are_variants_with_trials_like_the_others() -> None:
    found = searched(SMALL)
    names = [variant.name for variant in found.variants]
    assert names == ["default", *tuning(found).candidates]
    assert [row.number for row in found.trials] == list(range(2 * len(names)))
    assert found.variant("count 1").axes == {"count": "1"}
    assert found.variant("count 1").changes["nodes"] == {"count": 1}
    assert decode_results(encode_results(found)) == found


def test_a_search_is_byte_identical_for_every_number_of_processes() -> None:
    assert encode_results(searched(SMALL, jobs=2)) == encode_results(searched(SMALL))


def test_another_seed_tries_different_candidates() -> None:
    wide = SMALL.replace("{set: nodes.count, from: 1, to: 5}", "{set: weights.NodeResourcesFit, from: 1, to: 1000}")
    first, other = searched(wide), searched(wide.replace("tune:", "tune:\n  seed: 2"))
    assert tuning(first).candidates != tuning(other).candidates


def test_a_candidate_that_fails_does_not_end_the_search() -> None:
    plan = SMALL.replace("{set: nodes.count, from: 1, to: 5}", "{set: percentageOfNodesToScore, from: 1, to: 99, step: 49}")
    found = searched(plan.replace("space:", "space:\n    mode: {choices: [{name: plain}, {name: odd, release: v1.36}]}"))
    assert len(tuning(found).candidates) == 5
    assert not any(row.error for row in found.trials)


def test_the_best_candidate_is_printed_as_a_valid_variant_of_a_plan() -> None:
    found = searched(SMALL.replace("minimize: nodesUsed", "maximize: nodesUsed").replace("[placed >= baseline]", "[nodesUsed <= 3]"))
    text = "\n".join(printed(found))
    assert "5 candidates were tried for the largest nodes used; 3 of them hold nodesUsed <= 3." in text
    assert f"None of these is better than 'default' ({5})." in text
    (variant,) = yaml.safe_load(as_yaml(found.variant("count 2")))
    assert variant == {"name": "count 2", "nodes": {"count": 2}}


def test_the_recipe_packs_pods_on_fewer_nodes() -> None:
    path = ROOT / "docs/experiments/tuning.yaml"
    found = search(check_plan(read_plan(path), path.parent), jobs=1)
    results = results_of(found.experiment, found.results, tuning=found.tuning)
    best = results.variant(tuning(results).best)
    assert best.axes["strategy"] == "MostAllocated"
    assert best.differences["nodesUsed"].mean < 0
    assert best.differences["placed"].mean >= 0
    assert "<h2>Search</h2>" in html_report(results)


def test_without_optuna_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(TuneError, match=r"run `pip install 'schedviz\[tune\]'`"):
        search(checked(SMALL), jobs=1)


def test_a_column_that_the_baseline_lacks_is_named() -> None:
    with pytest.raises(PlanError, match=r"the baseline 'default' has no column 'placed\.all'; it has nodesUsed, placed"):
        search(checked(SMALL.replace("placed >= baseline", "placed.all >= 3")), jobs=1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("minimize: nodesUsed", "minimize: nodes", "line 7: tune.minimize: the plan has no measure 'nodes'; it has nodesUsed, placed"),
        ("  minimize: nodesUsed\n", "", "line 7: tune: expected exactly one of minimize and maximize"),
        ("placed >= baseline", "placed > 3", "line 8: tune.constraints[0]: expected a measure, <= or >=, and a number or `baseline`"),
        ("placed >= baseline", "moved <= 3", "line 8: tune.constraints[0]: the plan has no measure 'moved'"),
        ("from: 1, to: 5", "from: 5, to: 5", "line 11: tune.space.count.from: expected less than `to`, which is 5; found 5"),
        ("from: 1, to: 5", "from: 1", "line 11: tune.space.count: expected choices, or set with from and to"),
        ("nodes.count", "seeds", "line 11: tune.space.count.set: expected a member that starts with one of weights, "),
        ("nodes.count", "weights", "line 11: tune.space.count.set: weights cannot be a number from 1 to 5: "),
        ("to: 5", "to: 5, log: true, step: 2", "line 11: tune.space.count.log: expected it only without step"),
        (
            "{set: nodes.count,",
            "{choices: [{name: a}, {name: b}],",
            "line 11: tune.space.count: expected either choices, or set with from and",
        ),
        ("nodes.count", "weights.Nothing", "line 11: tune.space.count: variant 'count 1': kube-scheduler v1.27.1 refuses it: "),
    ],
)
def test_errors_in_a_search_have_their_line(old: str, new: str, message: str) -> None:
    assert refusal(SMALL.replace(old, new))[0].startswith(message)


@pytest.mark.parametrize("text", ["a" + " " * 250_000, "a<=1*" + " " * 250_000, "<=" * 125_000, "  <= 3"])
def test_a_long_text_that_is_no_constraint_is_refused_at_once(text: str) -> None:
    # In quadratic time, this would take minutes.
    with pytest.raises(ValueError, match="expected a measure"):
        parse_constraint(text)


def test_a_bound_can_be_a_fraction_of_the_baselines_value() -> None:
    constraint = parse_constraint("utilization.cpu >= 0.9 * baseline")
    assert constraint.column == "utilization.cpu"
    assert constraint.violation(0.45, 0.5) <= 0 < constraint.violation(0.44, 0.5)
    assert parse_constraint("victims<=3").violation(5, 0) == 2


def test_a_goal_includes_the_columns_of_its_constraints() -> None:
    goal = Goal.of(Tune(space={}, maximize="placed", constraints=["victims <= baseline", "placed >= 1"]))
    assert goal.columns == ["placed", "victims"]
    assert goal.violations({"placed": 3, "victims": 2}, {"placed": 3, "victims": 1}) == [1, -2]
