"""Decodes Kubernetes Events (`Event`), and reads the scheduler's reasons why pods did not fit from them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import msgspec

from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube import timestamps

KIND: Final = "Event"
FAILED_SCHEDULING: Final = "FailedScheduling"
#: A ReplicaSet, a Job or another owner could not create its pods.
FAILED_CREATE: Final = "FailedCreate"
#: YuniKorn's reason of an event about a pod that it does not place.
_UNSCHEDULABLE: Final = "PodUnschedulable"
#: What the cluster autoscaler and Karpenter say about a pending pod, why pods are missing, and what YuniKorn says.
OTHER_REASONS: Final = ("NotTriggerScaleUp", "TriggeredScaleUp", "FailedScaleUp", "Nominated", FAILED_CREATE, _UNSCHEDULABLE)


#: How Karpenter's message of the same reason as the scheduler's begins.
_OF_KARPENTER: Final = "failed to schedule pod, "


def is_of_karpenter(message: str) -> bool:
    """Whether a message of a FailedScheduling event is Karpenter's, which is no result of a scheduler."""
    return message[: len(_OF_KARPENTER)].lower() == _OF_KARPENTER


class _Reference(msgspec.Struct, frozen=True, gc=False):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class Event(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """An Event of v1 or events.k8s.io/v1, which have different names for the same fields."""

    #: `Normal` or `Warning`.
    type: str = ""
    reason: str = ""
    message: str = ""
    note: str = ""
    involved_object: _Reference = _Reference()
    regarding: _Reference = _Reference()
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    count: int | None = None
    event_time: str | None = None
    deprecated_last_timestamp: str | None = None
    series: dict[str, Any] | None = None

    @property
    def about(self) -> _Reference:
        """The object that it is about."""
        return self.involved_object if self.involved_object.name else self.regarding


def event_of(content: msgspec.Raw | dict[str, Any]) -> Event | None:
    """An Event that is about an object; None for unreadable ones."""
    try:
        event = msgspec.json.decode(content, type=Event) if isinstance(content, msgspec.Raw) else msgspec.convert(content, Event)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return event if event.about.name and event.reason else None


def message_in_event(content: msgspec.Raw | dict[str, Any], reasons: Collection[str] = (FAILED_SCHEDULING,)) -> PodMessage | None:
    """The message of an Event about a pod that did not fit; None for other or unreadable Events.

    `reasons`: those of Events whose messages are wanted. `FAILED_CREATE` is about the owner of pods, whose name the result has.
    """
    event = event_of(content)
    if event is None or event.reason not in reasons:
        return None
    about = event.about
    message = event.message or event.note
    if not message or not (about.kind in ("Pod", "") or event.reason == FAILED_CREATE):
        return None
    time = time_of(event)
    times = _times(event)
    span = _span(event, time) if times > 1 else ""
    return PodMessage(f"{about.namespace or 'default'}/{about.name}", message, _seconds(time), time, times=times if span else 1, span=span)


def time_of(event: Event) -> str:
    """When the Event was last observed (RFC 3339); "" if it does not say."""
    times = ((event.series or {}).get("lastObservedTime"), event.last_timestamp, event.event_time, event.deprecated_last_timestamp)
    return str(next(filter(None, times), ""))


def _times(event: Event) -> int:
    count = (event.series or {}).get("count", event.count)
    return count if isinstance(count, int) and count > 0 else 1


def _span(event: Event, time: str) -> str:
    """The time between the first and the last observation in minutes, as kubectl prints it; "" if it is not known."""
    first, last = _seconds(event.first_timestamp or event.event_time or ""), _seconds(time)
    if first is None or last is None or last < first:
        return ""
    return f"{round((last - first) / 60)}m"


def _seconds(text: str) -> float | None:
    try:
        return timestamps.parse_timestamp(text)
    except ValueError:
        return None
