"""A configuration may disable a plugin at any extension point. What its other methods miss then is a Status, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.releases.v1_27 import RELEASE as V1_27
from schedviz.engine.releases.v1_36 import RELEASE as V1_36
from tests.engine.clusters import do_unchecked, node, objects, pod

COMPARES = {"TaintTolerationComparisonOperators": True}
#: The points that prepare what a plugin's other points read.
PREPARING_POINTS = {"preFilter": "pre_filter", "preScore": "pre_score", "reserve": "reserve"}
CASES = [
    pytest.param(release.version, gates, plugin, point, id="-".join((release.version, *gates, plugin, point)))
    for release, gates in ((V1_27, {}), (V1_36, {}), (V1_36, COMPARES | {"StorageCapacityScoring": True}))
    for plugin, factory in release.in_tree_registry().items()
    for point, method in PREPARING_POINTS.items()
    if plugin != "Scripted" and hasattr(factory, method)
]


def simulation_without(plugin: str, point: str, *, release: str, gates: Mapping[str, bool]) -> Simulation:
    """A plugin is disabled at one point. One of the pods preempts, one fits on two nodes, and one fits on none."""
    config = {"profiles": [{"plugins": {point: {"disabled": [{"name": plugin}]}}}]}
    simulation = Simulation(SimulationSettings(config=config, release=release, feature_gates=dict(gates)))
    nodes = ("n1", "n2", "n3")
    spread = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
    simulation.load(
        objects(
            *(node(name, cpu="2", taints=[{"key": "a", "value": "b", "effect": "PreferNoSchedule"}]) for name in nodes),
            *(pod(f"on-{name}", node_name=name) for name in nodes),
            pod("preempts", cpu="2", priority=10),
            pod("fits", topologySpreadConstraints=[spread]),
            pod("huge", cpu="9"),
        )
    )
    return simulation


def cycle_of(simulation: Simulation) -> dict[str, Any]:
    simulation.records = "full"
    do_unchecked(simulation, "cycle")
    assert simulation.last_cycle is not None
    return simulation.last_cycle


def outcome_of_fitting_pod(simulation: Simulation) -> tuple[str, str]:
    cycles = {cycle["pod"]: cycle for cycle in (cycle_of(simulation) for _ in range(3))}
    return cycles["default/fits"]["outcome"], cycles["default/fits"]["message"]


@pytest.mark.parametrize(("release", "gates", "plugin", "point"), CASES)
def test_cycles_go_on_if_a_plugin_is_disabled_at_one_point(release: str, gates: dict[str, bool], plugin: str, point: str) -> None:
    simulation = simulation_without(plugin, point, release=release, gates=gates)

    assert {cycle_of(simulation)["pod"] for _ in range(3)} == {"default/preempts", "default/fits", "default/huge"}


def test_dynamic_resources_fails_in_filter_if_its_pre_filter_is_disabled() -> None:
    simulation = simulation_without("DynamicResources", "preFilter", release=V1_36.version, gates={})

    assert outcome_of_fitting_pod(simulation) == ("error", 'running "DynamicResources" filter plugin: not found')


@pytest.mark.parametrize("gates", [{}, COMPARES])
def test_taint_toleration_fails_in_score_if_its_pre_score_is_disabled(gates: dict[str, bool]) -> None:
    simulation = simulation_without("TaintToleration", "preScore", release=V1_36.version, gates=gates)

    message = 'plugin "TaintToleration" failed with: failed to read "PreScoreTaintToleration" from cycleState: not found'
    assert outcome_of_fitting_pod(simulation) == ("error", f"running Score plugins: {message}")
