"""Reads the other Events of a dump (`ObjectEvent`): warnings about claims, volumes and nodes, and what controllers say about pods."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schedviz.ingest.events import FAILED_SCHEDULING, event_of, is_of_karpenter, time_of

#: Events of type Normal that say why something waits. Other Normal events report success.
_WAITING: Final = frozenset(
    {
        "WaitForFirstConsumer",
        "WaitForPodScheduled",
        "ExternalProvisioning",
        "NotTriggerScaleUp",
        "TriggeredScaleUp",
        "Nominated",
        "FailedBinding",
    }
)
#: The longest message that is kept, in characters.
_MAX_LENGTH: Final = 1_000


class ObjectEvent(msgspec.Struct, frozen=True):
    """What an Event says about an object."""

    #: `PersistentVolumeClaim shop/data`, `Node worker-2`.
    about: str
    reason: str
    message: str
    #: When, as the Event has it (RFC 3339); "": unknown.
    at: str = ""


def event_about(content: msgspec.Raw | dict[str, Any]) -> ObjectEvent | None:
    """A warning, or the reason why something waits; None for other or unreadable Events and for those of the scheduler about a pod."""
    if (event := event_of(content)) is None:
        return None
    about = event.about
    message = " ".join((event.message or event.note).split())[:_MAX_LENGTH]
    if (
        (event.reason == FAILED_SCHEDULING and about.kind in ("Pod", "") and not is_of_karpenter(message))
        or not (event.type == "Warning" or event.reason in _WAITING)
        or not (about.kind and about.name and message)
    ):
        return None
    key = f"{about.namespace}/{about.name}" if about.namespace and about.kind != "Node" else about.name
    return ObjectEvent(f"{about.kind} {key}", event.reason, message, time_of(event))
