"""The index of disruption budgets finds the budgets that a comparison of each budget with each pod finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from schedviz.engine.framework.preemption.budgets import Budgets, KnownBudgets, by_budget
from schedviz.engine.framework.types import PodInfo
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.selectors import label_selector


def budget(number: int, selector: dict[str, Any] | None, *, namespace: str = "a", allowed: int = 0, disrupted: tuple[str, ...] = ()) -> Any:
    status = {"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(disrupted)}
    return codec.from_dict(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": f"b{number}", "namespace": namespace},
            "spec": {} if selector is None else {"selector": selector},
            "status": status,
        }
    )


def pod(name: str, labels: dict[str, str], namespace: str = "a") -> Pod:
    made = codec.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, "labels": labels}})
    assert isinstance(made, Pod)
    return made


SELECTORS: list[dict[str, Any] | None] = [
    None,
    {},
    {"matchLabels": {"app": "x"}},
    {"matchLabels": {"app": "y", "tier": "1"}},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x", "z"]}]},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]},
    {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}], "matchLabels": {"app": "z"}},
]


@pytest.mark.parametrize("seed", range(5))
def test_the_budgets_of_a_pod_are_those_whose_selectors_match(seed: int) -> None:
    source = random.Random(seed)
    budgets = [
        budget(number, source.choice(SELECTORS), namespace=source.choice("ab"), disrupted=source.choice(((), ("p1", "p2"))))
        for number in range(40)
    ]
    index = Budgets(budgets)
    for number in range(60):
        labels = {key: value for key, value in (("app", source.choice("xyz")), ("tier", source.choice("12"))) if source.random() < 0.8}
        one = pod(f"p{number % 5}", labels, source.choice("ab"))
        expected = [
            place
            for place, each in enumerate(budgets)
            if each.namespace == one.namespace
            and labels
            and one.name not in each.status.disrupted_pods
            and not label_selector(each.spec.selector).is_empty
            and label_selector(each.spec.selector).matches(labels)
        ]
        assert index.protecting(one).tolist() == expected


def test_pods_violate_a_budget_from_the_first_that_it_does_not_allow() -> None:
    pods = [PodInfo(pod(f"p{number}", {"app": "x"})) for number in range(4)]
    violating, others = by_budget(pods, Budgets([budget(0, SELECTORS[2], allowed=2), budget(1, SELECTORS[4], allowed=3)]))
    assert [each.pod.name for each in others] == ["p0", "p1"]
    assert [each.pod.name for each in violating] == ["p2", "p3"]


def test_the_index_is_kept_until_the_budgets_change() -> None:
    known, budgets = KnownBudgets(), [budget(0, SELECTORS[2])]
    assert known.index_of(budgets) is known.index_of(budgets)
    assert known.index_of(budgets) is not known.index_of(list(budgets))
