"""The deletion of preemption victims by the API server: after their grace period, or at once if no kubelet runs them."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings, run_trace, settings_of
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.trace.commands import convert_command


def pod(name: str, priority: int, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, "priority": priority, **spec},
    }


NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "110"}},
}


def trace(*steps: dict[str, Any], **header: Any) -> dict[str, Any]:
    """A node on which the steps place `low`, and a pod that preempts it."""
    before = [{"op": "create", "object": NODE}, {"op": "create", "object": pod("low", 0)}, *steps]
    after = [{"op": "create", "object": pod("high", 100)}, {"op": "schedule"}]
    return {"format": "schedviz-trace/1", "name": "victims", **header, "steps": [*before, *after]}


def last(document: dict[str, Any]) -> dict[str, Any]:
    observed: dict[str, Any] = run_trace(trace_from_dict(document))["steps"][-1]["observed"]
    return observed


SCHEDULED = ({"op": "schedule"},)
BOUND = ({"op": "schedule"}, {"op": "bind", "pod": "*"})
CONFIRMED = ({"op": "cycle"},)


@pytest.mark.parametrize(
    ("steps", "graceful", "heard"),
    [
        # The binding is not written: for the API server the pod has no node.
        (SCHEDULED, True, ["MODIFIED pods default/low", "DELETED pods default/low"]),
        (SCHEDULED, False, ["MODIFIED pods default/low", "DELETED pods default/low"]),
        (CONFIRMED, True, ["MODIFIED pods default/low", "MODIFIED pods default/low"]),
        (CONFIRMED, False, ["MODIFIED pods default/low", "DELETED pods default/low"]),
    ],
)
def test_a_victim_terminates_only_where_a_kubelet_runs_it(steps: tuple[dict[str, Any], ...], *, graceful: bool, heard: list[str]) -> None:
    observed = last(trace(*steps, gracefulVictims=graceful))

    assert observed["cycle"]["postFilter"]["nominatedNode"] == "n1"
    assert [event for event in observed["informerEvents"] if "default/low" in event] == heard


def test_a_victim_whose_binding_was_written_but_not_seen_terminates() -> None:
    observed = last(trace(*BOUND, gracefulVictims=True))

    assert not [event for event in observed["informerEvents"] if event.startswith("DELETED")]


def test_a_finished_victim_is_deleted_at_once() -> None:
    # The scheduler missed the watch event of the pod's end, and still counts the pod.
    finished = {**pod("low", 0, nodeName="n1"), "status": {"phase": "Succeeded"}}
    observed = last(trace(*CONFIRMED, {"op": "update", "object": finished, "drop": "watch"}, gracefulVictims=True))

    assert observed["cycle"]["postFilter"]["nominatedNode"] == "n1"
    assert not [event for event in observed["informerEvents"] if event.startswith("MODIFIED pods default/low")]


@pytest.mark.parametrize(("stored", "is_there"), [(True, True), ("bound", False)])
def test_a_stored_session_replays_with_its_own_rule(stored: Any, *, is_there: bool) -> None:
    document = trace_from_dict(trace(*SCHEDULED, gracefulVictims=True))
    assert settings_of(document).graceful_victims == "bound"
    simulation = Simulation(SimulationSettings(graceful_victims=stored))
    for step in document.steps[:-2]:
        simulation.start(step)
        simulation.work()
    # As if restored from a checkpoint.
    simulation = Simulation.restore(simulation.checkpoint())
    for step in (*document.steps[-2:], convert_command({"op": "confirm", "pod": "*"})):
        simulation.start(step)
        simulation.work()

    assert simulation.settings.graceful_victims == stored
    assert (simulation.cluster.find("Pod", "default/low") is not None) == is_there
