"""The summary names the variant to choose, the reasons, the costs and the confidence; the page has the same sentences."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from schedviz.experiments.results.columnar import columnar
from schedviz.experiments.results.document import Results
from schedviz.experiments.results.summary import Summary, summary
from tests.conftest import ROOT
from tests.experiments.small_plans import node, pod, results, write_cluster

#: Results with their sentences, which frontend/tests/model/experiments/experiment.test.ts compares with those of the page.
#: SCHEDVIZ_RECORD_EXPERIMENTS=1 writes it.
RECORDED: Final = ROOT / "frontend/tests/recordedExperiments/summaries.json"

SIZES = """\
name: sizes
base: {generate: {shape: basic, nodes: 6, pods: 40}}
variants: [{name: six}, {name: five, nodes: {count: 5}}, {name: two, nodes: {count: 2}}]
"""
PACKING = """\
name: packing
base: {generate: {shape: mixed, nodes: 12, pods: 80}}
seeds: 4
variants:
  - name: spreading
  - name: packing
    plugins: {NodeResourcesBalancedAllocation: false}
    pluginArgs: {NodeResourcesFit: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}}
"""
RELEASES = (
    "name: releases\nbase: {generate: {shape: basic, nodes: 4, pods: 10}}\nseeds: 2\nvariants: [{name: old}, {name: new, release: v1.36}]\n"
)
#: Several variants are as good as the chosen one.
SPREAD = """\
name: several
base: {generate: {shape: basic, nodes: 6, pods: 10}}
variants: [{name: six}, {name: a, nodes: {count: 4}}, {name: b, nodes: {count: 4}}, {name: c, nodes: {count: 4}}, {name: d, nodes: {count: 4}}]
measures: [placed, nodesUsed]
"""
GRID = """\
name: grid
base: {generate: {shape: basic, nodes: 6, pods: 10}}
grid: {weight: [{name: "1"}, {name: "2", weights: {ImageLocality: 2}}], sampling: [{name: all}, {name: half, percentageOfNodesToScore: 50}]}
measures: [placed, nodesUsed]
"""
OWN = "measures: [nodeSpread, attempts]\n"


def answer(plan: str, folder: Path | None = None) -> Summary:
    found = summary(results(plan) if folder is None else results(plan, folder))
    assert found is not None
    return found


def test_the_variant_with_fewer_nodes_is_chosen_if_it_places_as_many_pods() -> None:
    found = answer(SIZES)
    assert found.headline.startswith("Choose five instead of six: it uses 1 fewer node, but increases CPU fragmentation by ")
    assert found.reasons[0] == "Nodes used: 5, −1 compared with six."


def test_the_summary_states_that_there_are_no_costs() -> None:
    found = answer(f"{SIZES}measures: [placed, nodesUsed]\n")
    assert found.headline == "Choose five instead of six: it uses 1 fewer node, and no metric is worse."
    assert found.costs == ["No metric is significantly worse."]


def test_a_variant_that_leaves_pods_pending_is_not_chosen() -> None:
    (why,) = answer(SIZES).others
    assert why.startswith("two: pods placed −")


def test_a_variant_that_is_best_in_another_measure_is_named_with_it() -> None:
    assert answer(f"{SIZES}measures: [placed, nodesUsed]\n").alternatives == [
        "Choose two if nodes used matters most: compared with five, it uses 3 fewer nodes, but places 21 fewer pods."
    ]


def test_the_headline_names_the_gain_and_the_cost() -> None:
    found = answer(PACKING)
    assert found.headline.startswith("Choose packing instead of spreading: it uses ")
    assert ", but increases memory fragmentation by " in found.headline
    assert found.costs[0].startswith("Memory fragmentation: ")


def test_the_measures_and_terms_of_the_summary_are_explained() -> None:
    assert {"nodes used", "fragmentation", "pp", "±", "seed", "significant"} <= dict(answer(PACKING).words).keys()
    assert "±" not in dict(answer(SIZES).words)


def test_equal_variants_are_reported_as_equal() -> None:
    found = answer(RELEASES + "measures: [placed, nodesUsed]\n")
    assert found.headline == "No difference: new and old put every pod on the same node (pods placed 10, nodes used 4)."
    assert "Pods placed: equal for every seed (mean 10)." in found.reasons
    assert (found.level, found.certainty[0]) == (
        "equal",
        "For each of the 2 seeds, all configurations have the same values of these metrics.",
    )


def test_differences_in_other_measures_are_in_the_headline_of_equal_variants() -> None:
    made = results(RELEASES + "measures: [placed, nodesUsed, attempts]\n")
    rows = [
        msgspec.structs.replace(row, values={**row.values, "attempts.all": row.values["attempts.all"] + 4}) if row.variant == "new" else row
        for row in made.trials
    ]
    found = summary(msgspec.structs.replace(made, trials=rows))
    assert found is not None
    assert found.headline == (
        "No difference in placement: new and old put every pod on the same node (pods placed 10, nodes used 4), "
        "but new makes 4 more scheduling attempts (in total)."
    )


def test_equal_variants_with_one_seed_have_no_means() -> None:
    found = answer((RELEASES + "measures: [placed, nodesUsed]\n").replace("seeds: 2\n", ""))
    assert "Pods placed: equal (10)." in found.reasons
    assert found.certainty[0] == "All configurations have the same values of these metrics."


def test_while_trials_are_missing_only_common_seeds_are_compared() -> None:
    made = results(PACKING)
    first = [row for row in made.trials if row.variant == "spreading" or row.seed in {1, 2}]
    both = [row for row in made.trials if row.seed in {1, 2}]
    assert (len(first), len(both)) == (6, 4)
    assert summary(msgspec.structs.replace(made, trials=first)) == summary(msgspec.structs.replace(made, trials=both))


def test_an_incomplete_variant_is_not_compared_while_another_is_complete() -> None:
    made = results(PACKING + "  - {name: last}\n")
    first = [row for row in made.trials if row.variant != "last" or row.seed == 1]
    others = [row for row in made.trials if row.variant != "last"]
    assert summary(msgspec.structs.replace(made, trials=first)) == summary(msgspec.structs.replace(made, trials=others))


def test_there_is_no_summary_before_variants_share_a_seed() -> None:
    made = results(PACKING)
    rows = [row for row in made.trials if (row.variant == "spreading") == (row.seed == 1)]
    assert summary(msgspec.structs.replace(made, trials=rows)) is None


def test_the_confidence_depends_on_the_seeds() -> None:
    found = answer(PACKING)
    assert found.level == "strong"
    assert "better for 4 of 4 seeds" in found.reasons[0]


def test_the_baseline_is_kept_with_the_best_trade_off_that_was_not_chosen() -> None:
    plan = "base: {generate: {shape: basic, nodes: 6, pods: 40}}\nvariants: [{name: six}, {name: two, nodes: {count: 2}}]\n"
    assert answer(plan).headline.startswith("Keep six: two uses 4 fewer nodes, but places ")


def test_the_price_of_used_nodes_has_precedence_over_their_number(tmp_path: Path) -> None:
    small, large = (node(name, **{"node.kubernetes.io/instance-type": name}) for name in ("small", "large"))
    write_cluster(tmp_path, small, large, pod("a"))
    plan = """\
