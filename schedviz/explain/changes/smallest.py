"""`smallest_change`: the smallest verified change with which a pod can be placed."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Final, Literal

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun, changed, configured
from schedviz.explain.changes.apply import commands_of, config_with
from schedviz.explain.changes.change import WORDS, Change, ChangeView
from schedviz.explain.changes.cluster_changes import changes_around
from schedviz.explain.changes.configuration_changes import changes_of_configuration, made_again, preemption_turned_on, verbs_for_preemption
from schedviz.explain.changes.pod_changes import changes_of_pod
from schedviz.explain.changes.trial import count_running, next_cycle_of
from schedviz.explain.explanation import Explanation, Part
from schedviz.explain.extenders import feasible_nodes
from schedviz.explain.why import find_pod, why_pending
from schedviz.trace.commands import AnyCommand

#: Number of suggestions.
LISTED_CHANGES: Final = 8
#: Dry runs after which the search for pairs ends. A number and not a time, so that the answer is deterministic.
MOST_TRIED: Final = 400
_WOULD: Final[dict[str, str]] = {
    "fits": "would fit",
    "makesRoom": "would be nominated, and room made for it",
    "endsNomination": "would not be nominated for ever",
}
#: Nodes named in a suggestion.
_NAMED: Final = 5


#: The effect of a change on the pod. `fits`: it passes every filter on some nodes. `makesRoom`: its next cycle nominates it to a node
#: which its victims leave. `endsNomination`: an endless nomination ends; the pod is pending, with a message.
Effect = Literal["fits", "makesRoom", "endsNomination"]


class Suggestion(Part, frozen=True):
    """One or two changes with which the pod passes every filter on `nodes`, or their other effect."""

    changes: tuple[ChangeView, ...]
    cost: float
    #: The number of nodes that would take it, and the first of them.
    fits: int
    nodes: tuple[str, ...]
    effect: Effect = "fits"
    #: The commands that make the change, in order. A fork is the place to try them.
    commands: tuple[AnyCommand, ...] = ()


class SmallestChange(Part, frozen=True):
    """The suggestions, smallest first, and what was tried."""

    pod: str
    suggestions: tuple[Suggestion, ...]
    #: Kind of change -> number of trials, alone or in pairs.
    tried: dict[str, int]
    dry_runs: int
    seconds: float
    sentence: str


def smallest_change(simulation: Simulation, pod_key: str, explanation: Explanation | None = None) -> SmallestChange:
    """Single changes first; pairs if no single change helps. Every suggestion was verified.

    `simulation` belongs to the caller; its snapshot is updated. Raises `PodUnknownError`, `UnknownProfileError`.
    """
    began = time.perf_counter()
    explanation = explanation or why_pending(simulation, pod_key)
    pod = find_pod(simulation, pod_key)
    search = _Search(simulation, DryRun(simulation, pod))
    if not explanation.matrix or explanation.fits:
        return search.result(began, "Nothing has to change: " + explanation.sentence)
    for verb in verbs_for_preemption(simulation, explanation):
        # v1.18 keeps a nomination when it no longer finds a candidate.
        if not search.try_cycle(verb):
            search.try_cycle(verb, made_again(pod))
    for change in preemption_turned_on(search.dry_run, explanation):
        search.try_cycle(change)
    singles = [
        *changes_of_pod(search.dry_run, explanation),
        *changes_around(search.dry_run, explanation),
        *changes_of_configuration(search.dry_run, explanation),
    ]
    search.try_all((change,) for change in singles)
    if not search.fitting:
        search.try_all(_pairs(singles))
    return search.result(began, search.sentence)


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
        """Try changes in order, up to `MOST_TRIED`."""
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
        config = config_with(self.simulation, changes)
        with (
            configured(self.simulation, config) if config is not None else nullcontext(),
            changed(self.simulation, updated=updated, deleted=[obj for change in changes for obj in change.deleted]),
        ):
            dry_run = DryRun(self.simulation, pod)
            names = feasible_nodes(self.simulation, dry_run)
        if names:
            self._tell(changes, names)

    def try_cycle(self, *changes: Change) -> bool:
        """Run the pod's next cycle on a copy. True if it is nominated to a node that pods are leaving."""
        self.tried.update(change.kind for change in changes)
        self.dry_runs += 1
        copy = Simulation.restore(self.simulation.checkpoint())
        for command in commands_of(copy, self.pod, changes):
            copy.start(command)
            copy.work()
        running = count_running(copy)
        after = next_cycle_of(copy, self.pod.key)
        if after is None:
            return False
        nominated = after.status.nominated_node_name
        if nominated and count_running(copy) < running:
            self._tell(changes, [nominated], "makesRoom")
            return True
        if self.pod.status.nominated_node_name and not nominated:
            self._tell(changes, [], "endsNomination")
            return True
        return False

    def _tell(self, changes: tuple[Change, ...], names: Sequence[str], effect: Effect = "fits") -> None:
        cost = sum(change.cost for change in changes)
        views = tuple(change.told for change in changes)
        commands = commands_of(self.simulation, self.pod, changes)
        fits = len(names) if effect == "fits" else 0
        self.found.append(Suggestion(views, round(cost, 3), fits, tuple(names[:_NAMED]), effect, commands))

    @property
    def fitting(self) -> list[Suggestion]:
        """The changes with which a node takes the pod."""
        return [suggestion for suggestion in self.found if suggestion.effect == "fits"]

    def in_order(self) -> list[Suggestion]:
        """Fixes of mistakes first, then the cheapest; of equal ones, those with more nodes."""
        return sorted(self.found, key=lambda suggestion: (suggestion.effect != "endsNomination", suggestion.cost, -suggestion.fits))

    @property
    def sentence(self) -> str:
        """What was found, or what was tried."""
        if self.found:
            best = self.in_order()[0]
            return f"{self.pod.key} {_WOULD[best.effect]}: {' and '.join(change.what for change in best.changes)}."
        kinds = ", ".join(f"{count} × {WORDS[kind]}" for kind, count in sorted(self.tried.items(), key=lambda item: -item[1]))
        ended = f"; the search ends after {MOST_TRIED}" if self.dry_runs >= MOST_TRIED else ""
        tried = f"{self.dry_runs} were tried ({kinds}){ended}" if kinds else "there is none that answers what is said against it"
        return f"No single change and no pair of changes places {self.pod.key}: {tried}."

    def result(self, began: float, sentence: str) -> SmallestChange:
        seconds = round(time.perf_counter() - began, 4)
        return SmallestChange(self.pod.key, tuple(self.in_order()[:LISTED_CHANGES]), dict(self.tried), self.dry_runs, seconds, sentence)
