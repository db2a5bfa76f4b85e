"""The case of the lesson nominated-for-ever in v1.18: an extender filters, but has no preempt verb.

The pod is nominated to a node on which it can never run.
"""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.trace.policies import Policies
from tests.engine.clusters import do, node, objects, pod

#: The nodes that have room, in another subnet than the pod's.
NODES = (
    "188.10.151.196",
    "132.10.134.108",
    "132.10.134.193",
    "191.10.151.38",
    "132.10.134.212",
    "190.10.151.195",
    "190.10.151.202",
)
SUBNET_FULL = "132.10.134.1"


def incident(preemption: str, *, preempt_verb: bool = False, **settings: Any) -> Simulation:
    """Seven nodes with room that the extender rejects, and the pod's own node, which is full."""
    extender: dict[str, Any] = {"name": "ipam", "filterVerb": True, "filter": {"allowNodes": [SUBNET_FULL], "reason": "subnet not match"}}
    if preempt_verb:
        extender |= {"preemptVerb": True, "preempt": {"allowNodes": []}}
    simulation = Simulation(
        SimulationSettings(fake_extenders=[extender], policies=Policies(preemption=preemption), **settings)  # type: ignore[arg-type]
    )
    big = [node(name, cpu="98") for name in NODES]
    simulation.load(objects(*big, node(SUBNET_FULL, cpu="60"), pod("other", cpu="53", node_name=SUBNET_FULL)))
    do(simulation, "create", object=pod("test-pod-hgfmk", cpu="53"))
    return simulation


def nominated(simulation: Simulation) -> str:
    stored = simulation.cluster.store.get("Pod", "default/test-pod-hgfmk")
    assert stored is not None
    return stored.status.nominated_node_name  # type: ignore[attr-defined,no-any-return]


def attempt(simulation: Simulation) -> dict[str, Any]:
    simulation.records = "full"
    do(simulation, "cycle")
    assert simulation.last_cycle is not None
    return simulation.last_cycle


def test_v1_18_nominates_the_pod_to_a_node_without_victims() -> None:
    simulation = incident("v1.18")

    cycle = attempt(simulation)

    assert cycle["outcome"] == "unschedulable"
    assert cycle["message"] == "0/8 nodes are available: 1 Insufficient cpu, 7 subnet not match."
    assert nominated(simulation) == NODES[0]
    assert [candidate["node"] for candidate in cycle["postFilter"]["candidates"]] == list(NODES)
    assert all(candidate["victims"] == [] for candidate in cycle["postFilter"]["candidates"])
    assert cycle["postFilter"]["afterExtenders"] == list(NODES)


def test_the_pod_stays_pending_with_its_nomination_at_every_attempt() -> None:
    simulation = incident("v1.18", pod_max_in_unschedulable_seconds=60)

    for _ in range(3):
        attempt(simulation)
        assert nominated(simulation) == NODES[0]
        do(simulation, "advance", seconds=120)

    assert simulation.cluster.store.get("Pod", "default/other") is not None
    assert simulation.cycle == 3


def test_v1_27_rejects_nodes_without_victims() -> None:
    simulation = incident("v1.27")

    cycle = attempt(simulation)

    assert nominated(simulation) == ""
    assert "preemption: 0/8 nodes are available: 8 No preemption victims found for incoming pod." in cycle["message"]


def test_with_a_preempt_verb_the_extender_removes_the_nodes() -> None:
    simulation = incident("v1.18", preempt_verb=True)

    cycle = attempt(simulation)

    assert nominated(simulation) == ""
    assert cycle["postFilter"]["afterExtenders"] == []


@pytest.mark.parametrize("preemption", ["v1.18", "v1.27"])
def test_victims_are_evicted_if_they_are_needed(preemption: str) -> None:
    simulation = Simulation(SimulationSettings(policies=Policies(preemption=preemption)))  # type: ignore[arg-type]
    simulation.load(objects(node("a", cpu="2"), pod("low", cpu="2", node_name="a", priority=1), pod("high", cpu="2", priority=10)))

    cycle = attempt(simulation)

    assert cycle["postFilter"]["candidates"] == [{"node": "a", "victims": ["default/low"], "numPDBViolations": 0}]
    assert simulation.cluster.store.get("Pod", "default/low") is None


def test_a_restored_engine_preempts_identically() -> None:
    simulation = incident("v1.18")
    again = Simulation.restore(simulation.checkpoint())

    attempt(simulation)
    attempt(again)

    assert again.state_hash() == simulation.state_hash()
    assert nominated(again) == NODES[0]
