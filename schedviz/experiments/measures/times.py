"""CPU times of the engine. Not deterministic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedviz.experiments.measures.measure import measure

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial


@measure(
    "engineSeconds", title="CPU time of the engine of schedviz, not of kube-scheduler", unit="seconds", better="lower", is_volatile=True
)
def engine_seconds(trial: FinishedTrial) -> float:
    return trial.engine_seconds
