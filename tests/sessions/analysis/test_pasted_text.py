"""A pasted text is explained clause by clause, without a session."""

from __future__ import annotations

from schedviz.sessions.analysis.pasted_text import explain_text


def test_each_message_is_explained_with_its_pod() -> None:
    text = "5m  Warning  FailedScheduling  pod/web  0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable."

    found = explain_text(text)

    assert [(each.pod, each.at, each.message.nodes) for each in found] == [("default/web", "5m ago", 5)]
    assert [(clause.count, clause.plugin) for clause in found[0].message.clauses] == [
        (3, "NodeResourcesFit"),
        (2, "NodeUnschedulable"),
    ]


def test_a_text_without_a_message_has_none() -> None:
    assert explain_text("hello") == []
