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

    __slots__ = ("lives", "nodes", "pods", "restarted")

    def __init__(self) -> None:
        self.pods: set[str] = set()
        self.nodes: set[str] = set()
        self.lives: set[str] = set()
        self.restarted = False


def affected_objects(events: Iterable[AnyEvent]) -> AffectedObjects:
    """The objects that these events affect. Stages of a cycle that began before these events do not name its pod."""
    found = AffectedObjects()
    for event in events:
        # Not a `match`: the worker calls this for every event, and testing classes in turn takes three times as long.
        note = _NOTES.get(type(event))
        if note is not None:
            note(event, found)
    found.pods.discard("")
    found.nodes.discard("")
    return found


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
    found: AffectedObjects,
) -> None:
    found.pods.add(event.pod)


def _group(event: PodGroupStarted, found: AffectedObjects) -> None:
    found.pods.update(event.pods)


def _placed(event: PodGroupPodTried | SnapshotPod, found: AffectedObjects) -> None:
    found.pods.add(event.pod)
    found.nodes.add(event.node)


def _stage(event: StageEnded, found: AffectedObjects) -> None:
    for rejection in event.rejections:
        found.nodes.update(rejection.first)
    facts = event.facts
    if not facts:
        return
    if "node" in facts:
        found.nodes.add(facts["node"])
    if "nominatedNode" in facts:
        found.nodes.add(facts["nominatedNode"])
    if "victims" in facts:
        found.pods.update(facts["victims"])


def _moves(event: QueueMoved, found: AffectedObjects) -> None:
    for move in event.moves:
        found.pods.add(move.pod)


def _cache_pod(event: CachePod, found: AffectedObjects) -> None:
    found.pods.add(event.pod)
    for change in event.nodes:
        found.nodes.add(change.node)


def _cache_node(event: CacheNode, found: AffectedObjects) -> None:
    found.nodes.add(event.node)
    for change in event.nodes:
        found.nodes.add(change.node)


def _written(event: ApiWritten, found: AffectedObjects) -> None:
    if event.resource == "pods":
        found.pods.add(event.key)
        if event.subresource == "binding":
            found.nodes.add(event.detail)
        elif event.verb in ("create", "delete"):
            found.lives.add(event.key)
    elif event.resource == "nodes":
        found.nodes.add(event.key)


def _watch(event: WatchSent | WatchDelivered, found: AffectedObjects) -> None:
    if event.resource == "pods":
        found.pods.add(event.key)
    elif event.resource == "nodes":
        found.nodes.add(event.key)


def _snapshot(event: SnapshotUpdated, found: AffectedObjects) -> None:
    found.nodes.update(event.cloned, event.removed)


def _cycle_ended(event: CycleEnded, found: AffectedObjects) -> None:
    found.pods.add(event.pod)
    found.nodes.add(event.node)


def _binding(event: BindingStarted | BindingEnded, found: AffectedObjects) -> None:
    found.pods.add(event.pod)
    found.nodes.add(event.node)


def _recorded(event: EventRecorded, found: AffectedObjects) -> None:
    found.pods.add(event.pod)
    found.pods.add(event.related)


def _nominated(event: PodNominated, found: AffectedObjects) -> None:
    found.pods.add(event.pod)
    if event.node is not None:
        found.nodes.add(event.node)


def _preemption(event: PreemptionStarted, found: AffectedObjects) -> None:
    # The victims are those of their own events.
    found.pods.update(event.pods)
    found.nodes.add(event.node)


def _preemption_stage(event: PreemptionStageEnded, found: AffectedObjects) -> None:
    found.pods.update((event.victim, event.preemptor))
    found.nodes.add(event.node)


def _restarted(_event: Restarted, found: AffectedObjects) -> None:
    found.restarted = True


_NOTES: dict[type, Callable[[Any, AffectedObjects], None]] = {
    StageEnded: _stage,
    PreEnqueueRan: _pod,
    BindingStageEnded: _pod,
    CycleStarted: _pod,
    BindingReleased: _pod,
    PermitAnswered: _pod,
    CacheCall: _pod,
    PodGroupStarted: _group,
    PodGroupPodTried: _placed,
    SnapshotPod: _placed,
    QueueMoved: _moves,
    CachePod: _cache_pod,
    CacheNode: _cache_node,
    ApiWritten: _written,
    WatchSent: _watch,
    WatchDelivered: _watch,
    SnapshotUpdated: _snapshot,
    CycleEnded: _cycle_ended,
    BindingStarted: _binding,
    BindingEnded: _binding,
    EventRecorded: _recorded,
    PodNominated: _nominated,
    PreemptionStarted: _preemption,
    PreemptionStageEnded: _preemption_stage,
    ApiCallChanged: _pod,
    Restarted: _restarted,
}
