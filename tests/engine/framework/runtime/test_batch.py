"""Opportunistic batching of v1.36: equal pods that fill a node each get the next node of the first one's list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.framework.runtime.batch import RemainingNodes
from tests.engine import clusters

do, node, objects, pod = clusters.do, clusters.node, clusters.objects, clusters.pod

#: Without default spread constraints, with which no pod has a signature.
NO_DEFAULTS = {"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List"}}]}]}


def _batching(*pods: dict[str, Any], nodes: int = 4, **settings: Any) -> Simulation:
    settings = {"config": NO_DEFAULTS, **settings}
    simulation = Simulation(SimulationSettings(release="v1.36", tick_millis=1, **settings))
    simulation.load(objects(*(node(f"n{number}", cpu="4") for number in range(nodes)), *pods))
    simulation.records = "full"
    return simulation


def _cycle(simulation: Simulation) -> dict[str, Any]:
    do(simulation, "cycle")
    (record,) = [record for _, record in simulation.cycle_records]
    return record


def _create(simulation: Simulation, made: dict[str, Any]) -> None:
    do(simulation, "create", object={"apiVersion": "v1", **made})


def test_equal_pods_that_fill_a_node_each_get_the_next_node_of_the_list() -> None:
    simulation = _batching(*(pod(f"p{number}", cpu="3") for number in range(4)))
    records = [_cycle(simulation) for _ in range(4)]

    first, *others = records
    assert first["batch"] == {"stored": 3}
    assert [record["batch"] for record in others] == [{"used": record["node"]} for record in others]
    assert [record["nodeHint"] for record in others] == [record["node"] for record in others]
    assert len({record["node"] for record in records}) == 4
    assert [record["feasibleNodes"] for record in others] == [1, 1, 1]


def test_a_pod_that_fits_on_the_last_node_is_scored_again() -> None:
    simulation = _batching(pod("p0"), pod("p1"))

    assert [_cycle(simulation)["batch"] for _ in range(2)] == [{"stored": 3}, {"flush": "node_not_full", "stored": 3}]


def test_another_pod_in_between_invalidates_the_list() -> None:
    simulation = _batching(pod("p0", cpu="3"), pod("p1", cpu="2"))

    assert [_cycle(simulation)["batch"] for _ in range(2)] == [{"stored": 3}, {"flush": "pod_incompatible", "stored": 2}]


def test_an_unschedulable_pod_in_between_invalidates_the_list() -> None:
    simulation = _batching(pod("p0", cpu="3"))
    _cycle(simulation)
    _create(simulation, pod("large", cpu="100"))
    _cycle(simulation)
    _create(simulation, pod("p1", cpu="3"))

    assert _cycle(simulation)["batch"] == {"flush": "pod_skipped", "stored": 2}


@pytest.mark.parametrize(("milliseconds", "batch"), [(498, "used"), (499, "flush")])
def test_a_list_is_used_for_half_a_second(milliseconds: int, batch: str) -> None:
    simulation = _batching(pod("p0", cpu="3"), pod("p1", cpu="3"))
    _cycle(simulation)
    do(simulation, "advance", seconds=milliseconds / 1000)

    found = _cycle(simulation)["batch"]
    assert batch in found
    assert found.get("flush", "expired") == "expired"


def test_a_list_whose_last_node_is_gone_is_not_used() -> None:
    simulation = _batching(pod("p0", cpu="3"), pod("p1", cpu="3"))
    do(simulation, "delete", kind="Node", name=_cycle(simulation)["node"])

    assert _cycle(simulation)["batch"]["flush"] == "node_missing"


def test_the_only_feasible_node_leaves_no_list() -> None:
    simulation = _batching(pod("p0", cpu="3"), nodes=1)

    assert _cycle(simulation)["batch"] == {"flush": "empty_list"}


@pytest.mark.parametrize(
    "spec",
    [
        {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}]},
        {"affinity": {"podAntiAffinity": {}}},
    ],
)
def test_a_pod_whose_score_depends_on_other_pods_has_no_signature(spec: dict[str, Any]) -> None:
    record = _cycle(_batching(pod("p0", **spec)))

    assert record["batch"] == {"flush": "pod_not_batchable"}
    assert not record["signature"]


def test_no_pod_has_a_signature_with_the_default_constraints_or_with_an_extender() -> None:
    assert not _cycle(_batching(pod("p0"), config=None))["signature"]
    assert not _cycle(_batching(pod("p0"), fake_extenders=[{"name": "e", "filterVerb": True}]))["signature"]


def test_pods_are_equal_if_all_that_plugins_read_is_equal() -> None:
    same = pod("a", tolerations=[{"key": "x", "operator": "Exists"}, {"key": "a", "operator": "Exists"}])
    also = pod("b", tolerations=[{"key": "a", "operator": "Exists"}, {"key": "x", "operator": "Exists"}])
    other = pod("c", nodeSelector={"disk": "ssd"})
    queue = _batching(same, also, other).scheduler.state.queue
    signatures = {queued.key: queued.signature for queued in queue.active_q}

    assert signatures["default/a"] == signatures["default/b"] != signatures["default/c"]
    assert signatures["default/c"] is not None


def test_an_update_of_a_pending_pod_changes_its_signature() -> None:
    simulation = _batching(pod("a"))
    before = [queued.signature for queued in simulation.scheduler.state.queue.active_q]
    do(simulation, "update", object={"apiVersion": "v1", **pod("a", nodeSelector={"disk": "ssd"})})

    assert [queued.signature for queued in simulation.scheduler.state.queue.active_q] != before


def test_a_nominated_node_is_tried_before_the_hint() -> None:
    simulation = _batching(pod("p0", cpu="3"))
    chosen = _cycle(simulation)["node"]
    others = [f"n{number}" for number in range(4) if f"n{number}" != chosen]
    _create(simulation, {**pod("p1", cpu="3"), "status": {"nominatedNodeName": others[-1]}})
    record = _cycle(simulation)

    assert record["nodeHint"] in others
    assert record["node"] == others[-1]


def test_batching_goes_on_after_a_restore() -> None:
    simulation = _batching(*(pod(f"p{number}", cpu="3") for number in range(3)))
    _cycle(simulation)
    restored = Simulation.restore(simulation.checkpoint())
    restored.records = "full"

    assert _cycle(restored) == _cycle(simulation)
    assert restored.checkpoint() == simulation.checkpoint()


def test_a_disabled_feature_gate_turns_batching_off() -> None:
    simulation = _batching(pod("p0", cpu="3"), pod("p1", cpu="3"), feature_gates={"OpportunisticBatching": False})

    assert [_cycle(simulation)["batch"] for _ in range(2)] == [None, None]


@given(totals=st.lists(st.integers(0, 5), min_size=2, max_size=40), first_of_tied=st.booleans(), restored_after=st.integers(0, 40))
def test_the_remaining_nodes_are_popped_by_total_also_after_a_restore(
    totals: list[int], *, first_of_tied: bool, restored_after: int
) -> None:
    names = [f"n{place}" for place in range(len(totals))]
    total_of = dict(zip(names, totals, strict=True))
    nodes = RemainingNodes(names, np.array(totals, np.int64), is_first_of_tied=first_of_tied)
    popped = []
    while nodes:
        if len(popped) == restored_after:
            nodes = RemainingNodes.from_state(nodes.to_state())
        popped.append(nodes.pop())

    assert len(popped) == len(set(popped)) == len(names) - 1
    assert [total_of[name] for name in popped] == sorted((total_of[name] for name in popped), reverse=True)
    (chosen,) = set(names) - set(popped)
    assert total_of[chosen] == max(totals)
    if first_of_tied:
        assert [chosen, *popped] == sorted(names, key=lambda name: (-total_of[name], names.index(name)))
