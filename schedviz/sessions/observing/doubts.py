"""`Doubts`: bindings whose first verdict may depend on the order of decisions. They are judged again when more is known."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final
from uuid import UUID

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns, StatefulPluginError
from schedviz.explain.decision_times import DecisionTimes
from schedviz.explain.in_flight import Bound, Move, undecided
from schedviz.explain.judgement import Judgement
from schedviz.explain.second_look import SecondLook, Vanished
from schedviz.explain.shadow import DISAGREEMENTS
from schedviz.kube.core import Pod
from schedviz.sessions.observing import decision_times

logger = logging.getLogger(__name__)

#: How long a binding waits to be judged again: times of decisions, and bindings that were decided before it, may arrive after it.
DOUBT_SECONDS: Final = 2.0
#: The CPU time for judging bindings again: after each slice, so that a cluster that seldom agrees does not slow down its session, and when
#: the session is released. The remaining bindings wait for the next slice.
_SLICE_SECONDS: Final = 0.01
_LEAVING_SECONDS: Final = 1.0
#: The maximum number of bindings that wait. Beyond that, the first verdict stands.
_MOST_DOUBTS: Final = 512
_MOST_VANISHED: Final = 256


class Doubt(msgspec.Struct, frozen=True):
    """A binding, the event before it, its first verdict, and when that was given."""

    bound: Bound
    event: int
    judgement: Judgement
    at: float


class Doubts:
    """The doubtful bindings of one session."""

    def __init__(self, session_id: UUID, *, clock: Callable[[], float], release_differs: Callable[[], bool]) -> None:
        self._session_id = session_id
        self._clock = clock
        self._release_differs = release_differs
        self._waiting: deque[Doubt] = deque()
        self._times = DecisionTimes()
        #: The last batch of which the times were read.
        self._read = 0
        self._vanished: deque[Vanished] = deque(maxlen=_MOST_VANISHED)

    def vanished(self, pod: Pod, number: int) -> None:
        """Note that a pod was deleted while it was pending, after this number of moves."""
        self._vanished.append(Vanished(pod, number))

    def may_change(self, one: Bound, *, has_times: bool, is_retrying: bool) -> bool:
        """Whether more may become known about the order in which a binding was decided.

        `has_times`: the observer pushes times; `is_retrying`: rejected pods are tried again at times that are not known.
        """
        if not one.is_ordered or len(self._waiting) >= _MOST_DOUBTS:
            return False
        return has_times or is_retrying or any(one.arrived is None or number > one.arrived for _, number in self._vanished)

    def add(self, one: Bound, event: int, judgement: Judgement) -> None:
        """Let a binding be judged again."""
        self._waiting.append(Doubt(one, event, judgement, self._clock()))

    def settled(self, simulation: Simulation, dry_runs: LiveDryRuns, moves: Iterable[Move], *, now: bool) -> list[tuple[Doubt, Judgement]]:
        """The bindings that have waited long enough, with their verdicts; some of them stay for the next call. `now`: all that wait."""
        if not self._waiting or not (now or self._is_due(self._waiting[0])):
            return []
        self._read, times = decision_times.read_after(self._session_id, self._read)
        self._times.add(times)
        look = SecondLook(
            simulation, dry_runs, moves=list(moves), vanished=self._vanished, times=self._times, release_differs=self._release_differs
        )
        found: list[tuple[Doubt, Judgement]] = []
        until = time.thread_time() + (_LEAVING_SECONDS if now else _SLICE_SECONDS)
        while self._waiting and (now or self._is_due(self._waiting[0])):
            is_late = time.thread_time() >= until
            if is_late and not now:
                break
            doubt = self._waiting.popleft()
            judgement = doubt.judgement if is_late else self._judged(look, doubt)
            if not self._is_due(doubt) and judgement.verdict in DISAGREEMENTS:
                # It was not judged again, so a disagreement is not certain.
                judgement = undecided(judgement)
            found.append((doubt, judgement))
        return found

    def _is_due(self, doubt: Doubt) -> bool:
        return self._clock() - doubt.at >= DOUBT_SECONDS

    def _judged(self, look: SecondLook, doubt: Doubt) -> Judgement:
        try:
            return look.judge(doubt.bound, doubt.judgement)
        except StatefulPluginError:
            return doubt.judgement
        except Exception:
            logger.exception("the second look at the binding of %s in session %s failed", doubt.bound.pod.key, self._session_id)
            return doubt.judgement

    def __len__(self) -> int:
        return len(self._waiting)
