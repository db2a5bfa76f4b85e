"""Explanations and the overview contain the doctor's findings, so that they never contradict each other."""

from __future__ import annotations

from pathlib import Path

from schedviz.engine import Simulation, SimulationSettings
from schedviz.explain.doctor.import_check import examine_import
from schedviz.explain.doctor.known_findings import KnownFindings
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from schedviz.ingest.files.source import Source
from schedviz.ingest.load import load

SAMPLES = Path(__file__).parents[1] / "samples" / "sigusr2"


def imported(case: str, *names: str) -> tuple[Simulation, KnownFindings]:
    """An engine with the objects of some files of a case, and the doctor's findings."""
    result = load([Source.of_path(SAMPLES / case / name) for name in names])
    simulation = Simulation(SimulationSettings())
    simulation.load(result.objects)
    return simulation, KnownFindings(examine_import(result))


def test_a_pod_that_the_scheduler_does_not_have_is_not_reported_as_next() -> None:
    simulation, findings = imported("05-stale-watch", "objects.json", "scheduler.log")
    explanation = why_pending(simulation, "default/lost-pending-1", findings)
    assert explanation.sentence == (
        "default/lost-pending-1 is pending, but its scheduler does not know it: it is neither in the scheduler's cache "
        "nor in its queue, so it is not tried. It fits on 4 nodes."
    )
    assert [(finding.kind, finding.about) for finding in explanation.findings] == [
        ("missed pod", "Pod default/lost-pending-1"),
        ("missed node", "Node worker-4"),
    ]
    # A pod with the same requirements waits in the scheduler's queue.
    assert explanation.alike == ()


def test_nodes_missing_in_the_schedulers_cache_are_named_if_the_pod_would_fit_there() -> None:
    simulation, findings = imported("05-stale-watch", "objects.json", "scheduler.log")
    assert why_pending(simulation, "default/waiting-1", findings).sentence.endswith(
        "fits on 3 nodes now. It also fits on worker-4, which its scheduler does not know."
    )


def test_the_overview_groups_unknown_pods_apart_and_first() -> None:
    simulation, findings = imported("05-stale-watch", "objects.json", "scheduler.log")
    reasons = overview(simulation, findings).reasons
    assert [(reason.reason, reason.groups[0].pods, reason.placeable) for reason in reasons] == [
        ("unknown to the scheduler", ("default/lost-pending-1",), False),
        ("not tried yet: they fit on nodes now", ("default/waiting-1",), True),
    ]


def test_without_a_dump_there_are_no_findings() -> None:
    simulation, findings = imported("05-stale-watch", "objects.json")
    assert why_pending(simulation, "default/lost-pending-1", findings).findings == ()
    assert len(overview(simulation, findings).reasons) == 1


def test_a_nominated_pod_waits_until_its_victims_are_gone() -> None:
    simulation, findings = imported("03-nominated", "objects.json")
    explanation = why_pending(simulation, "default/urgent-1", findings)
    assert explanation.victims == ("default/batch-2", "default/batch-3")
    assert explanation.sentence == (
        "default/urgent-1 is nominated to worker-1 and is waiting for the pods evicted there to terminate: "
        "default/batch-2, default/batch-3."
    )
    # The doctor's finding is that sentence, so only what to do about it is left to read.
    assert explanation.findings
    assert explanation.findings_to_read == ()
    assert explanation.advice_of_sentence.startswith("wait until they have terminated")
    [group] = overview(simulation, findings).groups
    assert group.detail == "waiting for default/batch-2, default/batch-3 on worker-1 to terminate"


def test_a_pod_known_only_by_its_name_in_a_dump_does_not_count_as_gated() -> None:
    simulation, findings = imported("03-nominated", "scheduler.log")
    [reason] = overview(simulation, findings).reasons
    assert reason.reason == "Insufficient cpu"
    assert "gates" not in reason.groups[0].detail
    assert "gates" not in why_pending(simulation, "default/urgent-1", findings).sentence
