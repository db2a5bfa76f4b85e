"""A workload with a given load: copies of drawn pods are added, or drawn pods are omitted."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.inputs.trial_inputs import objects_of_trial
from schedviz.kube.core import Node, Pod
from tests.experiments.small_plans import checked, node, pod, run, write_cluster


def pods_of(folder: Path, share: float, *, seed: int = 1, more: str = "") -> list[str]:
    write_cluster(folder, node("n1", cpu="10"), *(pod(f"p{number}", cpu="2") for number in range(4)))
    plan = checked(f"base: {{files: [cluster.json]}}\nworkload: {{load: {{resource: cpu, share: {share}}}{more}}}\nseeds: [{seed}]", folder)
    objects = objects_of_trial(plan.trials[0], plan.base, plan.plan)
    return [obj.name for obj in objects if isinstance(obj, Pod)]


def test_copies_are_added_after_the_pods_until_the_next_one_would_exceed_the_load(tmp_path: Path) -> None:
    names = pods_of(tmp_path, 1.5)
    assert sorted(names[:4]) == ["p0", "p1", "p2", "p3"]
    assert [name.rpartition("-drawn-")[2] for name in names[4:]] == ["1", "2", "3"]


def test_pods_beyond_the_load_are_omitted(tmp_path: Path) -> None:
    names = pods_of(tmp_path, 0.5)
    assert len(names) == 2
    assert {name[:2] for name in names} < {"p0", "p1", "p2", "p3"}


def test_different_seeds_draw_different_pods(tmp_path: Path) -> None:
    assert len({tuple(sorted(pods_of(tmp_path, 3, seed=seed))) for seed in range(1, 4)}) > 1
    assert pods_of(tmp_path, 3) == pods_of(tmp_path, 3)


def test_a_resource_that_no_pod_requests_is_rejected(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1"), pod("a"))
    with pytest.raises(
        PlanError, match=r"line 3: workload\.load\.resource: .*cannot reach a share of 'gpu': no pod of the workload requests"
    ):
        checked("base: {files: [cluster.json]}\nworkload: {load: {resource: gpu, share: 1}}", tmp_path)


def test_a_load_of_too_many_pods_is_rejected(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1", cpu="100000"), pod("a", cpu="1m"))
    with pytest.raises(PlanError, match=r"line 3: workload\.load\.share: .*more than 200,000 pods would be added"):
        checked("base: {files: [cluster.json]}\nworkload: {load: {resource: cpu, share: 1000}}", tmp_path)


def test_all_pending_pods_can_be_given_the_same_priority(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1"), pod("low", priority=1), pod("high", priority=9), pod("bound", on="n1", priority=5))
    base = checked("base: {files: [cluster.json]}\nworkload: {priority: 0}", tmp_path).base
    assert [obj.spec.priority for obj in base.objects if isinstance(obj, Pod)] == [0, 0, 5]


def test_the_first_of_tied_nodes_depends_on_the_order_of_the_nodes(tmp_path: Path) -> None:
    write_cluster(tmp_path, *(node(f"n{number}") for number in range(5)), pod("a"))
    text = "base: {files: [cluster.json]}\ncommon: {ties: first}\nseeds: 6\nseedVaries: "
    assert {tuple(result.placements.values()) for result in run(text + "[order, ties]", tmp_path)} == {("n0",)}
    assert len({tuple(result.placements.values()) for result in run(text + "[nodes]", tmp_path)}) > 1


def test_a_seed_changes_the_order_of_nodes_and_not_the_nodes(tmp_path: Path) -> None:
    write_cluster(tmp_path, *(node(f"n{number}") for number in range(5)), pod("a"))
    plan = checked("base: {files: [cluster.json]}\nseeds: 1\nseedVaries: [nodes]", tmp_path)
    names = [obj.name for obj in objects_of_trial(plan.trials[0], plan.base, plan.plan) if isinstance(obj, Node)]
    assert names != sorted(names)
    assert sorted(names) == ["n0", "n1", "n2", "n3", "n4"]


def test_a_variant_can_select_among_tied_nodes_at_random(tmp_path: Path) -> None:
    write_cluster(tmp_path, *(node(f"n{number}") for number in range(5)), *(pod(f"p{number}") for number in range(5)))
    text = "base: {files: [cluster.json]}\nvariants: [{name: first, ties: first}, {name: random, ties: random}]\nseeds: 3"
    found = run(f"{text}\nseedVaries: [order]", tmp_path)
    assert len({tuple(result.placements.items()) for result in found[3:]}) > 1
