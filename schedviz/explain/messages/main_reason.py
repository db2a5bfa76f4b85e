"""`main_reason`: of all reasons in a FitError, the one of the nodes that come closest to fitting the pod.

The most frequent reason is often not the one to act on: a pod that selects the four GPU nodes of a cluster is rejected by all other nodes
because of its nodeSelector, and by those four because of a taint.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.adjusted_rows import amount
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.taint import HARD_TAINT_EFFECTS, tolerations_tolerate_taint
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.explain.explanation import Clause, NodeVerdict, Objection
from schedviz.explain.reserved_nodes import is_reserved
from schedviz.kube.core import Taint

#: How far a node is from taking the pod, by what rejects it. Something outside the node, or pods that may leave, come first.
_DISTANCE_OF_CHANGES: Final = 0
#: The node is reserved by a taint, or cordoned.
_RESERVED: Final = 1
#: Even the empty node is too small, or lacks a device.
_TOO_SMALL: Final = 2
#: Unhealthy nodes, those of the control plane, and those kept for pods that request a device are not for this pod.
_NOT_FOR_PODS: Final = 3
#: The pod does not want the node.
_NOT_WANTED: Final = 4

#: Ranks of a message's clauses. First comes a reason of all nodes, then nodes whose taint keeps the device that others lack.
_OF_ALL: Final = -1
_GUARDED: Final = 0
_USABLE: Final = 1
_WITHOUT_DEVICE: Final = 2
#: Nodes that the pod cannot use have this rank or the next.
_NO_USE: Final = 3
_KEPT_FOR_SYSTEM: Final = 4
_INSUFFICIENT: Final = "Insufficient "
#: Where nodes lack different resources: the part of a request by which people lower it.
_LIKELY_REDUCTION: Final = 0.5
#: Reasons that are all read.
_MAX_READ: Final = 4
#: In reasons of nodes where the pod's volume is not.
_OF_VOLUME: Final = ("volume node affinity conflict", "PersistentVolume's node affinity")

#: Most nodes without room for an extended resource have none of it.
_DEVICES_LACKING: Final = re.compile(r"Insufficient ([^\s/]+/\S+)")

_CONTROL_PLANE: Final = re.compile(r"\{node-role\.kubernetes\.io/(?:master|control-?plane|etcd)\b")
_NODE_TAINT: Final = "{node.kubernetes.io/"
_CORDONED: Final = "{node.kubernetes.io/unschedulable"
#: Plugins whose constraints are about other pods.
_BETWEEN_PODS: Final = frozenset({names.INTER_POD_AFFINITY, names.POD_TOPOLOGY_SPREAD})
#: Those, and that of nodes which other pods have filled.
_OF_OTHERS: Final = _BETWEEN_PODS | {names.NODE_RESOURCES_FIT}
#: The taint of node pools for the cluster's own pods.
_SYSTEM_POOL: Final = "{CriticalAddonsOnly:"
#: Taints of nodes that run other kinds of pods: Fargate, Windows, and virtual nodes.
_OTHER_KIND: Final = re.compile(
    r"\{(?:eks\.amazonaws\.com/compute-type: fargate|[^{}]*\bwindows|[^{}:]*virtual-(?:kubelet|node))", re.IGNORECASE
)


def main_reason(dry_run: DryRun, verdicts: Sequence[NodeVerdict]) -> tuple[str, str, str] | None:
    """The reason, its plugin and its code; None if no verdict has a reason. `verdicts` are those of the dry run's nodes, in order."""
    # Verdicts share their tuples of objections: there are few distinct ones.
    kinds: dict[tuple[int, str, int], tuple[NodeVerdict, int]] = {}
    kept = _kept_for_others(dry_run, verdicts)
    for row, (verdict, is_too_small) in enumerate(zip(verdicts, _too_small(dry_run), strict=True)):
        least = _NOT_FOR_PODS if row in kept else _TOO_SMALL if is_too_small else _DISTANCE_OF_CHANGES
        key = id(verdict.objections), verdict.plugin, least
        kinds[key] = verdict, kinds.get(key, (verdict, 0))[1] + 1
    distances = [
        # Of equally distant nodes, those with the fewest objections are the nearest.
        ((max(least, _distance(verdict)), len(verdict.objections)), verdict, count)
        for (_, _, least), (verdict, count) in kinds.items()
        if verdict.reasons
    ]
    nearest = min((distance for distance, _, _ in distances), default=None)
    closest = {id(verdict.objections) for distance, verdict, _ in distances if distance == nearest}
    if (shortage := _smallest_shortage(dry_run, verdicts, closest)) is not None:
        return shortage
    counts: Counter[tuple[str, str, str]] = Counter()
    for distance, verdict, count in distances:
        if distance == nearest:
            counts.update({(reason, verdict.plugin, verdict.code): count for reason in verdict.reasons})
    # A node that is too small stays so when pods leave: its number of pods does not matter.
    return max(counts, key=lambda reason: (counts[reason], reason[0].startswith(_INSUFFICIENT), reason), default=None)


