"""`with_details`: clauses with the numbers behind them, and with their nodes in the order of how near they are to taking the pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.plugins import names
from schedviz.explain.details.detail import AnyDetail, LabelDetail, PodAffinityDetail, PortDetail, ResourceDetail, TaintDetail
from schedviz.explain.details.devices import device_details
from schedviz.explain.details.headline import FULL_WHERE_REQUIRED, HOSTNAME, VOLUMES_APART, headline
from schedviz.explain.details.node_labels import node_affinity_details
from schedviz.explain.details.pod_affinity import pod_affinity_details
from schedviz.explain.details.ports import port_details
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.explain.details.resources import resource_details, shortage
from schedviz.explain.details.spread import missing_keys, spread_details
from schedviz.explain.details.taints import taint_details
from schedviz.explain.details.volumes import volume_affinity_details, volume_zone_details
from schedviz.explain.explanation import Clause, NodeVerdict
from schedviz.explain.meaning import Named
from schedviz.explain.messages.explained_clause import about_missing_node
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.reason_tables.volumes import BOUND, NO_NODE_THERE, NODE_IS_GONE, TOGETHER
from schedviz.explain.resource_names import resource_name
from schedviz.trace.phrase import Phrase, joined, phrase

#: By the plugin that rejects.
_DETAILS: Final[dict[str, Callable[[RejectedNodes], Iterable[AnyDetail]]]] = {
    names.NODE_RESOURCES_FIT: resource_details,
    names.TAINT_TOLERATION: taint_details,
    names.NODE_AFFINITY: node_affinity_details,
    names.POD_TOPOLOGY_SPREAD: spread_details,
    names.INTER_POD_AFFINITY: pod_affinity_details,
    names.NODE_PORTS: port_details,
    names.DYNAMIC_RESOURCES: device_details,
    names.VOLUME_BINDING: volume_affinity_details,
    names.VOLUME_ZONE: volume_zone_details,
}

#: The reason of nodes that the affinity of a DaemonSet's pod, which names its node, excludes contains this.
_NOT_NAMED: Final = "didn't satisfy plugin"
_ZONE: Final = "topology.kubernetes.io/zone"

#: What to do about a request that no node can meet, whatever runs on it. Others' requests, and another node of the same size, do not help.
_TOO_LARGE: Final = phrase("lower the pod's request, or add a larger node: not even an empty node is large enough")

#: What is said if the nodes lack other resources, too.
ALSO_LACKING: Final = phrase("{headline}; there is not enough free {resources} either").template
_INSUFFICIENT: Final = "Insufficient "
#: What to do about such a resource if another one is too large for every node.
_TOO_LARGE_TOO: Final = phrase("also lower this request, or add a node that is large enough for all requests")
#: What to do if the pod's spread has no room where the pod has to run.
_SPREAD_ELSEWHERE: Final = phrase(
    "run more matching pods in the other domains, remove the node selector or affinity, or set `whenUnsatisfiable: ScheduleAnyway`"
)
#: What to do about labels that no node has.
_NO_SUCH_LABEL: Final = phrase(
    "require labels that existing nodes have, or add a node with these labels; label an existing node only if the label is accurate for it"
)


def with_details(simulation: Simulation, dry_run: DryRun, verdicts: Sequence[NodeVerdict], clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The same clauses. `verdicts` are those of the dry run's nodes, in order."""
    objections = np.array([len(verdict.objections) for verdict in verdicts], np.int64)
    detailed = [_with_details(simulation, dry_run, verdicts, objections, clause) for clause in clauses]
    if all(clause.advice != _TOO_LARGE.text for clause in detailed):
        return tuple(detailed)
    return tuple(
        clause.with_phrases(advice=_TOO_LARGE_TOO)
        if clause.plugin == names.NODE_RESOURCES_FIT and clause.advice != _TOO_LARGE.text and clause.details
        else clause
        for clause in detailed
    )


