"""Nodes are removed, copied and resized; pods of removed nodes become pending."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.inputs.nodes import with_nodes
from schedviz.experiments.plans.plan import AddedNodes, NodesPatch
from schedviz.kube.codec import from_dict
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from tests.experiments.small_plans import node, pod

CLUSTER = [
    node("n1"),
    node("n2", cpu="8"),
    pod("web", on="n1"),
    pod("agent", on="n1", owner="DaemonSet"),
    pod("db", on="n2"),
    pod("waits"),
]


def changed(patch: NodesPatch) -> list[KubeObject]:
    return with_nodes([from_dict(obj) for obj in CLUSTER], patch, path="variants[0]")


def nodes(patch: NodesPatch) -> dict[str, Any]:
    return {obj.name: str(obj.status.allocatable["cpu"]) for obj in changed(patch) if isinstance(obj, Node)}


def pods(patch: NodesPatch) -> dict[str, str]:
    return {obj.name: obj.spec.node_name for obj in changed(patch) if isinstance(obj, Pod)}


def test_an_empty_nodes_patch_changes_nothing() -> None:
    assert [obj.key for obj in changed(NodesPatch())] == [from_dict(obj).key for obj in CLUSTER]


def test_pods_of_a_removed_node_become_pending_last_and_its_daemon_set_pods_are_removed() -> None:
    assert list(pods(NodesPatch(remove=["n1"])).items()) == [("db", "n2"), ("waits", ""), ("web", "")]


def test_a_smaller_count_keeps_the_first_nodes() -> None:
    assert nodes(NodesPatch(count=1)) == {"n1": "4"}


def test_a_larger_count_copies_nodes_in_turn() -> None:
    assert nodes(NodesPatch(count=5)) == {"n1": "4", "n2": "8", "n1-copy-2": "4", "n2-copy-2": "8", "n1-copy-3": "4"}


def test_a_copy_has_its_own_name_as_hostname() -> None:
    copy = next(obj for obj in changed(NodesPatch(add=[AddedNodes(like="n2")])) if obj.name == "n2-copy-2")
    assert copy.metadata.labels["kubernetes.io/hostname"] == "n2-copy-2"


def test_a_removed_node_can_still_be_copied_to_replace_a_shape() -> None:
    assert nodes(NodesPatch(remove=["n1"], add=[AddedNodes(like="n1", count=2)])) == {"n2": "8", "n1-copy-2": "4", "n1-copy-3": "4"}


def test_amounts_replace_those_of_every_node() -> None:
    assert nodes(NodesPatch(allocatable={"cpu": 16})) == {"n1": "16", "n2": "16"}


@pytest.mark.parametrize(
    ("patch", "path"),
    [
        (NodesPatch(remove=["n1", "n9"]), "variants[0].nodes.remove[1]"),
        (NodesPatch(add=[AddedNodes(like="n9")]), "variants[0].nodes.add[0].like"),
        (NodesPatch(allocatable={"cpu": "many"}), "variants[0].nodes.allocatable.cpu"),
    ],
)
def test_an_impossible_change_is_rejected_with_its_path(patch: NodesPatch, path: str) -> None:
    with pytest.raises(PlanError) as caught:
        changed(patch)
    assert [fault.path for fault in caught.value.faults] == [path]


def test_the_time_per_copy_does_not_grow_with_the_number_of_copies() -> None:
    # With a search for a free name from the beginning, this would take five billion steps.
    found = nodes(NodesPatch(count=100_000))
    assert len(found) == 100_000
    assert "n1-copy-50000" in found


def test_copies_do_not_reuse_existing_names() -> None:
    existing = [from_dict(each) for each in (node("n1"), node("n1-copy-2"))]
    found = with_nodes(existing, NodesPatch(add=[AddedNodes("n1", 2)]), path="variants[0]")
    assert [obj.name for obj in found] == ["n1", "n1-copy-2", "n1-copy-3", "n1-copy-4"]


def test_a_negative_amount_is_rejected() -> None:
    with pytest.raises(PlanError, match=r"variants\[0\]\.nodes\.allocatable\.cpu: expected an amount of 0 or more, found -5"):
        changed(NodesPatch(allocatable={"cpu": -5}))
