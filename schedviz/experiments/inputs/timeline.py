"""The commands of a workload in time: pods are created when they arrive, and deleted when their lifetimes end."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

from schedviz.experiments.inputs.arrivals import Arrival
from schedviz.experiments.inputs.lifetimes import LifetimeSource
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.trace.commands import Create, Delete


class Timeline:
    """The scheduled arrivals and departures of the pods of a workload. Times are in nanoseconds of virtual time."""

    def __init__(self, arrivals: Sequence[Arrival], lifetimes: LifetimeSource | None) -> None:
        self._arrivals = arrivals
        self._arrived = 0
        self._began = 0
        #: When the last pod arrived or ended.
        self.last = 0
        self._lifetimes = lifetimes
        #: A heap of (time, number, pod): pods with the same time end in the order in which they got their nodes.
        self._ends: list[tuple[int, int, Pod]] = []
        self._bound = 0
        #: Pods whose lifetimes ended, by `namespace/name`, with the nodes on which they ran.
        self.ended: dict[str, str] = {}

    def begin(self, now: int) -> None:
        """Count the times of arrivals from now on."""
        self._began = self.last = now

    @property
    def has_arrivals(self) -> bool:
        """Whether pods are going to arrive."""
        return self._arrived < len(self._arrivals)

    @property
    def next_at(self) -> int | None:
        """When the next pod arrives or ends; None: none will."""
        times = [self._ends[0][0]] if self._ends else []
        if self.has_arrivals:
            times.append(self._began + self._arrivals[self._arrived].at)
        return min(times, default=None)

    def bound(self, pod: Pod, at: int) -> None:
        """A pod of the workload got its node."""
        lifetime = None if self._lifetimes is None else self._lifetimes.of(pod)
        if lifetime is not None:
            self._bound += 1
            heapq.heappush(self._ends, (at + lifetime, self._bound, pod))

    def due(self, now: int, exists: Callable[[Pod], bool]) -> Iterator[Create | Delete]:
        """The commands whose time has come: pods that still exist end before others arrive."""
        while self._ends and self._ends[0][0] <= now:
            self.last, _, pod = heapq.heappop(self._ends)
            if exists(pod):
                self.ended[pod.key] = pod.spec.node_name
                yield Delete(kind="Pod", name=pod.name, namespace=pod.namespace)
        while self.has_arrivals and self._began + self._arrivals[self._arrived].at <= now:
            arrival = self._arrivals[self._arrived]
            self._arrived += 1
            self.last = self._began + arrival.at
            yield Create(object=codec.to_dict(arrival.pod))
