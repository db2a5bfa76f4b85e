"""The events that an update of a pod or a node is, in v1.36. The results were compared with those of the real scheduler."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.features import V1_36_GATES, features_of
from schedviz.engine.framework.pod_info_v1_36 import pod_info_class
from schedviz.engine.queue.v1_36.cluster_events import node_scheduling_properties_change, pod_scheduling_properties_change
from schedviz.kube import codec
from schedviz.kube.core import Node, Pod

FEATURES = features_of(V1_36_GATES, {})


def changes_of_pod(before: dict[str, Any], after: dict[str, Any], **gates: bool) -> list[str]:
    """The events of an update of a pod's spec."""
    features = features_of(V1_36_GATES, gates)
    pods = []
    for spec in (before, after):
        pod = codec.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n", **spec}})
        assert isinstance(pod, Pod)
        pods.append(pod_info_class(features)(pod))
    old, new = pods
    return [event.label for event in pod_scheduling_properties_change(new, old, features)]


def requesting(**amounts: str) -> dict[str, Any]:
    return {"containers": [{"name": "c", "resources": {"requests": amounts}}]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"cpu": "1"}, {"cpu": "500m"}),
        ({"cpu": "1", "memory": "0"}, {"cpu": "1"}),
        ({"memory": "1"}, {"memory": "100m"}),
        ({"example.com/x": "2"}, {"example.com/x": "1500m"}),
    ],
)
def test_a_request_that_falls_or_vanishes_is_a_scale_down(before: dict[str, str], after: dict[str, str]) -> None:
    assert changes_of_pod(requesting(**before), requesting(**after)) == ["AssignedPodUpdatePodScaleDown"]
    assert changes_of_pod(requesting(**after), requesting(**before)) == ["AssignedPodUpdate"]


def test_pod_level_requests_count_for_a_scale_down_with_and_without_their_feature_gate() -> None:
    gates = {"PodLevelResources": False, "InPlacePodLevelResourcesVerticalScaling": False}
    lower = {**requesting(cpu="500m"), "resources": {"requests": {"cpu": "100m"}}}
    assert changes_of_pod(requesting(cpu="500m"), lower, **gates) == ["AssignedPodUpdatePodScaleDown"]


@pytest.mark.parametrize(("memory", "expected"), [("1G", []), ("2G", ["NodeUpdateNodeAllocatable"])])
def test_another_notation_of_allocatable_amounts_is_no_change(memory: str, expected: list[str]) -> None:
    nodes = []
    for amount in ("1e9", memory):
        node = codec.from_dict(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"memory": amount}}}
        )
        assert isinstance(node, Node)
        nodes.append(node)
    old, new = nodes
    assert [event.label for event in node_scheduling_properties_change(new, old, FEATURES)] == expected
