"""Scheduler metrics: counts and labels equal upstream's."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.sessions.metrics import definitions
from schedviz.sessions.metrics.counting import attempts_label, count, status_of
from schedviz.sessions.metrics.metric_values import MetricValues, decode, encode
from schedviz.trace.releases import RELEASES, V1_27, V1_36
from schedviz.trace.view import StatusView
from tests.engine.clusters import do, four_nodes, node, pod


class Ticks:
    """A clock that advances by a millisecond with each reading."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 0.001
        return self.seconds


def counted(simulation: Simulation, values: MetricValues) -> MetricValues:
    count(values, simulation.drain_events(), simulation.recorder.drain_stage_timings())
    return values


def watched(*pods: dict[str, Any], **settings: Any) -> tuple[Simulation, MetricValues]:
    simulation = four_nodes(*pods, **settings)
    simulation.recorder.stage_clock = Ticks()
    return simulation, MetricValues(event=simulation.event, release=simulation.release.version)


@pytest.mark.parametrize("release", RELEASES)
def test_attempts_are_counted_by_result_and_profile(release: str) -> None:
    simulation, values = watched(pod("fits"), pod("too-large", cpu="64"), pod("fits-too"), release=release)
    do(simulation, "run")

    counted(simulation, values)

    assert values.counters[definitions.SCHEDULE_ATTEMPTS.name] == {
        ("scheduled", "default-scheduler"): 2,
        ("unschedulable", "default-scheduler"): 1,
    }
    durations = values.histograms[definitions.SCHEDULING_ATTEMPT_DURATION.name]
    assert {labels: sum(histogram.counts) for labels, histogram in durations.items()} == {
        ("scheduled", "default-scheduler"): 2,
        ("unschedulable", "default-scheduler"): 1,
    }
    # v1.27.1 does not measure an algorithm that found no node.
    assert sum(values.histograms[definitions.SCHEDULING_ALGORITHM_DURATION.name][()].counts) == (2 if release == V1_27 else 3)
    assert values.histograms[definitions.POD_SCHEDULING_ATTEMPTS.name][()].counts == [2, 0, 0, 0, 0, 0]
    assert list(values.histograms[definitions.POD_SCHEDULING_DURATION.name]) == [("1",)]
    assert not values.open_attempts


@pytest.mark.parametrize("release", RELEASES)
def test_extension_points_are_timed_once_for_each_cycle_that_runs_them(release: str) -> None:
    simulation, values = watched(pod("fits"), pod("too-large", cpu="64"), release=release)
    do(simulation, "run")

    counted(simulation, values)

    timed = values.histograms[definitions.FRAMEWORK_EXTENSION_POINT_DURATION.name]
    assert {(point, status): sum(histogram.counts) for (point, status, _), histogram in timed.items()} == {
        ("PreFilter", "Success"): 2,
        ("Filter", "Success"): 2,
        ("PostFilter", "Unschedulable"): 1,
        ("PreScore", "Success"): 1,
        ("Score", "Success"): 1,
        ("Reserve", "Success"): 1,
        ("Permit", "Success"): 1,
        ("PreBind", "Success"): 1,
        ("Bind", "Success"): 1,
        ("PostBind", "Success"): 1,
    } | ({("PreBindPreFlight", "Skip"): 1} if release == V1_36 else {})
    # Each reading advances this clock by a millisecond.
    assert all(histogram.sum == pytest.approx(0.001 * sum(histogram.counts)) for histogram in timed.values())


def test_stages_without_timing_are_counted_without_durations() -> None:
    simulation, values = watched(pod("fits"))
    simulation.recorder.stage_clock = None
    do(simulation, "run")

    counted(simulation, values)

    assert values.counters[definitions.SCHEDULE_ATTEMPTS.name] == {("scheduled", "default-scheduler"): 1}
    assert definitions.FRAMEWORK_EXTENSION_POINT_DURATION.name not in values.histograms


def test_pods_that_enter_a_queue_are_counted_by_queue_and_event() -> None:
    simulation, values = watched(pod("too-large", cpu="64"))
    do(simulation, "run")
    do(simulation, "create", object=pod("fits"))
    do(simulation, "create", object=node("node5", cpu="80"))
    do(simulation, "advance", seconds=2)

    counted(simulation, values)

    assert values.counters[definitions.QUEUE_INCOMING_PODS.name] == {
        ("unschedulable", "ScheduleAttemptFailure"): 1,
        ("active", "PodAdd"): 1,
        ("backoff", "NodeAdd"): 1,
        ("active", "BackoffComplete"): 1,
    }


@pytest.mark.parametrize(
    ("release", "incoming"),
    [
        (V1_27, {("backoff", "NodeAdd"): 1, ("active", "BackoffComplete"): 1}),
        (V1_36, {("backoff", "NodeAdd"): 1, ("active", "PopFromBackoffQ"): 1}),
    ],
)
def test_a_pod_popped_from_backoff_q_is_counted_as_incoming_to_active_q(release: str, incoming: dict[tuple[str, str], int]) -> None:
    simulation, values = watched(pod("too-large", cpu="64"), release=release)
    do(simulation, "run")
    counted(simulation, values)
    values.restart()
    do(simulation, "create", object=node("node5", cpu="80"))
    do(simulation, "run")
    if release == V1_27:
        do(simulation, "advance", seconds=2)

    counted(simulation, values)

    assert values.counters[definitions.QUEUE_INCOMING_PODS.name] == incoming


