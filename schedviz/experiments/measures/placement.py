"""How many pods of the workload have a node, and why the others do not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from schedviz.experiments.measures.measure import measure

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial


@measure("placed", title="Pods of the workload that have a node", unit="pods", better="higher")
def placed(trial: FinishedTrial) -> float:
    return len(trial.placements)


@measure("pending", title="Pods without a node", unit="pods", better="lower")
def pending(trial: FinishedTrial) -> float:
    return len(trial.pending)


@measure("pendingReason", title="Pods without a node, by the reason of the nearest nodes", unit="pods", better="lower", absent=0.0)
def pending_by_reason(trial: FinishedTrial) -> dict[str, float]:
    return dict(sorted(Counter(trial.pending.values()).items()))
