"""Pods that no change of a node can help are counted by their reason, in both releases."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.sessions.metrics.blocked_pods import CLAIM_LOST, CLAIM_MISSING, POD_GROUP, RESOURCE_CLAIM, SCHEDULING_GATES
from schedviz.sessions.metrics.definitions import BLOCKED_PODS
from schedviz.sessions.metrics.gauges import read_gauges
from schedviz.sessions.metrics.metric_values import Labels
from schedviz.trace.releases import RELEASES, V1_36
from tests.engine.clusters import do, four_nodes, pod

CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def blocked_pods(simulation: Simulation) -> dict[Labels, float]:
    return read_gauges(simulation)[BLOCKED_PODS.name]


def with_claim(name: str) -> dict[str, Any]:
    made = pod(name)
    made["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    return made


@pytest.mark.parametrize("release", RELEASES)
def test_a_missing_or_lost_claim_or_a_gate_blocks_a_pod_and_insufficient_capacity_does_not(release: str) -> None:
    gated = pod("gated")
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    simulation = four_nodes(pod("large", cpu="99"), gated, with_claim("web"), release=release)

    assert blocked_pods(simulation) == {(SCHEDULING_GATES,): 1, (CLAIM_MISSING,): 1}
    do(simulation, "create", object=CLAIM | {"status": {"phase": "Lost"}})
    assert blocked_pods(simulation)[(CLAIM_LOST,)] == 1
    do(simulation, "update", object=CLAIM | {"status": {"phase": "Pending"}})
    assert blocked_pods(simulation) == {(SCHEDULING_GATES,): 1}


def test_a_missing_resource_claim_or_pod_group_blocks_a_pod_of_v1_36() -> None:
    wants, member = pod("wants"), pod("member")
    wants["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    member["spec"]["schedulingGroup"] = {"podGroupName": "gang"}
    gates = {"GenericWorkload": True, "GangScheduling": True}
    simulation = four_nodes(wants, member, release=V1_36, feature_gates=gates)

    assert blocked_pods(simulation) == {(RESOURCE_CLAIM,): 1, (POD_GROUP,): 1}
