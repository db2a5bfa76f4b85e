"""Totals of a stretch of events, from which a timeline is drawn without reading the events again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from schedviz.trace.events import AnyEvent, ApiWritten, CacheNode, CycleEnded, QueueMoved, QueueName, Restarted
from schedviz.trace.view import QueueView


class Levels(msgspec.Struct, frozen=True):
    """Queue lengths and object counts at one moment: the pods in each queue, and the pods and nodes at the API server.

    The members are named as the columns of `ChunkTally`.
    """

    active_q: int = 0
    #: With errorBackoffQ.
    backoff_q: int = 0
    #: The length of unschedulablePods, with gated pods. `Counts.unschedulable` is a number of cycles.
    unschedulable_pods: int = 0
    pods: int = 0
    nodes: int = 0


class Counts(msgspec.Struct, frozen=True):
    """How often things happened in a stretch. The members are named as the columns of `ChunkTally`."""

    #: Scheduling cycles that ended, whatever their outcome.
    cycles: int = 0
    #: Those with this outcome; likewise the next two.
    scheduled: int = 0
    unschedulable: int = 0
    errors: int = 0
    #: Victims that the scheduler deleted.
    preempted: int = 0
    #: Bindings written at the API server.
    bound: int = 0
    #: Pods that entered, left or changed in the queue.
    pod_moves: int = 0
    #: Nodes that the cache added, changed or removed.
    node_changes: int = 0


class Tally(msgspec.Struct, frozen=True):
    """A stretch of events: its counts, and the queue lengths and object counts at its end."""

    counts: Counts
    levels: Levels


def levels_of(queue: QueueView, objects: Mapping[str, int]) -> Levels:
    """The levels of a queue and of these object counts."""
    return Levels(
        active_q=len(queue.active_q),
        backoff_q=len(queue.backoff_q) + len(queue.error_backoff_q),
        unschedulable_pods=len(queue.unschedulable),
        pods=objects.get("Pod", 0),
        nodes=objects.get("Node", 0),
    )


def tally(events: Iterable[AnyEvent], before: Levels) -> Tally:
    """The totals of these events, given the levels before them."""
    outcomes = {"scheduled": 0, "unschedulable": 0, "error": 0}
    cycles = preempted = bound = pod_moves = node_changes = 0
    queues: dict[QueueName, int] = {
        "activeQ": before.active_q,
        "backoffQ": before.backoff_q,
        # Its level is part of backoffQ's: only the changes are counted here.
        "errorBackoffQ": 0,
        "unschedulable": before.unschedulable_pods,
    }
    objects = {"Pod": before.pods, "Node": before.nodes}
    for event in events:
        match event:
            case QueueMoved():
                pod_moves += len(event.moves)
                for move in event.moves:
                    if move.source is not None:
                        queues[move.source] -= 1
                    if move.target is not None:
                        queues[move.target] += 1
            case ApiWritten() if not event.error:
                objects[event.kind] = event.count
                if event.kind == "Pod":
                    preempted += event.by_scheduler and event.verb == "delete"
                    bound += event.subresource == "binding"
            case CycleEnded():
                cycles += 1
                outcomes[event.outcome] = outcomes.get(event.outcome, 0) + 1
            case CacheNode():
                node_changes += 1
            case Restarted():
                queues = dict.fromkeys(queues, 0)
    return Tally(
        counts=Counts(
            cycles=cycles,
            scheduled=outcomes["scheduled"],
            unschedulable=outcomes["unschedulable"],
            errors=outcomes["error"],
            preempted=preempted,
            bound=bound,
            pod_moves=pod_moves,
            node_changes=node_changes,
        ),
        levels=Levels(
            active_q=queues["activeQ"],
            backoff_q=queues["backoffQ"] + queues["errorBackoffQ"],
            unschedulable_pods=queues["unschedulable"],
            pods=objects["Pod"],
            nodes=objects["Node"],
        ),
    )
