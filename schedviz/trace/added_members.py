"""What events have got since the first that were kept: files and data folders of before do not tell it."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from schedviz.trace.events import AnyEvent, ApiWritten, BindingStarted, CachePod, CycleEnded, CycleStarted, TraceEvent

#: Members, with what they say where they are not told.
_ADDED: Final[dict[type[TraceEvent], dict[str, Any]]] = {
    ApiWritten: {"uid": ""},
    BindingStarted: {"waiting_for": []},
    CachePod: {"instead_of": ""},
    CycleEnded: {"pod": ""},
    CycleStarted: {"uid": ""},
}


def without_what_was_added(event: AnyEvent) -> AnyEvent:
    """The event as the first builds would have told it."""
    added = _ADDED.get(type(event))
    return replace(event, **added) if added else event