def _with_details(simulation: Simulation, dry_run: DryRun, verdicts: Sequence[NodeVerdict], objections: IntArray, clause: Clause) -> Clause:
    if not clause.nodes:
        return clause
    row_of = dry_run.row_of
    index = np.fromiter((row_of[node] for node in clause.nodes), np.intp, len(clause.nodes))
    rejected = RejectedNodes(simulation, dry_run, verdicts, clause.reason, index)
    keys = [objections[index]]
    if clause.plugin == names.NODE_RESOURCES_FIT:
        keys.insert(0, shortage(rejected))
    # The last key is the most significant; equal nodes stay in the order of the snapshot.
    nodes = tuple(clause.nodes[index] for index in np.lexsort(keys).tolist())
    details = _DETAILS.get(clause.plugin)
    found = () if details is None else tuple(details(rejected))
    clause = msgspec.structs.replace(clause, nodes=nodes, details=found)
    if advice := _advice(found) or _advice_of_others(rejected, clause, found):
        clause = clause.with_phrases(advice=advice)
    if (missing := _missing_node(rejected)) and _NOT_NAMED in clause.reason:
        return about_missing_node(clause, missing, is_of_daemon_set=rejected.pod.pod.is_of_daemon_set)
    plain = headline(rejected, clause, found)
    if plain is not None and len(found) == 1 and isinstance(found[0], TaintDetail) and not found[0].tolerated_by:
        # The sentence has named the taint and its nodes.
        clause = msgspec.structs.replace(clause, details=(msgspec.structs.replace(found[0], sentence=plain.text, sentence_phrase=plain),))
    if plain is not None and plain.template == FULL_WHERE_REQUIRED:
        clause = clause.with_phrases(advice=_SPREAD_ELSEWHERE)
    if plain is not None and plain.template == VOLUMES_APART:
        clause = clause.with_phrases(advice=TOGETHER)
    return clause if plain is None else clause.with_phrases(headline=plain)


def with_other_shortages(clauses: Sequence[Clause], main: tuple[str, str, str] | None) -> tuple[Clause, ...]:
    """The clauses; the main one's sentence names the other resources that all its nodes lack, too. `main`: its reason, plugin and code."""
    decisive = next((clause for clause in clauses if (clause.reason, clause.plugin, clause.code) == main), None)
    if decisive is None or decisive.headline_phrase is None or not decisive.reason.startswith(_INSUFFICIENT):
        return tuple(clauses)
    nodes = set(decisive.nodes)
    others = {
        clause.reason: resource_name(clause.reason.removeprefix(_INSUFFICIENT))
        for clause in clauses
        if clause.reason.startswith(_INSUFFICIENT) and clause.reason != decisive.reason and nodes <= _nodes_of(clauses, clause.reason)
    }
    if not others:
        return tuple(clauses)
    resources = joined([Phrase("{resource}", {"resource": name}) for name in others.values()], "{first} and {next}")
    said = Phrase(ALSO_LACKING, {"headline": decisive.headline_phrase, "resources": resources})
    named = decisive.with_phrases(headline=said)
    return tuple(named if clause is decisive else clause for clause in clauses)


def _nodes_of(clauses: Sequence[Clause], reason: str) -> set[str]:
    """The nodes that have a reason. Those that are too small for the pod have it in another clause than full ones."""
    return {node for clause in clauses if clause.reason == reason for node in clause.nodes}


def _advice(found: Sequence[AnyDetail]) -> Phrase | None:
    """What to do, where the numbers say more than the reason; None: they do not."""
    labels = [detail for detail in found if isinstance(detail, LabelDetail)]
    missing = [detail.key for detail in labels if not detail.matching]
    if any(detail.volume for detail in labels):
        return NODE_IS_GONE if HOSTNAME in missing else NO_NODE_THERE if missing else BOUND
    if missing:
        return _NO_SUCH_LABEL
    return _TOO_LARGE if any(isinstance(detail, ResourceDetail) and 0 < detail.largest < detail.requested for detail in found) else None


def _advice_of_others(rejected: RejectedNodes, clause: Clause, found: Sequence[AnyDetail]) -> Phrase | None:
    """What to do, with the taints, pods and labels that the details name; None: they name none."""
    if keys := missing_keys(rejected):
        return phrase(
            "label the nodes with `{key}`, or use a `topologyKey` that the nodes have, such as {zone}", key=" and ".join(keys), zone=_ZONE
        )
    match found:
        case [TaintDetail(taint=taint)]:
            key, _, value = taint.rpartition(":")[0].partition("=")
            meaning = meaning_of(f"node(s) had untolerated taint {{{key}: {value}}}")
            return meaning.advice_phrase(Named(clause.nodes)) if meaning is not None else None
        case [PortDetail(pods=(holder, *_), nodes=1)]:
            return phrase(
                "stop or move {holder}, or use another host port; only one pod on a node can use a given host port", holder=holder.pod
            )
        case [PodAffinityDetail(term="existingAntiAffinity", pods=(holder, *_), matching=1)]:
            return phrase("remove {holder}, or change its anti-affinity or the labels of this pod", holder=holder.pod)
    return None


def _missing_node(rejected: RejectedNodes) -> list[str]:
    """The names of nodes that the pod's node affinity requires, if none of them exists."""
    affinity = rejected.pod.pod.spec.affinity
    required = affinity.node_affinity.required if affinity is not None and affinity.node_affinity is not None else None
    fields = [field for term in required.node_selector_terms for field in term.match_fields] if required is not None else []
    names_ = [name for field in fields if field.operator == "In" for name in field.values]
    return names_ if names_ and set(names_).isdisjoint(rejected.everywhere.names) else []
