"""Why a pod of a gang is pending: its group is not complete, or does not fit together."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, do, node, pod

GATES = {"GenericWorkload": True, "GangScheduling": True}
MEMBER = {"schedulingGroup": {"podGroupName": "train"}}


def group(**policy: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"schedulingPolicy": policy or {"gang": {"minCount": 2}}},
    }


def gang(*objects: dict[str, Any], gates: dict[str, bool] = GATES) -> Simulation:
    return cluster(node("n1"), *objects, release="v1.36", feature_gates=gates)


def test_a_pod_whose_group_does_not_exist_is_not_reported_to_fit() -> None:
    explanation = why_pending(gang(pod("p", **MEMBER)), "default/p")
    assert explanation.sentence == "default/p is pending. It is not tried until its pod group default/train exists."
    assert explanation.group_holds_back


def test_a_gang_with_too_few_pods_says_how_many_are_missing() -> None:
    simulation = gang(group(), pod("p", **MEMBER))
    assert why_pending(simulation, "default/p").sentence == (
        "default/p is pending. It is not tried until its pod group default/train has 2 pods; it has 1 now."
    )
    [reason] = overview(simulation).reasons
    assert (reason.reason, reason.placeable) == ("their pod group is incomplete", False)


def test_a_gang_that_does_not_fit_is_not_reported_as_waiting_for_its_attempt() -> None:
    simulation = gang(group(), pod("a", cpu="3", **MEMBER), pod("b", cpu="3", **MEMBER))
    do(simulation, "run")
    explanation = why_pending(simulation, "default/a")
    assert explanation.fits == ("n1",)
    assert explanation.sentence.endswith(
        "It belongs to the pod group default/train, whose pods are scheduled together: at least 2 pods must fit at the same time."
    )
    [reason] = overview(simulation).reasons
    assert reason.reason == "they fit on nodes one by one, but their pod group is scheduled as a whole"
    assert not reason.placeable


@pytest.mark.parametrize(
    "simulation",
    [
        gang(group(basic={}), pod("p", **MEMBER)),
        gang(group(), pod("p", **MEMBER), gates={}),
        gang(group(), pod("p")),
    ],
    ids=["no minimum", "gates off", "no group"],
)
def test_a_pod_that_is_scheduled_alone_has_no_note(simulation: Simulation) -> None:
    assert why_pending(simulation, "default/p").group == ""
