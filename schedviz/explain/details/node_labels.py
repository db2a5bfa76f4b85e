"""Node labels: what the pod's nodeSelector and node affinity require, and which values the nodes have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedviz.engine.framework.rows import Rows
from schedviz.explain.details.detail import NAMED, LabelDetail, LabelValue
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.kube.affinity import NodeSelector
from schedviz.kube.core import Node
from schedviz.kube.node_affinity import lazy_node_selector, required_node_affinity
from schedviz.kube.selectors import Requirement
from schedviz.trace.phrase import Phrase, counted, phrase


def node_affinity_details(rejected: RejectedNodes) -> Iterator[LabelDetail]:
    """Each requirement of the pod on node labels, those that the fewest nodes meet first."""
    required = required_node_affinity(rejected.pod.pod)
    requirements = list(required.labels.requirements) if required.labels is not None else []
    if required.nodes is not None:
        requirements += [requirement for term in required.nodes.terms for requirement in term.labels.requirements]
    yield from label_details(rejected.everywhere, requirements)


def volume_requirements(selector: NodeSelector) -> list[Requirement]:
    """The label requirements of a volume's node affinity."""
    return [requirement for term in lazy_node_selector(selector).terms for requirement in term.labels.requirements]


def label_details(rows: Rows, requirements: Sequence[Requirement], claim: str = "", volume: str = "") -> Iterator[LabelDetail]:
    """What the nodes of the cluster have for each of the requirements."""
    nodes = [info.node for info in rows.infos if info.node is not None]
    details = [_detail(nodes, requirement, claim, volume) for requirement in dict.fromkeys(requirements)]
    yield from sorted(details, key=lambda detail: detail.matching)


def _detail(nodes: Sequence[Node], requirement: Requirement, claim: str, volume: str) -> LabelDetail:
    counts = Counter(node.metadata.labels.get(requirement.key) for node in nodes)
    matching = sum(requirement.matches(node.metadata.labels) for node in nodes)
    without = counts.pop(None, 0)
    values = tuple(LabelValue(value or "", count) for value, count in counts.most_common(NAMED))
    sentence = _sentence(requirement, matching, values, len(counts), claim, volume)
    return LabelDetail(
        sentence=sentence.text,
        sentence_phrase=sentence,
        key=requirement.key,
        requirement=str(requirement),
        matching=matching,
        values=values,
        without=without,
        claim=claim,
        volume=volume,
    )


def _sentence(requirement: Requirement, matching: int, values: Sequence[LabelValue], of: int, claim: str, volume: str) -> Phrase:
    required = str(requirement)
    subject = phrase("volume {volume} of claim {claim}", volume=volume, claim=claim) if volume else phrase("the pod")
    met = counted(matching, "{count} node matches", "{count} nodes match") if matching else phrase("no node matches")
    if not values:
        return phrase("{who} requires {requirement}; no node has the label {key}", who=subject, requirement=required, key=requirement.key)
    value_texts = ", ".join(f"{value.value} ({value.nodes})" for value in values)
    exist = phrase("{values} and {count} more", values=value_texts, count=of - len(values)) if of > len(values) else value_texts
    return phrase(
        "{who} requires {requirement}: {met}; the nodes have {key} {values}",
        who=subject,
        requirement=required,
        met=met,
        key=requirement.key,
        values=exist,
    )
