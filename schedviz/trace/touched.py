"""Of which pods and nodes events speak: what an index of stories is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from schedviz.trace.events import (
    AnyEvent,
    ApiWritten,
    BindingEnded,
    BindingStageEnded,
    BindingStarted,
    CacheCall,
    CacheNode,
    CachePod,
    CycleEnded,
    CycleStarted,
    EventRecorded,
    PermitAnswered,
    PodNominated,
    QueueMoved,
    SnapshotUpdated,
    StageEnded,
    WatchDelivered,
    WatchSent,
)


class Touched(NamedTuple):
    """Keys of pods (`namespace/name`), names of nodes, and the pods whose life began or ended."""

    pods: set[str]
    nodes: set[str]
    lives: set[str]


def touched(events: Iterable[AnyEvent]) -> Touched:
    """Of whom these events speak. The stages of a cycle that began before them do not say whose it is."""
    pods: set[str] = set()
    nodes: set[str] = set()
    lives: set[str] = set()
    for event in events:
        # In the order of how many there are: the worker does this for every event.
        match event:
            case StageEnded():
                if event.rejections:
                    nodes.update(name for each in event.rejections for name in each.first)
                _facts(event, pods, nodes)
            case BindingStageEnded() | CycleStarted() | PermitAnswered() | CacheCall():
                pods.add(event.pod)
            case QueueMoved():
                pods.update(move.pod for move in event.moves)
            case CachePod():
                pods.add(event.pod)
                nodes.update(change.node for change in event.nodes)
            case ApiWritten():
                _written(event, pods, nodes, lives)
            case WatchDelivered() | WatchSent():
                if event.resource == "pods":
                    pods.add(event.key)
                elif event.resource == "nodes":
                    nodes.add(event.key)
            case SnapshotUpdated():
                nodes.update(event.cloned, event.removed)
            case CycleEnded():
                nodes.add(event.node)
            case BindingStarted() | BindingEnded():
                pods.add(event.pod)
                nodes.add(event.node)
            case EventRecorded():
                pods.update((event.pod, event.related))
            case PodNominated():
                pods.add(event.pod)
                nodes.add(event.node or "")
            case CacheNode():
                nodes.add(event.node)
                nodes.update(change.node for change in event.nodes)
    return Touched(pods - {""}, nodes - {""}, lives)


def is_birth(event: AnyEvent) -> bool:
    """Whether an event is the creation of a pod at the API server."""
    return (
        isinstance(event, ApiWritten) and event.verb == "create" and event.resource == "pods" and not event.subresource and not event.error
    )


def is_death(event: AnyEvent) -> bool:
    """Whether an event is the deletion of a pod at the API server; one with a grace period is asked for first, and told twice."""
    return isinstance(event, ApiWritten) and event.verb == "delete" and event.resource == "pods" and not event.error


def _facts(event: StageEnded, pods: set[str], nodes: set[str]) -> None:
    facts = event.facts
    if "node" in facts:
        nodes.add(facts["node"])
    if "nominatedNode" in facts:
        nodes.add(facts["nominatedNode"])
    if "victims" in facts:
        pods.update(facts["victims"])


def _written(event: ApiWritten, pods: set[str], nodes: set[str], lives: set[str]) -> None:
    if event.resource == "pods":
        pods.add(event.key)
        if event.subresource == "binding":
            nodes.add(event.detail)
        elif event.verb in ("create", "delete"):
            lives.add(event.key)
    elif event.resource == "nodes":
        nodes.add(event.key)
