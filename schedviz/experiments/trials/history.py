"""The history of a trial: one small record for each scheduling cycle. Measures read it when the trial has ended."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedviz.explain.messages.main_reason import nearest_reason
from schedviz.trace.view import CycleView, StageView


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """A scheduling cycle of one pod."""

    #: The cycle's number.
    cycle: int
    #: `namespace/name`.
    pod: str
    #: As `CycleView.outcome`.
    outcome: str
    #: The node; "" if the pod was not scheduled.
    node: str
    #: In virtual time: since the start of the trial, and since the pod arrived.
    at_seconds: float
    waited_seconds: float
    #: The number of the pod's attempt, from 1.
    attempt: int
    evaluated_nodes: int
    feasible_nodes: int
    #: Pods that it preempted.
    victims: tuple[str, ...] = ()


class History:
    """The cycles of a trial, added as they end."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        #: Pod -> when it was created, in virtual seconds, for pods that did not exist at the start.
        self.arrivals: dict[str, float] = {}
        #: Pod -> the reason why its last cycle did not schedule it.
        self.reasons: dict[str, str] = {}

    def add(self, cycles: Iterable[CycleView]) -> None:
        """Add cycles that have ended."""
        for cycle in cycles:
            self.attempts.append(_attempt(cycle, self.arrivals.get(cycle.pod, 0.0)))
            if cycle.outcome == "scheduled":
                self.reasons.pop(cycle.pod, None)
            elif cycle.outcome != "skipped":
                self.reasons[cycle.pod] = _reason(cycle)


def _attempt(cycle: CycleView, arrival: float) -> Attempt:
    victims = next((tuple(stage.facts["victims"]) for stage in cycle.stages if "victims" in stage.facts), ())
    return Attempt(
        cycle=cycle.cycle,
        pod=cycle.pod,
        outcome=cycle.outcome,
        node=cycle.node if cycle.outcome == "scheduled" else "",
        at_seconds=cycle.at_seconds,
        waited_seconds=cycle.at_seconds - arrival,
        attempt=cycle.attempts,
        evaluated_nodes=cycle.evaluated_nodes,
        feasible_nodes=cycle.feasible_nodes,
        victims=victims,
    )


def _reason(cycle: CycleView) -> str:
    if cycle.outcome == "error":
        return "error"
    if not cycle.all_nodes:
        return "there are no nodes"
    rejections = [rejection for stage in cycle.stages for rejection in stage.rejections]
    reason = nearest_reason((rejection.plugin, rejection.code, rejection.reasons, rejection.nodes) for rejection in rejections)
    return reason or next(filter(None, map(_status_reason, reversed(cycle.stages))), "") or "unknown"


def _status_reason(stage: StageView) -> str:
    """The first reason of a status that is not a success."""
    return next((status.reasons[0] for status in stage.statuses if status.code not in ("Success", "Skip") and status.reasons), "")
