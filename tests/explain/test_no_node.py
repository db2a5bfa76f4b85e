"""That no node can run a pod, of one node, of two, and of more."""

from __future__ import annotations

from schedviz.explain.messages.message import parse_message
from schedviz.explain.no_node import no_node, no_node_sentence


def test_two_nodes_are_neither_of_them() -> None:
    assert [no_node(count).text for count in (1, 2, 5_000)] == [
        "the cluster's only node cannot run the pod",
        "neither node can run the pod",
        "none of the 5,000 nodes can run the pod",
    ]
    assert [no_node_sentence(count).text[:12] for count in (1, 2, 3)] == ["The cluster'", "Neither node", "None of the "]


def test_a_message_of_two_nodes_says_neither() -> None:
    message = parse_message("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.")
    assert message.conclusion == "Neither node can run the pod: 1 does not have enough free CPU and 1 is cordoned."
