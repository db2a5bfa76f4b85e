"""The index finds the selectors that match, in order, as a look at each of them does."""

from __future__ import annotations

import random

import pytest

from schedviz.kube.meta import LabelSelector, LabelSelectorRequirement
from schedviz.kube.selector_index import SelectorIndex
from schedviz.kube.selectors import label_selector

SELECTORS = [
    LabelSelector(),
    LabelSelector(match_labels={"app": "x"}),
    LabelSelector(match_labels={"app": "y", "tier": "1"}),
    LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="In", values=("x", "z", "x")),)),
    LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="NotIn", values=("x",)),)),
    LabelSelector(match_expressions=(LabelSelectorRequirement(key="tier", operator="Exists"),)),
    None,
]


@pytest.mark.parametrize("seed", range(5))
def test_the_selectors_that_match_are_found(seed: int) -> None:
    source = random.Random(seed)
    selectors = [(source.choice("ab"), label_selector(source.choice(SELECTORS))) for _ in range(30)]
    index = SelectorIndex([*selectors, ("a", None)])
    for _ in range(50):
        labels = {key: value for key, value in (("app", source.choice("xyz")), ("tier", source.choice("12"))) if source.random() < 0.7}
        expected = [number for number, (namespace, selector) in enumerate(selectors) if namespace == "a" and selector.matches(labels)]
        assert index.matching("a", labels) == expected
