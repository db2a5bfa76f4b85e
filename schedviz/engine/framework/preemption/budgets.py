"""Which pods a disruption budget protects. Upstream: filterPodsWithPDBViolation"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod
from schedviz.kube.selector_index import SelectorIndex
from schedviz.kube.selectors import Selector, SelectorError, label_selector

#: For how many sets of labels the budgets are kept.
_MAX_KNOWN: Final = 100_000

IntArray = npt.NDArray[np.intp]
_NONE: Final[IntArray] = np.empty(0, np.intp)


class Budgets:
    """Disruption budgets, indexed by what their selectors require. Falsy if there are none."""

    def __init__(self, budgets: Sequence[Any]) -> None:
        """`budgets`: as the lister returns them. The same list means that nothing has changed."""
        self.all = budgets
        self.allowed: IntArray = np.array([budget.status.disruptions_allowed for budget in budgets], np.int64)
        self._index = SelectorIndex((budget.namespace, _selector_of(budget)) for budget in budgets)
        #: By namespace and labels.
        self._known: dict[tuple[str, frozenset[tuple[str, str]]], IntArray] = {}
        #: Evictions that were granted: numbers of budgets by namespace and name of the pod.
        self._granted: dict[tuple[str, str], list[int]] = {}
        for number, budget in enumerate(budgets):
            for name in budget.status.disrupted_pods:
                self._granted.setdefault((budget.namespace, name), []).append(number)

    def __bool__(self) -> bool:
        return bool(self.all)

    def protecting(self, pod: Pod) -> IntArray:
        """The numbers of the budgets against which evicting the pod counts, in order. An eviction that was already granted does not."""
        labels = pod.metadata.labels
        if not labels:
            return _NONE
        key = (pod.namespace, frozenset(labels.items()))
        numbers = self._known.get(key)
        if numbers is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            numbers = self._known[key] = np.array(self._index.matching(pod.namespace, labels), np.intp)
        granted = self._granted.get((pod.namespace, pod.name))
        return numbers if granted is None else numbers[~np.isin(numbers, granted)]


def _selector_of(budget: Any) -> Selector | None:
    """The selector of a budget; None if it selects nothing here: it is empty or invalid."""
    try:
        selector = label_selector(budget.spec.selector)
    except SelectorError:
        return None
    return None if selector.is_empty else selector


class KnownBudgets:
    """The newest `Budgets`, kept until the budgets change."""

    def __init__(self) -> None:
        self._budgets = Budgets(())

    def index_of(self, budgets: Sequence[Any]) -> Budgets:
        """The index of these budgets."""
        if self._budgets.all is not budgets:
            self._budgets = Budgets(budgets)
        return self._budgets


def by_budget(pods: Sequence[PodInfo], budgets: Budgets) -> tuple[list[PodInfo], list[PodInfo]]:
    """Pods whose eviction violates a disruption budget, and the others, each in order. Upstream: filterPodsWithPDBViolation"""
    if not budgets:
        return [], list(pods)
    allowed = budgets.allowed.copy()
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        protecting = budgets.protecting(pod.pod)
        if len(protecting):
            # A pod can have many budgets.
            left = allowed[protecting] - 1
            allowed[protecting] = left
            (violating if left.min() < 0 else others).append(pod)
        else:
            others.append(pod)
    return violating, others
