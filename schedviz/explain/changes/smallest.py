"""`smallest_change`: the smallest verified change with which a pod can be placed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.explain.changes.change import Change
from schedviz.explain.changes.cluster_changes import changes_around
from schedviz.explain.changes.configuration_changes import changes_of_configuration, made_again, preemption_turned_on, verbs_for_preemption
from schedviz.explain.changes.device_changes import changes_of_devices
from schedviz.explain.changes.group_search import GroupSearch
from schedviz.explain.changes.more_nodes import more_nodes
from schedviz.explain.changes.placed_together import PodAndChanges, phrase_of_placed
from schedviz.explain.changes.pod_changes import changes_of_pod
from schedviz.explain.changes.search import Search, SmallestChange, Suggestion
from schedviz.explain.explanation import Explanation
from schedviz.explain.why import find_pod, why_pending
from schedviz.kube.core import Pod

#: Suggestions that are tried with the equals of the pod: a page shows two at first.
_MAX_TRIED_TOGETHER: Final = 2


def smallest_change(simulation: Simulation, pod_key: str, explanation: Explanation | None = None) -> SmallestChange:
    """Single changes first; pairs if no single change helps. Every suggestion was verified.

    Where other pods have equal requirements, the first suggestions say how many of them all they place.
    `simulation` belongs to the caller; its snapshot is updated. Raises `PodUnknownError`, `UnknownProfileError`.
    """
    began = time.perf_counter()
    explanation = explanation or why_pending(simulation, pod_key)
    found, search = search_change(simulation, pod_key, explanation)
    if explanation.alike and not explanation.group:
        pods = [find_pod(simulation, key) for key in (pod_key, *explanation.alike)]
        told = [_with_equals(simulation, search, suggestion, pods) for suggestion in found.suggestions[:_MAX_TRIED_TOGETHER]]
        found = msgspec.structs.replace(found, suggestions=(*told, *found.suggestions[_MAX_TRIED_TOGETHER:]))
    return msgspec.structs.replace(found, seconds=round(time.perf_counter() - began, 4))


def _with_equals(simulation: Simulation, search: Search, suggestion: Suggestion, pods: Sequence[Pod]) -> Suggestion:
    """The suggestion with how many of equal pods it places."""
    if suggestion.effect != "fits":
        return suggestion
    changes = search.changes_behind(suggestion)
    together = phrase_of_placed(simulation, [PodAndChanges(pod, changes) for pod in pods])
    if together is None:
        return suggestion
    return suggestion.with_phrases(together=together)


def _in_order_of_rows(explanation: Explanation, dry_run: DryRun) -> Explanation:
    """The explanation with its matrix in the dry run's order of nodes, which a search for another pod may have changed since."""
    verdicts = {verdict.node: verdict for verdict in explanation.matrix}
    if verdicts.keys() != set(dry_run.rows.names):
        return explanation
    return msgspec.structs.replace(explanation, matrix=tuple(verdicts[name] for name in dry_run.rows.names))


def search_change(simulation: Simulation, pod_key: str, explanation: Explanation) -> tuple[SmallestChange, Search]:
    """The suggestions for one pod alone, and the search with the changes behind them. `simulation` as in `smallest_change`."""
    began = time.perf_counter()
    pod = find_pod(simulation, pod_key)
    dry_run = DryRun(simulation, pod)
    explanation = _in_order_of_rows(explanation, dry_run)
    search = Search(simulation, dry_run)
    if not explanation.lacks_change:
        return search.result(began, "Nothing has to change: " + explanation.sentence), search
    if explanation.group:
        return _of_group(simulation, dry_run, explanation, began)
    for verb in verbs_for_preemption(simulation, explanation):
        # v1.18 keeps a nomination when it no longer finds a candidate.
        if not search.try_cycle(verb):
            search.try_cycle(verb, made_again(pod))
    for change in preemption_turned_on(dry_run, explanation):
        search.try_cycle(change)
    singles = [*_changes_for(simulation, dry_run, explanation)]
    if _may_need_nodes(dry_run):
        singles += more_nodes(simulation, dry_run)
    search.try_all((change,) for change in singles)
    if not search.fitting:
        search.try_all(_pairs(singles))
    return search.result(began, search.sentence), search


def _may_need_nodes(dry_run: DryRun) -> bool:
    """Whether another node may help: one without devices does not change what the pod itself lacks, such as a claim."""
    status = dry_run.pre_filter.status
    return status.is_success or status.failed_plugin == names.DYNAMIC_RESOURCES


def _of_group(simulation: Simulation, dry_run: DryRun, explanation: Explanation, began: float) -> tuple[SmallestChange, Search]:
    """The same for the pods of a gang, which are scheduled together: a change of the pod is made to all of them."""
    search = GroupSearch(simulation, dry_run)
    if search.runs_unchanged():
        return search.result(began, "Nothing has to change: " + explanation.sentence), search
    search.try_group()
    search.try_all((change,) for change in _changes_for(simulation, dry_run, explanation))
    return search.result(began, search.sentence), search


def _changes_for(simulation: Simulation, dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """All single changes that answer an objection."""
    yield from changes_of_pod(dry_run, explanation)
    yield from changes_of_devices(simulation, dry_run, explanation)
    yield from changes_around(dry_run, explanation)
    yield from changes_of_configuration(simulation, dry_run, explanation)


def _pairs(singles: Sequence[Change]) -> Iterator[tuple[Change, ...]]:
    """Two changes against different objections, not of two different nodes, the cheapest first."""
    pairs = (pair for pair in itertools.combinations(singles, 2) if not (pair[0].against & pair[1].against))
    without_two_nodes = (pair for pair in pairs if not (pair[0].nodes and pair[1].nodes and pair[0].nodes[0].name != pair[1].nodes[0].name))
    return iter(sorted(without_two_nodes, key=lambda pair: pair[0].cost + pair[1].cost))
