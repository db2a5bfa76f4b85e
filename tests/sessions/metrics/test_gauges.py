"""Gauges are read from the engine, in both releases."""

from __future__ import annotations

import pytest

from schedviz.sessions.metrics import definitions
from schedviz.sessions.metrics.gauges import read_gauges
from schedviz.trace.releases import RELEASES
from tests.engine.clusters import do, four_nodes, pod


@pytest.mark.parametrize("release", RELEASES)
def test_gauges_are_read_from_cache_and_queue(release: str) -> None:
    simulation = four_nodes(pod("fits"), pod("too-large", cpu="64"), pod("also-too-large", cpu="65"), release=release)
    do(simulation, "run")

    now = read_gauges(simulation)

    assert now[definitions.PENDING_PODS.name] == {("active",): 0, ("backoff",): 0, ("unschedulable",): 2, ("gated",): 0}
    assert now[definitions.UNSCHEDULABLE_PODS.name] == {("NodeResourcesFit", "default-scheduler"): 2}
    assert now[definitions.SCHEDULER_CACHE_SIZE.name] == {("nodes",): 4, ("pods",): 1, ("assumed_pods",): 0}
    assert now[definitions.CACHE_SIZE.name] == now[definitions.SCHEDULER_CACHE_SIZE.name]


@pytest.mark.parametrize("release", RELEASES)
def test_a_gated_pod_is_pending_because_of_its_plugin(release: str) -> None:
    simulation = four_nodes(pod("gated", schedulingGates=[{"name": "example.com/wait"}]), release=release)

    now = read_gauges(simulation)

    assert now[definitions.PENDING_PODS.name] == {("active",): 0, ("backoff",): 0, ("unschedulable",): 0, ("gated",): 1}
    assert now[definitions.UNSCHEDULABLE_PODS.name] == {("SchedulingGates", "default-scheduler"): 1}
