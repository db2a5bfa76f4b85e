"""v1.14's priorities: the matrix, Combine, and the scores of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.framework.types import Generations, NodeInfo, PodInfo
from schedviz.engine.legacy.priorities_v1_14 import DEFAULT_PRIORITIES, declared, priority_v1_14
from schedviz.engine.legacy.prioritize_nodes import (
    HostPriority,
    HostPriorityList,
    Meta,
    Prioritized,
    PriorityConfig,
    PriorityError,
    facts,
    prioritize_nodes,
)
from schedviz.kube.codec import from_dict
from schedviz.kube.core import Node, Pod
from schedviz.kube.defaults import default_object
from schedviz.trace.events import StageEnded
from schedviz.trace.policies import PRIORITIES_V1_14, Policies, PriorityPolicy
from tests.engine.clusters import do, node, objects, pod

#: Three priorities and three nodes, each of weight 1.
MATRIX = {
    "A1": {"node1": 5, "node2": 3, "node3": 1},
    "A2": {"node1": 6, "node2": 2, "node3": 3},
    "A3": {"node1": 4, "node2": 7, "node3": 2},
}


class Lister:
    def __init__(self, *objects: Any) -> None:
        self.objects = objects

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        return None

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Any]:
        return [obj for obj in self.objects if type(obj).__name__ == kind]


def an_info(
    name: str, *pods: PodInfo, cpu: str = "4", memory: str = "8Gi", labels: Mapping[str, str] | None = None, **rest: Any
) -> NodeInfo:
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}, "annotations": rest.pop("annotations", {})}
    made = from_dict({"kind": "Node", "metadata": metadata, "spec": rest, "status": {"allocatable": {"cpu": cpu, "memory": memory}}})
    assert isinstance(made, Node)
    info = NodeInfo(name, Generations())
    info.set_node(made)
    for other in pods:
        info.add_pod(other)
    return info


def a_pod(name: str = "p", *, cpu: str = "1", memory: str = "2Gi", metadata: Mapping[str, Any] | None = None, **spec: Any) -> PodInfo:
    container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    data = {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name, **(metadata or {})},
        "spec": {"containers": [container], **spec},
    }
    made = default_object(from_dict(data))
    assert isinstance(made, Pod)
    return PodInfo(made)


def scores(priority: str, incoming: PodInfo, *infos: NodeInfo, objects: Sequence[Any] = ()) -> list[int]:
    by_name = {info.name: info for info in infos}
    result = prioritize_nodes(incoming, Meta(Lister(*objects), len(infos)), by_name, list(by_name), [priority_v1_14(priority)])
    assert not result.error
    return [each.score for each in result.matrix[0]]


def run(*configs: PriorityConfig) -> Prioritized:
    infos = {name: an_info(name) for name in ("node1", "node2", "node3")}
    return prioritize_nodes(a_pod(), Meta(Lister(), 3), infos, list(infos), configs)


def test_three_priorities_on_three_nodes_add_up_to_15_12_and_6() -> None:
    result = run(*(declared(name, 1, given) for name, given in MATRIX.items()))

    assert [[each.score for each in row] for row in result.matrix] == [[5, 3, 1], [6, 2, 3], [4, 7, 2]]
    assert result.host_priority_list == [HostPriority("node1", 15), HostPriority("node2", 12), HostPriority("node3", 6)]


def test_a_map_with_a_reduce_gives_the_same_matrix_as_a_function() -> None:
    def as_map(given: Mapping[str, int]) -> PriorityConfig:
        def reduce(_pod: PodInfo, _meta: Meta, _infos: Mapping[str, NodeInfo], row: HostPriorityList) -> None:
            for each in row:
                each.score //= 2

        return PriorityConfig("A", map=lambda _pod, _meta, info: given[info.name] * 2, reduce=reduce)

    mapped = run(*(as_map(given) for given in MATRIX.values()))

    assert {config.kind for config in mapped.configs} == {"Map/Reduce"}
    assert [each.score for each in mapped.host_priority_list] == [15, 12, 6]


def test_a_row_counts_times_its_weight() -> None:
    result = run(declared("A1", 1, MATRIX["A1"]), declared("A3", 10, MATRIX["A3"]))

    assert [each.score for each in result.host_priority_list] == [45, 73, 21]


def test_without_priorities_all_nodes_are_equal() -> None:
    assert [each.score for each in run().host_priority_list] == [1, 1, 1]


def test_after_an_error_there_is_no_host_priority_list() -> None:
    def fails(*_args: Any) -> int:
        raise PriorityError("no metadata")

    result = run(declared("A1", 1, MATRIX["A1"]), PriorityConfig("Broken", map=fails), PriorityConfig("AlsoBroken", map=fails))

    assert (result.host_priority_list, result.error) == ([], "no metadata")
    assert facts(result, ["node1", "node2", "node3"])["error"] == "no metadata"


# The scores of each.


def test_every_priority_can_be_created() -> None:
    assert {priority_v1_14(name, 3).weight for name in PRIORITIES_V1_14} == {3}
    assert set(DEFAULT_PRIORITIES) <= set(PRIORITIES_V1_14)


def test_resource_priorities_score_the_used_fractions() -> None:
    infos = (an_info("empty"), an_info("half", a_pod("q", cpu="1", memory="2Gi")), an_info("skewed", a_pod("r", cpu="2", memory="0")))

    # With the pod: (1/4, 2/8), (2/4, 4/8), (3/4, 2/8 and no request).
    assert scores("LeastRequestedPriority", a_pod(), *infos) == [7, 5, 4]
    assert scores("MostRequestedPriority", a_pod(), *infos) == [2, 5, 4]
    assert scores("BalancedResourceAllocation", a_pod(), *infos) == [10, 10, 5]
    assert scores("BalancedResourceAllocation", a_pod(cpu="4"), *infos)[0] == 0


def test_preferred_node_affinity_is_scaled_to_10() -> None:
    wish = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    wishes = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 4, "preference": wish}]}
    pod_with_affinity = a_pod(affinity={"nodeAffinity": wishes})

    assert scores("NodeAffinityPriority", pod_with_affinity, an_info("a"), an_info("b", labels={"disk": "ssd"})) == [0, 10]


def test_soft_taints_count_against_a_node() -> None:
    soft = [{"key": key, "effect": "PreferNoSchedule"} for key in "xy"]

    assert scores("TaintTolerationPriority", a_pod(), an_info("a"), an_info("b", taints=soft[:1]), an_info("c", taints=soft)) == [10, 5, 0]
    assert scores("TaintTolerationPriority", a_pod(), an_info("a"), an_info("b")) == [10, 10]


def test_pods_of_one_service_are_spread_over_nodes_and_zones() -> None:
    service = from_dict({"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}})
    web = {"labels": {"app": "web"}}
    zone = "topology.kubernetes.io/zone"
    infos = (
        an_info("a1", a_pod("w1", metadata=web), a_pod("w2", metadata=web), labels={zone: "a"}),
        an_info("a2", labels={zone: "a"}),
        an_info("b1", a_pod("w3", metadata=web), labels={zone: "b"}),
    )

    assert scores("SelectorSpreadPriority", a_pod(metadata=web), *infos, objects=[service]) == [0, 3, 5]
    assert scores("SelectorSpreadPriority", a_pod(), *infos, objects=[service]) == [10, 10, 10]


def test_a_node_with_the_avoid_annotation_scores_0() -> None:
    avoid = '{"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "u"}}}]}'
    avoided = an_info("a", annotations={"scheduler.alpha.kubernetes.io/preferAvoidPods": avoid})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}

    assert scores("NodePreferAvoidPodsPriority", a_pod(metadata={"ownerReferences": [owner]}), avoided, an_info("b")) == [0, 10]
    assert scores("NodePreferAvoidPodsPriority", a_pod(), avoided, an_info("b")) == [10, 10]


def test_affinity_to_pods_counts_for_whole_domains() -> None:
    near = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "rack"}
    wishes = [{"weight": 5, "podAffinityTerm": near}]
    pod_with_affinity = a_pod(affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wishes}})
    infos = (
        an_info("r1a", a_pod("w", metadata={"labels": {"app": "web"}}), labels={"rack": "1"}),
        an_info("r1b", labels={"rack": "1"}),
        an_info("r2", labels={"rack": "2"}),
    )

    assert scores("InterPodAffinityPriority", pod_with_affinity, *infos) == [10, 10, 0]
    assert scores("InterPodAffinityPriority", a_pod(), *infos) == [0, 0, 0]


# In a session.


def session(priorities: Any, nodes: int = 3) -> Simulation:
    simulation = Simulation(SimulationSettings(policies=Policies(priorities=priorities)))
    simulation.load(objects(*(node(f"node{number}") for number in range(1, nodes + 1)), pod("p")))
    return simulation


def score_facts(simulation: Simulation) -> dict[str, Any]:
    return next(event.facts for event in simulation.drain_events() if isinstance(event, StageEnded) and event.stage == "Score")


def test_the_matrix_is_recorded_with_score_and_decides_nothing() -> None:
    against = [PriorityPolicy(name=name, scores={node: 10 - score for node, score in given.items()}) for name, given in MATRIX.items()]
    found, plain = session(against), session(None)

    for each in (found, plain):
        do(each, "cycle")

    facts = score_facts(found)["priorities"]
    assert facts["nodes"] == ["node1", "node2", "node3"]
    assert facts["hostPriorityList"] == [15, 18, 24]
    assert facts["highest"] == ["node3"]
    assert facts["rows"][0] == {"name": "A1", "kind": "Function", "weight": 1, "scores": [5, 7, 9]}
    assert "priorities" not in score_facts(plain)
    assert found.shown_cycle is not None
    assert plain.shown_cycle is not None
    assert found.shown_cycle.node == plain.shown_cycle.node == "node1"


def test_the_example_of_the_docs_gives_the_documented_result() -> None:
    section = (Path(__file__).parents[3] / "docs" / "policies.md").read_text().split("### Example")[1]
    policies = json.loads(re.findall(r"```json\n(.*?)```", section, re.DOTALL)[0])["policies"]
    table = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \|$", section, re.MULTILINE)
    simulation = session(msgspec.convert(policies, Policies).priorities)

    do(simulation, "cycle")

    facts = score_facts(simulation)["priorities"]
    rows = [(row["name"], row["scores"]) for row in facts["rows"]]
    assert facts["hostPriorityList"] == [15, 12, 6]
    assert [*rows, ("HostPriorityList", facts["hostPriorityList"])] == [(name, [int(cell) for cell in cells]) for name, *cells in table]


def test_the_defaults_of_v1_14_run_and_a_limited_number_of_nodes_is_recorded() -> None:
    simulation = session("v1.14", nodes=60)
    again = Simulation.restore(simulation.checkpoint())

    for each in (simulation, again):
        do(each, "cycle")

    facts = score_facts(simulation)["priorities"]
    assert [row["name"] for row in facts["rows"]] == list(DEFAULT_PRIORITIES)
    assert (facts["of"], len(facts["nodes"]), len(facts["hostPriorityList"])) == (60, 50, 50)
    assert score_facts(again)["priorities"] == facts
    assert simulation.state_hash() == again.state_hash()


@pytest.mark.parametrize("made", [{"name": "A1"}, {"name": "EqualPriority", "scores": {}}])
def test_a_priority_is_known_or_has_scores(made: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=made["name"]):
        PriorityPolicy(**made)
