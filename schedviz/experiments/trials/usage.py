"""The use of the nodes during a trial: series for plots, and means over time for measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.clock import SECOND
from schedviz.engine.framework.resource import Resource
from schedviz.experiments.amounts import amounts
from schedviz.experiments.trials.series import MAX_POINTS, Series, SeriesAxis
from schedviz.experiments.trials.usage_log import NodeOrPodWrite
from schedviz.kube.core import Node, Pod

#: Digits of the numbers of a series: a plot shows no more.
_DIGITS: Final = 6

_Floats = npt.NDArray[np.float64]


class UsageSource(msgspec.Struct, frozen=True):
    """What series are made of."""

    changes: Sequence[NodeOrPodWrite]
    #: The pods in the order in which they were tried first, with the numbers of those cycles.
    first_tries: Sequence[tuple[int, str]]
    workload: Mapping[str, Pod]
    resources: Sequence[str]
    requests_of: Callable[[Pod], Mapping[str, int]]
    #: Node -> its price per hour; empty: there is no series `cost`.
    prices: Mapping[str, float]
    axis: SeriesAxis
    #: The virtual time at the end, in nanoseconds.
    end: int


class Usage:
    """The sums over all nodes, after each change."""

    def __init__(self, source: UsageSource) -> None:
        self._source = source
        rows = _rows(source)
        #: Nanoseconds, or numbers of pods that have arrived. Ascending, from 0.
        self._at = np.array([at for at, _ in rows], dtype=np.int64)
        self._columns = np.array([row for _, row in rows], dtype=np.float64).T

    def series(self) -> dict[str, Series]:
        """The series by key."""
        points = self._points()
        places = np.searchsorted(self._at, points, side="right") - 1
        scale = SECOND if self._source.axis == "seconds" else 1
        at = [round(point / scale, _DIGITS) for point in points]
        return {key: Series(at, [round(value, _DIGITS) for value in curve[places].tolist()]) for key, curve in self._curves()}

    def means(self) -> dict[str, float]:
        """The mean of each series over virtual time, by key. Empty if all pods are there from the beginning."""
        end = self._source.end
        if self._source.axis != "seconds" or not end:
            return {}
        lengths = np.diff(np.append(self._at, end))
        return {key: float((curve * lengths).sum() / end) for key, curve in self._curves()}

    def _curves(self) -> Iterator[tuple[str, _Floats]]:
        resources = self._source.resources
        count = len(resources)
        for place, name in enumerate(resources):
            allocatable, requested = self._columns[place], self._columns[count + place]
            yield f"utilization.{name}", np.divide(requested, allocatable, out=np.zeros_like(requested), where=allocatable > 0)
        placed, pending, nodes_used, cost = self._columns[2 * count :]
        yield from (("placed", placed), ("pending", pending), ("nodesUsed", nodes_used))
        if self._source.prices:
            yield "cost", cost

    def _points(self) -> list[int]:
        """The points of a plot: every change if there are few of them, otherwise evenly spaced points."""
        last = len(self._source.first_tries) if self._source.axis == "pods" else self._source.end
        changes = sorted({*self._at.tolist(), last})
        if len(changes) <= MAX_POINTS:
            return changes
        return [round(place * last / (MAX_POINTS - 1)) for place in range(MAX_POINTS)]


def _rows(source: UsageSource) -> list[tuple[int, tuple[float, ...]]]:
    """Each point of the axis at which something changed, with the sums after it."""
    sums = _Sums(source)
    rows = []
    here, tried = 0, 0
    tries = source.first_tries if source.axis == "pods" else ()
    if source.axis == "pods":
        # Pods that are never tried, such as gated ones, wait all the time.
        attempted = {key for _, key in tries}
        sums.waiting |= {key for key, pod in source.workload.items() if not pod.spec.node_name and key not in attempted}
    for change in source.changes:
        while tried < len(tries) and tries[tried][0] <= change.cycle:
            rows.append((tried, sums.row()))
            sums.waiting.add(tries[tried][1])
            tried += 1
        if source.axis == "seconds" and change.at != here:
            rows.append((here, sums.row()))
            here = change.at
        sums.add(change)
    for place in range(tried, len(tries)):
        rows.append((place, sums.row()))
        sums.waiting.add(tries[place][1])
    rows.append((len(tries) if source.axis == "pods" else here, sums.row()))
    return rows


class _Sums:
    """What the nodes offer and what is requested of them, while changes are added. Pods on nodes that do not exist do not count."""

    def __init__(self, source: UsageSource) -> None:
        self._source = source
        self._counts_created = source.axis == "seconds"
        #: Pods that have arrived and wait for a node, and pods that are never tried.
        self.waiting: set[str] = set()
        self._placed = 0
        self._nodes_used = 0
        self._cost = 0.0
        self._allocatable = [0] * len(source.resources)
        self._requested = [0] * len(source.resources)
        self._amounts_of_pods: dict[str, tuple[int, ...]] = {}
        #: The nodes that exist, with what they offer.
        self._nodes: dict[str, tuple[int, ...]] = {}
        #: By name of the node, whether it exists or not: what its pods request, and how many there are without those of DaemonSets.
        self._on_node: dict[str, list[int]] = {}
        self._pods_on_node: Counter[str] = Counter()

    def row(self) -> tuple[float, ...]:
        return (*self._allocatable, *self._requested, self._placed, len(self.waiting), self._nodes_used, self._cost)

    def add(self, change: NodeOrPodWrite) -> None:
        before, after = change.before, change.after
        if isinstance(before, Node) or isinstance(after, Node):
            if isinstance(before, Node):
                self._node(before.name, self._nodes.pop(before.name), -1)
            if isinstance(after, Node):
                self._nodes[after.name] = self._in_order(amounts(Resource.of(after.status.allocatable)))
                self._node(after.name, self._nodes[after.name], 1)
            return
        if isinstance(before, Pod):
            self._pod(before, -1)
        if isinstance(after, Pod):
            self._pod(after, 1)

    def _in_order(self, amounts_by_name: Mapping[str, int]) -> tuple[int, ...]:
        return tuple([amounts_by_name.get(name, 0) for name in self._source.resources])

    def _node(self, name: str, offers: tuple[int, ...], sign: int) -> None:
        on_it = self._on_node.get(name)
        for place, amount in enumerate(offers):
            self._allocatable[place] += sign * amount
            if on_it is not None:
                self._requested[place] += sign * on_it[place]
        if self._pods_on_node[name] > 0:
            self._use(name, sign)

    def _use(self, node: str, sign: int) -> None:
        self._nodes_used += sign
        self._cost += sign * self._source.prices.get(node, 0.0)

    def _pod(self, pod: Pod, sign: int) -> None:
        node = pod.spec.node_name
        if not node:
            if sign < 0:
                self.waiting.discard(pod.key)
            elif self._counts_created:
                self.waiting.add(pod.key)
            return
        if pod.is_finished:
            return
        requested = self._amounts_of_pods.get(pod.uid)
        if requested is None:
            requested = self._amounts_of_pods[pod.uid] = self._in_order(self._source.requests_of(pod))
        exists = node in self._nodes
        on_it = self._on_node.setdefault(node, [0] * len(requested))
        for place, amount in enumerate(requested):
            on_it[place] += sign * amount
            if exists:
                self._requested[place] += sign * amount
        if pod.key in self._source.workload:
            self._placed += sign
        if pod.is_of_daemon_set:
            return
        was_used = self._pods_on_node[node] > 0
        self._pods_on_node[node] += sign
        is_used = self._pods_on_node[node] > 0
        if exists and is_used != was_used:
            self._use(node, 1 if is_used else -1)
