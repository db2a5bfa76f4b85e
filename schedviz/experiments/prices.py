"""The prices of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan import INSTANCE_TYPE, Prices
from schedviz.kube.core import Node
from schedviz.kube.meta import KubeObject

#: The label of older versions.
_OLD_INSTANCE_TYPE: Final = "beta.kubernetes.io/instance-type"


def price_of(node: Node, prices: Prices) -> float | None:
    """The price of a node per hour; None: the plan has none for it."""
    return prices.per_hour.get(_value(node, prices), prices.default)


def validate_prices(prices: Prices, objects: Iterable[KubeObject]) -> None:
    """Raise `PlanError` if a node has no price."""
    for obj in objects:
        if isinstance(obj, Node) and price_of(obj, prices) is None:
            value = _value(obj, prices)
            why = f"its label {prices.label} is {value!r}" if value else f"it has no label {prices.label}"
            raise PlanError.of("prices.perHour", f"the node {obj.name} has no price: {why}; add it, or a default")


def _value(node: Node, prices: Prices) -> str:
    labels = node.metadata.labels
    if prices.label in labels:
        return labels[prices.label]
    return labels.get(_OLD_INSTANCE_TYPE, "") if prices.label == INSTANCE_TYPE else ""