def _smallest_shortage(dry_run: DryRun, verdicts: Sequence[NodeVerdict], nearest: set[int]) -> tuple[str, str, str] | None:
    """The shortage of the nearest node on which the pod would fit if its requests were lowered least.

    None if the nearest nodes have other reasons, too, if they all lack the same resources, or if the requests would become a fraction.
    """
    rows = [row for row, verdict in enumerate(verdicts) if id(verdict.objections) in nearest and verdict.reasons]
    if len({verdicts[row].reasons for row in rows}) < 2 or any(not _is_shortage(verdicts[row]) for row in rows):
        return None
    shares = {reason: _lacking_share(dry_run, reason.removeprefix(_INSUFFICIENT)) for row in rows for reason in verdicts[row].reasons}
    reductions = {row: sum(shares[reason][row] for reason in verdicts[row].reasons) for row in rows}
    least = min(rows, key=lambda row: reductions[row])
    if not 0 < reductions[least] <= _LIKELY_REDUCTION:
        return None
    verdict = verdicts[least]
    return max(verdict.reasons, key=lambda reason: shares[reason][least]), verdict.plugin, verdict.code


def _is_shortage(verdict: NodeVerdict) -> bool:
    return verdict.plugin == names.NODE_RESOURCES_FIT and all(reason.startswith(_INSUFFICIENT) for reason in verdict.reasons)


def _lacking_share(dry_run: DryRun, resource: str) -> list[float]:
    """For each node, which part of the pod's request for a resource it lacks."""
    requested = amount(dry_run.pod, resource)
    lacking = requested - dry_run.rows.allocatable(resource) + dry_run.rows.requested(resource)
    shares: list[float] = (lacking / max(1, requested)).tolist()
    return shares


def nearest_reason(rejections: Iterable[tuple[str, str, Sequence[str], int]]) -> str:
    """The same from the summary of a cycle: plugin, code, reasons and number of nodes of each rejection; "" if there is none.

    Without the nodes, it cannot distinguish a node that is too small from one that is full.
    """
    counts: Counter[tuple[int, str]] = Counter()
    for plugin, code, reasons, nodes in rejections:
        distance = _distance_of(Objection(plugin, code, tuple(reasons)))
        counts.update({(distance, reason): nodes for reason in reasons})
    if not counts:
        return ""
    nearest = min(distance for distance, _ in counts)
    return max((count, reason) for (distance, reason), count in counts.items() if distance == nearest)[1]


def most_likely_first(clauses: Iterable[Clause], nodes: int = 0) -> tuple[Clause, ...]:
    """The clauses of a message without its nodes, the one to act on first: that of the most nodes which the pod could use.

    Filters that come after NodeAffinity see only nodes that the pod selects. If one of them rejected nodes, the nodes that the pod does
    not select are no use; otherwise nobody knows whether the pod selects the cordoned and the tainted ones. In the same way, filters that
    come after VolumeBinding, which are about other pods, see only nodes where the pod's volumes are. A taint that is named after
    a resource that other nodes lack, such as `nvidia.com/gpu`, keeps the pod off the nodes that have it. Control-plane nodes come last.
    Old messages have several reasons for a node: what all `nodes` have comes before everything else.
    """
    ranked = _ranked(tuple(clauses), nodes)
    taken_out = any(_is_taken_out(clause) for _, clause in ranked)
    decisive = _decisive(ranked)
    # Of equally many nodes, what can be changed at the pod comes before what somebody did to the nodes. But nodes are brought back before
    # a constraint between pods is relaxed, which was set on purpose.
    ranked.sort(
        key=lambda each: (
            each[0],
            taken_out and each[1].plugin in _BETWEEN_PODS,
            decisive is not None and each[1] is not decisive,
            -each[1].count,
            each[1].plugin == names.NODE_UNSCHEDULABLE,
        )
    )
    # What the pod cannot use is not worth reading if something else is.
    has_use = any(rank < _NO_USE for rank, _ in ranked)
    # A bound volume cannot move: among few reasons, that is worth reading even if other nodes could be used.
    is_short = len(ranked) <= _MAX_READ
    return tuple(
        msgspec.structs.replace(clause, is_aside=has_use and rank >= _NO_USE and not (is_short and is_of_volume(clause)))
        for rank, clause in ranked
    )


