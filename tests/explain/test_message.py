"""Texts of FitErrors, of this version and of others, are read back into clauses."""

from __future__ import annotations

import pytest
from explain_clusters import cluster, node, pod

from schedviz.explain.message import NotAMessageError, parse_message, with_nodes
from schedviz.explain.why import why_pending

TEXT = (
    "Warning  FailedScheduling  12s  default-scheduler  0/7 nodes are available: 1 node(s) had untolerated taint {gpu: true}, "
    "2 node(s) were unschedulable, 4 Insufficient cpu. preemption: 0/7 nodes are available: 3 Preemption is not helpful for scheduling, "
    "4 No preemption victims found for incoming pod."
)


def test_clauses_have_their_plugins_and_meanings() -> None:
    message = parse_message(TEXT)
    assert message.nodes == 7
    assert [(clause.count, clause.plugin) for clause in message.clauses] == [
        (1, "TaintToleration"),
        (2, "NodeUnschedulable"),
        (4, "NodeResourcesFit"),
    ]
    assert message.clauses[0].meaning == "the pod does not tolerate the taint gpu: true"
    assert [(clause.count, clause.reason) for clause in message.preemption] == [
        (3, "Preemption is not helpful for scheduling"),
        (4, "No preemption victims found for incoming pod"),
    ]
    assert message.unaccounted == 0


def test_line_breaks_of_a_terminal_do_not_matter() -> None:
    assert parse_message(TEXT.replace(" nodes", "\n    nodes")) == parse_message(TEXT)


def test_what_pre_filter_says_is_no_clause() -> None:
    message = parse_message(
        "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 x."
    )
    assert message.pre_filter == "pod has unbound immediate PersistentVolumeClaims"
    assert message.clauses == ()


def test_a_text_that_was_cut_says_how_many_nodes_are_missing() -> None:
    assert parse_message("0/9 nodes are available: 4 Insufficient cpu, 2 node(s) had ...").unaccounted == 3


def test_older_texts_are_read_too() -> None:
    message = parse_message("0/5 nodes are available: 5 Insufficient cpu, 2 Insufficient memory.")
    assert [clause.count for clause in message.clauses] == [5, 2]
    assert message.unaccounted == -2


def test_the_nodes_behind_a_text_are_those_of_which_it_would_be_said_now() -> None:
    simulation = cluster(node("n1", cordoned=True), node("n2", cpu="1"), pod("p", cpu="2"))
    message = parse_message("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.")
    clauses = with_nodes(message.clauses, why_pending(simulation, "default/p").matrix)
    assert [clause.nodes for clause in clauses] == [("n2",), ("n1",)]


def test_the_engines_own_messages_are_read_back_whole() -> None:
    simulation = cluster(node("n1", cordoned=True), node("n2", cpu="1"), node("n3", taints=("a=b:NoSchedule",)), pod("p", cpu="2"))
    explanation = why_pending(simulation, "default/p")
    parsed = parse_message(explanation.message)
    assert [(clause.count, clause.reason, clause.plugin) for clause in parsed.clauses] == [
        (clause.count, clause.reason, clause.plugin) for clause in explanation.clauses
    ]


@pytest.mark.parametrize("text", ["", "all is well", "nodes are available", "\0" * 50_000])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(NotAMessageError):
        parse_message(text)