base: {files: [cluster.json]}
prices: {perHour: {small: 1, large: 4}}
variants: [{name: large only, nodes: {remove: [small]}}, {name: small only, nodes: {remove: [large]}}]
"""
    assert answer(plan, tmp_path).headline.startswith("Choose small only instead of large only: it costs 3.00 less per hour")


def test_a_plan_with_other_measures_is_ranked_by_them(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1"), node("n2"), pod("a", owner="ReplicaSet"), pod("b", owner="ReplicaSet"))
    found = answer(f"base: {{files: [cluster.json]}}\nvariants: [{{name: both}}, {{name: one, nodes: {{remove: [n1]}}}}]\n{OWN}", tmp_path)
    assert found.headline.startswith("Keep both")


def test_a_single_variant_has_no_summary() -> None:
    assert summary(results("base: {generate: {shape: basic, nodes: 2, pods: 2}}")) is None


def test_equally_good_variants_are_counted_in_the_headline() -> None:
    found = answer(SPREAD)
    assert found.headline.endswith(" 3 other configurations are as good.")
    assert found.reasons[-1] == "As good: b, c, d."


def test_variants_of_a_grid_are_listed_with_semicolons() -> None:
    assert answer(GRID).headline.startswith("No difference: 1, half; 2, all; 2, half and 1, all ")


@pytest.mark.parametrize("place", range(4))
def test_the_recorded_summaries_for_the_page_are_current(place: int) -> None:
    made = recording([SIZES, PACKING, RELEASES, SPREAD][place])
    if os.environ.get("SCHEDVIZ_RECORD_EXPERIMENTS"):
        before = json.loads(RECORDED.read_text()) if RECORDED.exists() else []
        before[place : place + 1] = [made]
        RECORDED.write_text(json.dumps(before, ensure_ascii=False, indent=1) + "\n")
    assert json.loads(RECORDED.read_text())[place] == made


def recording(plan: str) -> dict[str, Any]:
    found: Results = results(plan)
    variants = [msgspec.structs.replace(variant, courses={}, node_shares={}) for variant in found.variants]
    drawn = msgspec.to_builtins(columnar(msgspec.structs.replace(found, schedviz="", variants=variants)))
    return {"results": json.loads(json.dumps(drawn)), "summary": json.loads(msgspec.json.encode(summary(found)))}
