"""The case of a pod that is nominated for ever: rebuilt with the numbers of its own dump, found, explained, and mended by a preemptVerb."""

from __future__ import annotations

import msgspec
import pytest

from schedviz.engine import Simulation, settings_of
from schedviz.engine.reporting.debugger import dump
from schedviz.explain.changes import smallest_change
from schedviz.explain.doctor import examine_engine, examine_objects, nominations
from schedviz.explain.doctor.import_check import scheduler_of
from schedviz.explain.doctor.nominations import FOR_EVER
from schedviz.explain.explanation import Explanation
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from schedviz.ingest.trace_file import decode_trace
from schedviz.samples import sample, samples
from schedviz.trace.commands import AnyCommand, convert_command
from tests.explain.small_clusters import cluster, do, node, pod

POD = "test-ns/test-pod-hgfmk"
NOMINATED_NODE = "132.10.134.193"
WITH_ROOM = {
    *("188.10.151.196", "132.10.134.108", "132.10.134.193", "191.10.151.38"),
    *("132.10.134.212", "190.10.151.195", "190.10.151.202"),
}


def played(name: str) -> Simulation:
    """A sample after its last step."""
    trace = decode_trace(sample(name))
    simulation = Simulation(settings_of(trace))
    for step in trace.steps:
        assert isinstance(step, AnyCommand)
        simulation.start(step)
        outcome = simulation.work()
        assert outcome is not None
        assert not outcome.error
    return simulation


def explained(name: str, pod: str = POD) -> Explanation:
    return why_pending(played(name), pod)


def test_the_dump_of_the_case_is_the_one_that_was_reported() -> None:
    (node,) = [node for node in dump(played("nominated-for-ever")).nodes if node.name == NOMINATED_NODE]
    requested, allocatable = node.requested, node.allocatable
    assert (requested.milli_cpu, requested.memory, requested.ephemeral_storage) == (37500, 56837160960, 42949672960)
    assert requested.scalar == {"teg.tkex.oa.com/amd-cpu": 36000, "tke.cloud.tencent.com/eni-ip": 1}
    assert (allocatable.milli_cpu, allocatable.memory, allocatable.ephemeral_storage) == (98667, 191588200448, 482947890401)
    assert {pod.name for pod in node.pods} == {"ip-masq-agent-8v5lm", "kube-proxy-7sb7d", "node-exporter-p6rr4"}
    assert [(pod.key, pod.uid, pod.nominated_node) for pod in node.nominated] == [
        (POD, "ae6fea01-ba91-4a34-9c10-b57f04f2fbf7", NOMINATED_NODE),
    ]


def test_a_nominated_pod_whose_victims_are_gone_waits_for_its_next_attempt_only() -> None:
    simulation = cluster(node("n", cpu="1"), pod("low", on="n", priority=0), pod("urgent", priority=10))
    do(simulation, "cycle")

    explanation = why_pending(simulation, "default/urgent")

    assert (explanation.standing, explanation.queue and explanation.queue.queue) == ("nominated", "backoffQ")
    assert not explanation.for_ever
    assert explanation.sentence == "default/urgent is nominated to n, where it fits now; it is in backoffQ."


def test_an_overview_names_the_node_to_which_a_pod_stays_nominated() -> None:
    [group] = overview(played("nominated-for-ever")).groups
    assert group.detail == f"stays nominated to {NOMINATED_NODE} forever"


def test_the_doctor_notes_a_nomination_whose_next_attempt_is_due() -> None:
    simulation = cluster(node("n", cpu="1"), pod("low", on="n", priority=0), pod("urgent", priority=10))
    do(simulation, "cycle")

    examination = examine_engine(simulation)

    assert examination.differences == ()
    [note] = [note for note in examination.notes if note.kind == nominations.NOMINATED]
    assert note.sentence == "pod default/urgent is nominated to n, where its next attempt will place it"


