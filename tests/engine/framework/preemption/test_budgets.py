"""`Budgets` against upstream's loops over all pods and all budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schedviz.engine.framework.preemption.budgets import Budgets
from schedviz.engine.framework.types import PodInfo
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.policy import PodDisruptionBudget
from schedviz.kube.selectors import SelectorError, label_selector

LABELS = st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"))
SELECTORS: st.SearchStrategy[dict[str, Any] | None] = st.one_of(
    st.none(),
    st.builds(lambda labels: {"matchLabels": labels}, LABELS),
    st.builds(
        lambda operator, values: {"matchExpressions": [{"key": "a", "operator": operator, "values": values}]},
        st.sampled_from(["In", "NotIn", "Exists", "NoSuchOperator"]),
        st.lists(st.sampled_from("xy"), max_size=1),
    ),
)


@st.composite
def budgets(draw: st.DrawFn) -> PodDisruptionBudget:
    granted = draw(st.lists(st.sampled_from(["p0", "p1"]), unique=True))
    made = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": draw(st.sampled_from(["n", "other"]))},
        "spec": {"selector": draw(SELECTORS)},
        "status": {"disruptionsAllowed": draw(st.integers(0, 2)), "disruptedPods": dict.fromkeys(granted)},
    }
    budget = codec.from_dict(made)
    assert isinstance(budget, PodDisruptionBudget)
    return budget


def pod(number: int, labels: dict[str, str]) -> PodInfo:
    made = codec.from_dict({"kind": "Pod", "metadata": {"name": f"p{number}", "namespace": "n", "labels": labels}})
    assert isinstance(made, Pod)
    return PodInfo(made)


def protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    if budget.namespace != pod.namespace or not pod.metadata.labels or pod.name in budget.status.disrupted_pods:
        return False
    try:
        selector = label_selector(budget.spec.selector)
    except SelectorError:
        return False
    return not selector.is_empty and selector.matches(pod.metadata.labels)


def violations(pods: Sequence[PodInfo], found: Sequence[PodDisruptionBudget], *, stops_at_first: bool) -> list[bool]:
    allowed = [budget.status.disruptions_allowed for budget in found]
    result = []
    for info in pods:
        violates = False
        for place, budget in enumerate(found):
            if protects(budget, info.pod) and not (violates and stops_at_first):
                allowed[place] -= 1
                violates = violates or allowed[place] < 0
        result.append(violates)
    return result


@given(st.lists(budgets(), max_size=5), st.lists(LABELS, max_size=6))
def test_pods_that_violate_a_budget_come_first(found: list[PodDisruptionBudget], labels: list[dict[str, str]]) -> None:
    pods = [pod(number, of_pod) for number, of_pod in enumerate(labels)]
    expected = violations(pods, found, stops_at_first=False)

    violating, others = Budgets(found).split(pods)

    assert violating == [info for info, violates in zip(pods, expected, strict=True) if violates]
    assert others == [info for info, violates in zip(pods, expected, strict=True) if not violates]


@given(st.lists(budgets(), max_size=5), st.lists(LABELS, max_size=6))
def test_groups_charge_budgets_until_one_is_used_up(found: list[PodDisruptionBudget], labels: list[dict[str, str]]) -> None:
    pods = [pod(number, of_pod) for number, of_pod in enumerate(labels)]
    evictions = Budgets(found).evictions()

    assert [evictions.violate_first(info.pod) for info in pods] == violations(pods, found, stops_at_first=True)
