"""Capacity, on clusters small enough to count by hand."""

from __future__ import annotations

from typing import Any

from schedviz.engine import SimulationSettings
from schedviz.experiments.capacity.fit import fit
from schedviz.experiments.capacity.losses import losses
from schedviz.experiments.capacity.minimum_nodes import drain_order, minimum_nodes
from schedviz.experiments.inputs.base_cluster import BaseCluster, with_unbound_pods
from schedviz.kube.codec import from_dict
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from tests.experiments.small_plans import node, pod


def base(*objects: dict[str, Any]) -> BaseCluster:
    return BaseCluster([default_object(from_dict(obj)) for obj in objects], SimulationSettings())


def template(**members: Any) -> Pod:
    result = default_object(from_dict(pod("template", **members)))
    assert isinstance(result, Pod)
    return result


def test_copies_are_counted_until_one_does_not_fit() -> None:
    result = fit(base(node("n1", cpu="4"), node("n2", cpu="2"), pod("there", on="n1"), pod("waits", cpu="9")), template(cpu="1"))
    assert (result.placed, result.nodes, result.is_limited) == (5, {"n2": 2, "n1": 3}, False)
    assert result.message.startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_a_reached_limit_is_reported() -> None:
    assert fit(base(node("n1", cpu="4")), template(cpu="1"), limit=2).is_limited


def test_the_emptiest_nodes_are_drained_first_and_daemon_sets_do_not_count() -> None:
    cluster = base(
        node("n1"), node("n2"), node("n3"), pod("a", cpu="3", on="n1"), pod("b", on="n2"), pod("agent", cpu="4", on="n3", owner="DaemonSet")
    )
    assert drain_order(cluster) == ["n3", "n2", "n1"]


def test_the_fewest_nodes_hold_all_pods_and_the_next_removal_is_explained() -> None:
    cluster = base(
        *(node(f"n{number}", cpu="4") for number in range(1, 6)), *(pod(f"p{number}", cpu="2", on=f"n{number}") for number in range(1, 6))
    )
    result = minimum_nodes(cluster)
    assert (result.nodes, result.needed, result.removable) == (5, 3, ["n1", "n2"])
    assert result.blocking_pods == {"default/p3": "Insufficient cpu"}


def test_pods_that_were_pending_before_do_not_prevent_the_removal_of_a_node() -> None:
    result = minimum_nodes(base(node("n1"), node("n2"), pod("huge", cpu="99"), pod("a", on="n2")))
    assert (result.needed, result.removable, result.pending_before) == (1, ["n1"], 1)


def test_trying_each_node_individually_finds_a_removable_node_that_draining_in_order_misses() -> None:
    # n1 is the emptiest, but its pod fits nowhere else; n2 and n3 can share a node.
    pinned = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    cluster = base(
        node("n1"),
        node("n2"),
        node("n3"),
        pod("pinned", cpu="1", on="n1", **pinned),
        pod("b", cpu="2", on="n2"),
        pod("c", cpu="2", on="n3"),
    )
    assert minimum_nodes(cluster).needed == 3
    result = minimum_nodes(cluster, greedy=True)
    assert (result.needed, len(result.removable)) == (2, 1)


def test_repacking_can_need_fewer_nodes_than_draining() -> None:
    big = [pod(f"big{number}", cpu="3", on=f"n{number}") for number in (1, 2)]
    small = [pod("s1", cpu="1", on="n3"), pod("s2", cpu="1", on="n3")]
    cluster = base(node("n1"), node("n2"), node("n3"), *big, *small)
    assert minimum_nodes(cluster).needed == 2
    assert minimum_nodes(with_unbound_pods(cluster)).needed == 2


def test_a_node_can_be_lost_if_its_pods_fit_elsewhere() -> None:
    cluster = base(node("n1", cpu="4"), node("n2", cpu="2"), pod("a", cpu="2", on="n1"), pod("b", cpu="1", on="n2"))
    assert {loss.name: loss.pending for loss in losses(cluster)} == {"n1": {"default/a": "Insufficient cpu"}, "n2": {}}


def test_a_zone_is_lost_with_all_its_nodes() -> None:
    cluster = base(node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"), pod("x", cpu="3", on="n1"), pod("y", cpu="3", on="n2"))
    results = {loss.name: (loss.nodes, len(loss.pending)) for loss in losses(cluster, zones=True)}
    assert results == {"a": (["n1", "n2"], 1), "b": (["n3"], 0)}


def test_an_evicted_pod_is_lost() -> None:
    cluster = base(
        node("n1", cpu="2"), node("n2", cpu="2"), pod("high", cpu="2", on="n1", priority=9), pod("low", cpu="2", on="n2", priority=0)
    )
    assert next(losses(cluster)).pending == {"default/low": "evicted for another pod"}
