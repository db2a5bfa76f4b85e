"""Records what the queue decided about pods after an event, as the trace event RequeueConsidered. Upstream only logs it."""

from __future__ import annotations

import msgspec

from schedviz.engine.framework.types import ClusterEvent, QueuedPodInfo
from schedviz.engine.queue.v1_36.hints import RequeueAdvice
from schedviz.engine.queue.v1_36.in_flight import InFlightEvent, reference
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import QueueName, RequeueConsidered, RequeueDecision
from schedviz.trace.recorder import Recorder

_encoder = msgspec.msgpack.Encoder()


def decision(queued: QueuedPodInfo, advice: RequeueAdvice, queue: QueueName | None, *, in_flight: bool = False) -> RequeueDecision:
    """The decision about one pod: the queue that it entered, or None if it stays."""
    return RequeueDecision(pods=[queued.key], hints=list(advice.hints), strategy=advice.strategy, queue=queue, in_flight=in_flight)


def record_considered(
    recorder: Recorder,
    event: ClusterEvent,
    old: KubeObject | None,
    new: KubeObject | None,
    decisions: list[RequeueDecision],
    *,
    moves_all: bool = False,
) -> None:
    """Record the decisions after an event about these objects.

    `moves_all`: the event came in a call of MoveAllToActiveOrBackoffQueue, whether it moves pods or not.
    """
    if not recorder.silent:
        recorder.record(
            RequeueConsidered,
            event_label=event.label,
            old=reference(old),
            new=reference(new),
            moves_all=moves_all,
            decisions=_grouped(decisions),
        )


def record_considered_in_flight(recorder: Recorder, event: InFlightEvent, decided: RequeueDecision) -> None:
    """Record the decision about a pod that comes back, after an event that arrived while it was in flight."""
    record_considered(recorder, event.event, event.old, event.new, [decided])


def _grouped(decisions: list[RequeueDecision]) -> list[RequeueDecision]:
    """Equal decisions as one: an event that helps no pod is evaluated for thousands of pods."""
    if len(decisions) < 2:
        return decisions
    groups: dict[bytes, RequeueDecision] = {}
    for each in decisions:
        key = _encoder.encode((each.hints, each.strategy, each.queue, each.in_flight, each.gated))
        group = groups.setdefault(key, each)
        if group is not each:
            group.pods.extend(each.pods)
    return list(groups.values())
