"""How many copies fit, where, and what stops the next."""

from __future__ import annotations

import pytest
from explain_clusters import cluster, node, pod

from schedviz.explain import what_if
from schedviz.kube import codec
from schedviz.kube.core import Pod


def a_pod(**members: object) -> Pod:
    made = codec.from_dict(pod("copy", **members))  # type: ignore[arg-type]
    assert isinstance(made, Pod)
    return made


def test_copies_go_where_there_is_room_until_there_is_none() -> None:
    found = what_if(cluster(node("n1", cpu="2"), node("n2", cpu="1")), a_pod(), 10)
    assert (found.placed, found.remaining) == (3, 7)
    assert found.nodes == {"n1": 2, "n2": 1}
    assert found.outcome == "unschedulable"
    assert found.message.startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_copies_stop_at_the_number_that_was_asked_for() -> None:
    found = what_if(cluster(node("n1")), a_pod(), 2)
    assert (found.placed, found.remaining, found.message) == (2, 0, "")


def test_copies_evict_nobody_and_pods_that_wait_stay_out_of_it() -> None:
    simulation = cluster(node("n1", cpu="2"), pod("low", on="n1", priority=0), pod("waits", priority=5))
    found = what_if(simulation, a_pod(priority=100), 5)
    assert found.placed == 1
    assert simulation.cluster.find("Pod", "default/low") is not None


def test_a_bound_pod_can_be_the_template() -> None:
    assert what_if(cluster(node("n1", cpu="3")), a_pod(on="n1"), 5).placed == 3


def test_a_gated_pod_is_told_to_be_held_back() -> None:
    found = what_if(cluster(node("n1")), a_pod(schedulingGates=[{"name": "quota"}]), 1)
    assert (found.placed, found.outcome) == (0, "gated")
    assert "quota" in found.message


@pytest.mark.parametrize("copies", [0, 10_001])
def test_the_number_of_copies_has_limits(copies: int) -> None:
    with pytest.raises(ValueError, match="expected a number from 1 to 10,000"):
        what_if(cluster(node("n1")), a_pod(), copies)
