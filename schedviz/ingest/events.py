"""Reads Kubernetes Events: the scheduler's reasons why pods did not fit."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube import timestamps

KIND: Final = "Event"
REASON: Final = "FailedScheduling"


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
    last_timestamp: str | None = None
    event_time: str | None = None
    deprecated_last_timestamp: str | None = None
    series: dict[str, Any] | None = None


def message_in_event(content: msgspec.Raw | dict[str, Any]) -> PodMessage | None:
    """The message of an Event about a pod that did not fit; None for other or unreadable Events."""
    try:
        event = msgspec.json.decode(content, type=Event) if isinstance(content, msgspec.Raw) else msgspec.convert(content, Event)
    except (msgspec.MsgspecError, RecursionError):
        return None
    about = event.involved_object if event.involved_object.name else event.regarding
    message = event.message or event.note
    if event.reason != REASON or about.kind not in ("Pod", "") or not about.name or not message:
        return None
    time = time_of(event)
    return PodMessage(f"{about.namespace or 'default'}/{about.name}", message, _seconds(time), time)


def time_of(event: Event) -> str:
    """When the Event was last observed (RFC 3339); "" if it does not say."""
    times = ((event.series or {}).get("lastObservedTime"), event.last_timestamp, event.event_time, event.deprecated_last_timestamp)
    return str(next(filter(None, times), ""))


def _seconds(text: str) -> float | None:
    try:
        return timestamps.parse_timestamp(text)
    except ValueError:
        return None
