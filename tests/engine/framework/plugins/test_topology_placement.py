"""v1.36: TopologyPlacementGenerator and PodGroupPodsCount, which find and score the placements of a pod group."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.cache.podgroup_state import PodGroupState
from schedviz.engine.framework.pod_groups import Placement, PodGroupAssignments, PodGroupInfo
from schedviz.engine.framework.types import PodInfo

ZONE = "topology.kubernetes.io/zone"
GROUP = PodGroupInfo("default", "train")
GATES = {"GenericWorkload": True, "GangScheduling": True, "TopologyAwareWorkloadScheduling": True}


@pytest.fixture
def world(v1_36_with_gates):
    world = v1_36_with_gates(**GATES)
    for name, zone in (("n1", "west"), ("n2", "east"), ("n3", "west")):
        world.node(name, labels={ZONE: zone})
    world.node("n4")
    return world


def generated(world, *on: PodInfo, key: str = ZONE) -> Any:
    spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    if key:
        spec["schedulingConstraints"] = {"topology": [{"key": key}]}
    metadata = {"name": "train", "namespace": "default"}
    world.object({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": metadata, "spec": spec})
    world.update()
    world.snapshot.pod_groups[GROUP.key] = state_of(*on)
    plugin = world.framework().plugins.by_name["TopologyPlacementGenerator"]
    return plugin.generate_placements(GROUP, Placement())


def state_of(*pods: PodInfo) -> PodGroupState:
    state = PodGroupState()
    for pod in pods:
        state.add(pod.pod)
    return state


def test_each_domain_is_a_placement_of_its_nodes(world) -> None:
    assert [(placement.name, sorted(placement.nodes)) for placement in generated(world)] == [("east", ["n2"]), ("west", ["n1", "n3"])]


def test_without_constraints_all_nodes_are_one_placement(world) -> None:
    assert generated(world, key="") == [Placement()]


def test_pods_that_have_a_node_keep_the_others_in_their_domain(world) -> None:
    assert [placement.name for placement in generated(world, world.pod("p", on="n3"))] == ["west"]


def test_pods_in_several_domains_are_an_error(world) -> None:
    status = generated(world, world.pod("p", on="n1"), world.pod("q", on="n2"))

    assert status.code.value == "Error"
    assert "more than 1 domain found for pod group: west, east" in status.message


def test_the_placement_with_most_pods_gets_100(world) -> None:
    world.snapshot.pod_groups[GROUP.key] = state_of(world.pod("bound", on="n1"))
    plugin = world.framework().plugins.by_name["PodGroupPodsCount"]
    pods = [world.pod(name) for name in ("p", "q", "r")]
    scores = [
        plugin.score_placement(GROUP, PodGroupAssignments(Placement(str(count)), [(pod.pod, "n1") for pod in pods[:count]]))
        for count in (1, 3)
    ]

    assert scores == [2, 4]
    assert plugin.normalize_placement_score(GROUP, scores) == [50, 100]
