"""Which pods a disruption budget protects. Upstream: filterPodsWithPDBViolation"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod
from schedviz.kube.selectors import SelectorError, label_selector


def protects(budget: Any, pod: Pod) -> bool:
    """Whether evicting the pod counts against the budget. An eviction that was already granted does not."""
    if budget.namespace != pod.namespace or not pod.metadata.labels or pod.name in budget.status.disrupted_pods:
        return False
    try:
        selector = label_selector(budget.spec.selector)
    except SelectorError:
        return False
    return not selector.is_empty and selector.matches(pod.metadata.labels)


def by_budget(pods: Sequence[PodInfo], budgets: Sequence[Any]) -> tuple[list[PodInfo], list[PodInfo]]:
    """Pods whose eviction violates a disruption budget, and the others, each in order. Upstream: filterPodsWithPDBViolation"""
    if not budgets:
        return [], list(pods)
    allowed = [budget.status.disruptions_allowed for budget in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        violates = False
        for index, budget in enumerate(budgets):
            if protects(budget, pod.pod):
                allowed[index] -= 1
                violates = violates or allowed[index] < 0
        (violating if violates else others).append(pod)
    return violating, others
