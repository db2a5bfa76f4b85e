"""Each measure, on clusters small enough to count by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.finished_trial import FinishedTrial
from schedviz.experiments.measures import Measure, MeasureInfo, measure, measures_named, registry
from schedviz.trace.releases import RELEASES
from tests.experiments.small_plans import node, pod, run, write_cluster

BASE = "base: {files: [cluster.json]}\n"


def values(folder: Path, *objects: dict[str, Any], plan: str = BASE) -> dict[str, float]:
    write_cluster(folder, *objects)
    (result,) = run(plan, folder)
    assert not result.error, result.error
    return result.values


def test_pods_are_placed_or_pending_by_reason(tmp_path: Path) -> None:
    result = values(
        tmp_path,
        node("n1", cpu="2"),
        pod("fits"),
        pod("large", cpu="3"),
        pod("wants-ssd", nodeSelector={"disk": "ssd"}),
        pod("gated", schedulingGates=[{"name": "a.b/c"}]),
        pod("foreign", schedulerName="other"),
    )
    reasons = {key.removeprefix("pendingReason."): value for key, value in result.items() if key.startswith("pendingReason.")}
    assert (result["placed"], result["pending"]) == (1, 4)
    assert reasons == {
        "Insufficient cpu": 1,
        "node(s) didn't match Pod's node affinity/selector": 1,
        "scheduling gates": 1,
        "no profile has the pod's schedulerName": 1,
    }


def test_nodes_with_only_pods_of_daemon_sets_are_empty(tmp_path: Path) -> None:
    result = values(
        tmp_path, node("n1"), node("n2"), pod("agent", on="n2", owner="DaemonSet"), pod("a", nodeSelector={"kubernetes.io/hostname": "n1"})
    )
    assert (result["nodesUsed"], result["nodesEmpty"]) == (1, 1)


def test_utilization_is_the_requested_share(tmp_path: Path) -> None:
    result = values(tmp_path, node("n1", cpu="4"), node("n2", cpu="4"), pod("a", cpu="2"))
    assert result["utilization.cpu"] == 0.25
    assert (result["nodeUtilization.cpu p10"], result["nodeUtilization.cpu p90"]) == (0.05, 0.45)


def test_capacity_that_no_shape_can_use_is_stranded(tmp_path: Path) -> None:
    # n1 keeps 1 cpu and no memory; n2 keeps 2 cpus and 2Gi.
    result = values(
        tmp_path,
        node("n1", cpu="2", memory="1Gi"),
        node("n2", cpu="2", memory="2Gi"),
        pod("there", on="n1"),
        pod("huge", cpu="3", memory="1Gi"),
        pod("small", cpu="1", memory="1Gi", nodeSelector={"x": "y"}),
    )
    assert result["stranded.cpu"] == pytest.approx(1 / 3, abs=1e-9)
    # The huge pod, half of the workload, cannot use n2 either.
    assert result["fragmentation.cpu"] == pytest.approx((1 + 0.5 * 2) / 3, abs=1e-9)


def gpu(obj: dict[str, Any], count: int) -> dict[str, Any]:
    if obj["kind"] == "Node":
        obj["status"]["allocatable"]["example.com/gpu"] = str(count)
    else:
        obj["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = str(count)
    return obj


def test_gpus_on_nodes_where_no_pod_that_requests_them_fits_are_stranded(tmp_path: Path) -> None:
    # Small pods without GPUs would fit on both nodes, but not the pod with a GPU: n1 lacks a cpu.
    found = values(
        tmp_path, gpu(node("n1", cpu="3"), 4), gpu(node("n2", cpu="9"), 2), pod("old", on="n1"), gpu(pod("a", cpu="3"), 1), pod("b")
    )
    assert found["strandedUnits.example.com/gpu"] == 4
    assert found["stranded.example.com/gpu"] == 0


PRICED = BASE + "prices: {perHour: {large: 2.5}, default: 1}\n"


def typed(obj: dict[str, Any], instance_type: str, label: str = "node.kubernetes.io/instance-type") -> dict[str, Any]:
    obj["metadata"]["labels"][label] = instance_type
    return obj


def test_cost_is_the_price_of_the_nodes(tmp_path: Path) -> None:
    nodes = [typed(node("n1"), "large"), typed(node("n2"), "small"), typed(node("n3"), "large", "beta.kubernetes.io/instance-type")]
    found = values(tmp_path, *nodes, pod("a", nodeSelector={"kubernetes.io/hostname": "n3"}), plan=PRICED)
    assert (found["cost.used"], found["cost.all"]) == (2.5, 6)
    assert "totalCost" not in found, "virtual time does not advance"


def test_a_plan_without_prices_has_no_cost(tmp_path: Path) -> None:
    assert not [key for key in values(tmp_path, node("n1"), pod("a")) if key.startswith("cost")]


def test_means_over_time_are_weighted_by_how_long_pods_ran(tmp_path: Path) -> None:
    timed = "workload: {arrivals: {rate: 0.01, distribution: fixed}, lifetimes: {mean: 50, distribution: fixed}}\n"
    found = values(tmp_path, typed(node("n1"), "large"), pod("a"), pod("b"), pod("c"), plan=PRICED + timed)
    # The pods arrive after 100, 200 and 300 seconds, and run for 50: a third of the time until the last one arrives.
    assert found["meanUtilization.cpu"] == pytest.approx(0.25 / 3, abs=1e-4)
    assert found["meanNodesUsed"] == pytest.approx(1 / 3, abs=1e-4)
    assert found["totalCost"] == pytest.approx(2.5 * 100 / 3600, abs=1e-4)


def without_requests(name: str, **members: Any) -> dict[str, Any]:
    made = pod(name, **members)
    made["spec"]["containers"] = [{"name": "main", "image": "i"}]
    return made


def test_a_workload_without_requests_strands_nothing(tmp_path: Path) -> None:
    found = values(tmp_path, node("n1"), without_requests("a"), without_requests("b"))
    assert found["placed"] == 2
    assert not [key for key in found if key.startswith(("stranded", "fragmentation", "utilization"))]


def test_nodes_without_usable_resources_have_no_utilization(tmp_path: Path) -> None:
    found = values(tmp_path, node("n1", cpu="-1", memory="-1"), pod("a"), without_requests("b"))
    assert found["pending"] == 1
    assert not [key for key in found if key.startswith(("utilization", "nodeUtilization"))]


def test_zone_skew_is_counted_per_application(tmp_path: Path) -> None:
    nodes = [node("n1", zone="a", cpu="8"), node("n2", zone="b", cpu="8")]
    here = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    there = {"nodeSelector": {"kubernetes.io/hostname": "n2"}}
    result = values(
        tmp_path, *nodes, pod("a1", app="a", **here), pod("a2", app="a", **here), pod("b1", app="b", **here), pod("b2", app="b", **there)
    )
    assert (result["zoneSkew.mean"], result["zoneSkew.max"]) == (1, 2)
    assert result["nodeSpread.mean"] == 0.75


def test_victims_beyond_their_budget_are_violations(tmp_path: Path) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}, "minAvailable": 1},
        "status": {"disruptionsAllowed": 0},
    }
    result = values(
        tmp_path, node("n1", cpu="2"), budget, pod("db", app="db", cpu="2", on="n1", priority=0), pod("high", cpu="2", priority=9)
    )
    assert (result["victims"], result["pdbViolations"], result["preemptions"]) == (1, 1, 1)


@pytest.mark.parametrize("release", RELEASES)
def test_pods_that_a_trace_deletes_are_not_victims(tmp_path: Path, release: str) -> None:
    objects = node("n1", cpu="3"), pod("low", cpu="2", on="n1", priority=0), pod("deleted")
    deletion = {"op": "delete", "kind": "Pod", "namespace": "default", "name": "deleted"}
    steps: list[dict[str, Any]] = [*({"op": "create", "object": obj} for obj in objects), {"op": "run"}, deletion]
    plan = f"base: {{files: [trace.json]}}\ncommon: {{release: {release}}}\n"

    def victims() -> float:
        (tmp_path / "trace.json").write_text(json.dumps({"format": "schedviz-trace/1", "name": "t", "steps": steps}))
        (result,) = run(plan, tmp_path)
        return result.values["victims"]

    assert victims() == 0
    steps.append({"op": "create", "object": pod("high", cpu="3", priority=9)})
    assert victims() == 1


def test_attempts_are_counted_and_waiting_is_in_virtual_time(tmp_path: Path) -> None:
    result = values(tmp_path, node("n1", cpu="2"), pod("a"), pod("b"), pod("c"))
    assert (result["attempts.all"], result["attempts.most"]) == (3, 1)
    assert result["waiting.max"] == pytest.approx(0.002, abs=1e-4)
    assert result["evaluatedNodes.mean"] == 1


def bad(_trial: FinishedTrial) -> float:
    raise KeyError("zone")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    points = [
        EntryPoint("mine", f"{__name__}:MINE", registry.GROUP),
        EntryPoint("bad", f"{__name__}:BAD", registry.GROUP),
        EntryPoint("words", f"{__name__}:WORDS", registry.GROUP),
        EntryPoint("plain", f"{__name__}:bad", registry.GROUP),
        EntryPoint("gone", "no_such_module:it", registry.GROUP),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.GROUP else [])
    return points


MINE = measure("mine", title="Pods twice", unit="count", better="higher")(lambda trial: 2 * len(trial.placements))
BAD = measure("bad", title="Raises")(bad)
WORDS = measure("words", title="No number")(lambda _trial: "many")  # type: ignore[arg-type,return-value]


def test_a_users_measure_is_found_by_its_entry_point(tmp_path: Path, installed: list[EntryPoint]) -> None:
    assert values(tmp_path, node("n1"), pod("a"), plan=BASE + "measures: [mine]") == {"mine": 2}


def test_a_measure_that_raises_fails_its_trial_with_name_and_traceback(tmp_path: Path, installed: list[EntryPoint]) -> None:
    write_cluster(tmp_path, node("n1"), pod("a"))
    (result,) = run(BASE + "measures: [placed, bad]", tmp_path)
    assert (result.error, result.failed_part) == ("measure bad: KeyError: 'zone'", "bad")
    assert 'raise KeyError("zone")' in result.traceback
    assert result.values == {}


def test_a_measure_must_return_numbers(tmp_path: Path, installed: list[EntryPoint]) -> None:
    write_cluster(tmp_path, node("n1"), pod("a"))
    (result,) = run(BASE + "measures: [words]", tmp_path)
    assert result.error == "measure words: expected a number, or numbers by name; found 'many'"


def test_broken_entry_points_are_rejected_with_the_plan(installed: list[EntryPoint]) -> None:
    with pytest.raises(PlanError) as caught:
        measures_named(["plain", "gone"])
    assert [fault.path for fault in caught.value.faults] == ["measures[0]", "measures[1]"]
    assert "is not a Measure" in caught.value.faults[0].message


def test_the_name_of_a_measure_must_not_contain_a_dot() -> None:
    with pytest.raises(ValueError, match="must not be empty or contain a dot"):
        Measure(bad, MeasureInfo("a.b", "title"))
