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
from schedviz.kube.printed_amount import printed_amount
from schedviz.trace.phrase import Phrase, counted, phrase, some

PODS: Final = "pods"
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
        most_elsewhere=int((everywhere - _used(rejected.everywhere, resource)).max(initial=0)),
        most_usable=_most_usable(rejected, resource),
        holders=_holders(rejected, resource) if nodes else [],
    )
    if (cordoned := _cordoned_with(rejected, resource, requested)) is not None and resource != PODS:
        node, free = cordoned
        template = "{shortage}; {node} has {free} free, but is cordoned"
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
    most_elsewhere: int,
    most_usable: int,
    holders: Sequence[str],
) -> Phrase:
    """What the rejected nodes lack, of which there are `rejected`; `nodes` are the nearest.

    `most_elsewhere`: the most that any node of the cluster has free. `most_usable`: that any other node has which the pod may use.
    """
    best = nodes[0]
    if resource == PODS:
        return phrase("{node} has {used} of at most {allocatable} pods", node=best.node, used=best.used, allocatable=best.allocatable)
    wanted = printed_amount(resource, requested)
    if not largest and "/" in resource:
        return phrase(
            "the pod requests {requested} {resource}; no node has any: its device plugin may be missing",
            requested=wanted,
            resource=resource,
        )
    if not largest:
        return phrase("the pod requests {requested} {resource}; no node has any", requested=wanted, resource=resource)
    if requested > largest:
        return phrase(
            "the pod requests {requested} {resource}; the largest node has {largest} in total",
            requested=wanted,
            resource=resource,
            largest=printed_amount(resource, largest),
        )
    on = counted(rejected, "{count} node", "{count} nodes")
    if not best.allocatable:
        return phrase("no {resource} on {nodes}; the pod requests {requested}", resource=resource, nodes=on, requested=wanted)
    free = max(0, best.allocatable - best.used)
    values = {
        "requested": wanted,
        "resource": resource,
        "node": best.node,
        "free": printed_amount(resource, free),
        "allocatable": printed_amount(resource, best.allocatable),
    }
    if most_elsewhere <= free and not free and holders:
        return _all_in_use(nodes, holders, values)
    if most_usable > free:
        at_most = "at most {free} {resource} free on {nodes} ({node}, of {allocatable}); the pod requests {requested}"
        return phrase(at_most if free else "no {resource} free on {nodes}; the pod requests {requested}", nodes=on, **values)
    some_free, none_free = "more than {free} free ({node}, of {allocatable})", "any free ({node} has {allocatable}, all in use)"
    most = phrase(some_free if free else none_free, **values)
    if most_elsewhere > free:
        return phrase("the pod requests {requested} {resource}, and no node that it may use has {most}", most=most, **values)
    return phrase("the pod requests {requested} {resource}, and no node has {most}", most=most, **values)


def _all_in_use(nodes: Sequence[NodeAmount], holders: Sequence[str], amounts: dict[str, str]) -> Phrase:
    """None of an extended resource is free, and which pods have it."""
    values: dict[str, str | Phrase] = {**amounts, "holders": some(holders)}
    if len(nodes) > 1:
        return phrase("the pod requests {requested} {resource}, and none is free: all are in use, by {holders}", **values)
    if nodes[0].allocatable == 1:
        return phrase("the pod requests {requested} {resource}, and none is free: {holders} uses the one of {node}", **values)
    return phrase(
        "the pod requests {requested} {resource}, and none is free: all {allocatable} of {node} are in use, by {holders}", **values
    )
