"""Which pods disruption budgets protect. Upstream: filterPodsWithPDBViolation"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.verdicts import Index
from schedviz.kube.core import Pod
from schedviz.kube.policy import PodDisruptionBudget
from schedviz.kube.selectors import Selector, SelectorError, label_selector

#: Namespace and labels of pods: the same budgets apply to pods that share them.
_Shape = tuple[str, frozenset[tuple[str, str]]]
#: For how many shapes the budgets are kept.
_MAX_SHAPES: Final = 20_000


class _Budget(NamedTuple):
    """A budget that can protect pods, with its place among all."""

    place: int
    selector: Selector
    disrupted_pods: dict[str, str | None]


class _Protecting(NamedTuple):
    """The budgets of a shape."""

    places: Index
    #: Those with evictions that were already granted, which do not count.
    disrupted: Sequence[_Budget]


class Budgets:
    """The disruption budgets of a cluster. Selectors are parsed once, and the budgets of pods with equal labels are found once."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._allowed: npt.NDArray[np.int64] = np.array([budget.status.disruptions_allowed for budget in budgets], np.int64)
        self._by_namespace: dict[str, list[_Budget]] = defaultdict(list)
        for place, budget in enumerate(budgets):
            try:
                selector = label_selector(budget.spec.selector)
            except SelectorError:
                continue
            if not selector.is_empty:
                self._by_namespace[budget.namespace].append(_Budget(place, selector, budget.status.disrupted_pods))
        self._of_shape: dict[_Shape, _Protecting] = {}

    def __bool__(self) -> bool:
        return len(self._allowed) > 0

    def protecting(self, pod: Pod) -> Index:
        """The places of the budgets against which an eviction of the pod counts. One that was already granted does not."""
        labels = pod.metadata.labels
        if not labels:
            return _NONE
        shape = (pod.namespace, frozenset(labels.items()))
        protecting = self._of_shape.get(shape)
        if protecting is None:
            if len(self._of_shape) >= _MAX_SHAPES:
                self._of_shape.clear()
            protecting = self._of_shape[shape] = self._find(pod)
        if not protecting.disrupted:
            return protecting.places
        granted = [budget.place for budget in protecting.disrupted if pod.name in budget.disrupted_pods]
        return np.setdiff1d(protecting.places, granted, assume_unique=True) if granted else protecting.places

    def _find(self, pod: Pod) -> _Protecting:
        budgets = [budget for budget in self._by_namespace.get(pod.namespace, ()) if budget.selector.matches(pod.metadata.labels)]
        places = np.array([budget.place for budget in budgets], np.intp)
        return _Protecting(places, [budget for budget in budgets if budget.disrupted_pods])

    def evictions(self) -> Evictions:
        """The evictions of one preemption, of which there are none yet."""
        return Evictions(self, self._allowed)

    def split(self, pods: Iterable[PodInfo]) -> tuple[list[PodInfo], list[PodInfo]]:
        """Pods whose eviction violates a budget, and the others, each in order. Upstream: filterPodsWithPDBViolation"""
        if not self:
            return [], list(pods)
        evictions = self.evictions()
        violating: list[PodInfo] = []
        others: list[PodInfo] = []
        for pod in pods:
            (violating if evictions.violate(pod.pod) else others).append(pod)
        return violating, others


class Evictions:
    """Counts evictions against the budgets."""

    def __init__(self, budgets: Budgets, allowed: npt.NDArray[np.int64]) -> None:
        self._budgets = budgets
        self._left = allowed.copy()

    def violate(self, pod: Pod) -> bool:
        """Charge an eviction to every budget of the pod. Returns whether one of them is used up."""
        places = self._budgets.protecting(pod)
        if not len(places):
            return False
        self._left[places] -= 1
        return bool((self._left[places] < 0).any())

    def violate_first(self, pod: Pod) -> bool:
        """Charge an eviction to the pod's budgets, in their order, until one is used up. Upstream: filterVictimsWithPDBViolation"""
        places = self._budgets.protecting(pod)
        used_up = np.flatnonzero(self._left[places] < 1)
        self._left[places[: used_up[0] + 1] if len(used_up) else places] -= 1
        return len(used_up) > 0


_NONE: Final[Index] = np.array([], np.intp)
