"""How many copies fit, on which nodes, and what prevents the next."""

from __future__ import annotations

import pytest

from schedviz.explain.what_if import what_if
from schedviz.kube import codec
from schedviz.kube.core import Pod
from tests.explain.small_clusters import cluster, node, pod


def a_pod(**members: object) -> Pod:
    made = codec.from_dict(pod("copy", **members))  # type: ignore[arg-type]
    assert isinstance(made, Pod)
    return made


def test_copies_are_placed_until_no_node_has_room() -> None:
    answer = what_if(cluster(node("n1", cpu="2"), node("n2", cpu="1")), a_pod(), 10)
    assert (answer.placed, answer.remaining) == (3, 7)
    assert answer.nodes == {"n1": 2, "n2": 1}
    assert answer.outcome == "unschedulable"
    assert answer.message.startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_copies_stop_at_the_requested_number() -> None:
    answer = what_if(cluster(node("n1")), a_pod(), 2)
    assert (answer.placed, answer.remaining, answer.message) == (2, 0, "")


def test_no_copy_is_placed_by_preemption_and_pods_that_wait_stay_out_of_it() -> None:
    simulation = cluster(node("n1", cpu="2"), pod("low", on="n1", priority=0), pod("waits", priority=5))
    answer = what_if(simulation, a_pod(priority=100), 5)
    assert (answer.placed, answer.nodes) == (1, {"n1": 1})
    assert answer.message == ("0/1 nodes are available: 1 Insufficient cpu. Preemption would make room on n1; what-if does not count it.")


NEVER = "not eligible due to preemptionPolicy=Never."


@pytest.mark.parametrize("members", [{"preemptionPolicy": "Never"}, {"priorityClassName": "patient"}])
def test_a_never_preemption_policy_is_reported_for_pod_or_class(members: dict[str, str]) -> None:
    patient = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "patient"},
        "value": 1000,
        "preemptionPolicy": "Never",
    }
    simulation = cluster(patient, node("n1", cpu="1"), pod("low", on="n1", priority=0))
    assert NEVER in what_if(simulation, a_pod(**members), 1).message


@pytest.mark.parametrize(
    ("copy", "config", "reason"),
    [
        ({}, None, "1 No preemption victims found for incoming pod.."),
        ({"priority": 5, "preemptionPolicy": "PreemptLowerPriority"}, None, "1 No preemption victims found for incoming pod.."),
        ({"priority": 100, "cpu": "8"}, None, "1 Insufficient cpu.."),
        ({"priority": 100, "nodeSelector": {"disk": "ssd"}}, None, "1 Preemption is not helpful for scheduling.."),
        ({"priority": 100}, {"profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}]}, ""),
    ],
)
def test_the_actual_reason_why_preemption_does_not_help_is_reported(
    copy: dict[str, object], config: dict[str, object] | None, reason: str
) -> None:
    simulation = cluster(node("n1", cpu="1"), pod("other", on="n1", priority=10), config=config)
    answer = what_if(simulation, a_pod(**copy), 1)
    assert answer.placed == 0
    assert NEVER not in answer.message
    _, _, preemption = answer.message.partition("preemption: ")
    assert preemption.endswith(reason)
    assert bool(preemption) == bool(reason)


def test_a_nomination_of_the_template_is_part_of_its_past() -> None:
    made = pod("copy", priority=100)
    made["status"] = {"phase": "Pending", "nominatedNodeName": "n1"}
    nominated = codec.from_dict(made)
    assert isinstance(nominated, Pod)
    answer = what_if(cluster(node("n1", cpu="1"), pod("equal", on="n1", priority=100)), nominated, 1)
    assert "No preemption victims found" in answer.message


@pytest.mark.parametrize(
    ("victims", "reason"),
    [([], "what-if does not count it."), (["n1"], "preemption: expected at least one victim")],
)
def test_an_extender_with_a_preempt_verb_is_asked(victims: list[str], reason: str) -> None:
    answers = [{"name": "e1", "weight": 1, "preemptVerb": True, "preempt": {"noVictims": victims}}]
    simulation = cluster(node("n1", cpu="1"), pod("low", on="n1", priority=0), fake_extenders=answers)
    answer = what_if(simulation, a_pod(priority=100), 1)
    assert NEVER not in answer.message
    assert reason in answer.message


def test_a_bound_pod_can_be_the_template() -> None:
    assert what_if(cluster(node("n1", cpu="3")), a_pod(on="n1"), 5).placed == 3


def test_what_if_reports_a_gated_pod() -> None:
    answer = what_if(cluster(node("n1")), a_pod(schedulingGates=[{"name": "quota"}]), 1)
    assert (answer.placed, answer.outcome) == (0, "gated")
    assert "quota" in answer.message


def test_what_if_reports_the_plugin_that_gates_a_pod_without_gates() -> None:
    claims = [{"name": "gpu", "resourceClaimName": "none"}]
    answer = what_if(cluster(node("n1"), release="v1.36"), a_pod(resourceClaims=claims), 1)
    assert (answer.placed, answer.outcome) == (0, "gated")
    assert answer.message.startswith("default/copy is not tried: DynamicResources: ")
    assert "default/none" in answer.message

    answer = what_if(cluster(node("n1")), a_pod(schedulerName="other"), 1)
    assert answer.message == 'default/copy is not tried: no profile is called "other"'


@pytest.mark.parametrize("copies", [0, 10_001])
def test_the_number_of_copies_has_limits(copies: int) -> None:
    with pytest.raises(ValueError, match="expected a number from 1 to 10,000"):
        what_if(cluster(node("n1")), a_pod(), copies)
