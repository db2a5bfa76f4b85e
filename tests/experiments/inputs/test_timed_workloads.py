"""Pods that arrive and end in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.inputs.arrivals import arrivals_of
from schedviz.experiments.inputs.lifetimes import LifetimeSource
from schedviz.experiments.plans.plan import Arrivals, Lifetimes
from schedviz.experiments.trials.trial_result import TrialResult
from schedviz.kube import codec
from schedviz.kube.core import Pod
from tests.experiments.small_plans import checked, node, pod, run, write_cluster

SECOND = 1_000_000_000


def pods(*names: str, created: str | None = None) -> list[Pod]:
    found = [codec.from_dict(pod(name)) for name in names]
    return [each for each in found if isinstance(each, Pod)]


def created(obj: dict[str, Any], at: str) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "creationTimestamp": at}}


def finished(name: str, *, ran: int, job: str, kind: str = "Job") -> dict[str, Any]:
    """A pod of a Job that ran for some seconds."""
    made = pod(name, on="n1")
    made["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": kind, "name": job, "uid": job, "controller": True}]
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": f"2024-05-01T10:00:{ran:02}Z"}
    made["status"] = {"phase": "Succeeded", "startTime": "2024-05-01T10:00:00Z", "conditions": [ready]}
    return made


def of_job(name: str, job: str, kind: str = "Job") -> dict[str, Any]:
    made = pod(name)
    made["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": kind, "name": job, "uid": job, "controller": True}]
    return made


def trials(folder: Path, workload: str, *objects: dict[str, Any], more: str = "") -> list[TrialResult]:
    write_cluster(folder, *objects)
    return run(f"base: {{files: [cluster.json]}}\nworkload: {{{workload}}}\n{more}", folder)


def test_fixed_arrivals_have_equal_intervals(tmp_path: Path) -> None:
    (result,) = trials(tmp_path, "arrivals: {rate: 0.5, distribution: fixed}", node("n1"), *(pod(name) for name in "abc"))
    assert result.series_axis == "seconds"
    placed = result.series["placed"]
    assert placed.values[-1] == 3
    assert placed.at[-1] == pytest.approx(6, abs=0.01)
    assert result.values["waiting.max"] == pytest.approx(0.001, abs=0.001), "each pod is scheduled when it arrives"


def test_poisson_arrivals_have_the_rate_and_follow_the_seed() -> None:
    many = pods(*(f"p{number}" for number in range(2000)))
    first, again, other = (arrivals_of(many, Arrivals(rate=4.0), seed) for seed in (1, 1, 2))
    assert first == again != other
    assert first[-1].at / SECOND == pytest.approx(500, rel=0.1)


def test_pods_arrive_at_their_creation_times_and_faster_with_a_speed(tmp_path: Path) -> None:
    late, early = created(pod("late"), "2024-05-01T10:01:00Z"), created(pod("early"), "2024-05-01T10:00:00Z")
    (result,) = trials(tmp_path, "arrivals: {from: creationTimestamps, speed: 10}", node("n1"), late, early)
    assert result.clock_seconds == pytest.approx(6, abs=0.01)


def test_a_finished_pod_frees_its_node(tmp_path: Path) -> None:
    both = "arrivals: {rate: 1, distribution: fixed}, lifetimes: {mean: 10, distribution: fixed}"
    (result,) = trials(tmp_path, both, node("n1", cpu="1"), pod("first"), pod("second"))
    assert result.placements == {"default/first": "n1", "default/second": "n1"}
    assert (result.values["placed"], result.values["victims"], result.values["pending"]) == (2, 0, 0)
    assert result.values["waiting.max"] == pytest.approx(9, abs=1.1), "the second waits for the first, and for its backoff"
    assert max(result.series["utilization.cpu"].values) == 1


def test_without_arrivals_a_trial_ends_when_no_pod_waits(tmp_path: Path) -> None:
    (result,) = trials(tmp_path, "lifetimes: {mean: 100, distribution: fixed}", node("n1", cpu="2"), *(pod(name) for name in "abc"))
    assert (result.ended, result.values["placed"]) == ("empty", 3)
    assert result.clock_seconds == pytest.approx(100, abs=2)
    assert result.series["placed"].values[-1] == 1, "the pod that waited is still running"


def test_a_trial_ends_at_its_limit_of_virtual_time(tmp_path: Path) -> None:
    (result,) = trials(
        tmp_path, "arrivals: {rate: 1, distribution: fixed}", node("n1"), *(pod(name) for name in "abcd"), more="limits: {seconds: 2.5}"
    )
    assert (result.ended, result.values["placed"]) == ("seconds", 2)
    assert result.clock_seconds == pytest.approx(2.5, abs=0.01)


def test_a_pod_that_never_fits_does_not_prevent_a_trial_from_ending(tmp_path: Path) -> None:
    workload = "arrivals: {rate: 1, distribution: fixed}, lifetimes: {mean: 5, distribution: fixed}"
    (result,) = trials(tmp_path, workload, node("n1"), pod("huge", cpu="99"), pod("small"))
    assert (result.values["placed"], result.values["pending"]) == (1, 1)


def test_lifetimes_can_be_restricted_to_some_kinds_of_owners() -> None:
    source = LifetimeSource(Lifetimes(mean=5.0, distribution="fixed", owners=["Job"]), [], seed=1)
    job, plain = (codec.from_dict(obj) for obj in (of_job("a", "j"), pod("b")))
    assert isinstance(job, Pod)
    assert isinstance(plain, Pod)
    assert (source.of(job), source.of(plain)) == (5 * SECOND, None)


def test_lifetimes_do_not_depend_on_the_order_in_which_pods_run() -> None:
    source = LifetimeSource(Lifetimes(mean=60.0), [], seed=3)
    a, b = pods("a", "b")
    assert (source.of(a), source.of(b)) == (source.of(a), source.of(b))
    assert source.of(a) != source.of(b)


def test_jobs_run_as_long_as_their_finished_pods_did(tmp_path: Path) -> None:
    old = [finished("nightly-1-x", ran=20, job="nightly-1"), finished("other-1-x", ran=40, job="other-1")]
    write_cluster(tmp_path, node("n1"), *old, of_job("nightly-2-x", "nightly-2"), of_job("new", "new-job"), pod("plain"))
    plan = checked("base: {files: [cluster.json]}\nworkload: {lifetimes: {from: finishedPods}}", tmp_path)
    source = LifetimeSource(Lifetimes(source="finishedPods"), plan.base.finished, seed=1)
    lifetimes = {obj.name: source.of(obj) for obj in plan.base.objects if isinstance(obj, Pod) and not obj.spec.node_name}
    assert lifetimes["nightly-2-x"] == 20 * SECOND
    assert lifetimes["new"] in (20 * SECOND, 40 * SECOND), "lifetimes come from pods with the same kind of owner"
    assert lifetimes["plain"] is None


def test_arrivals_can_be_days_apart(tmp_path: Path) -> None:
    late, early = created(pod("late"), "2024-05-21T10:00:00Z"), created(pod("early"), "2024-05-01T10:00:00Z")
    (result,) = trials(tmp_path, "arrivals: {from: creationTimestamps}", node("n1"), late, early)
    assert result.clock_seconds == pytest.approx(20 * 86_400, abs=0.01)


def test_arrivals_can_be_years_apart(tmp_path: Path) -> None:
    late, early = created(pod("late"), "2024-05-01T10:00:00Z"), created(pod("early"), "2014-05-01T10:00:00Z")
    (result,) = trials(tmp_path, "arrivals: {from: creationTimestamps}", node("n1"), late, early)
    assert (result.error, result.values["placed"]) == ("", 2)
    assert result.clock_seconds == pytest.approx(3653 * 86_400, abs=0.1)


def test_a_seed_changes_drawn_times_unless_it_varies_other_things(tmp_path: Path) -> None:
    workload = "arrivals: {rate: 1}"
    objects = (node("n1", cpu="9"), *(pod(name) for name in "abcd"))
    first, second = trials(tmp_path, workload, *objects, more="seeds: 2")
    assert first.clock_seconds != second.clock_seconds
    first, second = trials(tmp_path, workload, *objects, more="seeds: 2\nseedVaries: [order]")
    assert first.clock_seconds == second.clock_seconds


@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
def test_the_same_seed_gives_the_same_results(release: str) -> None:
    plan = f"""\
