"""Scheduling attempts of the workload's pods, and their waiting times in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedviz.experiments.measures.measure import measure

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial


@measure("attempts", title="Scheduling attempts: of all pods, and the most of one pod", unit="count", better="lower")
def attempts(trial: FinishedTrial) -> dict[str, float]:
    return {"all": len(trial.attempts), "most": max((attempt.attempt for attempt in trial.attempts), default=0)}


@measure(
    "waiting",
    title="Virtual time from a pod's arrival to the cycle that scheduled it: median (p50), 99th percentile (p99) and maximum",
    unit="seconds",
    better="lower",
)
def waiting(trial: FinishedTrial) -> dict[str, float]:
    waited = [attempt.waited_seconds for attempt in trial.attempts if attempt.node]
    if not waited:
        return {}
    return {"p50": float(np.percentile(waited, 50)), "p99": float(np.percentile(waited, 99)), "max": max(waited)}


@measure("evaluatedNodes", title="Nodes that Filter evaluated in a scheduling cycle, mean", unit="nodes", better="lower")
def evaluated(trial: FinishedTrial) -> dict[str, float]:
    evaluated = [attempt.evaluated_nodes for attempt in trial.attempts]
    return {"mean": sum(evaluated) / len(evaluated)} if evaluated else {}
