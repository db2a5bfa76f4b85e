"""Bindings in flight: several pods that a real scheduler bound at about the same time, replayed in the order in which it decided.

A scheduler decides on one pod after the other and binds them concurrently, so bindings reach the API server in another order. The replay
puts the nodes back to where they were before the first of these bindings, and then makes the decisions in the order of activeQ. Where a
verdict is not `agrees`, the states of other possible orders are tried: if one of them agrees, the binding is `undecided`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns
from schedviz.engine.dryrun.moved_pods import MovedPods
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.shadowing.judgement import Judgement
from schedviz.explain.shadowing.shadow import DISAGREEMENTS, judge
from schedviz.kube.core import Pod

#: How many other states are tried for a binding that does not agree.
_MAX_STATES: Final = 24
#: How many dry runs a replay may make for all its bindings. Without them, a binding that does not agree is undecided.
_MAX_DRY_RUNS: Final = 600
#: How many of the next pods are tried when the first one does not agree.
_LOOK_AHEAD: Final = 4

replace = msgspec.structs.replace


class Move(NamedTuple):
    """A pod was bound to the node of its spec, or taken from it; `number` increases."""

    number: int
    pod: PodInfo
    is_added: bool
    #: For a binding: the pod's place in activeQ as in `Bound`; None: not known.
    rank: tuple[int, int] | None = None
    #: Whether the pod had been rejected before, so that it is not known when it was tried again.
    is_retried: bool = False
    #: Whether the pod was nominated, so that its node was reserved for it.
    is_nominated: bool = False


class Bound(NamedTuple):
    """A binding to judge."""

    #: As it was pending.
    pod: Pod
    node: str
    #: Its place in activeQ: the smallest is decided first.
    rank: tuple[int, int]
    #: The number of the last move before the pod was created; None: it is not known when that was.
    arrived_after_move: int | None
    #: The number of the last move before its binding.
    bound_after_move: int
    #: Whether the moves before it are all in the order in which they happened.
    is_ordered: bool = True
    #: Whether the pod had been rejected before, so that its place in activeQ is unknown. Then the second number of `rank` is that of the
    #: newest pod that was pending at its binding.
    is_retried: bool = False


def bound_pod(pod: Pod, node: str) -> Pod:
    """The pod on a node."""
    return replace(pod, spec=replace(pod.spec, node_name=node))


class Replay:
    """Replays bindings on the nodes of one engine, which stays as it is."""

    def __init__(
        self,
        simulation: Simulation,
        dry_runs: LiveDryRuns,
        moves: Sequence[Move],
        *,
        release_differs: Callable[[], bool] = lambda: False,
        may_search: bool = True,
    ) -> None:
        """`moves`: those since before the first of the bindings; the cache has all of them. Unless it `may_search` other orders, a
        disagreement that may depend on the order is `undecided`.
        """
        self._simulation = simulation
        self._dry_runs = dry_runs
        self._moves = moves
        self._release_differs = release_differs
        self._dry_runs_left = _MAX_DRY_RUNS if may_search else 0

    def judge_one(self, one: Bound) -> Judgement:
        """The verdict on a binding that no other one overtook. An idle scheduler decides when the pod comes, so pods that went later were
        probably still there. It may not have known the last moves before the binding.
        """
        with self._dry_runs.dry_run(self._simulation, one.pod) as dry_run:
            found = judge(self._simulation, dry_run, one.node, release_differs=self._release_differs)
        if found.verdict not in DISAGREEMENTS:
            return found
        if self._dry_runs_left > 0 and one.is_ordered and (gone := [move for move in self._since_arrival(one) if not move.is_added]):
            nodes = self._dry_runs.moved_pods(self._simulation)
            for move in reversed(gone):
                undo(nodes, move)
            if (when_it_came := self._judge_on(nodes, one)).verdict == "agrees":
                return when_it_came
        return self._decided(found, one, self._earlier_states(one))

    def judge_all(self, members: Sequence[Bound], *, is_complete: bool) -> list[Judgement]:
        """The verdicts on bindings in flight, in the given order, which is the order of their bindings.

        `is_complete`: every pod that was to be decided before one of these is among them, or was rejected.
        """
        nodes = self._before(members)
        uids = {one.pod.uid for one in members}
        others = [move for move in self._moves if move.pod.uid not in uids and move.number > members[0].bound_after_move]
        found: dict[str, Judgement] = {}
        waiting = sorted(members, key=lambda one: one.rank)
        in_order: list[Bound] = []
        while waiting:
            first = waiting[0]
            decided = max(first.arrived_after_move or 0, in_order[-1].bound_after_move if in_order else members[0].bound_after_move)
            while others and others[0].number <= min(decided, first.bound_after_move):
                apply(nodes, others.pop(0))
            judgement = self._judge_on(nodes, first)
            if judgement.verdict in DISAGREEMENTS:
                other = self._next_that_agrees(nodes, waiting[1 : 1 + _LOOK_AHEAD])
                if other is not None:
                    found[other[0].pod.uid] = other[1] if _are_equal(first.pod, other[0].pod) else undecided(other[1])
                    self._place(nodes, other[0], waiting, in_order)
                    continue
                judgement = self._decided(judgement, first, self._other_orders(first, members, in_order))
                if judgement.verdict in DISAGREEMENTS and not is_complete:
                    judgement = undecided(judgement)
            found[first.pod.uid] = judgement
            self._place(nodes, first, waiting, in_order)
        return [replace(found[one.pod.uid], in_flight=len(members)) for one in members]

    def _place(self, nodes: MovedPods, one: Bound, waiting: list[Bound], in_order: list[Bound]) -> None:
        nodes.place(self._info(one))
        waiting.remove(one)
        in_order.append(one)

    def _next_that_agrees(self, nodes: MovedPods, candidates: Sequence[Bound]) -> tuple[Bound, Judgement] | None:
        """A pod that may have been decided before the first one, because then it agrees, and the first one does, too."""
        for one in candidates if self._dry_runs_left > 0 else ():
            judgement = self._judge_on(nodes, one)
            if judgement.verdict == "agrees":
                return one, judgement
        return None

    def _judge_on(self, nodes: MovedPods, one: Bound) -> Judgement:
        self._dry_runs_left -= 1
        with self._dry_runs.dry_run(self._simulation, one.pod, moved=nodes) as dry_run:
            return judge(self._simulation, dry_run, one.node, release_differs=self._release_differs)

    def _decided(self, found: Judgement, one: Bound, states: Iterator[MovedPods]) -> Judgement:
        """The disagreement, or `undecided` if it is none in another state, or if the order of the moves is not known."""
        if not one.is_ordered:
            return undecided(found)
        for _, nodes in zip(range(_MAX_STATES), states, strict=False):
            if self._dry_runs_left <= 0:
                return undecided(found)
            other = self._judge_on(nodes, one)
            if other.verdict == "agrees" or (other.verdict == "notBest" and found.verdict == "infeasible"):
                return undecided(found)
        return found

    def _before(self, members: Sequence[Bound]) -> MovedPods:
        """The nodes before the first of the bindings."""
        nodes = self._dry_runs.moved_pods(self._simulation)
        for move in reversed(self._moves):
            if move.number > members[0].bound_after_move:
                undo(nodes, move)
        return nodes

    def _since_arrival(self, one: Bound) -> list[Move]:
        """The moves since the pod came, if that is known."""
        return [move for move in self._moves if one.arrived_after_move is not None and move.number > one.arrived_after_move]

    def _earlier_states(self, one: Bound) -> Iterator[MovedPods]:
        """The nodes as they were since the pod came: before each pod went, with all bindings; then before each move."""
        since = list(reversed(self._since_arrival(one)))
        for moves in ([move for move in since if not move.is_added], since):
            nodes = self._dry_runs.moved_pods(self._simulation) if moves else None
            for move in moves:
                assert nodes is not None
                undo(nodes, move)
                yield nodes

    def _other_orders(self, one: Bound, members: Sequence[Bound], in_order: Sequence[Bound]) -> Iterator[MovedPods]:
        """The nodes without the other members, with the first few that were decided, and without pods that went meanwhile; then as they
        were at the binding, and with every other member.
        """
        nodes = self._before(members)
        yield nodes
        for other in in_order:
            nodes.place(self._info(other))
            yield nodes
        for move in self._moves:
            if members[0].bound_after_move < move.number <= one.bound_after_move and not move.is_added:
                nodes.take_away(move.pod)
                yield nodes
        in_flight = [other for other in members if other is not one]
        arrived = self._before(members)
        for other in in_flight:
            if other.bound_after_move < one.bound_after_move:
                arrived.place(self._info(other))
        yield arrived
        for other in in_flight:
            arrived.place(self._info(other))
        yield arrived

    def _info(self, one: Bound) -> PodInfo:
        return self._simulation.scheduler.state.pod_info(bound_pod(one.pod, one.node))


def _are_equal(one: Pod, other: Pod) -> bool:
    """Whether a scheduler cannot tell two pods apart, so that their order does not matter."""
    return (one.spec, one.metadata.namespace, one.metadata.labels) == (other.spec, other.metadata.namespace, other.metadata.labels)


def apply(nodes: MovedPods, move: Move) -> None:
    """Make a move."""
    if move.is_added:
        nodes.place(move.pod)
    else:
        nodes.take_away(move.pod)


def undo(nodes: MovedPods, move: Move) -> None:
    """Take a move back."""
    apply(nodes, move._replace(is_added=not move.is_added))


def undecided(found: Judgement) -> Judgement:
    """The judgement if it depends on the order of decisions."""
    return replace(found, verdict="undecided", cause="order", without=())
