"""The fewest nodes that hold a cluster's pods.

Nodes are drained in order of their usage, the least used first, and their pods are scheduled again on the others. A binary search finds the
largest number of nodes that can be removed, in about log2(nodes) runs. It assumes that removing more nodes leaves more pods pending, which
is not always so. The result is therefore a number that was tried and works, while the next larger one was tried and does not.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from schedviz.experiments.capacity.placing import Placed, place_without
from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.kube.core import Node, Pod

ReportProgress = Callable[[str], object]


class MinimumNodes(msgspec.Struct, frozen=True, rename="camel"):
    """The number of nodes that suffices, and what prevents a smaller one."""

    #: The number of nodes of the cluster.
    nodes: int
    #: The number of nodes that suffices.
    needed: int
    #: The nodes that can be removed, in the order in which to drain them.
    removable: list[str]
    #: The pods that would be pending if the next node in drain order were removed, with the reasons (on the wire: `nextStops`); empty if
    #: all nodes can be removed. `greedy` skips that node and goes on, so pods that later removals would leave pending are not among them.
    blocking_pods: dict[str, str] = msgspec.field(name="nextStops")
    #: Pods that are pending even with all nodes. They are not counted.
    pending_before: int
    runs: int


def minimum_nodes(base: BaseCluster, *, greedy: bool = False, report: ReportProgress = lambda _: None) -> MinimumNodes:
    """Search for the fewest nodes. With `greedy`, each remaining node is then removed on its own if possible, which takes one run per node
    and can remove more nodes.
    """
    order = drain_order(base)
    before = place_without(base, ())
    runs = 1

    def lost(removed: list[str]) -> dict[str, str]:
        nonlocal runs
        runs += 1
        report(f"run {runs}: without {len(removed)} of {len(order)} nodes")
        return _lost(base, removed, before)

    good, bad = 0, len(order) + 1
    stops: dict[str, str] = {}
    while bad - good > 1:
        middle = (good + bad) // 2
        pending = lost(order[:middle])
        if pending:
            bad, stops = middle, pending
        else:
            good = middle
    removed = order[:good]
    if greedy:
        for name in order[good + 1 :]:
            if not lost([*removed, name]):
                removed.append(name)
    return MinimumNodes(len(order), len(order) - len(removed), removed, stops, len(before.pending), runs)


def _lost(base: BaseCluster, removed: list[str], before: Placed) -> dict[str, str]:
    return place_without(base, removed).worse_than(before)


def drain_order(base: BaseCluster) -> list[str]:
    """The nodes, sorted by the requested share of their scarcer resource (cpu or memory), smallest first. Pods of DaemonSets are not
    counted.
    """
    used: dict[str, list[float]] = {}
    amounts: dict[str, tuple[int, int]] = {}
    for obj in base.objects:
        if isinstance(obj, Node):
            cpu, memory = obj.status.allocatable.get("cpu"), obj.status.allocatable.get("memory")
            amounts[obj.name] = (cpu.milli_value if cpu else 0, memory.value if memory else 0)
            used.setdefault(obj.name, [0.0, 0.0])
        elif isinstance(obj, Pod) and obj.spec.node_name and not obj.is_of_daemon_set:
            total = used.setdefault(obj.spec.node_name, [0.0, 0.0])
            for container in obj.spec.containers:
                requests = container.resources.requests
                total[0] += requests["cpu"].milli_value if "cpu" in requests else 0
                total[1] += requests["memory"].value if "memory" in requests else 0

    def share(name: str) -> float:
        return max((use / amount for use, amount in zip(used[name], amounts[name], strict=True) if amount), default=0.0)

    return sorted(amounts, key=lambda name: (share(name), name))
