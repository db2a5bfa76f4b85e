"""`with_described_nodes`: a message that names the nodes which its text describes, where the counts leave no doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.explain.explanation import Clause
from schedviz.explain.meaning import Named
from schedviz.explain.messages.combined_clauses import names_taint, printed_taint
from schedviz.explain.messages.explained_clause import with_names
from schedviz.explain.messages.message import with_clauses
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.kube.text_facts import DescribedNode, TextFact
from schedviz.trace.phrase import Phrase

#: Of more nodes the number is shown.
_MAX_NAMED: Final = 2


def with_described_nodes(said: ParsedMessage, facts: Sequence[TextFact]) -> ParsedMessage:
    """The message; a reason names its nodes if as many described nodes have the taint, or are cordoned, as it counts."""
    described = [fact for fact in facts if isinstance(fact, DescribedNode)]
    if said.writer or not described or len(described) > max(said.message.nodes, 1):
        return said
    clauses = tuple(_naming(clause, described, said.pod) for clause in said.message.clauses)
    return said if clauses == said.message.clauses else msgspec.structs.replace(said, message=with_clauses(said.message, clauses))


def _naming(clause: Clause, described: Sequence[DescribedNode], pod: str) -> Clause:
    if clause.plugin == names.NODE_UNSCHEDULABLE:
        nodes = [node.name for node in described if node.is_cordoned]
    elif names_taint(clause):
        # A cordoned node is rejected before its taints are examined.
        nodes = [node.name for node in described if printed_taint(clause) in node.taints and not node.is_cordoned]
    else:
        return clause
    if clause.headline_phrase is None or len(nodes) != clause.count or len(nodes) > _MAX_NAMED:
        return clause
    shown = Phrase("`{node}`", {"node": nodes[0]})
    if len(nodes) > 1:
        shown = Phrase("`{first}` and `{second}`", {"first": nodes[0], "second": nodes[1]})
    headline = _about(clause.headline_phrase, shown)
    return with_names(clause.with_phrases(headline=headline), Named(nodes, pod))


def _about(headline: Phrase, nodes: Phrase) -> Phrase:
    """The headline with names in the place of the number of nodes."""
    inner = headline.values.get("headline")
    if isinstance(inner, Phrase):
        return Phrase(headline.template, {**headline.values, "headline": _about(inner, nodes)})
    return Phrase(headline.template, {**headline.values, "nodes": nodes}) if "nodes" in headline.values else headline
