"""Preemptions and evicted pods."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from schedviz.experiments.measures.measure import measure
from schedviz.kube.selectors import SelectorError, label_selector

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial


@measure("preemptions", title="Scheduling cycles that evicted pods", unit="count", better="lower")
def preemptions(trial: FinishedTrial) -> float:
    return sum(bool(attempt.victims) for attempt in trial.attempts)


@measure("victims", title="Pods that were evicted by preemption", unit="pods", better="lower")
def victims(trial: FinishedTrial) -> float:
    return len(trial.gone)


@measure("pdbViolations", title="Evicted pods beyond what their disruption budgets allowed at the beginning", unit="pods", better="lower")
def pdb_violations(trial: FinishedTrial) -> float:
    violations = 0
    for budget in trial.budgets:
        with contextlib.suppress(SelectorError):
            selector = label_selector(budget.spec.selector)
            hit = sum(pod.namespace == budget.namespace and selector.matches(pod.metadata.labels) for pod in trial.gone.values())
            violations += max(0, hit - budget.status.disruptions_allowed)
    return violations
