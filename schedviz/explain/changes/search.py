"""`Search`: tries changes on a copy of a session, and keeps those that help."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Final, Literal

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun, changed, configured
from schedviz.explain.changes.apply import commands_of, config_with
from schedviz.explain.changes.change import WORDS, Change, ChangeView
from schedviz.explain.changes.next_cycle import count_running, next_cycle_of
from schedviz.explain.explanation import Part
from schedviz.explain.extenders import feasible_nodes
from schedviz.kube.core import Pod
from schedviz.trace.commands import AnyCommand
from schedviz.trace.phrase import Phrase

#: The maximum number of suggestions.
MAX_SUGGESTIONS: Final = 8
#: The maximum number of suggestions that only add nodes.
MAX_NODE_SUGGESTIONS: Final = 2
#: Dry runs after which the search ends, with single changes or with pairs. A number and not a time, so that the answer is deterministic.
MAX_DRY_RUNS: Final = 400
_WOULD: Final[dict[str, str]] = {
    "fits": "would fit",
    "makesRoom": "would be nominated, and room made for it",
    "endsNomination": "would no longer be nominated",
    "groupRuns": "would be scheduled with its group",
}
#: Nodes named in a suggestion.
_MAX_NAMED_NODES: Final = 5


#: The effect of a change on the pod. `fits`: it passes every filter on some nodes. `makesRoom`: its next cycle nominates it to a node
#: which its victims leave. `endsNomination`: an endless nomination ends; the pod is pending, with a message. `groupRuns`: the next cycle of
#: its pod group schedules it with enough other pods of the group.
Effect = Literal["fits", "makesRoom", "endsNomination", "groupRuns"]


class Suggestion(Part, frozen=True):
    """One or two changes with which the pod passes every filter on `nodes`, or their other effect."""

    changes: tuple[ChangeView, ...]
    cost: float
    #: The number of nodes on which the pod would fit, and the first of them.
    fits: int
    nodes: tuple[str, ...]
    effect: Effect = "fits"
    #: The commands that make the change, in order. A fork is the place to try them.
    commands: tuple[AnyCommand, ...] = ()
    #: How many of this pod and its equals it places, without a full stop; "": there is one pod, or nobody counted.
    together: str = ""
    together_phrase: Phrase | None = None


class SmallestChange(Part, frozen=True):
    """The suggestions, smallest first, and what was tried."""

    pod: str
    suggestions: tuple[Suggestion, ...]
    #: Kind of change -> number of dry runs, alone or in pairs.
    tried: dict[str, int]
    dry_runs: int
    seconds: float
    sentence: str


class Search:
    """Tries changes on a copy of the session."""

    #: As `MAX_DRY_RUNS`.
    max_dry_runs = MAX_DRY_RUNS

    def __init__(self, simulation: Simulation, dry_run: DryRun) -> None:
        self.simulation = simulation
        self.dry_run = dry_run
        self.pod = dry_run.pod.pod
        #: The pods that a change of the pod changes.
        self.pods: Sequence[Pod] = (self.pod,)
        self.found: list[Suggestion] = []
        #: The changes of each suggestion, by what they are in words.
        self.changes_of: dict[tuple[str, ...], tuple[Change, ...]] = {}
        self.tried: Counter[str] = Counter()
        #: Kind of change -> number of dry runs of it alone.
        self._alone: Counter[str] = Counter()
        self.dry_runs = 0
        #: The ladders (series of changes) of which one change helped.
        self._climbed: set[tuple[str, ...]] = set()

    def try_all(self, candidates: Iterable[tuple[Change, ...]]) -> None:
        """Try changes in order, until there were `max_dry_runs` dry runs."""
        for changes in candidates:
            if self.dry_runs >= self.max_dry_runs:
                return
            ladder = tuple(change.ladder or change.what for change in changes)
            if ladder not in self._climbed and self.try_one(changes) and any(change.ladder for change in changes):
                self._climbed.add(ladder)

    def try_one(self, changes: tuple[Change, ...]) -> bool:
        """Whether the changes help. Then they are kept."""
        pod = self.pod
        for change in changes:
            pod = change.of_pod(pod)
        self.count_dry_run(changes)
        updated = [obj for change in changes for obj in change.updated]
        config = config_with(self.simulation, changes)
        with (
            configured(self.simulation, config) if config is not None else nullcontext(),
            changed(self.simulation, updated=updated, deleted=[obj for change in changes for obj in change.deleted]),
        ):
            dry_run = DryRun(self.simulation, pod)
            names = feasible_nodes(self.simulation, dry_run)
        if names:
            self.add_suggestion(changes, names)
        return bool(names)

    def try_cycle(self, *changes: Change) -> bool:
        """Run the pod's next cycle on a copy. True if it is nominated to a node that pods are leaving, or if an endless nomination ends."""
        self.count_dry_run(changes)
        copy = Simulation.restore(self.simulation.checkpoint())
        for command in commands_of(copy, self.pods, changes):
            copy.start(command)
            copy.work()
        running = count_running(copy)
        after = next_cycle_of(copy, self.pod.key)
        if after is None:
            return False
        nominated = after.status.nominated_node_name
        if nominated and count_running(copy) < running:
            self.add_suggestion(changes, [nominated], "makesRoom")
            return True
        if self.pod.status.nominated_node_name and not nominated:
            self.add_suggestion(changes, [], "endsNomination")
            return True
        return False

    def count_dry_run(self, changes: tuple[Change, ...]) -> None:
        """Count a dry run with the changes."""
        self.tried.update(change.kind for change in changes)
        self.dry_runs += 1
        if len(changes) == 1:
            self._alone[changes[0].kind] += 1

    def add_suggestion(self, changes: tuple[Change, ...], names: Sequence[str], effect: Effect = "fits") -> None:
        """Add changes that help to the suggestions; `names` are the nodes."""
        cost = sum(change.cost for change in changes)
        views = tuple(change.view for change in changes)
        commands = commands_of(self.simulation, self.pods, changes)
        self.changes_of[tuple(view.what for view in views)] = changes
        fits = len(names) if effect in ("fits", "groupRuns") else 0
        self.found.append(Suggestion(views, round(cost, 3), fits, tuple(names[:_MAX_NAMED_NODES]), effect, commands))

    @property
    def fitting(self) -> list[Suggestion]:
        """The changes with which a node takes the pod."""
        return [suggestion for suggestion in self.found if suggestion.effect == "fits"]

    def in_order(self) -> list[Suggestion]:
        """Those that end an endless nomination first, then the cheapest; of equal ones, those with more nodes."""
        return sorted(self.found, key=lambda suggestion: (suggestion.effect != "endsNomination", suggestion.cost, -suggestion.fits))

    @property
    def sentence(self) -> str:
        """A sentence about the suggestions, or about what was tried."""
        if self.found:
            best = self.in_order()[0]
            return f"{self.pod.key} {_WOULD[best.effect]}: {' and '.join(change.what for change in best.changes)}."
        if not self.dry_runs:
            return f"No change of the pod or the nodes makes {self.pod.key} schedulable."
        if set(self._alone) == {"node"} and self._alone["node"] == self.dry_runs:
            return f"More nodes like the existing ones would not make {self.pod.key} schedulable."
        kinds = [WORDS[kind] for kind, _ in self._alone.most_common()]
        if self.dry_runs > self._alone.total():
            kinds.append("two of these together")
        tried = f"{', '.join(kinds[:-1])}, and {kinds[-1]}" if len(kinds) > 2 else " and ".join(kinds)
        ended = f" The search ended after {self.max_dry_runs} changes." if self.dry_runs >= self.max_dry_runs else ""
        if self.dry_runs == 1:
            return f"schedviz tried one change, which does not make {self.pod.key} schedulable: {tried}."
        return f"schedviz tried {self.dry_runs} changes, none of which makes {self.pod.key} schedulable: {tried}.{ended}"

    def changes_behind(self, suggestion: Suggestion) -> tuple[Change, ...]:
        """The changes of a suggestion, to try them with others."""
        return self.changes_of[tuple(view.what for view in suggestion.changes)]

    def result(self, began: float, sentence: str) -> SmallestChange:
        """The suggestions. `began` is a moment of `time.perf_counter`."""
        seconds = round(time.perf_counter() - began, 4)
        suggestions = tuple(self._with_few_nodes(self.in_order())[:MAX_SUGGESTIONS])
        return SmallestChange(self.pod.key, suggestions, dict(self.tried), self.dry_runs, seconds, sentence)

    def _with_few_nodes(self, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        """The suggestions, with the first `MAX_NODE_SUGGESTIONS` of those that only add nodes, each of another size."""
        sizes: set[object] = set()
        kept = []
        for suggestion in suggestions:
            if {change.kind for change in suggestion.changes} == {"node"}:
                added = [node for change in self.changes_behind(suggestion) for node in change.nodes]
                size = tuple(sorted((resource, str(amount)) for node in added for resource, amount in node.status.allocatable.items()))
                if size in sizes or len(sizes) == MAX_NODE_SUGGESTIONS:
                    continue
                sizes.add(size)
            kept.append(suggestion)
        return kept
