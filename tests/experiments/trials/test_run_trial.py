"""A trial is a whole run of the engine, and equal trials have equal results in every process."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from schedviz.experiments.trials.run_trial import TrialStopped, run_trial
from schedviz.experiments.trials.trial_result import TrialResult
from tests.experiments.small_plans import checked, node, pod, run, write_cluster

PLAN = "base: {generate: {shape: mixed, nodes: 6, pods: 40}}\nvariants: [{name: a}, {name: b, release: v1.36}]\nseeds: 2\n"


def comparable(result: TrialResult) -> TrialResult:
    return msgspec.structs.replace(result, volatile={})


def test_trials_are_numbered_variant_by_variant() -> None:
    trials = checked(PLAN).trials
    assert [(trial.number, trial.variant.name, trial.seed) for trial in trials] == [(0, "a", 1), (1, "a", 2), (2, "b", 1), (3, "b", 2)]


@pytest.mark.slow
def test_worker_processes_give_the_same_results_as_the_current_process() -> None:
    assert [comparable(result) for result in run(PLAN, jobs=2)] == [comparable(result) for result in run(PLAN)]


def test_every_pod_is_placed_or_pending() -> None:
    for result in run(PLAN):
        assert result.values["placed"] + result.values["pending"] == 40
        assert len(result.placements) == result.values["placed"]


def test_a_seed_selects_among_tied_nodes() -> None:
    first, second = run("base: {generate: {shape: basic, nodes: 6, pods: 20}}\nseeds: [1, 2]\nseedVaries: [ties]")
    assert first.placements != second.placements


def test_a_seed_selects_among_tied_nodes_in_v1_36_too() -> None:
    plan = "base: {generate: {shape: basic, nodes: 6, pods: 20}}\ncommon: {release: v1.36}\n"
    first, second = run(plan + "seeds: [1, 2]\nseedVaries: [ties]")
    (again, _), (default,) = run(plan + "seeds: [1, 2]\nseedVaries: [ties]"), run(plan)
    assert comparable(first) == comparable(again)
    assert len({tuple(each.placements.items()) for each in (first, second, default)}) == 3


def test_a_seed_can_change_the_order_of_arrival_instead(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1", cpu="2"), *(pod(f"p{number}") for number in range(8)))
    result = run("base: {files: [cluster.json]}\nseeds: 4\nseedVaries: [order]", tmp_path)
    assert len({tuple(result.placements) for result in result}) > 1
    assert {result.values["placed"] for result in result} == {2.0}


def test_pods_that_back_off_after_a_preemption_are_retried(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1", cpu="2"), pod("low", cpu="2", on="n1", priority=1), pod("high", cpu="2", priority=9))
    (result,) = run("base: {files: [cluster.json]}", tmp_path)
    assert result.placements == {"default/high": "n1"}
    assert (result.values["preemptions"], result.values["victims"]) == (1.0, 1.0)
    assert result.ended == "empty"


def test_a_trial_ends_at_its_limits(tmp_path: Path) -> None:
    (result,) = run("base: {generate: {shape: basic, nodes: 2, pods: 9}}\nlimits: {cycles: 4}")
    assert (result.ended, result.cycles) == ("cycles", 4)


def test_a_limit_may_be_larger_than_one_run() -> None:
    (result,) = run("base: {generate: {shape: basic, nodes: 2, pods: 9}}\nlimits: {cycles: 2000000}")
    assert (result.ended, result.cycles) == ("empty", 9)


def test_the_steps_of_a_trace_run_before_the_pods_are_scheduled(tmp_path: Path) -> None:
    steps = [{"op": "create", "object": obj} for obj in (node("n1"), pod("a"))]
    document = {"format": "schedviz-trace/1", "name": "t", "steps": [*steps, {"op": "advance", "seconds": 5}]}
    (tmp_path / "trace.json").write_text(json.dumps(document))
    (result,) = run("base: {files: [trace.json]}", tmp_path)
    assert result.placements == {"default/a": "n1"}
    assert result.values["waiting.max"] == pytest.approx(5, abs=0.1)


def test_a_stopped_trial_has_no_result() -> None:
    plan = checked("base: {generate: {shape: basic, nodes: 5, pods: 300}}")
    with pytest.raises(TrialStopped):
        run_trial(plan.trials[0], plan.base, plan.plan, plan.measures, stop=lambda: True)


def test_a_base_is_unchanged_by_packing_and_unpacking() -> None:
    base = checked(PLAN).base
    assert type(base).unpack(base.pack()) == base