def test_an_endless_nomination_is_explained_with_a_remedy() -> None:
    explanation = explained("nominated-for-ever")
    assert explanation.for_ever
    assert explanation.sentence.startswith(f"{POD} stays nominated to {NOMINATED_NODE} forever")
    assert "filterVerb but no preemptVerb:" in explanation.cause
    assert "preemptVerb" in explanation.advice
    assert explanation.message == "0/9 nodes are available: 2 Insufficient cpu, 7 node is not in the subnet of the pod's fixed IP."
    by_reason = {clause.reason: set(clause.nodes) for clause in explanation.clauses}
    assert by_reason["node is not in the subnet of the pod's fixed IP"] == WITH_ROOM
    assert sum(explanation.outlooks.values()) == explanation.nodes == 9


def test_the_doctor_finds_it_in_the_engine_and_in_the_objects_alone() -> None:
    simulation = played("nominated-for-ever")
    (finding,) = examine_engine(simulation).differences
    assert finding.kind == FOR_EVER
    config = {"extenders": [{"urlPrefix": "http://sheduler-extender:1003/v1", "filterVerb": "filter", "bindVerb": "bind", "weight": 1}]}
    (alone,) = examine_objects(simulation.stored_objects(), scheduler=scheduler_of(config)).differences
    assert (alone.kind, alone.about) == (FOR_EVER, f"Pod {POD}")
    assert "http://sheduler-extender:1003/v1 has a filterVerb but no preemptVerb:" in alone.cause


def test_a_preempt_verb_ends_the_nomination() -> None:
    explanation = explained("nominated-for-ever-fixed")
    assert explanation.standing == "pending"
    assert not explanation.for_ever
    assert examine_engine(played("nominated-for-ever-fixed")).differences == ()


def test_in_v1_27_the_preemptor_evicts_in_vain_and_stays_nominated() -> None:
    simulation = played("nominated-for-ever-v1.27")
    assert simulation.cluster.find("Pod", "default/v2") is None
    assert why_pending(simulation, "default/p").for_ever
    mended = played("nominated-for-ever-v1.27-fixed")
    assert mended.cluster.find("Pod", "default/v1") is not None
    assert not why_pending(mended, "default/p").for_ever


def test_a_change_that_the_extender_rejects_is_not_suggested() -> None:
    simulation = played("nominated-for-ever")
    change = smallest_change(simulation, POD)
    assert change.suggestions
    for suggestion in change.suggestions:
        assert not WITH_ROOM & set(suggestion.nodes), suggestion


@pytest.mark.parametrize(
    ("name", "pod", "url"),
    [
        ("nominated-for-ever", POD, "http://sheduler-extender.fake"),
        ("nominated-for-ever-v1.27", "default/p", "http://e1.fake"),
    ],
)
def test_turning_the_preempt_verb_on_is_the_first_suggestion_and_ends_it(name: str, pod: str, url: str) -> None:
    simulation = played(name)
    first = smallest_change(simulation, pod).suggestions[0]
    assert (first.effect, first.changes[0].what) == ("endsNomination", f"configure a `preemptVerb` for the extender `{url}`")
    # v1.18 leaves the nomination, so there the pod is made again, too.
    assert [change.kind for change in first.changes] == (["plugin", "again"] if pod == POD else ["plugin"])
    for command in (*first.commands, convert_command({"op": "advance", "seconds": 400}), convert_command({"op": "run"})):
        simulation.start(command)
        outcome = simulation.work()
        assert outcome is not None
        assert not outcome.error, outcome
    mended = why_pending(simulation, pod)
    assert (mended.standing, mended.for_ever) == ("pending", False)


@pytest.mark.parametrize("name", [sample.name for sample in samples()])
def test_each_sample_has_a_description(name: str) -> None:
    trace = decode_trace(sample(name))
    assert trace.name == name
    assert len(trace.description) > 40
    assert msgspec.json.decode(sample(name))["format"] == "schedviz-trace/1"
