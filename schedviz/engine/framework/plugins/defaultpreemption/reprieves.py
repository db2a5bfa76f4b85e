"""`Reprieves`: which pods of lower priority can stay on nodes, for many nodes at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Protocol

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import FilterReads, Handle
from schedviz.engine.framework.plugins.defaultpreemption.dry_run_by_sums import DryRunBySums
from schedviz.engine.framework.preemption import NodeVictims
from schedviz.engine.framework.preemption.budgets import Budgets, by_budget
from schedviz.engine.framework.preemption.importance import ComputedCost
from schedviz.engine.framework.preemption.potential_victims import PotentialVictims, VictimTable, most_important_first
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import Status
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.verdicts import Index, Verdicts

Outcome = NodeVictims | Status


class MakeOutcome(Protocol):
    """`can_stay`: for each of the pods whether it can stay. The eviction of the first `protected` of them violates a budget."""

    def __call__(
        self, node: str, pods: Sequence[PodInfo], can_stay: Sequence[bool], protected: int, computed_cost: ComputedCost | None = None
    ) -> Outcome: ...


class Reprieves:
    """The victims on rows of a dry run on which the pod fits once all potential victims are gone.

    Outcomes are kept for each node until it changes, by what Filter compares: pods of one template try the same nodes, of which one or two
    changed in between.
    """

    def __init__(
        self, handle: Handle, dry_run: DryRunBySums, state: CycleState, pod: PodInfo, make_outcome: MakeOutcome, *, needs_victims: bool
    ) -> None:
        self._handle = handle
        self._dry_run = dry_run
        self._state = state
        self._pod = pod
        self._make_outcome = make_outcome
        sums_key = handle.filter_sums_key(state, pod)
        #: What outcomes depend on besides the node; None: unknown.
        self._key: Hashable | None = None if sums_key is None else (sums_key, needs_victims, handle.keeps_details)

    def in_batches(self, row_numbers: Index, size: int, budgets: Budgets) -> Iterator[tuple[int, Outcome]]:
        """Each row with its outcome, computed for `size` rows at a time."""
        for start in range(0, len(row_numbers), size):
            batch = row_numbers[start : start + size].tolist()
            if budgets:
                outcomes = self._with_budgets(batch, budgets)
            elif self._key is None:
                outcomes = self._try(batch, self._potential_victims(batch))
            else:
                outcomes = self._look_up(batch, row_numbers[start + size : start + size + size // 2].tolist(), self._key)
            yield from zip(batch, outcomes, strict=True)

    def _look_up(self, row_numbers: Sequence[int], next_row_numbers: Sequence[int], key: Hashable) -> Sequence[Outcome]:
        """The outcomes that are kept; the others are computed.

        If an earlier pod had the same key, pods after this one will try `next_row_numbers`. These are computed at the same time: an array
        of many rows costs little more than one of a single row.
        """
        nodes = dict(zip(row_numbers, self._potential_victims(row_numbers), strict=True))
        known = {row: self._kept_outcome(row, of_node, key) for row, of_node in nodes.items()}
        missing = [row for row, outcome in known.items() if outcome is None]
        if missing:
            if len(missing) < len(row_numbers):
                next_nodes = dict(zip(next_row_numbers, self._potential_victims(next_row_numbers), strict=True))
                missing += [row for row, of_node in next_nodes.items() if self._kept_outcome(row, of_node, key) is None]
                nodes |= next_nodes
            for row, computed in zip(missing, self._try(missing, [nodes[row] for row in missing]), strict=True):
                known[row] = computed
                if not self._dry_run.has_nominated_pods(row):
                    nodes[row].keep_outcome(key, computed)
        return [outcome for row in row_numbers if (outcome := known[row]) is not None]

    def _kept_outcome(self, row: int, of_node: PotentialVictims, key: Hashable) -> Outcome | None:
        """Nominated pods change the outcome, and not the NodeInfo."""
        return None if self._dry_run.has_nominated_pods(row) else of_node.outcome(key)

    def _with_budgets(self, row_numbers: Sequence[int], budgets: Budgets) -> Sequence[Outcome]:
        """Pods whose eviction violates a budget are the first that may stay."""
        split = [by_budget(of_node.pods, budgets) for of_node in self._potential_victims(row_numbers)]
        ordered = [PotentialVictims([*violating, *others]) for violating, others in split]
        return self._try(row_numbers, ordered, [len(violating) for violating, _ in split])

    def _try(
        self, row_numbers: Sequence[int], potential: Sequence[PotentialVictims], protected: Sequence[int] | None = None
    ) -> Sequence[Outcome]:
        """`protected`: how many potential victims of each node, from the first, a budget without room protects; None: no budgets."""
        table = VictimTable(potential)
        self._dry_run.reprieve(row_numbers, table, self._filter_by_sums)
        names, all_pods, stays = self._rows(row_numbers).names, [of_node.pods for of_node in potential], table.stays_by_node()
        if protected is None:
            return list(map(self._make_outcome, names, all_pods, stays, [0] * len(row_numbers), table.costs()))
        return list(map(self._make_outcome, names, all_pods, stays, protected))

    def _filter_by_sums(self, rows: Rows) -> Verdicts:
        return self._handle.run_filter_plugins(self._state, self._pod, rows, reading=FilterReads.SUMS)

    def _potential_victims(self, row_numbers: Sequence[int]) -> list[PotentialVictims]:
        return most_important_first(self._rows(row_numbers), self._pod.priority, self._handle.clock())

    def _rows(self, row_numbers: Sequence[int]) -> Rows:
        return self._dry_run.rows.take(np.array(row_numbers, np.intp))
