"""Memos: a function of a pod, computed once per pod, or once for all pods that selectors treat alike.

A row is recomputed when a pod was added to or removed from its node; the values of its other pods have not changed. Looking up 40 values
takes 2 µs; matching 40 pods against a selector takes 40.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from schedviz.engine.framework.types import PodInfo, SelectionKey

Value = TypeVar("Value")

#: Up to this number of pods, values are computed again.
_MAX_RECOMPUTED: Final = 4
#: The maximum number of kept values: those of a few crowded nodes, which are read again and again.
_MAX_VALUES: Final = 1024


class SelectionMemo(Generic[Value]):
    """Values of a function that depends only on a pod's `SelectionKey`: computed once for pods with equal keys."""

    __slots__ = ("_compute", "_known")

    def __init__(self, compute: Callable[[PodInfo], Value]) -> None:
        self._compute = compute
        self._known: dict[SelectionKey | None, Value] = {}

    def __call__(self, pods: Sequence[PodInfo]) -> Sequence[Value]:
        """The values for these pods, in their order."""
        cached = self._known
        try:
            # The attribute is read faster than the property. It is None, which is no key, if a pod's key was not computed yet.
            return [cached[pod.computed_selection_key] for pod in pods]
        except KeyError:
            if len(cached) > _MAX_VALUES:
                cached.clear()
            for pod in pods:
                if pod.selection_key not in cached:
                    cached[pod.selection_key] = self._compute(pod)
            return [cached[pod.selection_key] for pod in pods]


class PodMemo(Generic[Value]):
    """Values of a function. A value must depend only on the PodInfo and must not be None."""

    __slots__ = ("_compute", "_known")

    def __init__(self, compute: Callable[[PodInfo], Value]) -> None:
        self._compute = compute
        self._known: dict[PodInfo, Value] = {}

    def __call__(self, pods: Sequence[PodInfo]) -> Sequence[Value]:
        """The values for these pods, in their order."""
        if len(pods) <= _MAX_RECOMPUTED:
            return [self._compute(pod) for pod in pods]
        values = list(map(self._known.get, pods))
        if None in values:
            if len(self._known) > _MAX_VALUES:
                self._known.clear()
            for index, pod in enumerate(pods):
                if values[index] is None:
                    values[index] = self._known[pod] = self._compute(pod)
        return values  # type: ignore[return-value]  # none of them is None any more
