"""Which pods a disruption budget protects. Upstream: filterPodsWithPDBViolation"""

from __future__ import annotations

from typing import Any

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
