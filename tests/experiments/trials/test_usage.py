"""Series: node utilization over virtual time or over the number of pods that have arrived."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedviz.experiments.results.document import results_of
from schedviz.experiments.trials.series import MAX_POINTS, Series, thinned
from schedviz.experiments.trials.trial_result import TrialResult
from tests.experiments.small_plans import checked, node, pod, results, run, write_cluster


def trial(folder: Path, *objects: dict[str, Any], plan: str = "") -> TrialResult:
    write_cluster(folder, *objects)
    (result,) = run(f"base: {{files: [cluster.json]}}\n{plan}", folder)
    return result


def trial_of_steps(folder: Path, *steps: dict[str, Any]) -> TrialResult:
    (folder / "trace.json").write_text(json.dumps({"format": "schedviz-trace/1", "name": "t", "steps": steps}))
    (result,) = run("base: {files: [trace.json]}", folder)
    return result


def create(obj: dict[str, Any]) -> dict[str, Any]:
    return {"op": "create", "object": obj}


def test_initially_pending_pods_are_counted_as_they_are_tried(tmp_path: Path) -> None:
    result = trial(tmp_path, node("n1"), node("n2"), pod("a"), pod("large", cpu="9"), pod("b", cpu="2"))
    assert result.series_axis == "pods"
    assert result.series["placed"] == Series([0, 1, 2, 3], [0, 1, 1, 2])
    assert result.series["pending"].values == [0, 0, 1, 1]
    assert result.series["nodesUsed"].values == [0, 1, 1, 2]
    assert result.series["utilization.cpu"].values == [0, 0.125, 0.125, 0.375]


def test_initially_bound_pods_count_and_those_of_daemon_sets_use_no_node(tmp_path: Path) -> None:
    result = trial(tmp_path, node("n1"), node("n2"), pod("old", on="n1"), pod("agent", on="n2", owner="DaemonSet"), pod("a"))
    assert result.series["placed"].values == [0, 1]
    assert result.series["nodesUsed"].values[0] == 1
    assert result.series["utilization.cpu"].values == [0.25, 0.375]


def test_a_victim_frees_its_node(tmp_path: Path) -> None:
    result = trial(tmp_path, node("n1", cpu="4"), pod("low", cpu="4", on="n1", priority=1), pod("high", cpu="3", priority=9))
    assert result.series["utilization.cpu"].values == [1, 0.75]
    assert result.series["pending"].values == [0, 0]


def test_the_series_of_a_trace_is_in_virtual_time(tmp_path: Path) -> None:
    result = trial_of_steps(
        tmp_path,
        create(node("n1")),
        create(pod("a")),
        {"op": "cycle"},
        {"op": "advance", "seconds": 10},
        create(node("n2")),
        {"op": "advance", "seconds": 10},
        {"op": "delete", "kind": "Pod", "name": "a"},
        {"op": "advance", "seconds": 10},
    )
    assert result.series_axis == "seconds"
    used = result.series["utilization.cpu"]
    assert used.values == [0, 0, 0, 0.25, 0.125, 0, 0]
    assert used.at[3:] == pytest.approx([0.003, 10, 20, 30], abs=0.1)


def test_pods_of_a_deleted_node_do_not_count(tmp_path: Path) -> None:
    steps = [create(node("n1")), create(node("n2", cpu="8")), create(pod("a", on="n1")), {"op": "delete", "kind": "Node", "name": "n1"}]
    result = trial_of_steps(tmp_path, *steps, create(pod("b", cpu="2")), {"op": "advance", "seconds": 1})
    assert (result.series["utilization.cpu"].values[-1], result.series["nodesUsed"].values[-1]) == (0.25, 1)


def test_a_series_ends_at_the_values_of_the_measures() -> None:
    plan = "base: {generate: {shape: mixed, nodes: 9, pods: 300}}\nvariants: [{name: a}, {name: b, release: v1.36}]"
    for result in run(plan):
        last = {key: series.values[-1] for key, series in result.series.items()}
        assert (last["placed"], last["nodesUsed"]) == (result.values["placed"], result.values["nodesUsed"])
        assert last["pending"] == result.values["pending"]
        assert last["utilization.cpu"] == pytest.approx(result.values["utilization.cpu"], abs=1e-6)
        tried = 300 - result.values.get("pendingReason.scheduling gates", 0)
        assert result.series["placed"].at[-1] == tried
        assert {len(series.at) for series in result.series.values()} == {MAX_POINTS}


def test_points_are_thinned_evenly_and_both_ends_stay() -> None:
    assert thinned(Series([0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]), 3) == Series([0.0, 2.0, 4.0], [5.0, 7.0, 9.0])


def test_results_contain_descriptions_of_their_series() -> None:
    found = results("base: {generate: {shape: basic, nodes: 2, pods: 3}}")
    assert [(each.key, each.unit) for each in found.series] == [
        *((f"utilization.{name}", "share") for name in ("cpu", "memory")),
        ("placed", "pods"),
        ("pending", "pods"),
        ("nodesUsed", "nodes"),
    ]
    assert list(found.trials[0].series) == [each.key for each in found.series]


def test_series_of_many_trials_are_thinned_further_or_omitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedviz.experiments.results.document._MAX_POINTS", 30)
    plan = checked("base: {generate: {shape: basic, nodes: 2, pods: 9}}\nseeds: 2")
    found = [TrialResult(number, series={"placed": Series([*range(20)], [*range(20)])}, series_axis="pods") for number in range(2)]
    assert [len(row.series["placed"].at) for row in results_of(plan.experiment, found).trials] == [15, 15]
    without = results_of(plan.experiment, found, series=False)
    assert ([row.series for row in without.trials], without.series) == ([{}, {}], [])
