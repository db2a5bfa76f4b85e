"""Members that were added to events after schedviz 0.1; older files and databases lack them."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from schedviz.trace.events import (
    AnyEvent,
    ApiWritten,
    BindingStarted,
    CacheNode,
    CachePod,
    CycleEnded,
    CycleStarted,
    StageEnded,
    TraceEvent,
)
from schedviz.trace.view import View

#: The added members and their defaults.
_ADDED: Final[dict[type[TraceEvent], dict[str, Any]]] = {
    ApiWritten: {"uid": ""},
    BindingStarted: {"waiting_for": []},
    CachePod: {"instead_of": ""},
    CycleEnded: {"pod": ""},
    CycleStarted: {"uid": ""},
}
#: The added facts, by stage.
_ADDED_FACTS: Final = {"PreFilter": {"batch"}, "Score": {"best"}, "NormalizeScore": {"best", "weights"}, "SelectHost": {"batch"}}


def without_added_facts(stage: str, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a stage as schedviz 0.1 recorded them."""
    added = _ADDED_FACTS.get(stage)
    return {name: fact for name, fact in facts.items() if name not in added} if added else facts


def view_without_added_facts(view: View) -> View:
    """The view as schedviz 0.1 recorded it."""
    if view.cycle is None:
        return view
    stages = [replace(stage, facts=without_added_facts(stage.stage, stage.facts)) for stage in view.cycle.stages]
    return replace(view, cycle=replace(view.cycle, stages=stages))


def view_without_taints(view: View) -> View:
    """The view without the taints of its nodes, as earlier builds recorded it."""
    cache = replace(view.cache, list=[replace(item, taints=[]) for item in view.cache.list])
    stale = {name: replace(item, taints=[]) for name, item in view.snapshot.stale.items()}
    return replace(view, cache=cache, snapshot=replace(view.snapshot, stale=stale))


def view_without_added_members(view: View) -> View:
    """The view as the oldest supported build recorded it. A session that several builds wrote has added members in a part of its view."""
    return view_without_added_facts(view_without_taints(view))


def without_added_members(event: AnyEvent) -> AnyEvent:
    """The event as schedviz 0.1 recorded it."""
    if isinstance(event, CacheNode):
        return replace(event, nodes=[replace(change, taints=None) for change in event.nodes])
    if isinstance(event, StageEnded):
        return replace(event, facts=without_added_facts(event.stage, event.facts))
    added = _ADDED.get(type(event))
    return replace(event, **added) if added else event
