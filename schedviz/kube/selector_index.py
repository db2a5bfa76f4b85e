"""Finds the selectors that match labels, without a look at each: most of them require a value of a label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from schedviz.kube.selectors import Requirement, Selector

_EQUALITY: Final = frozenset({"=", "==", "in"})


def equality_requirement(selector: Selector) -> Requirement | None:
    """The first requirement that a label has one of some values; None if there is none."""
    return next((requirement for requirement in selector.requirements if requirement.operator in _EQUALITY), None)


class SelectorIndex:
    """Numbered selectors of namespaces."""

    def __init__(self, selectors: Iterable[tuple[str, Selector | None]]) -> None:
        """Each with its namespace, in order. None selects nothing."""
        numbered = list(selectors)
        self._selectors = [selector for _, selector in numbered]
        #: Numbers by namespace, key and value of a label that they require.
        self._by_label: dict[tuple[str, str, str], list[int]] = {}
        #: Those that require no value, by namespace.
        self._others: dict[str, list[int]] = {}
        for number, (namespace, selector) in enumerate(numbered):
            if selector is None:
                continue
            required = equality_requirement(selector)
            if required is None:
                self._others.setdefault(namespace, []).append(number)
                continue
            for value in dict.fromkeys(required.values):
                self._by_label.setdefault((namespace, required.key, value), []).append(number)

    def matching(self, namespace: str, labels: Mapping[str, str]) -> list[int]:
        """The numbers of the selectors that match these labels in a namespace, in order."""
        numbers = list(self._others.get(namespace, ()))
        for key, value in labels.items():
            numbers += self._by_label.get((namespace, key, value), ())
        return [number for number in sorted(numbers) if self._matches(number, labels)]

    def _matches(self, number: int, labels: Mapping[str, str]) -> bool:
        selector = self._selectors[number]
        return selector is not None and selector.matches(labels)
