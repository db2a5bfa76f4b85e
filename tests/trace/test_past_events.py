"""Views from reduced past events equal views from all events."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from schedviz.trace.events import AnyEvent, BindingStarted, CycleStarted, encode_events
from schedviz.trace.fold import Fold
from schedviz.trace.past_events import PastEvent, UnreadEvent
from schedviz.trace.view import View
from tests.trace.stories import create, events_of, node, pod

STORY = (
    create(node("node1")),
    create(node("node2")),
    *(create(pod(name)) for name in ("web", "db", "cache")),
    {"op": "step", "unit": "cycle", "count": 2},
    create(pod("large", cpu="99")),
    {"op": "run"},
    {"op": "restart"},
    {"op": "run"},
)

_past = msgspec.json.Decoder(list[PastEvent])


def folded(*parts: Any) -> View:
    fold = Fold(View())
    for part in parts:
        fold.apply_all(part)
    return fold.to_view()


def as_past(events: list[AnyEvent]) -> list[Any]:
    return _past.decode(encode_events(events))


def beginnings_of_cycles(events: list[AnyEvent]) -> list[int]:
    return [index for index, event in enumerate(events) if isinstance(event, CycleStarted)]


@pytest.mark.parametrize("cycle", range(4))
def test_views_after_a_cycle_began_do_not_depend_on_results_of_earlier_cycles(cycle: int) -> None:
    events = events_of(*STORY)
    began = beginnings_of_cycles(events)[cycle]

    for until in range(began + 1, len(events) + 1):
        assert folded(as_past(events[:began]), events[began:until]) == folded(events[:until])


def test_a_running_binding_keeps_its_stages() -> None:
    events = events_of(create(node("node1")), create(pod("web")), {"op": "schedule"}, create(pod("db")), {"op": "schedule"})
    began = beginnings_of_cycles(events)[1]
    assert any(isinstance(event, BindingStarted) for event in events[:began])

    view = folded(as_past(events[:began]), events[began:])

    assert len(view.bindings) == 2
    assert view == folded(events)


def test_omitted_members_are_not_decoded() -> None:
    past = as_past(events_of(*STORY))

    passed = [event for event in past if isinstance(event, UnreadEvent)]
    assert len(passed) > len(past) / 3
    assert not any(isinstance(event, CycleStarted) for event in past)


def test_every_kind_of_event_is_classified() -> None:
    def tags(union: Any) -> set[str]:
        return {kind.__struct_config__.tag for kind in get_args(union)}

    assert tags(PastEvent) == tags(AnyEvent)
