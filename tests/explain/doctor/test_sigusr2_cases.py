"""Eight dumps of the real scheduler with the API's objects: the doctor finds the fault of each and its cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.explain.doctor import Examination, Finding, examine_dump, examine_dump_alone
from schedviz.explain.doctor.verdict import verdict
from schedviz.ingest.files.source import Source
from schedviz.ingest.load import load
from schedviz.trace.phrase import as_sentence

SAMPLES = Path(__file__).parents[2] / "samples" / "sigusr2"
LOGS = ("scheduler.log", "scheduler.json.log")


def examined(case: str, log: str = "scheduler.log") -> Examination:
    result = load([Source.of_path(SAMPLES / case / name) for name in ("objects.json", log)])
    return examine_dump(result.objects, result.logs[0].signals[-1])


def of_kind(examination: Examination, kind: str) -> list[Finding]:
    return [finding for finding in examination.findings if finding.kind == kind]


#: Case -> kind and object of its differences, and of its notes.
EXPECTED = {
    "01-plain": ([], []),
    "02-assumed": ([], [("assumed pod", "Pod default/api-2"), ("assumed pod", "Pod default/api-3")]),
    "03-nominated": ([], [("nominated pod", "Pod default/urgent-1")]),
    "04-ghost-node": ([("ghost node", "Node worker-2")], []),
    "05-stale-watch": (
        [
            ("missed node", "Node worker-4"),
            ("redundant pod", "Pod default/web-1"),
            ("missed pod", "Pod default/lost-add-1"),
            ("missed pod", "Pod default/lost-pending-1"),
        ],
        [("unknown requests", "Node worker-2")],
    ),
    "06-amounts": ([("allocatable", "Node worker-1"), ("requested", "Node worker-3")], []),
    "07-stale-handlers": (
        [
            ("missed node", "Node worker-4"),
            ("redundant node", "Node worker-2"),
            ("redundant pod", "Pod default/web-1"),
            ("missed pod", "Pod default/lost-add-1"),
        ],
        [("unknown requests", "Node worker-2")],
    ),
    "08-other-scheduler": ([], [("deleting pod", "Pod default/deleting-1"), ("other scheduler", "Pod default/foreign-1")]),
}


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("case", EXPECTED)
def test_only_differences_are_reported(case: str, log: str) -> None:
    examination = examined(case, log)
    differences, notes = EXPECTED[case]
    assert [(finding.kind, finding.about) for finding in examination.differences] == differences
    assert [(finding.kind, finding.about) for finding in examination.notes] == notes
    assert all(finding.cause and finding.advice for finding in examination.differences)


def test_the_comparer_distinguishes_lost_watch_events_from_a_failed_handler() -> None:
    for finding in examined("05-stale-watch").differences:
        assert "comparer reports no difference" in finding.cause
    for finding in examined("07-stale-handlers").differences:
        assert "event handler failed" in finding.cause


def test_a_resized_pod_is_found_by_the_difference_of_the_sums() -> None:
    (finding,) = of_kind(examined("06-amounts"), "requested")
    assert "pod default/db-1 requests cpu 3 (counted with 1500m) and memory 6Gi (counted with 2Gi)" in finding.cause
    assert [(value.name, value.left, value.right) for value in finding.values] == [
        ("cpu", 3500, 2000),
        ("memory", 6656 << 20, 2560 << 20),
    ]


def test_the_victims_for_which_a_nominated_pod_waits_are_named() -> None:
    (finding,) = of_kind(examined("03-nominated"), "nominated pod")
    assert finding.sentence.endswith("is waiting for the pods evicted there to terminate: default/batch-2, default/batch-3")


def test_the_comparers_report_of_another_schedulers_pod_is_a_false_alarm() -> None:
    (finding,) = of_kind(examined("08-other-scheduler"), "other scheduler")
    assert finding.sentence.endswith("is a false alarm")


def test_the_requests_of_a_pod_that_the_api_lacks_are_calculated_from_the_sums() -> None:
    (finding,) = of_kind(examined("05-stale-watch"), "unknown requests")
    assert "cpu 500m, memory 512Mi" in finding.sentence


def test_a_dump_without_objects_shows_ghosts_and_the_findings_of_its_comparer() -> None:
    ghost = load([Source.of_path(SAMPLES / "04-ghost-node" / "scheduler.log")])
    assert ghost.made_of_dump
    examination = examine_dump_alone(ghost.logs[0].signals[-1])
    assert [(finding.kind, finding.about) for finding in examination.differences] == [("ghost node", "Node worker-2")]
    handlers = load([Source.of_path(SAMPLES / "07-stale-handlers" / "scheduler.log")])
    assert [finding.kind for finding in examine_dump_alone(handlers.logs[0].signals[-1]).differences] == ["comparer", "comparer"]
    fine = load([Source.of_path(SAMPLES / "01-plain" / "scheduler.log")])
    assert not examine_dump_alone(fine.logs[0].signals[-1]).findings


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("01-plain", "Nothing is wrong."),
        ("02-assumed", "Nothing is wrong. Note that 2 pods are assumed and their bindings are on their way."),
        ("03-nominated", "Nothing is wrong. Note that a pod is nominated and waits for its node."),
        ("04-ghost-node", "Node worker-2 was deleted, but the scheduler's cache keeps it because of the pods on it"),
        ("05-stale-watch", "4 differences, most likely for one reason: watch events from the API server did not reach"),
        (
            "06-amounts",
            ("2 differences, each with its own cause: node worker-1: allocatable in the cache is cpu 3920m, while the node has 1920m"),
        ),
        ("07-stale-handlers", "4 differences, most likely for one reason: the scheduler's informers have what its cache lacks"),
        (
            "08-other-scheduler",
            "Nothing is wrong. Note that a pod that is being deleted waits in the queue, a pod belongs to another scheduler.",
        ),
    ],
)
def test_the_first_line_is_the_answer(case: str, message: str) -> None:
    assert as_sentence(verdict(examined(case)).text).startswith(message)
