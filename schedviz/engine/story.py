"""Everything that the trace says about one pod or one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    PodNominated,
    QueueMoved,
    SnapshotUpdated,
    StageEnded,
    WatchDelivered,
    WatchSent,
)


def story_of_pod(events: Iterable[AnyEvent], pod: str) -> Iterator[AnyEvent]:
    """The events that speak of a pod (`namespace/name`), with all stages of its cycles, in order."""
    its_cycle = 0
    for event in events:
        if isinstance(event, CycleStarted):
            its_cycle = event.cycle if event.pod == pod else 0
        if (isinstance(event, StageEnded | CycleEnded) and event.cycle == its_cycle and its_cycle) or _names_pod(event, pod):
            yield event


def story_of_node(events: Iterable[AnyEvent], node: str) -> Iterator[AnyEvent]:
    """The events that speak of a node, in order."""
    return (event for event in events if _names_node(event, node))


def _names_pod(event: AnyEvent, pod: str) -> bool:
    match event:
        case CachePod() | CacheCall() | CycleStarted() | BindingStarted() | BindingStageEnded() | BindingEnded() | PodNominated():
            return event.pod == pod
        case QueueMoved():
            return any(move.pod == pod for move in event.moves)
        case EventRecorded():
            return pod in (event.pod, event.related)
        case ApiWritten() | WatchSent() | WatchDelivered():
            return event.resource == "pods" and event.key == pod
    return False


def _names_node(event: AnyEvent, node: str) -> bool:
    match event:
        case CachePod():
            return any(change.node == node for change in event.nodes)
        case CacheNode() | CycleEnded() | BindingStarted() | BindingEnded() | PodNominated():
            return event.node == node
        case SnapshotUpdated():
            return node in event.visited or node in event.removed
        case StageEnded():
            return any(node in rejection.first for rejection in event.rejections) or event.facts.get("node") == node
        case ApiWritten() | WatchSent() | WatchDelivered():
            return event.resource == "nodes" and event.key == node
    return False
