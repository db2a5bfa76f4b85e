"""A run whose events are in memory: from a file, or from an engine that has just run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

from schedviz.trace.comparing.side import Summary
from schedviz.trace.events import (
    AnyEvent,
    BindingEnded,
    BindingStageEnded,
    BindingStarted,
    CycleEnded,
    CycleStarted,
    PodGroupEnded,
    PodGroupStarted,
    StageEnded,
)
from schedviz.trace.fold import Fold
from schedviz.trace.view import View

#: What a cycle's summary is made of.
_SCHEDULING = (PodGroupStarted, CycleStarted, StageEnded, CycleEnded, PodGroupEnded)
_BINDING_EVENTS = (BindingStarted, BindingStageEnded, BindingEnded)


class RunInMemory:
    """A `Side` over events in memory. `beginning` is the view before the events."""

    session = ""

    def __init__(self, name: str, beginning: View, events: Sequence[AnyEvent], settings: dict[str, Any]) -> None:
        self.name = name
        self.settings = settings
        self._events = events
        fold = Fold(beginning)
        fold.apply_all(events)
        self.view = fold.to_view()

    def events(self, after: int) -> Iterator[AnyEvent]:
        return (event for event in self._events if event.event > after)

    def cycles(self, after: int) -> Iterator[Summary]:
        return (summary for summary in self._summaries if summary.cycle.cycle > after)

    def detail(self, cycle: int) -> dict[str, Any] | None:  # noqa: ARG002 - events have the scores of two nodes only
        return None

    def messages(self, pods: Collection[str]) -> dict[str, str]:
        return {summary.cycle.pod: summary.cycle.message for summary in self._summaries if summary.cycle.pod in pods}

    @cached_property
    def _summaries(self) -> list[Summary]:
        summaries: list[Summary] = []
        fold = Fold(View())
        first: dict[int, int] = {}
        for event in self._events:
            if event.cycle and not isinstance(event, _BINDING_EVENTS):
                first.setdefault(event.cycle, event.event)
            if isinstance(event, _SCHEDULING):
                fold.apply(event)
            if isinstance(event, CycleEnded) and (cycle := fold.to_view().cycle) is not None:
                summaries.append(Summary(cycle, first[event.cycle], event.event))
        return summaries
