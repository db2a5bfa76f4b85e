"""Orphaned pods are collected."""

from __future__ import annotations

from typing import Any


def test_pods_of_a_deleted_node_are_deleted_after_its_quarantine(session: Any, pod: Any) -> None:
    do = session(pod("a", node_name="node1"), pod("b", node_name="node2"))
    do("helper", name="podGc")
    do("delete", kind="Node", name="node1")
    do("advance", seconds=39)
    assert do.names("Pod") == ["a", "b"]
    do("advance", seconds=2)
    assert do.names("Pod") == ["b"]
    assert [item["name"] for item in do.simulation.observed_state()["cache"]["list"]].count("node1") == 0


def test_a_node_that_comes_back_keeps_its_pods(session: Any, pod: Any, node: Any) -> None:
    do = session(pod("a", node_name="node1"))
    do("helper", name="podGc", seconds=5)
    do("delete", kind="Node", name="node1")
    do("create", object=node("node1"))
    do("advance", seconds=10)
    assert do.names("Pod") == ["a"]


def test_a_terminating_pod_that_was_never_bound_is_deleted_at_once(session: Any, pod: Any) -> None:
    do = session(pod("a"))
    do("helper", name="podGc")
    do("delete", kind="Pod", name="a", graceful=True)
    assert do.names("Pod") == []
