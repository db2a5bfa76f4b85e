"""The utilisation of nodes in two views."""

from __future__ import annotations

from collections.abc import Iterable

from schedviz.trace.comparing.result import Amount, NodeUse, Use, Utilisation
from schedviz.trace.view import NodeItem, View


def compare_utilisation(a: View, b: View, *, maximum: int) -> Utilisation:
    """Requested and allocatable amounts of each node and of all nodes."""
    in_a, in_b = _uses(a), _uses(b)
    nodes = [NodeUse(name, in_a.get(name), in_b.get(name)) for name in sorted(in_a.keys() | in_b.keys())]
    nodes.sort(key=_distance, reverse=True)
    return Utilisation(
        a=_sum(in_a.values()),
        b=_sum(in_b.values()),
        empty_a=_empty(in_a),
        empty_b=_empty(in_b),
        nodes=nodes[:maximum],
        left_out=max(0, len(nodes) - maximum),
    )


def _uses(view: View) -> dict[str, Use]:
    return {item.name: _use(item) for item in view.cache.list if item.has_node}


def _use(item: NodeItem) -> Use:
    return Use(
        cpu=Amount(item.requested.milli_cpu, item.allocatable.milli_cpu),
        memory=Amount(item.requested.memory, item.allocatable.memory),
        pods=Amount(len(item.pod_order), item.allocatable.allowed_pod_number),
    )


def _sum(uses: Iterable[Use]) -> Use:
    all_of_them = list(uses)
    return Use(
        *(
            Amount(
                sum(getattr(use, name).requested for use in all_of_them),
                sum(getattr(use, name).allocatable for use in all_of_them),
            )
            for name in ("cpu", "memory", "pods")
        )
    )


def _empty(uses: dict[str, Use]) -> int:
    return sum(use.pods.requested == 0 for use in uses.values())


def _distance(pair: NodeUse) -> float:
    """The difference of a node's utilisation; nodes in only one run come first."""
    if pair.a is None or pair.b is None:
        return 4.0
    return sum(
        abs(_fraction(in_a) - _fraction(in_b))
        for in_a, in_b in ((pair.a.cpu, pair.b.cpu), (pair.a.memory, pair.b.memory), (pair.a.pods, pair.b.pods))
    )


def _fraction(amount: Amount) -> float:
    return amount.requested / amount.allocatable if amount.allocatable else 0.0
