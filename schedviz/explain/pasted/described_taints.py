"""`with_described_taints`: the message about taints that it does not name, with those of the nodes that its text describes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.taint import tolerates_taint
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.messages.combined_clauses import without_control_plane
from schedviz.explain.messages.conclusion import advised
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.kube.core import Taint
from schedviz.kube.text_facts import DescribedNode, TextFact
from schedviz.trace.phrase import Phrase, joined, phrase

#: How a reason begins that names no taint.
_NAMELESS: Final = re.compile(r"node\(s\) had (?:taints that the pod didn't tolerate|untolerated taint\(s\))")
#: The prefix of taints that the node's own state causes.
_OF_STATE: Final = "node.kubernetes.io/"
_NETWORK: Final = re.compile(r"network|\bcni\b", re.IGNORECASE)
_MAX_NODES: Final = 3


def with_described_taints(said: ParsedMessage, pod: PodInfo | None, facts: Sequence[TextFact]) -> ParsedMessage:
    """The message, concluding with the taints of the described nodes that the pod does not tolerate; as it is without any."""
    others, _ = without_control_plane(said.message.nodes, said.message.clauses)
    if said.writer or len(others) != 1 or others[0].plugin != names.TAINT_TOLERATION or not _NAMELESS.match(others[0].reason):
        return said
    nodes = [fact for fact in facts if isinstance(fact, DescribedNode)]
    found = [(node, taint) for node in nodes if (taint := next(_untolerated(node, pod), None)) is not None]
    if not found:
        return said
    sentences = [
        phrase("The node `{node}` has the taint `{taint}`, which the pod does not tolerate.", node=node.name, taint=taint)
        for node, taint in found[:_MAX_NODES]
    ]
    unready = next((node for node, _ in found if node.unready), None)
    if unready is not None:
        sentences.append(phrase("`{node}` is not ready: {why}.", node=unready.name, why=unready.unready.rstrip(". ")))
    conclusion = joined(sentences, "{first} {next}")
    clause = others[0]
    first = _advice(found[0][0], found[0][1]) or clause.advice_to_say
    return msgspec.structs.replace(
        said,
        message=msgspec.structs.replace(
            said.message, clauses=tuple(advised(each, None) if each is clause else each for each in said.message.clauses)
        ).with_phrases(conclusion=conclusion, first=first),
    )


def _untolerated(node: DescribedNode, pod: PodInfo | None) -> Iterator[str]:
    """The taints of a described node that keep the pod off it, as kubectl prints them; first those that its state causes."""
    tolerations = pod.pod.spec.tolerations if pod is not None else ()
    for text in sorted(node.whole_taints, key=lambda taint: not taint.startswith(_OF_STATE)):
        pair, _, effect = text.rpartition(":")
        key, _, value = pair.partition("=")
        if not any(tolerates_taint(toleration, Taint(key, value, effect)) for toleration in tolerations):
            yield text


def _advice(node: DescribedNode, taint: str) -> Phrase | None:
    """What to do about a node whose state keeps pods off it."""
    if not taint.startswith(_OF_STATE):
        return None
    if _NETWORK.search(node.unready):
        return phrase(
            "install the network plugin, or check its pods on that node: `kubectl get pods -A --field-selector spec.nodeName={node}`",
            node=node.name,
        )
    return phrase("bring the node back: `kubectl describe node {node}` shows its conditions", node=node.name)
