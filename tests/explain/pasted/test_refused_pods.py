"""Where an autoscaler adds no node for a pod, the answer begins with the reason of its scheduler."""

from __future__ import annotations

import pytest

from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.pasted.reader import read_text
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in

UNREACHABLE = "1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }"
FULL = "1 max node group size reached"
NODES = "NAME   STATUS     ROLES    AGE   VERSION\na-1    Ready      <none>   4d    v1.33.2\na-2    NotReady   <none>   4d    v1.33.2\n\n"


def read(reasons: str, refusal: str, *, nodes: int = 2, before: str = "") -> tuple[TextReading, PodAnswer]:
    text = (
        f"{before}Name:       web\nNamespace:  shop\nEvents:\n"
        f"  Warning  FailedScheduling   2m   default-scheduler   0/{nodes} nodes are available: {reasons}.\n"
        f"  Normal   NotTriggerScaleUp  90s  cluster-autoscaler  pod didn't trigger scale-up: {refusal}\n"
    )
    reading = read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), {}, seconds_of_age)
    found = reading.answer_of("shop/web")
    assert found is not None
    return reading, found


@pytest.mark.parametrize(
    ("nodes", "reasons", "begins"),
    [
        (1, "1 Insufficient cpu", "The only node does not have enough free CPU. "),
        (2, "2 Insufficient cpu", "Neither node has enough free CPU. "),
        (3, "3 Too many pods", "All 3 nodes have reached their maximum number of pods. "),
        (
            3,
            "1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu",
            "Neither worker node has enough free CPU. ",
        ),
        (
            3,
            "1 Insufficient cpu, 2 Insufficient memory",
            "None of the 3 nodes can run the pod: 2 do not have enough free memory and 1 does not have enough free CPU. ",
        ),
    ],
)
def test_the_reason_of_the_scheduler_is_the_first_sentence(nodes: int, reasons: str, begins: str) -> None:
    reading, found = read(reasons, FULL, nodes=nodes)
    assert found.sentence == f"{begins}The cluster autoscaler did not add a node: 1 node group is at its maximum size."
    assert found.advice == "Raise the maximum size of a node group that can run the pod"
    # It is not said again with the reasons.
    assert all(not message.message.conclusion and not message.message.first for message in reading.messages)


@pytest.mark.parametrize(
    ("reasons", "begins"),
    [
        (f"{UNREACHABLE}, 1 Insufficient cpu", "find the unreachable node with "),
        ("1 node(s) were unschedulable, 1 Insufficient cpu", "find the cordoned node with "),
    ],
)
def test_nodes_that_can_be_brought_back_are_the_next_step(reasons: str, begins: str) -> None:
    reading, found = read(reasons, FULL)
    assert found.advice.startswith(begins)
    [message] = [message for message in reading.messages if not message.writer]
    assert all(clause.advice != found.advice for clause in message.message.clauses)


def test_the_unreachable_node_is_named_if_a_table_lists_it_as_not_ready() -> None:
    of_volume = "1 node(s) had volume node affinity conflict"
    _, found = read(f"{UNREACHABLE}, {of_volume}", of_volume, before=NODES)
    assert found.advice.startswith("Recover `a-2` first: it may be the one that can access the volume. ")


def test_a_device_can_be_freed_by_stopping_a_pod_that_uses_it() -> None:
    _, found = read("2 Insufficient nvidia.com/gpu", "1 Insufficient nvidia.com/gpu")
    assert found.sentence.endswith("did not add a node: 1 node group does not offer enough `nvidia.com/gpu`.")
    assert "or free `nvidia.com/gpu` by stopping a pod that uses it. If the pod requests more than one, lower its request. " in found.advice


def test_a_message_that_is_cut_off_gives_no_reason() -> None:
    _, found = read("1 Insufficient cpu, 3 node(s) had volume node aff", FULL, nodes=40)
    assert "The cluster autoscaler did not add a node" in found.sentence
    assert not found.sentence.startswith("The text is cut off")
