"""Node labels: what the pod's nodeSelector and node affinity require, and which values the nodes have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from schedviz.engine.framework.rows import Rows
from schedviz.explain.details.detail import MAX_NAMES, LabelDetail, LabelValue
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.kube.affinity import NodeSelector
from schedviz.kube.core import Node, Pod
from schedviz.kube.node_affinity import lazy_node_selector, required_node_affinity
from schedviz.kube.selectors import Requirement
from schedviz.trace.phrase import Phrase, counted, phrase

#: The labels of a node's zone.
_ZONES: Final = frozenset({"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"})


def node_affinity_details(rejected: RejectedNodes) -> Iterator[LabelDetail]:
    """Each requirement of the pod on node labels, those that the fewest nodes meet first."""
    required = required_node_affinity(rejected.pod.pod)
    requirements = list(required.labels.requirements) if required.labels is not None else []
    if required.nodes is not None:
        requirements += [each for term in required.nodes.terms for each in term.labels.requirements]
    yield from label_details(rejected.everywhere, requirements)


def node_requirements(pod: Pod) -> list[Requirement] | None:
    """The requirements of the pod, all of which a node has to meet; None: its node affinity has alternatives."""
    required = required_node_affinity(pod)
    terms = required.nodes.terms if required.nodes is not None else ()
    if len(terms) > 1:
        return None
    of_selector = required.labels.requirements if required.labels is not None else ()
    return list(dict.fromkeys([*of_selector, *(each for term in terms for each in term.labels.requirements)]))


def volume_requirements(selector: NodeSelector) -> list[Requirement]:
    """The label requirements of a volume's node affinity."""
    return [each for term in lazy_node_selector(selector).terms for each in term.labels.requirements]


def printed_requirement(requirement: Requirement) -> str:
    """A requirement as kubectl prints labels, if it names one value."""
    if requirement.operator in ("in", "=") and len(requirement.values) == 1:
        return f"{requirement.key}={next(iter(requirement.values))}"
    return str(requirement)


def label_details(rows: Rows, requirements: Sequence[Requirement], claim: str = "", volume: str = "") -> Iterator[LabelDetail]:
    """What the nodes of the cluster have for each of the requirements."""
    nodes = [info.node for info in rows.infos if info.node is not None]
    details = [_detail(nodes, requirement, claim, volume) for requirement in dict.fromkeys(requirements)]
    yield from sorted(details, key=lambda detail: detail.matching)


def _detail(nodes: Sequence[Node], requirement: Requirement, claim: str, volume: str) -> LabelDetail:
    found = Counter(node.metadata.labels.get(requirement.key) for node in nodes)
    matching = sum(requirement.matches(node.metadata.labels) for node in nodes)
    without = found.pop(None, 0)
    values = tuple(LabelValue(value or "", count) for value, count in found.most_common(MAX_NAMES))
    sentence = _sentence(requirement, matching, values, len(found), claim, volume)
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
    required = printed_requirement(requirement)
    who = phrase("volume `{volume}` of claim `{claim}`", volume=volume, claim=claim) if volume else phrase("the pod")
    met = counted(matching, "{count} node matches", "{count} nodes match") if matching else phrase("no node matches")
    if not values:
        return phrase("{who} requires `{requirement}`; no node has the label `{key}`", who=who, requirement=required, key=requirement.key)
    shown = ", ".join(f"{value.value} ({value.nodes})" for value in values)
    is_zone = volume and requirement.key in _ZONES and len(requirement.values) == 1
    if is_zone:
        shown = ", ".join(f"`{value.value}` ({value.nodes})" for value in values)
    exist = phrase("{values} and {count} more", values=shown, count=of - len(values)) if of > len(values) else shown
    if not matching and requirement.operator in ("in", "="):
        if is_zone:
            [zone] = requirement.values
            return phrase(
                "PersistentVolume `{volume}` (claim `{claim}`) is in `{zone}`; the nodes are in {values}",
                volume=volume,
                claim=claim,
                zone=zone,
                values=exist,
            )
        return phrase(
            "{who} requires `{requirement}`, but no node has this value; the values are {values}",
            who=who,
            requirement=required,
            values=exist,
        )
    return phrase(
        "{who} requires `{requirement}`: {met}; values of `{key}` here: {values}",
        who=who,
        requirement=required,
        met=met,
        key=requirement.key,
        values=exist,
    )
