"""Judges again a binding that did not agree, with what became known since of the order in which a real scheduler decided.

Each move of a pod is sorted: the scheduler knew it when it decided, it did not, or that is not known. The scheduler's own times say so, and
otherwise the order in which the moves were observed. A verdict that depends on moves of the third kind is `undecided`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns
from schedviz.engine.dryrun.moved_pods import MovedPods
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.shadowing.decision_times import DecisionTime, DecisionTimes
from schedviz.explain.shadowing.in_flight import Bound, Move, apply, bound_pod, undecided, undo
from schedviz.explain.shadowing.judgement import Judgement
from schedviz.explain.shadowing.shadow import choose, judge
from schedviz.kube.core import Pod

#: Up to this many moves are tried in every combination; more moves only in combinations that follow their order.
_MAX_COMBINED: Final = 4
#: With more moves whose order is not known, the verdict is `undecided`.
_MAX_UNKNOWN: Final = 24
#: How many pods that were deleted while they were pending are placed where this scheduler would have placed them.
_MAX_VANISHED: Final = 8
#: How many of the last moves before a binding have an unknown order if it is not known when its pod came.
_RECENT_MOVES: Final = 16

replace = msgspec.structs.replace


class Vanished(NamedTuple):
    """A pod that was deleted while it was pending: perhaps it had a node already, and its binding failed."""

    pod: Pod
    #: The number of moves when it was deleted.
    number: int


class BindingRecheck:
    """Judges bindings with what is known now."""

    def __init__(
        self,
        simulation: Simulation,
        dry_runs: LiveDryRuns,
        *,
        moves: Sequence[Move],
        vanished: Sequence[Vanished],
        times: DecisionTimes,
        release_differs: Callable[[], bool] = lambda: False,
    ) -> None:
        """`moves`: those since before the pods came, up to now."""
        self._simulation = simulation
        self._dry_runs = dry_runs
        self._moves = moves
        self._vanished = vanished
        self._times = times
        self._release_differs = release_differs

    def judge(self, one: Bound, found: Judgement) -> Judgement:
        """The verdict now; `found` was the first one."""
        mine = self._times.find(one.pod, is_added=True)
        nodes, unknown = self._nodes(one, mine)
        leaving, missing = self._place_vanished(nodes, one, mine)
        if len(unknown) > _MAX_UNKNOWN:
            return undecided(found)
        judged = self._judge_on(nodes, one)
        if judged.verdict not in ("agrees", "unjudged") and (unknown or leaving or missing):
            others = (self._judge_on(state, one) for state in self._other_states(nodes, one, unknown, leaving, missing))
            if any(other.verdict == "agrees" or (other.verdict, judged.verdict) == ("notBest", "infeasible") for other in others):
                judged = undecided(judged)
        return replace(judged, in_flight=found.in_flight)

    def _nodes(self, one: Bound, mine: DecisionTime | None) -> tuple[MovedPods, list[Move]]:
        """The nodes as the scheduler knew them. Moves of which that is not known are returned, and made if they came before the binding."""
        nodes, unknown = self._dry_runs.moved_pods(self._simulation), []
        for move in reversed(self._moves):
            known = False if move.pod.uid == one.pod.uid else self._is_known(move, one, mine)
            if known is None:
                unknown.append(move)
            if known is False or (known is None and move.number > one.bound_after_move):
                undo(nodes, move)
        return nodes, unknown[::-1]

    def _is_known(self, move: Move, one: Bound, mine: DecisionTime | None) -> bool | None:
        """Whether the scheduler knew a move when it decided on a pod. None: that is not known."""
        theirs = self._times.find(move.pod.pod, is_added=move.is_added)
        if mine is not None and theirs is not None:
            if theirs.is_before(mine):
                return True
            if mine.is_before(theirs):
                return None if self._reserves(move, one) else False
            if mine.exact:
                return None
        came = one.bound_after_move - _RECENT_MOVES if one.arrived_after_move is None else one.arrived_after_move
        if move.number <= came:
            return True
        if not move.is_added:
            return None if move.number <= one.bound_after_move else False
        if move.rank is None:
            return move.number <= one.bound_after_move
        if one.is_retried and move.rank[1] > one.rank[1]:
            # The pod came after this one was bound.
            return False
        if move.is_retried or one.is_retried or (move.number > one.bound_after_move and self._reserves(move, one)):
            return None
        # Bindings have another order than decisions, which are made in the order of activeQ.
        return move.rank < one.rank

    @staticmethod
    def _reserves(move: Move, one: Bound) -> bool:
        """Whether a node was reserved for the pod of a later move, so that the scheduler took it into account."""
        return move.is_added and move.is_nominated and (move.pod.pod.spec.priority or 0) >= (one.pod.spec.priority or 0)

    def _place_vanished(self, nodes: MovedPods, one: Bound, mine: DecisionTime | None) -> tuple[list[PodInfo], list[Pod]]:
        """Place pods that went while they were pending where the scheduler had placed them.

        Returns the placed ones that it may have removed already, and pods of which it is not known whether it had placed them.
        """
        leaving: list[PodInfo] = []
        missing: list[Pod] = []
        for pod, number in self._vanished:
            if mine is not None and mine.exact:
                placed, taken = self._times.placement_before(pod, mine) or (None, None)
                if placed is None or (taken is not None and taken.is_before(mine)):
                    continue
                info = self._info(pod, placed.node)
                nodes.place(info)
                if taken is not None and not mine.is_before(taken):
                    leaving.append(info)
            elif one.arrived_after_move is None or number > one.arrived_after_move:
                missing.append(pod)
        return leaving, missing[-_MAX_VANISHED:]

    def _other_states(
        self, nodes: MovedPods, one: Bound, unknown: list[Move], leaving: list[PodInfo], missing: list[Pod]
    ) -> Iterator[MovedPods]:
        """Other states of the nodes in which the scheduler may have decided."""
        # Which of the unknown moves are made in `nodes`.
        made = {move.number for move in unknown if move.number <= one.bound_after_move}
        for wanted in _combinations(unknown):
            for move in unknown:
                if (move.number in wanted) != (move.number in made):
                    (apply if move.number in wanted else undo)(nodes, move)
            made = wanted
            yield nodes
        for move in unknown:
            if move.number in made and move.number > one.bound_after_move:
                undo(nodes, move)
        for info in leaving:
            nodes.take_away(info)
            yield nodes
        for pod in missing:
            if (node := self._choice_for(nodes, pod)) is not None:
                nodes.place(self._info(pod, node))
                yield nodes

    def _choice_for(self, nodes: MovedPods, pod: Pod) -> str | None:
        """The node on which this scheduler would place a pod, None: nowhere."""
        with self._dry_runs.dry_run(self._simulation, pod, moved=nodes) as dry_run:
            return next(iter(choose(self._simulation, dry_run).best), None)

    def _judge_on(self, nodes: MovedPods, one: Bound) -> Judgement:
        with self._dry_runs.dry_run(self._simulation, one.pod, moved=nodes) as dry_run:
            return judge(self._simulation, dry_run, one.node, release_differs=self._release_differs)

    def _info(self, pod: Pod, node: str) -> PodInfo:
        return self._simulation.scheduler.state.pod_info(bound_pod(pod, node))


def _combinations(moves: list[Move]) -> Iterator[set[int]]:
    """Sets of the numbers of moves that may have been made, in an order in which few are undone."""
    numbers = [move.number for move in moves]
    if len(numbers) <= _MAX_COMBINED:
        for place in range(1 << len(numbers)):
            gray = place ^ (place >> 1)
            yield {number for bit, number in enumerate(numbers) if gray >> bit & 1}
        return
    for count in range(len(numbers), -1, -1):
        yield set(numbers[:count])
    # Removals are observed in one order and known in the same one; bindings have an order of their own.
    removed = [move.number for move in moves if not move.is_added]
    added = [move.number for move in moves if move.is_added]
    for count in range(len(removed) + 1):
        yield {*removed[:count], *added}
    for count in range(len(removed) + 1):
        yield set(removed[:count])