@pytest.mark.parametrize(("release", "incoming"), [(V1_27, None), (V1_36, {("unschedulable", "UnschedulablePodAdd"): 1})])
def test_a_gated_pod_is_counted_as_incoming_in_v1_36_only(release: str, incoming: dict[tuple[str, str], int] | None) -> None:
    simulation, values = watched(release=release)
    gated = pod("gated", schedulingGates=[{"name": "example.com/wait"}])
    do(simulation, "create", object=gated)

    counted(simulation, values)

    assert values.counters.get(definitions.QUEUE_INCOMING_PODS.name) == incoming


def test_preemption_is_counted_with_its_victims() -> None:
    low = [pod(f"low-{n}", cpu="4", node_name=f"node{n}") for n in range(1, 5)]
    simulation, values = watched(*low, pod("high", cpu="4", priority=1000), pod("too-large", cpu="64", priority=1000))
    do(simulation, "run")

    counted(simulation, values)

    assert values.counters[definitions.PREEMPTION_ATTEMPTS.name] == {(): 2}
    victims = values.histograms[definitions.PREEMPTION_VICTIMS.name][()]
    assert (sum(victims.counts), victims.sum) == (1, 1)


def test_wait_and_backoff_times_are_in_the_sessions_clock() -> None:
    simulation, values = watched(pod("first", cpu="64"))
    do(simulation, "run")
    do(simulation, "advance", seconds=100)
    do(simulation, "create", object=node("node5", cpu="80"))
    do(simulation, "run")

    counted(simulation, values)

    took = values.histograms[definitions.POD_SCHEDULING_DURATION.name]
    assert list(took) == [("2",)]
    assert took["2",].sum == pytest.approx(100, abs=0.1)


def test_a_restarted_scheduler_counts_from_zero() -> None:
    simulation, values = watched(pod("one"))
    do(simulation, "run")
    do(simulation, "restart")

    counted(simulation, values)

    assert definitions.SCHEDULE_ATTEMPTS.name not in values.counters


def test_counting_a_cycle_in_progress_continues_after_it_was_stored() -> None:
    simulation, values = watched(pod("one"))
    for _ in range(3):
        do(simulation, "step", unit="stage")
    restored = decode(encode(counted(simulation, values)))
    assert restored == values
    assert len(restored.open_attempts) == 1
    do(simulation, "run")

    counted(simulation, restored)

    assert restored.counters[definitions.SCHEDULE_ATTEMPTS.name] == {("scheduled", "default-scheduler"): 1}


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        ([], "Success"),
        (["Success", "Skip"], "Success"),
        (["Wait", "Success"], "Wait"),
        (["Unschedulable", "Success"], "Success"),
        (["Success", "UnschedulableAndUnresolvable"], "UnschedulableAndUnresolvable"),
    ],
)
def test_the_status_of_an_extension_point_follows_from_those_of_its_plugins(codes: list[str], status: str) -> None:
    assert status_of([StatusView(plugin=f"Plugin{n}", code=code) for n, code in enumerate(codes)]) == status


def test_attempts_from_the_fifteenth_on_share_a_label() -> None:
    assert [attempts_label(n) for n in (1, 14, 15, 99)] == ["1", "14", "15+", "15+"]


def test_histogram_buckets_are_upstreams() -> None:
    assert definitions.SCHEDULING_ATTEMPT_DURATION.buckets[:3] == (0.001, 0.002, 0.004)
    assert definitions.SCHEDULING_ATTEMPT_DURATION.buckets[-1] == 16.384
    assert definitions.FRAMEWORK_EXTENSION_POINT_DURATION.buckets[-1] == pytest.approx(0.2048)
    assert definitions.PREEMPTION_VICTIMS.buckets == (1, 2, 4, 8, 16, 32, 64)
    assert definitions.POD_SCHEDULING_ATTEMPTS.buckets == (1, 2, 4, 8, 16)
    assert len(definitions.POD_SCHEDULING_DURATION.buckets) == 20


@pytest.mark.parametrize("release", RELEASES)
def test_a_pod_whose_binding_failed_is_counted_as_incoming_to_backoff(release: str) -> None:
    simulation, values = watched(pod("unlucky"), release=release)
    do(simulation, "schedule")
    do(simulation, "bind_fail", pod="default/unlucky", message="the API server is away")
    counted(simulation, values)
    assert values.counters[definitions.QUEUE_INCOMING_PODS.name] == {("backoff", "ScheduleAttemptFailure"): 1}
    assert values.counters[definitions.SCHEDULE_ATTEMPTS.name] == {("error", "default-scheduler"): 1}
