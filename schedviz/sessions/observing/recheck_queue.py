"""`RecheckQueue`: bindings whose first verdict may depend on the order of decisions, to be judged again when more is known."""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final
from uuid import UUID

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns, StatefulPluginError
from schedviz.explain.shadowing.binding_recheck import BindingRecheck, Vanished
from schedviz.explain.shadowing.decision_times import DecisionTimes
from schedviz.explain.shadowing.in_flight import Bound, Move, undecided
from schedviz.explain.shadowing.judgement import Judgement
from schedviz.explain.shadowing.shadow import DISAGREEMENTS
from schedviz.kube.core import Pod
from schedviz.sessions.observing import decision_times

logger = logging.getLogger(__name__)

#: How long a binding waits to be judged again: times of decisions, and bindings that were decided before it, may arrive after it.
RECHECK_DELAY_SECONDS: Final = 2.0
#: The CPU time for judging bindings again: after each slice, so that a cluster that seldom agrees does not slow down its session, and when
#: the session is released. The remaining bindings wait for the next slice.
_SLICE_CPU_SECONDS: Final = 0.01
_RELEASE_CPU_SECONDS: Final = 1.0
#: How far a scheduler's informer of nodes may lag behind that of pods.
_INFORMER_LAG_SECONDS: Final = 1.0
_MAX_NODE_CHANGES: Final = 4096
#: The maximum number of bindings that wait. Beyond that, the first verdict stands.
_MAX_QUEUED: Final = 512
_MAX_VANISHED: Final = 256


class Recheck(msgspec.Struct, frozen=True):
    """A binding, the event before it, its first verdict, and when that was given."""

    bound: Bound
    event: int
    judgement: Judgement
    at: float


class RecheckQueue:
    """The bindings of one session that are to be judged again."""

    def __init__(self, session_id: UUID, *, clock: Callable[[], float], release_differs: Callable[[], bool]) -> None:
        self._session_id = session_id
        self._clock = clock
        self._release_differs = release_differs
        self._waiting: deque[Recheck] = deque()
        self._times = DecisionTimes()
        #: The last batch whose times were read.
        self._last_read_batch = 0
        self._vanished: deque[Vanished] = deque(maxlen=_MAX_VANISHED)
        #: When nodes changed last, the latest change at the end.
        self._node_changes: dict[str, float] = {}

    def note_node_change(self, name: str) -> None:
        """Note that a node is about to change."""
        self._node_changes.pop(name, None)
        self._node_changes[name] = self._clock()
        if len(self._node_changes) > _MAX_NODE_CHANGES:
            del self._node_changes[next(iter(self._node_changes))]

    def undecided_if_nodes_changed(self, node: str, judgement: Judgement, *, since: float) -> Judgement:
        """The judgement of a binding to `node`, but a disagreement is `undecided` if that node or one that this engine prefers has changed
        about `since`, or later: a dry run sees nodes as they are, not as the scheduler knew them.
        """
        if judgement.verdict not in DISAGREEMENTS or not self._node_changes:
            return judgement
        names = [node, *(judgement.choice.best if judgement.choice is not None else ())]
        changed = any(self._node_changes.get(name, -math.inf) > since - _INFORMER_LAG_SECONDS for name in names)
        return undecided(judgement) if changed else judgement

    def note_vanished(self, pod: Pod, number: int) -> None:
        """Note that a pod was deleted while it was pending, after this number of moves."""
        self._vanished.append(Vanished(pod, number))

    def may_change(self, bound: Bound, *, has_times: bool, is_retrying: bool) -> bool:
        """Whether more may become known about the order in which a binding was decided.

        `has_times`: the observer pushes times; `is_retrying`: rejected pods are tried again at times that are not known.
        """
        if not bound.is_ordered or len(self._waiting) >= _MAX_QUEUED:
            return False
        return (
            has_times
            or is_retrying
            or any(bound.arrived_after_move is None or number > bound.arrived_after_move for _, number in self._vanished)
        )

    def add(self, bound: Bound, event: int, judgement: Judgement) -> None:
        """Queue a binding to be judged again."""
        self._waiting.append(Recheck(bound, event, judgement, self._clock()))

    def due(self, simulation: Simulation, dry_runs: LiveDryRuns, moves: Iterable[Move], *, now: bool) -> list[tuple[Recheck, Judgement]]:
        """The bindings that have waited long enough, with their verdicts; some of them stay for the next call. `now`: all in the queue."""
        if not self._waiting or not (now or self._is_due(self._waiting[0])):
            return []
        self._last_read_batch, times = decision_times.read_after(self._session_id, self._last_read_batch)
        self._times.add(times)
        binding_recheck = BindingRecheck(
            simulation, dry_runs, moves=list(moves), vanished=self._vanished, times=self._times, release_differs=self._release_differs
        )
        found: list[tuple[Recheck, Judgement]] = []
        until = time.thread_time() + (_RELEASE_CPU_SECONDS if now else _SLICE_CPU_SECONDS)
        while self._waiting and (now or self._is_due(self._waiting[0])):
            is_late = time.thread_time() >= until
            if is_late and not now:
                break
            recheck = self._waiting.popleft()
            judgement = recheck.judgement if is_late else self._judged(binding_recheck, recheck)
            if not self._is_due(recheck) and judgement.verdict in DISAGREEMENTS:
                # It was not judged again, so a disagreement is not certain.
                judgement = undecided(judgement)
            judgement = self.undecided_if_nodes_changed(recheck.bound.node, judgement, since=recheck.at)
            found.append((recheck, judgement))
        return found

    def _is_due(self, recheck: Recheck) -> bool:
        return self._clock() - recheck.at >= RECHECK_DELAY_SECONDS

    def _judged(self, binding_recheck: BindingRecheck, recheck: Recheck) -> Judgement:
        try:
            return binding_recheck.judge(recheck.bound, recheck.judgement)
        except StatefulPluginError:
            return recheck.judgement
        except Exception:
            logger.exception("the recheck of the binding of %s in session %s failed", recheck.bound.pod.key, self._session_id)
            return recheck.judgement

    def __len__(self) -> int:
        return len(self._waiting)
