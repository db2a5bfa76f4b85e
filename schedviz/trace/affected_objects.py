"""The pods and nodes that events affect, for the index of object histories."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from schedviz.trace.events import (
    AnyEvent,
    ApiCallChanged,
    ApiWritten,
    BindingEnded,
    BindingReleased,
    BindingStageEnded,
    BindingStarted,
    CacheCall,
    CacheNode,
    CachePod,
    CycleEnded,
    CycleStarted,
    EventRecorded,
    PermitAnswered,
    PodGroupPodTried,
    PodGroupStarted,
    PodNominated,
    PreemptionStageEnded,
    PreemptionStarted,
    PreEnqueueRan,
    QueueMoved,
    Restarted,
    SnapshotPod,
    SnapshotUpdated,
    StageEnded,
    WatchDelivered,
    WatchSent,
)


class AffectedObjects:
    """Keys of pods (`namespace/name`), names of nodes, the pods that were created or deleted, and whether the scheduler restarted."""

    __slots__ = ("created_or_deleted", "nodes", "pods", "restarted")

    def __init__(self) -> None:
        self.pods: set[str] = set()
        self.nodes: set[str] = set()
        self.created_or_deleted: set[str] = set()
        self.restarted = False


def affected_objects(events: Iterable[AnyEvent]) -> AffectedObjects:
    """The objects that these events affect. Stages of a cycle that began before these events do not name its pod."""
    affected = AffectedObjects()
    for event in events:
        # Not a `match`: the worker calls this for every event, and testing classes in turn takes three times as long.
        note = _NOTES.get(type(event))
        if note is not None:
            note(event, affected)
    affected.pods.discard("")
    affected.nodes.discard("")
    return affected


def is_birth(event: AnyEvent) -> bool:
    """Whether an event creates a pod at the API server."""
    return (
        isinstance(event, ApiWritten) and event.verb == "create" and event.resource == "pods" and not event.subresource and not event.error
    )


def is_death(event: AnyEvent) -> bool:
    """Whether an event deletes a pod at the API server; a deletion with a grace period has an earlier event that requests it."""
    return isinstance(event, ApiWritten) and event.verb == "delete" and event.resource == "pods" and not event.error


def _pod(
    event: PreEnqueueRan | CycleStarted | ApiCallChanged | BindingStageEnded | BindingReleased | PermitAnswered | CacheCall,
    affected: AffectedObjects,
) -> None:
    affected.pods.add(event.pod)


def _group(event: PodGroupStarted, affected: AffectedObjects) -> None:
    affected.pods.update(event.pods)


def _pod_and_node(event: CycleEnded | BindingStarted | BindingEnded | PodGroupPodTried | SnapshotPod, affected: AffectedObjects) -> None:
    affected.pods.add(event.pod)
    affected.nodes.add(event.node)


def _stage(event: StageEnded, affected: AffectedObjects) -> None:
    for rejection in event.rejections:
        affected.nodes.update(rejection.first)
    facts = event.facts
    if not facts:
        return
    if "node" in facts:
        affected.nodes.add(facts["node"])
    if "nominatedNode" in facts:
        affected.nodes.add(facts["nominatedNode"])
    if "victims" in facts:
        affected.pods.update(facts["victims"])


def _moves(event: QueueMoved, affected: AffectedObjects) -> None:
    for move in event.moves:
        affected.pods.add(move.pod)


def _cache_pod(event: CachePod, affected: AffectedObjects) -> None:
    affected.pods.add(event.pod)
    for change in event.nodes:
        affected.nodes.add(change.node)


def _cache_node(event: CacheNode, affected: AffectedObjects) -> None:
    affected.nodes.add(event.node)
    for change in event.nodes:
        affected.nodes.add(change.node)


def _written(event: ApiWritten, affected: AffectedObjects) -> None:
    if event.resource == "pods":
        affected.pods.add(event.key)
        if event.subresource == "binding":
            affected.nodes.add(event.detail)
        elif event.verb in ("create", "delete"):
            affected.created_or_deleted.add(event.key)
    elif event.resource == "nodes":
        affected.nodes.add(event.key)


def _watch(event: WatchSent | WatchDelivered, affected: AffectedObjects) -> None:
    if event.resource == "pods":
        affected.pods.add(event.key)
    elif event.resource == "nodes":
        affected.nodes.add(event.key)


def _snapshot(event: SnapshotUpdated, affected: AffectedObjects) -> None:
    affected.nodes.update(event.cloned, event.removed)


def _recorded(event: EventRecorded, affected: AffectedObjects) -> None:
    affected.pods.add(event.pod)
    affected.pods.add(event.related)


def _nominated(event: PodNominated, affected: AffectedObjects) -> None:
    affected.pods.add(event.pod)
    if event.node is not None:
        affected.nodes.add(event.node)


def _preemption(event: PreemptionStarted, affected: AffectedObjects) -> None:
    # The victims are affected by their own events: PreemptionStageEnded.
    affected.pods.update(event.pods)
    affected.nodes.add(event.node)


def _preemption_stage(event: PreemptionStageEnded, affected: AffectedObjects) -> None:
    affected.pods.update((event.victim, event.preemptor))
    affected.nodes.add(event.node)


def _restarted(_event: Restarted, affected: AffectedObjects) -> None:
    affected.restarted = True


_NOTES: dict[type, Callable[[Any, AffectedObjects], None]] = {
    StageEnded: _stage,
    PreEnqueueRan: _pod,
    BindingStageEnded: _pod,
    CycleStarted: _pod,
    BindingReleased: _pod,
    PermitAnswered: _pod,
    CacheCall: _pod,
    PodGroupStarted: _group,
    PodGroupPodTried: _pod_and_node,
    SnapshotPod: _pod_and_node,
    QueueMoved: _moves,
    CachePod: _cache_pod,
    CacheNode: _cache_node,
    ApiWritten: _written,
    WatchSent: _watch,
    WatchDelivered: _watch,
    SnapshotUpdated: _snapshot,
    CycleEnded: _pod_and_node,
    BindingStarted: _pod_and_node,
    BindingEnded: _pod_and_node,
    EventRecorded: _recorded,
    PodNominated: _nominated,
    PreemptionStarted: _preemption,
    PreemptionStageEnded: _preemption_stage,
    ApiCallChanged: _pod,
    Restarted: _restarted,
}
