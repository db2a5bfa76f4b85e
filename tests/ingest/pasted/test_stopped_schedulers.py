"""A table of pods in which kube-scheduler itself does not run."""

from __future__ import annotations

from schedviz.ingest.pasted.stopped_schedulers import stopped_schedulers

HEADER = "NAMESPACE     NAME                  READY   STATUS             RESTARTS   AGE\n"
STOPPED = "kube-system   kube-scheduler-cp-1   0/1     CrashLoopBackOff   14         12d\n"


def test_a_scheduler_that_crashes_is_named_with_its_state() -> None:
    assert list(stopped_schedulers(HEADER + STOPPED)) == [
        ("kube-system/kube-scheduler-cp-1", "kube-scheduler does not run: CrashLoopBackOff")
    ]


def test_one_scheduler_that_runs_is_enough() -> None:
    running = "kube-system   kube-scheduler-cp-2   1/1     Running            0          12d\n"
    assert list(stopped_schedulers(HEADER + STOPPED + running)) == []


def test_programs_with_similar_names_are_not_schedulers() -> None:
    other = "openshift     openshift-kube-scheduler-operator-5f   0/1   Pending   0   1d\nkube-system  my-scheduler  0/1  Error  0  1d\n"
    assert list(stopped_schedulers(HEADER + other)) == []
