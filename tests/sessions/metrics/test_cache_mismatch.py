"""What differs between cache and API server is counted on both sides, in both releases."""

from __future__ import annotations

import pytest

from schedviz.engine import Simulation
from schedviz.sessions.metrics.definitions import CACHE_MISMATCH
from schedviz.sessions.metrics.gauges import read_gauges
from schedviz.sessions.metrics.metric_values import Labels
from schedviz.trace.releases import RELEASES
from tests.engine.clusters import do, four_nodes, node, pod

SAME = {("node", "missed"): 0, ("node", "redundant"): 0, ("pod", "missed"): 0, ("pod", "redundant"): 0}


def cache_mismatch(simulation: Simulation) -> dict[Labels, float]:
    return read_gauges(simulation)[CACHE_MISMATCH.name]


@pytest.mark.parametrize("release", RELEASES)
def test_a_healthy_cache_matches_the_api_server_even_while_a_pod_is_assumed(release: str) -> None:
    simulation = four_nodes(pod("first"), pod("second"), release=release)
    do(simulation, "cycle")
    do(simulation, "schedule")

    assert cache_mismatch(simulation) == SAME


@pytest.mark.parametrize("release", RELEASES)
def test_lost_watch_events_are_counted_as_missed_and_redundant_objects(release: str) -> None:
    simulation = four_nodes(pod("placed", node_name="node1"), release=release)
    do(simulation, "watch", kind="Node", disconnect=True)
    do(simulation, "watch", kind="Pod", disconnect=True)
    do(simulation, "create", object={"apiVersion": "v1", **node("late")})
    do(simulation, "delete", kind="Node", name="node2")
    do(simulation, "delete", kind="Pod", name="placed")

    assert cache_mismatch(simulation) == SAME | {("node", "missed"): 1, ("node", "redundant"): 1, ("pod", "redundant"): 1}
