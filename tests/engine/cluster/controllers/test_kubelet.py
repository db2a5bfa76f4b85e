"""Bound pods run after a delay, terminating pods are deleted after their grace period."""

from __future__ import annotations

from typing import Any


def test_a_pod_runs_after_its_startup_time(session: Any, pod: Any) -> None:
    do = session(pod("a"))
    do("helper", name="kubelet", seconds=2)
    do("step")
    do("advance", seconds=1.9)
    assert do.get("Pod", "default/a").status.phase == "Pending"
    do("advance", to="next")
    running = do.get("Pod", "default/a")
    assert (running.status.phase, running.status.start_time) == ("Running", "2024-01-01T00:00:02Z")
    assert {condition.type for condition in running.status.conditions if condition.status == "True"} >= {"Ready", "PodScheduled"}


def test_a_terminating_pod_is_deleted_after_its_grace_period(session: Any, pod: Any) -> None:
    do = session(pod("a", node_name="node1", terminationGracePeriodSeconds=7))
    do("helper", name="kubelet")
    do("delete", kind="Pod", name="a", graceful=True)
    do("advance", seconds=6.9)
    assert do.get("Pod", "default/a") is not None
    do("advance", seconds=0.2)
    assert do.get("Pod", "default/a") is None
    assert do.simulation.observed_state()["cache"]["podStates"] == {}


def test_a_recreated_pod_has_its_own_startup_time(session: Any, pod: Any) -> None:
    do = session(pod("a", node_name="node1"))
    do("helper", name="kubelet", seconds=2)
    do("delete", kind="Pod", name="a")
    do("advance", seconds=1)
    do("create", object=pod("a", node_name="node1"))
    do("advance", seconds=1.5)
    assert do.get("Pod", "default/a").status.phase == "Pending"
    do("advance", seconds=0.6)
    assert do.get("Pod", "default/a").status.phase == "Running"


def test_the_kubelet_is_off_by_default(session: Any, pod: Any) -> None:
    do = session(pod("a"))
    do("step")
    do("advance", seconds=100)
    assert do.get("Pod", "default/a").status.phase == "Pending"
    assert do("helper", name="kubelet", on=False) == "the helper kubelet is off already"


def test_progress_is_reported_for_each_of_the_pods_that_begin_to_run_at_the_same_moment(session: Any, pod: Any) -> None:
    do = session(*(pod(name, node_name="node1") for name in "abc"))
    do("helper", name="kubelet", seconds=2)
    reports: list[int] = []
    do.simulation.on_stage = lambda: reports.append(do.simulation.event)
    do("advance", seconds=3)

    assert len(set(reports)) == 3