base: {{generate: {{shape: mixed, nodes: 5, pods: 60}}}}
workload: {{arrivals: {{rate: 2}}, lifetimes: {{mean: 20}}}}
common: {{release: {release}}}
seeds: [7]
measures: [placed, pending, utilization, waiting]
"""
    (first,), (again,) = run(plan), run(plan)
    assert first == again
    assert first.values["placed"] > 30


@pytest.mark.parametrize(
    ("workload", "line", "message"),
    [
        ("arrivals: {}", 3, "workload.arrivals: expected exactly one of rate and from; found neither"),
        (
            "arrivals: {rate: 1, from: creationTimestamps}",
            3,
            "workload.arrivals: expected exactly one of rate and from; found rate and from",
        ),
        ("arrivals: {rate: 0}", 3, "workload.arrivals.rate: expected"),
        ("arrivals: {rate: 1.0e-300}", 3, "workload.arrivals.rate: the last pod would arrive after"),
        ("arrivals: {rate: 1.0e-310}", 3, "workload.arrivals.rate: the last pod would arrive after inf s"),
        ("lifetimes: {distribution: fixed}", 3, "workload.lifetimes: expected exactly one of mean and from; found neither"),
        ("lifetimes: {mean: 5, distribution: normal}", 3, "workload.lifetimes.distribution: expected"),
        (
            "arrivals: {from: creationTimestamps}",
            3,
            "workload.arrivals.from: the pod default/a has no creationTimestamp; give a rate instead",
        ),
        ("lifetimes: {from: finishedPods}", 3, "workload.lifetimes.from: no pod of the base has finished"),
    ],
)
def test_an_impossible_workload_is_rejected_with_line_and_path(tmp_path: Path, workload: str, line: int, message: str) -> None:
    write_cluster(tmp_path, node("n1"), pod("a"))
    with pytest.raises(PlanError) as caught:
        checked(f"base: {{files: [cluster.json]}}\nworkload: {{{workload}}}", tmp_path)
    assert str(caught.value).startswith(f"line {line}: {message}")
