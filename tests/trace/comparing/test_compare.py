"""Comparisons of two runs of real engines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.ingest.generate import generate, parse_generate_spec
from schedviz.trace.commands import convert_command
from schedviz.trace.comparing import Comparison, RunInMemory, compare
from schedviz.trace.comparing.differences import differences
from schedviz.trace.comparing.report import html_report
from tests.engine.clusters import do, four_nodes, pod

CLUSTER = {"nodes": 4, "pods": 30, "shape": "mixed", "seed": 7}
PACKING = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "apiVersion": "kubescheduler.config.k8s.io/v1",
                        "kind": "NodeResourcesFitArgs",
                        "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]},
                    },
                }
            ],
        }
    ],
}


def run(
    *commands: dict[str, Any], cluster: dict[str, Any] = CLUSTER, config: dict[str, Any] | None = None, name: str = "a run"
) -> RunInMemory:
    settings = SimulationSettings(config=config)
    simulation = Simulation(settings)
    simulation.load(list(generate(parse_generate_spec(cluster))))
    beginning = simulation.view()
    for command in commands:
        simulation.start(convert_command(command))
        while simulation.work() is None:
            pass
    return RunInMemory(name, beginning, simulation.drain_events(), {"config": config})


RUN = {"op": "run"}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "late", "labels": {"kubernetes.io/hostname": "late"}},
    "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110"}},
}


@pytest.fixture(scope="module")
def packed() -> Comparison:
    return compare(run(RUN), run(RUN, config=PACKING))


def test_equal_runs_have_no_differences() -> None:
    result = compare(run(RUN), run(RUN))

    assert result.same
    assert (result.divergence, result.scores, result.settings) == (None, None, [])
    assert result.placements.pods == []
    assert result.utilisation.a == result.utilisation.b


def test_runs_with_equal_decisions_under_different_commands_are_equal() -> None:
    result = compare(run(RUN), run(*[{"op": "step", "unit": "cycle", "count": 10}] * 4, RUN))

    assert result.same, result.divergence


def test_different_weights_lead_to_different_nodes(packed: Comparison) -> None:
    assert not packed.same
    assert packed.placements.moved > 0
    counted = packed.placements
    assert len(counted.pods) == counted.moved + counted.placed_only_in_a + counted.placed_only_in_b
    assert [setting.path for setting in packed.settings] == ["config"]


def test_pods_that_are_pending_in_both_are_counted_separately() -> None:
    neither, both = compare(run(), run()).placements, compare(run(RUN), run(RUN)).placements

    assert neither.same == both.same == 30
    assert neither.pending_in_both > both.pending_in_both
    assert f"({neither.pending_in_both} of them pending)" in html_report(compare(run(), run({"op": "create", "object": NODE})))


def test_the_first_differing_cycle_is_reported_with_its_decisions(packed: Comparison) -> None:
    assert packed.divergence is not None
    cycle, event = packed.divergence.cycle, packed.divergence.event
    assert cycle is not None
    assert event is not None
    assert cycle.a is not None
    assert cycle.b is not None
    assert event.a is not None
    assert cycle.a.pod == cycle.b.pod
    assert cycle.a.first_event <= event.a.event <= cycle.a.last_event
    assert any(one.path.startswith("winner") for one in cycle.what)
    assert cycle.a.pod in packed.divergence.text


def test_the_first_pod_on_another_node_is_reported_if_only_scores_differ_earlier() -> None:
    small = {"nodes": 5, "pods": 30, "shape": "mixed", "seed": 1}
    a, b = run(RUN, cluster=small), run(RUN, cluster=small, config=PACKING)
    result = compare(a, b)

    assert result.divergence is not None
    first = result.divergence.cycle
    assert first is not None
    assert first.a is not None
    assert first.b is not None
    assert (first.a.pod, first.a.node) == (first.b.pod, first.b.node)
    assert (
        f"Its result is the same, but {first.what[0].path} is {first.what[0].a} in A and {first.what[0].b} in B." in result.divergence.text
    )
    _, _, ended = result.divergence.text.partition("First cycle with another result: ")
    places = {pod.pod: (pod.a, pod.b) for pod in result.placements.pods}
    assert any(pod in ended for pod in places)


def test_differing_scores_of_the_diverging_cycle_are_listed(packed: Comparison) -> None:
    assert packed.scores is not None
    assert packed.divergence is not None
    assert packed.divergence.cycle is not None
    assert packed.divergence.cycle.a is not None
    assert packed.scores.pod == packed.divergence.cycle.a.pod
    assert not packed.scores.complete
    assert any(plugin.plugin == "NodeResourcesFit" for plugin in packed.scores.plugins)
    assert all(plugin.a != plugin.b for plugin in packed.scores.plugins)


def test_utilisation_is_counted_for_each_node_and_in_total(packed: Comparison) -> None:
    use = packed.utilisation
    for side in ("a", "b"):
        whole = getattr(use, side)
        assert whole.cpu.requested == sum(getattr(node, side).cpu.requested for node in use.nodes)
        assert whole.cpu.allocatable == sum(getattr(node, side).cpu.allocatable for node in use.nodes)
    assert use.nodes[0].a != use.nodes[0].b


def test_pending_pods_are_grouped_by_message(packed: Comparison) -> None:
    result = compare(run(), run(RUN, cluster={**CLUSTER, "nodes": 1}))

    assert result.pending
    assert any(reason.reason == "not tried yet" and reason.count_a == 30 for reason in result.pending)
    assert any("0/1 nodes are available" in reason.reason and reason.count_b == len(reason.b) for reason in result.pending)


def test_a_longer_run_diverges_where_the_shorter_one_ended() -> None:
    result = compare(run({"op": "run", "max": 5}), run({"op": "run", "max": 7}))

    assert result.divergence is not None
    assert result.divergence.cycle is not None
    assert result.divergence.cycle.a is None
    assert result.divergence.cycle.b is not None
    assert result.divergence.cycle.b.cycle == 6
    assert result.placements.placed_only_in_b + result.placements.same == 30


def test_a_change_between_cycles_is_the_first_differing_event() -> None:
    result = compare(run({"op": "run", "max": 3}, RUN), run({"op": "run", "max": 3}, {"op": "create", "object": NODE}, RUN))

    assert result.divergence is not None
    assert result.divergence.event is not None
    assert result.divergence.event.b is not None
    assert result.divergence.event.b.body["key"] == "late"
    assert f"B at event {result.divergence.event.b.event}: API server: create Node late." in result.divergence.text
    assert result.divergence.cycle is not None
    assert result.divergence.cycle.b is not None
    assert result.divergence.cycle.b.cycle == 4
    assert any(node.node == "late" and node.a is None for node in result.utilisation.nodes)


def test_the_shared_history_is_not_compared() -> None:
    a, b = run({"op": "run", "max": 3}, RUN), run({"op": "run", "max": 3}, {"op": "create", "object": NODE}, RUN)
    whole = compare(a, b)
    third = next(one for one in a.cycles(2))

    result = compare(a, b, shared_event=third.last_event, shared_cycle=3)

    assert result.divergence == whole.divergence
    assert result.shared_event == third.last_event


def test_lists_are_limited_and_count_the_omitted_items() -> None:
    result = compare(run(), run(RUN), listed=3)

    assert len(result.placements.pods) == 3
    assert result.placements.left_out == result.placements.placed_only_in_b - 3


@pytest.mark.parametrize(
    ("a", "b", "paths"),
    [
        ({"x": 1}, {"x": 1}, []),
        ({"x": 1, "y": [1, {"z": 2}]}, {"x": 2, "y": [1, {"z": 3}]}, ["x", "y[1].z"]),
        ({"x": [1]}, {"x": [1, 2]}, ["x"]),
        ({}, {"x": None, "y": 1}, ["y"]),
        ({"x": [{"plugin": "A", "raw": 1}]}, {"x": [{"plugin": "A", "raw": 2}]}, ["x[A].raw"]),
        ({"x": [{"name": "A"}, {"name": "C"}]}, {"x": [{"name": "A"}, {"name": "B"}, {"name": "C"}]}, ["x[B]"]),
        ({"x": [{"name": "A"}, {"name": "B"}]}, {"x": [{"name": "B"}, {"name": "A"}]}, ["x[0].name", "x[1].name"]),
        ({"x": [{"name": "A", "y": 1}, {"name": "A"}]}, {"x": [{"name": "A", "y": 2}, {"name": "A"}]}, ["x[0].y"]),
    ],
)
def test_differences_have_paths(a: Any, b: Any, paths: list[str]) -> None:
    assert [difference.path for difference in differences(a, b)] == paths


def test_a_report_loads_no_resources_and_runs_no_scripts() -> None:
    hostile = "</script><script>alert(1)</script>"
    page = html_report(compare(run(RUN, name=hostile), run(RUN, config=PACKING, name="<img src=x onerror=alert(1)>")))

    assert page.count("<script") == 1
    assert "<img" not in page
    assert "http://" not in page.replace("kubescheduler", "")
    assert "https://" not in page
    assert "default-src 'none'" in page
    assert "First divergence" in page
    assert "<h2>Utilization</h2>" in page


def test_a_report_shows_characters_that_reorder_or_hide_text() -> None:
    result = compare(run(RUN, name="a\u202eb\u200b"), run({"op": "create", "object": {**NODE, "metadata": {"name": "n\u202e\x7f"}}}))
    page = html_report(result)
    data = page.split("id='comparison'>", 1)[1].split("</script>", 1)[0]

    assert r"<td>a\u202eb\u200b</td>" in page
    assert r"<td>n\u202e\x7f</td>" in page
    assert {letter for letter in page if not letter.isprintable()} == {"\n"}
    assert json.loads(data)["a"]["name"] == "a\u202eb\u200b"


def test_a_report_contains_the_comparison_as_json() -> None:
    result = compare(run(RUN), run(RUN, config=PACKING))
    page = html_report(result)
    data = page.split("id='comparison'>", 1)[1].split("</script>", 1)[0]

    assert json.loads(data)["placements"]["moved"] == result.placements.moved


def test_pods_of_error_backoff_q_are_pending() -> None:
    simulation = four_nodes(pod("p"), release="v1.36")
    beginning = simulation.view()
    do(simulation, "schedule")
    do(simulation, "bind_fail", pod="default/p")
    failed = RunInMemory("failed", beginning, simulation.drain_events(), {})

    (reason,) = compare(failed, failed).pending

    assert (reason.a, reason.count_a) == (["default/p"], 1)
