"""`with_compared_labels`: the message about nodes that do not match the pod's node selector, with the labels that a text prints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.messages.combined_clauses import without_control_plane
from schedviz.explain.messages.conclusion import advised
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.kube.text_facts import PrintedLabels, PrintedSelector, TextFact
from schedviz.trace.phrase import phrase

#: What a label may contain, to be a part of a command.
_LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*+=[A-Za-z0-9_.-]*+")


def with_compared_labels(said: ParsedMessage, pod: PodInfo | None, facts: Sequence[TextFact]) -> ParsedMessage:
    """The message, concluding with the label that the selector requires and the nodes in the text do not have.

    As it is if the pod has other reasons, or if the text lacks the selector or the labels.
    """
    message = said.message
    others, left = without_control_plane(message.nodes, message.clauses)
    if said.writer or len(others) != 1 or others[0].plugin != names.NODE_AFFINITY or others[0].count != left or not left:
        return said
    selectors: list[Mapping[str, str]] = [pod.pod.spec.node_selector] if pod is not None and pod.pod.spec.node_selector else []
    selectors = selectors or [fact.selector for fact in facts if isinstance(fact, PrintedSelector)]
    labels = [fact.labels for fact in facts if isinstance(fact, PrintedLabels)]
    if len(selectors) != 1 or not labels:
        return said
    [selector] = selectors
    missing = next(((key, value) for key, value in selector.items() if all(node.get(key) != value for node in labels)), None)
    if missing is None:
        return said
    required = "=".join(missing)
    key = missing[0]
    other = next((node[key] for node in labels if key in node), None)
    if other is None:
        conclusion = phrase(
            "The node selector requires `{label}`, but nodes in the text do not have the label `{key}`.", label=required, key=key
        )
    else:
        conclusion = phrase(
            "The node selector requires `{label}`, but a node in the text has `{other}`.", label=required, other=f"{key}={other}"
        )
    advice = phrase("correct the node selector, or, if the pod belongs on a node without this label, change the node's label")
    if _LABEL.fullmatch(required):
        advice = phrase(
            "correct the node selector, or, if the pod belongs on a node without this label, run "
            "`kubectl label node NAME {label} --overwrite`",
            label=required,
        )
    return msgspec.structs.replace(
        said,
        message=msgspec.structs.replace(
            message, clauses=tuple(advised(clause, None) if clause is others[0] else clause for clause in message.clauses)
        ).with_phrases(conclusion=conclusion, first=advice),
    )
