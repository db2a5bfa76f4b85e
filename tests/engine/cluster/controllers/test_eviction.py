"""Evictions respect disruption budgets."""

from __future__ import annotations

from typing import Any

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def _running(made: dict[str, Any], **owner: Any) -> dict[str, Any]:
    made["metadata"]["labels"] = {"app": "web"}
    made["status"] = READY
    if owner:
        made["metadata"]["ownerReferences"] = [{"controller": True, **owner}]
    return made


def _budget(name: str = "b", allowed: int = 1) -> dict[str, Any]:
    return {
        "kind": "PodDisruptionBudget",
        "apiVersion": "policy/v1",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2},
    }


def test_a_budget_is_spent_and_then_refuses(session: Any, pod: Any) -> None:
    do = session(_running(pod("a", node_name="node1")), _running(pod("b", node_name="node1")))
    do("create", object=_budget())
    assert do("evict", pod="default/a") == ""
    assert do.names("Pod") == ["b"]
    refused = do("evict", pod="default/b")
    assert refused.startswith("Cannot evict pod as it would violate the pod's disruption budget.")
    assert refused.endswith("The disruption budget b needs 1 healthy pods and has 2 currently")
    assert do.names("Pod") == ["b"]
    do("helper", name="pdbStatus")
    assert do("evict", pod="default/b").endswith("needs 1 healthy pods and has 1 currently")


def test_a_pod_with_two_budgets_is_not_evicted(session: Any, pod: Any) -> None:
    do = session(_running(pod("a", node_name="node1")))
    do("create", object=_budget("b"))
    do("create", object=_budget("c"))
    assert do("evict", pod="default/a").startswith("This pod has more than one PodDisruptionBudget")


def test_the_eviction_of_a_pod_that_does_not_run_costs_no_disruption(session: Any, pod: Any) -> None:
    waiting = pod("a")
    waiting["metadata"]["labels"] = {"app": "web"}
    do = session(waiting)
    do("create", object=_budget(allowed=0))
    assert do("evict", pod="default/a") == ""
    assert do("evict", pod="default/a") == 'pods "a" not found'


def test_with_a_kubelet_the_pod_has_its_grace_period(session: Any, pod: Any) -> None:
    do = session(_running(pod("a", node_name="node1")))
    do("helper", name="kubelet")
    do("evict", pod="default/a")
    evicted = do.get("Pod", "default/a")
    assert [condition.reason for condition in evicted.status.conditions if condition.type == "DisruptionTarget"] == [
        "EvictionByEvictionAPI"
    ]
    assert evicted.metadata.deletion_timestamp is not None
    do("advance", seconds=31)
    assert do.names("Pod") == []


def test_draining_cordons_the_node_and_evicts_the_pods_that_budgets_allow(session: Any, pod: Any) -> None:
    do = session(
        _running(pod("a", node_name="node1")),
        _running(pod("b", node_name="node1")),
        _running(pod("d", node_name="node1"), kind="DaemonSet", name="d", uid="d"),
        pod("elsewhere", node_name="node2"),
    )
    do("create", object=_budget())
    outcome = do("drain", node="node1")
    assert outcome.startswith("1 of the pods of node1 stay, drain it again when they may go. default/b: Cannot evict pod")
    assert do.names("Pod") == ["b", "d", "elsewhere"]
    assert do.get("Node", "node1").spec.unschedulable
    assert do("drain", node="nobody") == 'nodes "nobody" not found'
