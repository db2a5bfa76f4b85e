"""The summary names the variant to choose, why, what it costs and how sure that is; the page has the same sentences."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from schedviz.experiments.columnar import columnar
from schedviz.experiments.results import Results
from schedviz.experiments.summary import others, summary
from tests.conftest import ROOT
from tests.experiments.plans import node, pod, results, write_cluster

#: Results with their sentences, which frontend/tests/experiment.test.ts compares with those of the page.
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
OWN = "measures: [nodeSpread, attempts]\n"


def test_fewer_nodes_are_chosen_if_they_place_as_many_pods() -> None:
    headline, gain, *_ = summary(results(SIZES))
    assert headline == "Choose five."
    assert gain == "Nodes used: 5, −1 against six."


def test_what_leaves_pods_pending_is_not_chosen() -> None:
    (why,) = others(results(SIZES))
    assert why.startswith("two: pods placed −")


def test_the_baseline_is_kept_if_nothing_differs() -> None:
    sentences = summary(results(RELEASES + "measures: [placed, nodesUsed]\n"))
    assert sentences[0] == "Keep old. As good, but not better: new."
    assert "Pods placed: the same in every trial (10)." in sentences


def test_seeds_say_how_sure_it_is() -> None:
    found = summary(results(PACKING))
    assert found[0] == "Choose packing."
    assert "better with 4 of 4 seeds" in found[1]


def test_a_plan_with_other_measures_is_decided_by_them(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1"), node("n2"), pod("a", owner="ReplicaSet"), pod("b", owner="ReplicaSet"))
    found = results(f"base: {{files: [cluster.json]}}\nvariants: [{{name: both}}, {{name: one, nodes: {{remove: [n1]}}}}]\n{OWN}", tmp_path)
    assert summary(found)[0] == "Keep both."


def test_one_variant_has_no_summary() -> None:
    assert summary(results("base: {generate: {shape: basic, nodes: 2, pods: 2}}")) == []


@pytest.mark.parametrize("place", range(3))
def test_the_page_has_the_same_sentences(place: int) -> None:
    made = recording([SIZES, PACKING, RELEASES][place])
    if os.environ.get("SCHEDVIZ_RECORD_EXPERIMENTS"):
        before = json.loads(RECORDED.read_text()) if RECORDED.exists() else []
        before[place : place + 1] = [made]
        RECORDED.write_text(json.dumps(before, ensure_ascii=False, indent=1) + "\n")
    assert json.loads(RECORDED.read_text())[place] == made


def recording(plan: str) -> dict[str, Any]:
    found: Results = results(plan)
    variants = [msgspec.structs.replace(variant, courses={}, node_shares={}) for variant in found.variants]
    drawn = msgspec.to_builtins(columnar(msgspec.structs.replace(found, schedviz="", variants=variants)))
    return {"results": json.loads(json.dumps(drawn)), "summary": summary(found), "others": others(found)}