def only_cause(clauses: Iterable[Clause], nodes: int = 0) -> Clause | None:
    """The clause without which the pod would be placed, as far as a message can say so; None if several nodes could be made to fit.

    A message has one reason for each node, the first that was found. So it does not say whether a node that is cordoned, tainted or
    unhealthy would otherwise take the pod.
    """
    ranked = _ranked(tuple(clauses), nodes)
    if of_all := [clause for rank, clause in ranked if rank == _OF_ALL]:
        # Nothing else helps as long as it applies; if all nodes have several such reasons, each has to be dealt with.
        return of_all[0] if len(of_all) == 1 else None
    guarded = [clause for rank, clause in ranked if rank == _GUARDED]
    candidates = guarded or [clause for rank, clause in ranked if rank < _NO_USE]
    broken = [clause for clause in candidates if is_of_broken_nodes(clause)]
    if broken and all(clause in broken or _is_of_other_places(clause) for clause in candidates):
        # The pod or its volume has no other place: a broken node is repaired, whatever else is done.
        return broken[0]
    cordoned = [clause for clause in candidates if _is_taken_out(clause) and clause not in broken]
    taken_out = cordoned or broken
    if len(taken_out) == 1 and all(_is_taken_out(clause) or clause.plugin in _OF_OTHERS for clause in candidates):
        # The other nodes are full or taken: one that comes back costs nothing, and weakens no constraint.
        return taken_out[0]
    return candidates[0] if len(candidates) == 1 else None


def decisive_clause(clauses: Sequence[Clause], nodes: int = 0) -> Clause | None:
    """The only clause about nodes that the pod selects and tolerates, beside tainted node pools; None: there is none, or several."""
    return _decisive(_ranked(clauses, nodes))


def _decisive(ranked: Sequence[tuple[int, Clause]]) -> Clause | None:
    reached = [
        clause for rank, clause in ranked if clause.count and rank < _NO_USE and _distance_of(_objection(clause)) == _DISTANCE_OF_CHANGES
    ]
    if len(reached) != 1 or any(rank < _USABLE or _is_taken_out(clause) for rank, clause in ranked):
        return None
    foreign = [rank for rank, clause in ranked if clause.plugin == names.TAINT_TOLERATION and rank == _USABLE]
    selects = any(clause.plugin == names.NODE_AFFINITY for _, clause in ranked)
    # A pod that selects nodes is meant for those which it reaches.
    return reached[0] if foreign and selects else None


def _is_taken_out(clause: Clause) -> bool:
    """Whether its nodes are cordoned or unhealthy."""
    return clause.plugin == names.NODE_UNSCHEDULABLE or _NODE_TAINT in clause.reason


def _is_of_other_places(clause: Clause) -> bool:
    """Whether its nodes are not those that the pod or its bound volume asks for."""
    return clause.plugin == names.NODE_AFFINITY or is_of_volume(clause)


def is_of_volume(clause: Clause) -> bool:
    """Whether its nodes are not where the pod's bound volume is."""
    return any(words in clause.reason for words in _OF_VOLUME)


def _ranked(clauses: Sequence[Clause], nodes: int) -> list[tuple[int, Clause]]:
    """Each clause with its rank: `_OF_ALL` and `_GUARDED` first, `_NO_USE` and more for nodes that the pod cannot use."""
    lacking = [resource[1] for clause in clauses if (resource := _DEVICES_LACKING.fullmatch(clause.reason)) is not None]
    guarded = [resource for resource in lacking if any(f"{{{resource}:" in clause.reason for clause in clauses)]
    selects = any(_distance_of(_objection(clause)) == _DISTANCE_OF_CHANGES for clause in clauses)
    knows_volumes = any(clause.plugin in _BETWEEN_PODS for clause in clauses)
    # A pod that selects such nodes, which is all that is known then, may lack their toleration.
    others = [clause for clause in clauses if not is_of_other_kind(clause) and not is_of_control_plane(clause)]
    may_select_kind = all(clause.plugin == names.NODE_AFFINITY for clause in others)

    def rank(clause: Clause) -> int:
        if len(clauses) > 1 and clause.count == nodes > 0:
            return _OF_ALL
        if any(f"{{{resource}:" in clause.reason for resource in guarded):
            return _GUARDED
        if is_of_control_plane(clause) or is_of_system_pool(clause):
            return _KEPT_FOR_SYSTEM
        if is_of_other_kind(clause) and not may_select_kind:
            return _KEPT_FOR_SYSTEM
        if selects and _distance_of(_objection(clause)) == _NOT_WANTED:
            return _NO_USE
        if knows_volumes and is_of_volume(clause):
            return _NO_USE
        return _WITHOUT_DEVICE if any(clause.reason == f"Insufficient {resource}" for resource in guarded) else _USABLE

    return [(rank(clause), clause) for clause in clauses]


