"""A plan is validated completely before anything runs: files, pods, measures, and an engine for each variant."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.validation import estimate
from tests.experiments.small_plans import checked, node, pod, write_cluster


def faults(text: str, folder: Path = Path()) -> list[str]:
    with pytest.raises(PlanError) as caught:
        checked(text, folder)
    return [str(fault) for fault in caught.value.faults]


BASE = "base: {generate: {shape: basic, nodes: 2, pods: 3}}\n"


def test_a_variant_that_its_release_refuses_is_named_with_its_line() -> None:
    (fault,) = faults(BASE + "variants:\n  - name: a\n  - name: gangs\n    release: v1.27.1\n    featureGates: {GangScheduling: true}\n")
    assert fault.startswith("line 7: variants[1].featureGates.GangScheduling: variant 'gangs': kube-scheduler v1.27.1 refuses it: ")


def test_every_refused_variant_is_named() -> None:
    result = faults(BASE + "variants:\n  - {name: a, plugins: {Nothing: true}}\n  - {name: b}\n  - {name: c, plugins: {Else: true}}\n")
    assert [fault.split(": ")[2] for fault in result] == ["variant 'a'", "variant 'c'"]
    assert "Nothing" in result[0]


def test_a_missing_file_is_rejected(tmp_path: Path) -> None:
    assert faults("base: {files: [none.json]}", tmp_path) == [f"line 2: base.files[0]: there is no file {tmp_path / 'none.json'}"]


def test_a_base_without_pending_pods_is_rejected(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1"), pod("a", on="n1"))
    assert "there are no pods to schedule" in faults("base: {files: [cluster.json]}", tmp_path)[0]


def test_bound_pods_can_be_used_as_the_workload(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1"), pod("a", on="n1"), pod("agent", on="n1", owner="DaemonSet"))
    assert checked("base: {files: [cluster.json]}\nworkload: {unbind: true}", tmp_path).base.pending == 1


def test_the_workload_of_another_file_is_added_to_the_base(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1"), pod("a"))
    write_cluster(tmp_path, node("n9"), pod("b", on="n9"), name="more.json")
    found = checked("base: {files: [cluster.json]}\nworkload: {pending: false, files: [more.json]}", tmp_path).base
    assert [obj.key for obj in found.objects] == ["n1", "default/b"]
    assert found.pending == 1


def test_an_unknown_measure_is_rejected_with_the_known_ones() -> None:
    (fault,) = faults(BASE + "measures: [placed, happiness]")
    assert fault.startswith("line 3: measures[1]: there is no measure 'happiness'; there are attempts, ")


def test_a_session_can_be_a_base_only_on_a_server() -> None:
    assert "can be the base of an experiment on a server" in faults("base: {session: abc}")[0]


def test_a_node_without_a_price_is_named(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1"), pod("a"))
    plan = "base: {files: [cluster.json]}\nprices: {perHour: {m5: 1}}"
    expected = "the node n1 has no price: it has no label node.kubernetes.io/instance-type; add it, or a default"
    assert faults(plan, tmp_path) == [f"line 3: prices.perHour: {expected}"]
    assert faults(plan.replace("m5: 1", "m5: free"), tmp_path)[0].startswith("line 3: prices.perHour.m5: expected a number")


def test_an_estimate_counts_all_trials() -> None:
    about = estimate(checked(BASE + "seeds: 4\nvariants: [{name: a}, {name: b}]"))
    assert about.trials == 8
    assert about.seconds == pytest.approx(8 * about.seconds_per_trial)
    assert about.seconds > 0


def test_seeds_that_cannot_change_a_trial_are_rejected() -> None:
    plan = BASE + "seeds: 2\nseedVaries: [times]\n"
    (fault,) = faults(plan)
    assert fault.startswith("line 4: seedVaries: seeds would change nothing in this workload")
    assert fault.endswith("add ties, order, nodes")
    checked(plan + "workload: {lifetimes: {mean: 5}}\n")
