"""CPU times of the engine. Not deterministic."""

from __future__ import annotations

from schedviz.experiments.finished import FinishedTrial
from schedviz.experiments.measures.measure import measure


@measure(
    "engineSeconds", title="CPU time of the engine of schedviz, not of kube-scheduler", unit="seconds", better="lower", is_volatile=True
)
def engine_seconds(trial: FinishedTrial) -> float:
    return trial.engine_seconds
