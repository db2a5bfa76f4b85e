"""Members that were added to events after the first release; older files and databases lack them."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from schedviz.trace.events import AnyEvent, ApiWritten, BindingStarted, CachePod, CycleEnded, CycleStarted, TraceEvent

#: The added members and their defaults.
_ADDED: Final[dict[type[TraceEvent], dict[str, Any]]] = {
    ApiWritten: {"uid": ""},
    BindingStarted: {"waiting_for": []},
    CachePod: {"instead_of": ""},
    CycleEnded: {"pod": ""},
    CycleStarted: {"uid": ""},
}


def without_added_members(event: AnyEvent) -> AnyEvent:
    """The event as the first release recorded it."""
    added = _ADDED.get(type(event))
    return replace(event, **added) if added else event
