"""`smallest_change`: the least that would have to be otherwise for a pod to be placed, tried before it is told."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from schedviz.engine import Simulation
from schedviz.engine.dry_run import DryRun, changed
from schedviz.explain.changes.around import changes_around
from schedviz.explain.changes.carrying_out import commands_of
from schedviz.explain.changes.change import Change, ChangeView
from schedviz.explain.changes.of_pod import changes_of_pod
from schedviz.explain.explanation import Explanation, Part
from schedviz.explain.extenders import feasible_nodes
from schedviz.explain.why import find_pod, why_pending
from schedviz.trace.commands import AnyCommand

#: Suggestions that are told.
TOLD: Final = 8
#: Dry runs after which the search for pairs ends, whatever was found. It is a number and not a time so that the answer is always the same.
MOST_TRIED: Final = 400
#: Nodes that a suggestion names.
_NAMED: Final = 5


class Suggestion(Part, frozen=True):
    """One or two changes with which the pod passes every filter on `nodes`."""

    changes: tuple[ChangeView, ...]
    cost: float
    #: How many nodes would take it, and the first of them.
    fits: int
    nodes: tuple[str, ...]
    #: What does it in a session, in this order: a fork is where to try it.
    commands: tuple[AnyCommand, ...] = ()


class SmallestChange(Part, frozen=True):
    """What was found, the smallest first, and what was tried."""

    pod: str
    suggestions: tuple[Suggestion, ...]
    #: Kind of change -> how many of them were tried, alone or in pairs.
    tried: dict[str, int]
    dry_runs: int
    seconds: float
    sentence: str


def smallest_change(simulation: Simulation, pod_key: str, explanation: Explanation | None = None) -> SmallestChange:
    """Single changes first; pairs where no single one does. Each that is told was tried.

    `simulation` belongs to the asker and has its snapshot brought up to date. Raises `PodUnknownError`, `UnknownProfileError`.
    """
    began = time.perf_counter()
    explanation = explanation or why_pending(simulation, pod_key)
    pod = find_pod(simulation, pod_key)
    search = _Search(simulation, DryRun(simulation, pod))
    if not explanation.matrix or explanation.fits:
        return search.result(began, "Nothing has to change: " + explanation.sentence)
    singles = [*changes_of_pod(search.dry_run, explanation), *changes_around(search.dry_run, explanation)]
    search.try_all((change,) for change in singles)
    if not search.found:
        search.try_all(_pairs(singles))
    if not search.found:
        return search.result(began, f"No single change and no pair of changes places {pod_key}; {search.dry_runs} were tried.")
    best = search.in_order()[0]
    return search.result(began, f"{pod_key} would fit: {' and '.join(change.what for change in best.changes)}.")


def _pairs(singles: Sequence[Change]) -> Iterator[tuple[Change, ...]]:
    """Two changes against different objections, the cheapest first."""
    pairs = (pair for pair in itertools.combinations(singles, 2) if not (pair[0].against & pair[1].against))
    both_nodes = (pair for pair in pairs if not (pair[0].updated and pair[1].updated and pair[0].nodes[0].name != pair[1].nodes[0].name))
    return iter(sorted(both_nodes, key=lambda pair: pair[0].cost + pair[1].cost))


class _Search:
    """Tries changes on a copy of the session."""

    def __init__(self, simulation: Simulation, dry_run: DryRun) -> None:
        self.simulation = simulation
        self.dry_run = dry_run
        self.pod = dry_run.pod.pod
        self.found: list[Suggestion] = []
        self.tried: Counter[str] = Counter()
        self.dry_runs = 0

    def try_all(self, candidates: Iterator[tuple[Change, ...]]) -> None:
        """Try one after the other, as far as `MOST_TRIED` goes."""
        for changes in candidates:
            if self.dry_runs >= MOST_TRIED:
                return
            self._try(changes)

    def _try(self, changes: tuple[Change, ...]) -> None:
        pod = self.pod
        for change in changes:
            pod = change.of_pod(pod)
            self.tried[change.kind] += 1
        self.dry_runs += 1
        updated = [obj for change in changes for obj in change.updated]
        with changed(self.simulation, updated=updated, deleted=[obj for change in changes for obj in change.deleted]):
            dry_run = DryRun(self.simulation, pod)
            names = feasible_nodes(self.simulation, dry_run)
        if names:
            cost = sum(change.cost for change in changes)
            told = tuple(change.told for change in changes)
            commands = commands_of(self.simulation, self.pod, changes)
            self.found.append(Suggestion(told, round(cost, 3), len(names), tuple(names[:_NAMED]), commands))

    def in_order(self) -> list[Suggestion]:
        """The cheapest first; of equal ones that with more nodes to choose from."""
        return sorted(self.found, key=lambda suggestion: (suggestion.cost, -suggestion.fits))

    def result(self, began: float, sentence: str) -> SmallestChange:
        seconds = round(time.perf_counter() - began, 4)
        return SmallestChange(self.pod.key, tuple(self.in_order()[:TOLD]), dict(self.tried), self.dry_runs, seconds, sentence)