def is_of_control_plane(clause: Clause) -> bool:
    """Whether its nodes are kept for the control plane."""
    return _CONTROL_PLANE.search(clause.reason) is not None


def is_of_other_kind(clause: Clause) -> bool:
    """Whether its nodes run other kinds of pods: they are Fargate nodes, Windows nodes, or virtual nodes."""
    return _OTHER_KIND.search(clause.reason) is not None


def is_of_system_pool(clause: Clause) -> bool:
    """Whether its nodes are kept for the cluster's own pods, as a system node pool of AKS."""
    return _SYSTEM_POOL in clause.reason


def is_of_broken_nodes(clause: Clause) -> bool:
    """Whether its nodes are unhealthy, by the taints that the node lifecycle controller sets. Cordoned nodes are not."""
    return _NODE_TAINT in clause.reason and _CORDONED not in clause.reason


def _objection(clause: Clause) -> Objection:
    return Objection(clause.plugin, clause.code, (clause.reason,))


def keeps_for_others(info: NodeInfo, taint: Taint, pod: PodInfo) -> bool:
    """Whether the taint keeps the node for pods that request its device, as `nvidia.com/gpu` does, and the pod requests none."""
    return taint.key in info.allocatable.scalar and not pod.requests.resource.scalar.get(taint.key)


def _kept_for_others(dry_run: DryRun, verdicts: Sequence[NodeVerdict]) -> set[int]:
    """The rows of nodes with such a taint that the pod does not tolerate, or with one of nodes that are no use for an ordinary pod.

    v1.36's reason does not name the taint.
    """
    tainted = {
        id(verdict.objections)
        for verdict in verdicts
        if any(objection.plugin == names.TAINT_TOLERATION for objection in verdict.objections)
    }
    tolerations = dry_run.pod.pod.spec.tolerations
    kept = set()
    for row, verdict in enumerate(verdicts) if tainted else ():
        info = dry_run.rows.infos[row]
        if id(verdict.objections) not in tainted or info.node is None:
            continue
        hard = (taint for taint in info.node.spec.taints if taint.effect in HARD_TAINT_EFFECTS)
        untolerated = (taint for taint in hard if not tolerations_tolerate_taint(tolerations, taint))
        if any(keeps_for_others(info, taint, dry_run.pod) or is_reserved(taint, dry_run.pod.pod) for taint in untolerated):
            kept.add(row)
    return kept


def _too_small(dry_run: DryRun) -> list[bool]:
    """The nodes whose allocatable amounts are less than the pod's requests."""
    requests, rows = dry_run.pod.spec_requests.resource, dry_run.rows
    amounts = {"cpu": requests.milli_cpu, "memory": requests.memory, "ephemeral-storage": requests.ephemeral_storage, **requests.scalar}
    small = np.zeros(len(rows), np.bool_)
    for resource, requested in amounts.items():
        if requested > 0:
            small |= rows.allocatable(resource) < requested
    result: list[bool] = small.tolist()
    return result


def _distance(verdict: NodeVerdict) -> int:
    objections = verdict.objections or (Objection(verdict.plugin, verdict.code, verdict.reasons),)
    return max(map(_distance_of, objections))


def _distance_of(objection: Objection) -> int:
    match objection.plugin:
        case names.NODE_AFFINITY | names.NODE_NAME:
            return _NOT_WANTED
        case names.TAINT_TOLERATION:
            is_system = any(_NODE_TAINT in reason or _CONTROL_PLANE.search(reason) for reason in objection.reasons)
            return _NOT_FOR_PODS if is_system else _RESERVED
        case names.NODE_UNSCHEDULABLE:
            return _RESERVED
    return _DISTANCE_OF_CHANGES
