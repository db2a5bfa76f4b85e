"""Plugin durations are recorded under upstream's labels in every tenth cycle of the process."""

from __future__ import annotations

from collections import Counter

from schedviz.engine import Simulation
from schedviz.sessions.metrics import plugin_durations
from schedviz.sessions.metrics.process import ENGINE_WORKER
from tests.engine.clusters import do, four_nodes, pod
from tests.sessions.metrics.test_counting import Ticks

Calls = Counter[tuple[str, str, str]]
_NAME = "scheduler_plugin_execution_duration_seconds"


def calls() -> Calls:
    """How many were observed: by extension point, plugin and status."""
    (family,) = (one for one in ENGINE_WORKER.collect() if one.name == _NAME)
    result: Calls = Counter()
    for sample in family.samples:
        if sample.name == f"{_NAME}_count":
            assert set(sample.labels) == {"plugin", "extension_point", "status"}
            result[sample.labels["extension_point"], sample.labels["plugin"], sample.labels["status"]] = int(sample.value)
    return result


def observed(simulation: Simulation) -> Calls:
    """The samples that a run adds."""
    before = calls()
    simulation.recorder.stage_clock = Ticks()
    do(simulation, "run")
    plugin_durations.observe(simulation.drain_events(), simulation.recorder.drain_stage_timings())
    return calls() - before


def pods(number: int) -> list[dict[str, object]]:
    return [pod(f"p{n}", cpu="10m") for n in range(number)]


def test_every_tenth_cycle_is_timed_with_its_binding() -> None:
    result = observed(four_nodes(*pods(21)))

    assert result["PreFilter", "NodeResourcesFit", "Success"] == 2
    assert result["Filter", "NodeResourcesFit", "Success"] == 2
    assert result["Score", "NodeResourcesFit", "Success"] == 2
    assert result["ScoreExtensionNormalize", "TaintToleration", "Success"] == 2
    assert result["Reserve", "VolumeBinding", "Success"] == 2
    assert result["Bind", "DefaultBinder", "Success"] == 2


def test_a_plugin_is_counted_under_the_status_that_it_returned() -> None:
    result = observed(four_nodes(*pods(9), pod("too-large", cpu="64")))

    assert result["PostFilter", "DefaultPreemption", "Unschedulable"] == 1
    assert not any(point == "Bind" for point, _, _ in result)


def test_no_plugin_is_timed_in_fewer_than_ten_cycles() -> None:
    assert not observed(four_nodes(*pods(9)))


def test_plugins_of_a_later_configuration_are_timed_too() -> None:
    simulation = four_nodes(*pods(5))
    observed(simulation)
    do(simulation, "configure", config={"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"})
    for new in pods(5):
        do(simulation, "create", object={**new, "apiVersion": "v1", "metadata": {"name": f"later-{new['metadata']['name']}"}})  # type: ignore[index]

    assert observed(simulation)["Bind", "DefaultBinder", "Success"] == 1
