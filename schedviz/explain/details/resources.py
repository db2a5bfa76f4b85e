"""Resources: what the pod requests, and what the nearest nodes have free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from schedviz.engine.framework.adjusted_rows import amount
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.rows import Rows
from schedviz.explain.details.detail import MAX_NAMES, NodeAmount, ResourceDetail
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.explain.details.short_names import ShortNames
from schedviz.explain.resource_names import amount_of, short_amount_of
from schedviz.kube.printed_amount import printed_amount
from schedviz.trace.phrase import Phrase, counted, phrase, some

PODS: Final = "pods"
#: What is said about a request that is larger than any node.
TOO_LARGE: Final = phrase("the pod requests {requested}, but the largest node has only {largest}").template
_INSUFFICIENT: Final = "Insufficient "


def resource_details(rejected: RejectedNodes) -> Iterator[ResourceDetail]:
    """Of a clause `Insufficient cpu` or `Too many pods`."""
    resource = _resource(rejected)
    requested = _requested_by(rejected, resource)
    everywhere = rejected.everywhere.allocatable(resource)
    offered_by, largest = int(np.count_nonzero(everywhere)), int(everywhere.max(initial=0))
    nodes = _nearest(rejected, resource)
    short = ShortNames(rejected.everywhere.names)
    sentence = _sentence(
        resource,
        requested,
        largest,
        [msgspec.structs.replace(node, node=short.of(node.node)) for node in nodes],
        rejected=len(rejected.index),
        as_near=_as_near(rejected, resource, nodes),
        nodes_in_cluster=len(rejected.everywhere.infos),
        most_elsewhere=int((everywhere - _used(rejected.everywhere, resource)).max(initial=0)),
        most_usable=_most_usable(rejected, resource),
        holders=_holders(rejected, resource) if nodes else [],
    )
    if (cordoned := _cordoned_with(rejected, resource, requested)) is not None and resource != PODS:
        node, free = cordoned
        template = "{shortage}; {node} has {free} free but is cordoned"
        sentence = phrase(template, shortage=sentence, node=short.of(node), free=printed_amount(resource, free))
    yield ResourceDetail(
        sentence=sentence.text,
        sentence_phrase=sentence,
        resource=resource,
        requested=requested,
        offered_by=offered_by,
        largest=largest,
        nodes=nodes,
    )


def shortage(rejected: RejectedNodes) -> IntArray:
    """For each rejected node, what it lacks, up to a constant."""
    resource, rows = _resource(rejected), rejected.rows
    return _used(rows, resource) - rows.allocatable(resource)


def _resource(rejected: RejectedNodes) -> str:
    return rejected.reason.removeprefix(_INSUFFICIENT) if rejected.reason.startswith(_INSUFFICIENT) else PODS


def _requested_by(rejected: RejectedNodes, resource: str) -> int:
    requests = rejected.pod.spec_requests.resource
    match resource:
        case "pods":
            return 1
        case "cpu":
            return requests.milli_cpu
        case "memory":
            return requests.memory
        case "ephemeral-storage":
            return requests.ephemeral_storage
        case _:
            return requests.scalar.get(resource, 0)


def _used(rows: Rows, resource: str) -> IntArray:
    return rows.pod_count() if resource == PODS else rows.requested(resource)


def _nearest(rejected: RejectedNodes, resource: str) -> tuple[NodeAmount, ...]:
    """The nodes with the most free, in the order of the snapshot where equal."""
    rows = rejected.rows
    allocatable, used = rows.allocatable(resource), _used(rows, resource)
    order = np.argsort(-(allocatable - used), kind="stable")[:MAX_NAMES].tolist()
    found = []
    for row in order:
        nominated = sum(amount(pod, resource) for pod in rejected.nominated_to(rows.infos[row]))
        found.append(NodeAmount(rows.names[row], int(allocatable[row]), int(used[row]) + nominated))
    return tuple(sorted(found, key=lambda node: node.used - node.allocatable))


def _as_near(rejected: RejectedNodes, resource: str, nodes: Sequence[NodeAmount]) -> int:
    """How many rejected nodes have as much free, of as much, as the first of `nodes`, the nearest ones."""
    if not nodes:
        return 0
    nearest = nodes[0]
    if len(rejected.index) <= len(nodes):
        return sum((node.allocatable, node.used) == (nearest.allocatable, nearest.used) for node in nodes)
    rows = rejected.rows
    return int(np.count_nonzero((rows.allocatable(resource) == nearest.allocatable) & (_used(rows, resource) == nearest.used)))


def _holders(rejected: RejectedNodes, resource: str) -> list[str]:
    """The pods that use an extended resource of the rejected nodes."""
    if "/" not in resource:
        return []
    return [pod.pod.key for info in rejected.rows.infos for pod in info.pods if amount(pod, resource)]


def _cordoned_with(rejected: RejectedNodes, resource: str, requested: int) -> tuple[str, int] | None:
    """Of the nodes that would take the pod if they were uncordoned, the one with the most free, and how much."""
    rows = rejected.everywhere
    free = rows.allocatable(resource) - _used(rows, resource)
    enough = np.flatnonzero(free >= requested).tolist()
    row = max((row for row in enough if rejected.is_only_cordoned(row)), key=lambda row: int(free[row]), default=None)
    return None if row is None else (rows.names[row], int(free[row]))


def _most_usable(rejected: RejectedNodes, resource: str) -> int:
    """The most that any other node which the pod may use has free."""
    rows, usable = rejected.everywhere, rejected.may_be_used.copy()
    usable[rejected.index] = False
    return int((rows.allocatable(resource) - _used(rows, resource))[usable].max(initial=0))


def _sentence(
    resource: str,
    requested: int,
    largest: int,
    nodes: Sequence[NodeAmount],
    *,
    rejected: int,
    as_near: int,
    nodes_in_cluster: int,
    most_elsewhere: int,
    most_usable: int,
    holders: Sequence[str],
) -> Phrase:
    """What the rejected nodes lack, of which there are `rejected`; `nodes` are the nearest, of which `as_near` are equal to the first.

    `most_elsewhere`: the most that any node of the cluster has free. `most_usable`: that any other node has which the pod may use.
    """
    best = nodes[0]
    if resource == PODS:
        return phrase(
            "node {node} already runs its maximum number of pods ({used} of {allocatable})",
            node=best.node,
            used=best.used,
            allocatable=best.allocatable,
        )
    wanted = amount_of(resource, requested)
    if not largest:
        return phrase("the pod requests {requested}, but no node offers this resource", requested=wanted)
    if requested > largest:
        return Phrase(TOO_LARGE, {"requested": wanted, "largest": short_amount_of(resource, largest)})
    if not best.allocatable:
        lacking = counted(rejected, "{count} node does not offer this resource", "{count} nodes do not offer this resource")
        return phrase("the pod requests {requested}, but {lacking}", requested=wanted, lacking=lacking)
    free = max(0, best.allocatable - best.used)
    values: dict[str, str | int | Phrase] = {
        "requested": wanted,
        "node": best.node,
        "free": printed_amount(resource, free),
        "allocatable": short_amount_of(resource, best.allocatable),
    }
    if most_elsewhere <= free and not free and holders:
        return _all_in_use(nodes, holders, values)
    if rejected == 1 and free:
        return phrase("the pod requests {requested}, but {node} has only {free} of its {allocatable} free", **values)
    if rejected == 1:
        return phrase("the pod requests {requested}, but all of the {allocatable} on {node} are in use", **values)
    if most_usable > free:
        who = counted(rejected, "{count} node does not have enough free", "{count} nodes do not have enough free")
    elif most_elsewhere > free:
        who = phrase("no node that it can run on has enough free")
    else:
        who = phrase("no node has enough free")
    values["who"] = who
    if as_near == rejected and most_usable > free:
        return phrase("the pod requests {requested}, but {who}; each has {free} of {allocatable} free", **values)
    if as_near == rejected == nodes_in_cluster:
        values["count"] = rejected
        return phrase("the pod requests {requested}, but {who}; each of the {count} nodes has {free} of {allocatable} free", **values)
    if as_near > 1:
        values["count"] = as_near
        return phrase(
            "the pod requests {requested}, but {who}; {count} nodes have the most, with {free} of {allocatable} free each", **values
        )
    return phrase("the pod requests {requested}, but {who}; {node} has the most, with {free} of {allocatable} free", **values)


def _all_in_use(nodes: Sequence[NodeAmount], holders: Sequence[str], values: dict[str, str | int | Phrase]) -> Phrase:
    """None of an extended resource is free, and which pods have it."""
    values = {**values, "holders": some(holders)}
    if len(nodes) > 1:
        return phrase("the pod requests {requested}, but all of them are in use, by {holders}", **values)
    if nodes[0].allocatable == 1:
        return phrase("the pod requests {requested}, but the only one, on {node}, is in use by {holders}", **values)
    return phrase("the pod requests {requested}, but all {allocatable} on {node} are in use, by {holders}", **values)
