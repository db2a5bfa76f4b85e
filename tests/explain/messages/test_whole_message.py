"""The message of an explanation is the one that the scheduler would write into the pod's condition, preemption's part included."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from schedviz.kube.core import Pod
from schedviz.trace.releases import RELEASES, V1_27, V1_36
from tests.explain.small_clusters import cluster, do, node, pod

CLAIMED = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "missing"}]}


def by_name(name: str) -> dict[str, Any]:
    """The affinity of a DaemonSet's pod."""
    match = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": match}}}


def written(objects: list[dict[str, Any]], release: str) -> str:
    """The condition's message after the pod's cycle."""
    simulation = cluster(*objects, release=release)
    do(simulation, "cycle")
    pod_ = simulation.cluster.find("Pod", "default/p")
    assert isinstance(pod_, Pod)
    return next((condition.message for condition in pod_.status.conditions if condition.type == "PodScheduled"), "")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "objects",
    [
        [node("n1"), node("n2", cordoned=True), pod("full", cpu="4", on="n1"), pod("p")],
        [node("n1"), pod("low", cpu="4", on="n1", priority=-1), pod("p", cpu="5", priority=7)],
        [node("n1"), pod("low", cpu="4", on="n1", priority=-1), pod("p", priority=7)],
        [node("n1"), pod("low", cpu="4", on="n1", priority=-1), pod("p", priority=7, preemptionPolicy="Never")],
        [node("n1"), node("n2"), pod("full", cpu="4", on="n2"), pod("p", affinity=by_name("n2"))],
        [node("n1"), pod("p", affinity=by_name("gone"))],
        [node("n1"), pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}])],
        [pod("p")],
    ],
    ids=["no victims", "too big", "victims", "never", "absent nodes", "absent node", "claim", "no nodes"],
)
def test_the_message_is_the_one_that_a_cycle_writes(objects: list[dict[str, Any]], release: str) -> None:
    assert why_pending(cluster(*objects, release=release), "default/p").message == written(objects, release) != ""


def test_nodes_that_pre_filter_leaves_out_are_a_clause_of_v1_36_only() -> None:
    objects = [node("n1"), node("n2"), pod("full", cpu="4", on="n2"), pod("p", affinity=by_name("n2"))]
    left_out = "1 node(s) didn't satisfy plugin(s) [NodeAffinity]"

    assert left_out in why_pending(cluster(*objects, release=V1_36), "default/p").message
    assert left_out not in why_pending(cluster(*objects, release=V1_27), "default/p").message


@pytest.mark.parametrize("release", RELEASES)
def test_explaining_preemption_evicts_no_pod(release: str) -> None:
    simulation = cluster(node("n1"), pod("low", cpu="4", on="n1", priority=-1), pod("p", priority=7), release=release)
    before = list(simulation.stored_objects())

    first = why_pending(simulation, "default/p")

    assert list(simulation.stored_objects()) == before
    assert not simulation.scheduler.preemptions.running
    assert why_pending(simulation, "default/p") == first
    do(simulation, "cycle")
    assert why_pending(simulation, "default/p").node == "n1"


def test_the_overview_does_not_try_preemption() -> None:
    simulation = cluster(node("n1"), pod("full", cpu="4", on="n1"), pod("p"))
    [reason] = overview(simulation).reasons

    assert reason.groups[0].message == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_pod_that_waits_for_its_claim_to_exist_is_not_tried() -> None:
    simulation = cluster(node("n1"), pod("p", **CLAIMED), release=V1_36)
    explanation = why_pending(simulation, "default/p")

    assert explanation.standing == "gated"
    assert explanation.message == ""
    assert explanation.sentence == (
        "default/p is pending. The scheduler does not try it: DynamicResources holds it because a claim of the pod does not exist yet."
    )
    [reason] = overview(simulation).reasons
    assert reason.reason == "held back by DynamicResources"
    assert reason.groups[0].detail == 'could not find ResourceClaim "default/missing"'


def test_the_message_about_gates_is_that_of_the_api_server() -> None:
    gated = pod("p", schedulingGates=[{"name": "quota"}])
    gated["status"]["conditions"] = [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
    ]
    explanation = why_pending(cluster(node("n1"), gated, release=V1_36), "default/p")

    assert explanation.message == explanation.said
    assert explanation.disagreement == ""


def test_a_gated_pod_that_fits_on_a_node_has_only_its_gate_as_reason() -> None:
    gated = pod("p", cpu="2", schedulingGates=[{"name": "quota"}])
    explanation = why_pending(cluster(node("n1"), node("n2"), pod("a", cpu="3", on="n2"), gated), "default/p")

    assert explanation.fits == ("n1",)
    assert explanation.clauses == ()


def test_a_gated_pod_that_fits_on_no_node_has_the_reasons_that_remain_without_the_gate() -> None:
    gated = pod("p", cpu="8", schedulingGates=[{"name": "quota"}])
    explanation = why_pending(cluster(node("n1"), gated), "default/p")

    assert [clause.reason for clause in explanation.clauses] == ["Insufficient cpu"]


def test_without_its_claims_a_pod_that_its_scheduler_tried_does_not_count_as_gated() -> None:
    tried = pod("p", **CLAIMED)
    message = "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, preemption: 0/1 nodes are available: 1 No."
    tried["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]
    explanation = why_pending(cluster(node("n1"), tried, release=V1_36), "default/p")

    assert explanation.lacks == "ResourceClaim"
    assert "the only node does not have enough free devices for the pod's claims" in explanation.sentence
    assert (explanation.standing, explanation.advice) == ("pending", "")
