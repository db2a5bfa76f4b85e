"""Unhealthy conditions and cordoning become taints."""

from __future__ import annotations

from typing import Any


def _taints(do: Any, name: str) -> list[str]:
    return [f"{taint.key}:{taint.effect}" for taint in do.get("Node", name).spec.taints]


def test_cordoning_adds_a_taint_and_uncordoning_removes_it(session: Any) -> None:
    do = session()
    do("cordon", node="node1")
    assert _taints(do, "node1") == []
    do("helper", name="nodeLifecycle")
    assert _taints(do, "node1") == ["node.kubernetes.io/unschedulable:NoSchedule"]
    assert do("cordon", node="node1") == "node node1 is already cordoned"
    do("cordon", node="node1", on=False)
    assert _taints(do, "node1") == []


def test_condition_taints_are_added_to_other_taints(session: Any, node: Any) -> None:
    do = session()
    do("helper", name="nodeLifecycle")
    broken = node("node2", taints=[{"key": "mine", "effect": "NoSchedule"}])
    broken["status"]["conditions"] = [{"type": "Ready", "status": "False"}, {"type": "DiskPressure", "status": "True"}]
    do("update", object=broken)
    assert _taints(do, "node2") == [
        "mine:NoSchedule",
        "node.kubernetes.io/not-ready:NoSchedule",
        "node.kubernetes.io/disk-pressure:NoSchedule",
    ]
    broken["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    do("update", object=broken)
    assert _taints(do, "node2") == ["mine:NoSchedule", "node.kubernetes.io/unreachable:NoSchedule"]
