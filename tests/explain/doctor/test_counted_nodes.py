"""The doctor's findings about the number of nodes in the scheduler's messages: kubernetes issue 91601 and similar cases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schedviz.explain.doctor import Examination
from schedviz.explain.doctor.import_check import examine_import
from schedviz.explain.doctor.verdict import verdict
from schedviz.explain.why import why_pending
from schedviz.ingest.files.source import Source
from schedviz.ingest.load import Import, load
from tests.explain import small_clusters as small

POD = "default/agent-x1"
LOST = "0/6 nodes are available: 5 node(s) didn't match node selector."
ALL = "0/6 nodes are available: 6 node(s) didn't match node selector."
FEWER = "0/5 nodes are available: 5 node(s) didn't match node selector."
#: Three zones with different numbers of nodes, as in the issue.
NAMES = ("m-0", "m-1", "m-2", "w-0", "w-1", "w-2")
ZONES = dict(zip(NAMES, ("a", "a", "a", "b", "b", "c"), strict=True))


def log(message: str, *names: str) -> str:
    """A log of 1.18: a pod that did not fit, and a dump with these nodes."""
    dumped = "".join(
        f"I0716 14:47:59.471484       1 dumper.go:49] \nNode name: {name}\n"
        "Requested Resources: {MilliCPU:100 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]}\n"
        "Allocatable Resources:{MilliCPU:4000 Memory:17179869184 EphemeralStorage:0 AllowedPodNumber:110 ScalarResources:map[]}\n"
        "Scheduled Pods(number: 0):\n"
        for name in names
    )
    return (
        f"I0716 14:47:52.768362       1 factory.go:462] Unable to schedule {POD}: no fit: {message}; waiting\n"
        "I0716 14:47:59.469828       1 comparer.go:42] cache comparer started\n"
        "I0716 14:47:59.471038       1 dumper.go:47] Dump of cached NodeInfo\n"
        f"{dumped}"
        "I0716 14:47:59.472623       1 dumper.go:60] Dump of scheduling queue:\n"
        "name: agent-x1, namespace: default, uid: u1, phase: Pending, nominated node: \n"
    )


def cluster(*names: str, on: str = "m-1", message: str = "") -> str:
    """The API's objects: these nodes, and a DaemonSet's pod that waits for one of them."""
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}]
            }
        }
    }
    pod: dict[str, Any] = small.pod("agent-x1", affinity=affinity)
    pod["metadata"]["uid"] = "u1"
    if message:
        pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]
    nodes = [small.node(name, **{"topology.kubernetes.io/zone": ZONES[name]}) for name in names]
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": [*nodes, pod]})


def imported(*texts: str) -> Import:
    return load([Source.of_bytes(f"file-{number}", text.encode()) for number, text in enumerate(texts)])


def examined(*texts: str) -> Examination:
    [examination] = examine_import(imported(*texts))
    return examination


def of_kind(examination: Examination, kind: str) -> list[str]:
    return [finding.sentence for finding in examination.differences if finding.kind == kind]


def test_a_log_alone_shows_the_node_that_the_scheduler_did_not_evaluate() -> None:
    examination = examined(log(LOST, *NAMES))

    [lost] = [finding for finding in examination.differences if finding.kind == "lost node"]
    assert lost.sentence == f"the scheduler counts 6 nodes for {POD} but has a reason for only 5 of them: it did not evaluate the others"
    assert "kubernetes issue 91601" in lost.cause
    assert "restart kube-scheduler" in lost.advice
    assert "91601" in verdict(examination).text


def test_a_log_with_the_objects_names_the_node_that_was_lost() -> None:
    examination = examined(log(LOST, *NAMES), cluster(*NAMES))

    [sentence] = of_kind(examination, "lost node")
    assert sentence.endswith("it did not evaluate the others (the pods require m-1)")
    assert not of_kind(examination, "missed node")


def test_a_message_that_counts_more_nodes_than_the_dump_is_a_finding() -> None:
    [sentence] = of_kind(examined(log(ALL, *NAMES[:5])), "node count")

    assert sentence == f"the scheduler's message about {POD} counts 6 nodes, and its dump has 5"


def test_with_the_objects_the_node_that_the_cache_lacks_is_named_too() -> None:
    examination = examined(log(ALL, *NAMES[:5]), cluster(*NAMES))

    assert of_kind(examination, "node count")
    [missed] = of_kind(examination, "missed node")
    assert missed.startswith("node w-2 is in the API server, but the scheduler does not know it")


def test_a_message_that_counts_fewer_nodes_than_the_dump_is_a_finding() -> None:
    examination = examined(log(FEWER, *NAMES))

    [finding] = [finding for finding in examination.differences if finding.kind == "node count"]
    assert "lacks nodes of its cache" in finding.cause


@pytest.mark.parametrize("message", [ALL, "0/6 nodes are available: 1 Insufficient cpu."])
def test_a_message_that_fits_the_dump_is_no_finding(message: str) -> None:
    # From 1.22 on, nodes that PreFilter excludes have no reason.
    examination = examined(log(message, *NAMES), cluster(*NAMES))

    assert not of_kind(examination, "lost node")
    assert not of_kind(examination, "node count")


def test_without_a_dump_another_number_of_nodes_is_a_note() -> None:
    examination = examined(cluster(*NAMES[:5], message=ALL))

    assert not of_kind(examination, "node count")
    [note] = [finding for finding in examination.notes if finding.kind == "node count"]
    assert note.sentence == f"the scheduler evaluated 6 nodes for {POD}, but the files contain only 5"
    assert note.cause == "some nodes were not collected, or have been deleted since"
    assert note.advice == "also import the output of `kubectl get nodes -o json`"


def test_more_nodes_in_the_files_than_were_evaluated_are_not_called_only_so_many() -> None:
    [note] = [finding for finding in examined(cluster(*NAMES, message=FEWER)).notes if finding.kind == "node count"]
    assert note.sentence == f"the scheduler evaluated 5 nodes for {POD}, but the files contain 6"


def test_a_lost_node_shows_in_the_objects_alone() -> None:
    assert of_kind(examined(cluster(*NAMES, message=LOST)), "lost node")


def test_explain_says_that_the_scheduler_lost_the_node_where_the_pod_fits() -> None:
    simulation = small.cluster(*json.loads(cluster(*NAMES, message=LOST))["items"])

    explanation = why_pending(simulation, POD)

    assert explanation.fits == ("m-1",)
    assert explanation.disagreement.startswith("that message gives no reason for 1 of its 6 nodes, and the pod fits on m-1")
