"""The age of the oldest pod of each queue is read from the session's clock, in both releases."""

from __future__ import annotations

import pytest

from schedviz.engine import Simulation
from schedviz.sessions.metrics.definitions import QUEUE_OLDEST_POD_AGE
from schedviz.sessions.metrics.gauges import read_gauges
from schedviz.trace.releases import RELEASES
from tests.engine.clusters import do, four_nodes, pod


def ages(simulation: Simulation) -> dict[str, float]:
    return {queue: age for (queue,), age in read_gauges(simulation)[QUEUE_OLDEST_POD_AGE.name].items()}


@pytest.mark.parametrize("release", RELEASES)
def test_the_oldest_pod_of_activeq_and_the_gated_pods_age_with_the_clock(release: str) -> None:
    gated = pod("gated")
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    simulation = four_nodes(pod("first"), gated, release=release)

    do(simulation, "advance", seconds=100)
    do(simulation, "create", object=pod("second"))
    do(simulation, "advance", seconds=10)

    approximately = pytest.approx({"active": 110, "backoff": 0, "unschedulable": 0, "gated": 110}, abs=0.1)
    assert ages(simulation) == approximately


@pytest.mark.parametrize("release", RELEASES)
def test_a_failed_attempt_resets_the_age_and_a_move_to_backoffq_keeps_it(release: str) -> None:
    simulation = four_nodes(pod("large", cpu="99"), release=release)
    do(simulation, "advance", seconds=100)

    do(simulation, "cycle")
    assert ages(simulation) == pytest.approx({"active": 0, "backoff": 0, "unschedulable": 0, "gated": 0}, abs=0.1)
    do(simulation, "advance", seconds=0.5)
    assert ages(simulation)["unschedulable"] == pytest.approx(0.5, abs=0.1)
    node = {
        "kind": "Node",
        "metadata": {"name": "node5"},
        "status": {"capacity": {"cpu": "128", "pods": "110"}, "allocatable": {"cpu": "128", "pods": "110"}},
    }
    do(simulation, "create", object=node)
    assert ages(simulation) == pytest.approx({"active": 0, "backoff": 0.5, "unschedulable": 0, "gated": 0}, abs=0.1)
