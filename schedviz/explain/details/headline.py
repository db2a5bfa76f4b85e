"""`headline`: a clause in one plain sentence, with the numbers of this case: what the pod needs, and why the nodes that have it are no use.

The sentences of the details have the other numbers, and the clause's reason is upstream's text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from schedviz.explain.details.detail import (
    Detail,
    DeviceDetail,
    LabelDetail,
    PodAffinityDetail,
    PortDetail,
    ResourceDetail,
    SpreadDetail,
    TaintDetail,
)
from schedviz.explain.details.node_labels import node_requirements, printed_requirement
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.explain.details.short_names import ShortNames
from schedviz.explain.details.spread import missing_keys, open_domains
from schedviz.explain.details.volumes import requirements_of_volumes
from schedviz.explain.explanation import Clause, NodeVerdict
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.mistyped import meant_value
from schedviz.explain.resource_names import amount_of, short_amount_of
from schedviz.kube.selectors import Requirement
from schedviz.trace.phrase import Phrase, counted, joined, phrase, some

#: Taints that are named; more are counted.
_MAX_NAMED_TAINTS: Final = 2
#: The label whose value is the name of the node.
HOSTNAME: Final = "kubernetes.io/hostname"
_ZONES: Final = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_REGIONS: Final = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")


class _Which(NamedTuple):
    """How a sentence names the nodes that have what the pod needs: a single one, all of them, or several with a reason each."""

    only: str
    both: str
    every: str
    several: str


_THERE: Final = _Which(
    phrase("the only node there, {node},").template,
    phrase("both nodes there").template,
    phrase("all {count} nodes there").template,
    phrase("of the {count} nodes there, {parts}").template,
)
_SUCH: Final = _Which(
    phrase("the only such node, {node},").template,
    phrase("both such nodes").template,
    phrase("all {count} such nodes").template,
    phrase("of the {count} such nodes, {parts}").template,
)
_LARGE: Final = _Which(
    phrase("the only node with that much capacity, {node},").template,
    phrase("both nodes with that much capacity").template,
    phrase("all {count} nodes with that much capacity").template,
    phrase("of the {count} nodes with that much capacity, {parts}").template,
)
_BOTH_NODES: Final = phrase("both nodes").template
_EVERY_NODE: Final = phrase("all {count} nodes").template
VOLUMES_APART: Final = phrase("the pod's volumes are {places}, but no node can access all of them").template
#: Templates about all nodes of the cluster, and words of others.
_ALL_NODES: Final = (_BOTH_NODES, _EVERY_NODE)
_NO_NODE: Final = (
    "no node matches",
    "no node has",
    "no node can",
    "no node offers",
    "no node that it can run on",
    "the cluster has no such node",
    "the cluster has no node there",
    "the largest node has",
    "rules out every",
)
#: What is said about a spread without room in the domains that the pod requires.
FULL_WHERE_REQUIRED: Final = phrase(
    "the pod requires nodes with {labels}, but its topology spread constraint (`maxSkew` {skew}) has no room there; "
    "matching pods in each {unit}: {counts}"
).template


def is_about_all_nodes(said: Phrase) -> bool:
    """Whether the sentence says already that no node is left: then it is not said again."""
    if any(words in said.template for words in _NO_NODE) or said.template in _ALL_NODES:
        return True
    return any(isinstance(value, Phrase) and is_about_all_nodes(value) for value in said.values.values())


def headline(rejected: RejectedNodes, clause: Clause, details: Sequence[Detail]) -> Phrase | None:
    """The sentence, without a full stop; None if the reason is unknown."""
    return _Writer(rejected, clause).headline(details)


class _Writer:
    """Writes the sentence of one clause."""

    def __init__(self, rejected: RejectedNodes, clause: Clause) -> None:
        self._rejected = rejected
        self._verdicts = rejected.verdicts
        self._clause = clause
        self._short = ShortNames(rejected.everywhere.names)

    def headline(self, details: Sequence[Detail]) -> Phrase | None:
        match details:
            case [ResourceDetail() as detail, *_]:
                return self._resource(detail)
            case [TaintDetail(), *_]:
                return self._taints([detail for detail in details if isinstance(detail, TaintDetail)])
            case [LabelDetail(volume=""), *_]:
                return self._labels()
            case [LabelDetail(), *_]:
                return self._volumes()
            case [SpreadDetail(), *_]:
                return self._spread([detail for detail in details if isinstance(detail, SpreadDetail)])
            case [PodAffinityDetail() as detail, *_]:
                return self._pod_affinity(detail)
            case [PortDetail() | DeviceDetail() as detail, *_]:
                return detail.sentence_phrase
        return self._in_general()

    def _in_general(self) -> Phrase | None:
        """What the reason says about these nodes, whatever the pod is."""
        meaning = meaning_of(self._clause.reason)
        if meaning is None:
            return None
        return meaning.headline(self._clause.count, self._named(self._clause.nodes))

    def _named(self, nodes: Sequence[str]) -> Phrase | None:
        """One or two nodes by their names; None for more, which are counted."""
        match [self._short.of(node) for node in nodes]:
            case [node]:
                # Not "node node-4". As code, it has no capital letter at the beginning of a sentence.
                return phrase("`{node}`", node=node) if node.startswith("node") else phrase("node {node}", node=node)
            case [first, second]:
                if first.startswith("node") and second.startswith("node"):
                    return phrase("`{first}` and `{second}`", first=first, second=second)
                return phrase("nodes {first} and {second}", first=first, second=second)
        return None

    # By what the pod needs.

    def _resource(self, detail: ResourceDetail) -> Phrase | None:
        if detail.resource == "pods" or not detail.nodes:
            return self._in_general()
        here = int(self._rejected.rows.allocatable(detail.resource).max())
        if not here < detail.requested <= detail.largest:
            return detail.sentence_phrase
        large = np.flatnonzero(self._rejected.everywhere.allocatable(detail.resource) >= detail.requested).tolist()
        requested = amount_of(detail.resource, detail.requested)
        if not self._rejected.may_be_used[large].any():
            return phrase("the pod requests {requested}; {there}", there=self._there(large, _LARGE), requested=requested)
        if not here:
            return detail.sentence_phrase
        most = counted(self._clause.count, "{count} node has only", "{count} nodes have at most")
        return phrase(
            "the pod requests {requested}, but {most} {largest}",
            most=most,
            largest=short_amount_of(detail.resource, here),
            requested=requested,
        )

    def _taints(self, details: Sequence[TaintDetail]) -> Phrase | None:
        """Each taint as v1.27's reason would say it: v1.36's does not name the taint."""
        if len(details) > _MAX_NAMED_TAINTS:
            return self._in_general()
        said = []
        for detail in details:
            key, _, value = detail.taint.rpartition(":")[0].partition("=")
            meaning = meaning_of(f"node(s) had untolerated taint {{{key}: {value}}}")
            if meaning is None:
                return self._in_general()
            named = self._named(self._clause.nodes) if len(details) == 1 else None
            said.append(meaning.headline(detail.nodes, named))
        return joined(said, "{first}; {next}")

    def _labels(self) -> Phrase | None:
        requirements = node_requirements(self._rejected.pod.pod)
        if not requirements:
            return self._in_general()
        wanted = joined(
            [Phrase("`{requirement}`", {"requirement": printed_requirement(each)}) for each in requirements], "{first} and {next}"
        )
        rows = self._matching(requirements)
        if not rows and len(requirements) > 1 and all(self._matching([each]) for each in requirements):
            return phrase("the pod requires nodes with {labels}, but no node has all of these labels", labels=wanted)
        if not rows:
            lacking = [each for each in requirements if not self._matching([each])]
            missing = lacking[0] if lacking else requirements[0]
            if len(lacking) > 1 and not any(map(self._meant, lacking)):
                labels = joined(
                    [Phrase("`{requirement}`", {"requirement": printed_requirement(each)}) for each in lacking], "{first} and {next}"
                )
                return phrase("the pod requires nodes with {labels}, but no node has any of these labels", labels=labels)
            if meant := self._meant(missing):
                return phrase(
                    "the pod requires nodes with {labels}, but no node matches; it is probably a typo for `{meant}`",
                    labels=_code(printed_requirement(missing)),
                    meant=meant,
                )
            return phrase("the pod requires a node with {labels}, but there is none", labels=_code(printed_requirement(missing)))
        return phrase("the pod requires nodes with {labels}; {there}", labels=wanted, there=self._there(rows, _SUCH))

    def _meant(self, requirement: Requirement) -> str:
        """The label that was probably meant by a requirement of one value; "" if it is no typo."""
        if requirement.operator not in ("in", "=") or len(requirement.values) != 1:
            return ""
        nodes = [info.node for info in self._rejected.everywhere.infos if info.node is not None]
        meant = meant_value(requirement.key, next(iter(requirement.values)), nodes)
        return f"{requirement.key}={meant}" if meant else ""

    def _volumes(self) -> Phrase | None:
        requirements = requirements_of_volumes(self._rejected, self._clause.plugin)
        if not requirements:
            return self._in_general()
        place = joined([_place(each, self._short) for each in _without_regions(requirements)], "{first} and {next}")
        rows = self._matching(requirements)
        if not rows and len(requirements) > 1 and all(self._matching([each]) for each in requirements):
            return Phrase(VOLUMES_APART, {"places": place})
        if not rows and any(each.key == HOSTNAME for each in requirements):
            return phrase("the pod's volume is {place}, but the cluster has no such node", place=place)
        if not rows:
            return phrase("the pod's volume is {place}, but the cluster has no node there", place=place)
        if len(rows) == 1 and any(each.key == HOSTNAME for each in requirements):
            verdict = self._verdicts[rows[0]]
            node = phrase("the node of the pod's local volume, {node},", node=self._short.of(verdict.node))
            return self._because(self._reason(verdict), 1, node)
        return phrase("the pod's volume is {place}; {there}", place=place, there=self._there(rows))

    def _spread(self, details: Sequence[SpreadDetail]) -> Phrase | None:
        if missing := missing_keys(self._rejected):
            nodes = counted(self._clause.count, "{count} node lacks the label", "{count} nodes lack the label")
            if len(self._clause.nodes) == len(self._verdicts):
                nodes = phrase("no node has the label")
            return phrase("{nodes} `{key}`, which the pod's topology spread constraint uses", nodes=nodes, key="` and `".join(missing))
        constraints = [(detail, open_domains(self._rejected, number)) for number, detail in enumerate(details)]
        detail, allowed = min(constraints, key=lambda constraint: len(constraint[1]))
        if not detail.of:
            return self._in_general()
        key = detail.topology_key
        if not allowed:
            pods = counted(detail.most, "{count} matching pod", "{count} matching pods")
            return phrase(
                "the topology spread constraint rules out every {unit}: each already has the maximum of {pods}", unit=_unit(key), pods=pods
            )
        if (contradiction := self._full_where_required(detail, allowed)) is not None:
            return contradiction
        rows = self._rows_with(key, set(allowed))
        if key == HOSTNAME:
            return phrase("the topology spread constraint allows the pod on few nodes; {there}", there=self._there(rows))
        return phrase(
            "the topology spread constraint allows the pod only in {domains}; {there}",
            domains=some([self._short.of(domain) for domain in allowed]),
            there=self._there(rows),
        )

    def _full_where_required(self, detail: SpreadDetail, allowed: Sequence[str]) -> Phrase | None:
        """That the pod requires domains in which its spread has no room; None if that is not so."""
        requirements = node_requirements(self._rejected.pod.pod)
        if not requirements:
            return None
        infos = self._rejected.everywhere.infos
        nodes = [info.node for row in self._matching(requirements) if (info := infos[row]).node is not None]
        required = {node.metadata.labels.get(detail.topology_key) for node in nodes if node is not None}
        if not required or not required.isdisjoint(allowed):
            return None
        counts = ", ".join(f"{self._short.of(domain.domain)} {domain.pods}" for domain in detail.domains)
        return phrase(
            FULL_WHERE_REQUIRED,
            labels=joined(
                [Phrase("`{requirement}`", {"requirement": printed_requirement(each)}) for each in requirements], "{first} and {next}"
            ),
            skew=detail.max_skew,
            unit=_unit(detail.topology_key),
            counts=counts,
        )

    def _pod_affinity(self, detail: PodAffinityDetail) -> Phrase | None:
        values: dict[str, str | Phrase] = {"selector": detail.selector, "together": _together(detail.topology_key)}
        nodes = counted(self._clause.count, "{count} node", "{count} nodes")
        if 1 < self._clause.count == len(self._verdicts):
            nodes = Phrase(_BOTH_NODES) if self._clause.count == 2 else Phrase(_EVERY_NODE, {"count": self._clause.count})
        first = detail.pods[0].pod if detail.pods else ""
        match detail.term:
            case "affinity" if not detail.matching:
                return phrase("the pod must run {together} as a pod with `{selector}`, but no such pod is running", **values)
            case "affinity":
                names = {pod.node for pod in detail.pods}
                rows = self._rows_near(detail.topology_key, names)
                if detail.matching > len(detail.pods):
                    return phrase("the pod must run {together} as a pod with `{selector}`, but no node there fits", **values)
                there = self._there(rows)
                return phrase(
                    "the pod must run {together} as a pod with `{selector}`, such as {first}; {there}",
                    first=first,
                    there=there,
                    **values,
                )
            case "antiAffinity":
                return phrase(
                    "the pod must not run {together} as a pod with `{selector}` (anti-affinity), which rules out {nodes}",
                    nodes=nodes,
                    **values,
                )
        return phrase(
            "the anti-affinity of the pod {first} does not allow this pod {together}, which rules out {nodes}",
            first=first,
            nodes=nodes,
            **values,
        )

    # The nodes that have what the pod needs.

    def _matching(self, requirements: Sequence[Requirement]) -> list[int]:
        return [
            row
            for row, info in enumerate(self._rejected.everywhere.infos)
            if info.node is not None and all(each.matches(info.node.metadata.labels) for each in requirements)
        ]

    def _rows_with(self, key: str, values: set[str]) -> list[int]:
        infos = self._rejected.everywhere.infos
        return [row for row, info in enumerate(infos) if info.node is not None and info.node.metadata.labels.get(key) in values]

    def _rows_near(self, key: str, names: set[str]) -> list[int]:
        """The nodes in the topology domains of others."""
        infos = [info for info in self._rejected.everywhere.infos if info.name in names and info.node is not None]
        domains = {info.node.metadata.labels[key] for info in infos if info.node is not None and key in info.node.metadata.labels}
        return self._rows_with(key, domains)

    def _there(self, rows: Sequence[int], which: _Which = _THERE) -> Phrase:
        """Why none of these nodes takes the pod: the first reason of each that is not the clause's own plugin's."""
        if not rows:
            return phrase("there is no such node")
        if len(rows) == 1:
            node = self._short.of(self._verdicts[rows[0]].node)
            return self._because(self._reason(self._verdicts[rows[0]]), 1, Phrase(which.only, {"node": node}))
        counts = Counter(self._reason(self._verdicts[row]) for row in rows)
        if len(counts) == 1:
            every = which.both if len(rows) == 2 else which.every
            return self._because(next(iter(counts)), len(rows), Phrase(every, {"count": len(rows)} if every == which.every else {}))
        parts = [self._because(reason, count, phrase("{count}", count=count)) for reason, count in counts.most_common()]
        return Phrase(which.several, {"count": len(rows), "parts": _listed(parts)})

    def _reason(self, verdict: NodeVerdict) -> str:
        others = (objection.reasons for objection in verdict.objections if objection.plugin != self._clause.plugin)
        return next((reasons[0] for reasons in others if reasons), "")

    @staticmethod
    def _because(reason: str, count: int, nodes: Phrase | None) -> Phrase:
        meaning = meaning_of(reason)
        if meaning is not None and meaning.of_nodes[0]:
            return meaning.headline(count, nodes)
        values = {"nodes": nodes if nodes is not None else counted(count, "{count} node", "{count} nodes")}
        return Phrase("{nodes} is rejected for another reason" if count == 1 else "{nodes} are rejected for another reason", {**values})


def _listed(parts: Sequence[Phrase]) -> Phrase:
    """The parts with commas, and an "and" before the last."""
    *first, last = parts
    if not first:
        return last
    between = "{first} and {next}" if len(first) == 1 else "{first}, and {next}"
    return Phrase(between, {"first": joined(first), "next": last})


def _all_of(requirements: Sequence[Requirement]) -> Phrase:
    return joined([Phrase("`{requirement}`", {"requirement": printed_requirement(each)}) for each in requirements], "{first} and {next}")


def _code(text: str) -> str:
    return f"`{text}`"


def _place(requirement: Requirement, short: ShortNames) -> Phrase:
    """Where a volume is."""
    values = some([short.of(value) for value in sorted(requirement.values)])
    if requirement.operator not in ("in", "=") or not requirement.values:
        return phrase("on nodes with {labels}", labels=_code(printed_requirement(requirement)))
    if requirement.key == HOSTNAME:
        return phrase("on the disk of {node}", node=values)
    if requirement.key in (*_ZONES, *_REGIONS) or requirement.key.endswith("/zone"):
        return phrase("in {zone}", zone=values)
    return phrase("on nodes with {labels}", labels=_code(printed_requirement(requirement)))


def _without_regions(requirements: Sequence[Requirement]) -> Sequence[Requirement]:
    """A zone says its region."""
    return [each for each in requirements if each.key not in _REGIONS] or requirements


def _unit(key: str) -> Phrase | str:
    """What the values of a topology key are."""
    if key == HOSTNAME:
        return phrase("node")
    if key in _ZONES:
        return phrase("zone")
    if key in _REGIONS:
        return phrase("region")
    return key


def _together(key: str) -> Phrase:
    """In the same domain of a topology key."""
    return phrase("on the same node") if key == HOSTNAME else phrase("in the same {unit}", unit=_unit(key))
