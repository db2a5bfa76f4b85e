"""Opportunistic batching of v1.36: the order of nodes of one cycle is used for the next pod, if that pod is equal and the chosen node full.

Upstream: framework/runtime/batch.go
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, Protocol

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.verdicts import Verdicts

#: Why a list of nodes cannot be used. Upstream: metrics/metrics.go BatchFlushPodFailed and the following ones
FlushReason = Literal[
    "pod_failed",
    "pod_skipped",
    "node_missing",
    "node_not_full",
    "empty_list",
    "expired",
    "pod_incompatible",
    "pod_not_batchable",
]

#: Upstream's maxBatchAge, in nanoseconds.
MAX_AGE: Final = 500_000_000


class RunsFilters(Protocol):
    """What a batch needs of its framework."""

    @property
    def snapshot(self) -> SharedLister: ...

    def run_filter_plugins(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts: ...


class SortedState(msgspec.Struct, frozen=True):
    """The nodes of a cycle in a checkpoint, with their totals."""

    names: list[str]
    totals: list[int]
    is_first_of_tied: bool
    popped: int


class BatchState(msgspec.Struct, frozen=True):
    """A batch in a checkpoint."""

    last_cycle: int
    last_node: str
    signature: bytes
    created: int
    nodes: SortedState | None
    from_cycle: int = 0


class RemainingNodes:
    """The feasible nodes of a cycle without the chosen one, best first. They are sorted when the first one is popped."""

    def __init__(self, names: Sequence[str], totals: Scores, *, is_first_of_tied: bool, popped: int = 1) -> None:
        self._names = list(names)
        self._totals = totals
        self._is_first_of_tied = is_first_of_tied
        #: The chosen node is popped already.
        self._popped = popped
        self._order: Iterator[int] | None = None

    def __len__(self) -> int:
        return len(self._names) - self._popped

    def pop(self) -> str:
        """Remove and return the best node."""
        if self._order is None:
            self._order = self._sorted()
            for _ in range(self._popped):
                next(self._order)
        self._popped += 1
        return self._names[next(self._order)]

    def _sorted(self) -> Iterator[int]:
        if self._is_first_of_tied:
            return iter(np.argsort(-self._totals, kind="stable").tolist())
        return iter(SortedNodes(self._totals))

    def to_state(self) -> SortedState:
        """The state for a checkpoint."""
        return SortedState(self._names, self._totals.tolist(), self._is_first_of_tied, self._popped)

    @classmethod
    def from_state(cls, state: SortedState) -> RemainingNodes:
        totals = np.array(state.totals, dtype=np.int64)
        return cls(state.names, totals, is_first_of_tied=state.is_first_of_tied, popped=state.popped)


class SortedNodes:
    """Rows in the order in which container/heap pops them: by total, and equal ones as the heap leaves them.

    Python's heapq moves other elements than Go's heap, so the order of equal totals would differ.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores: list[int] = scores.tolist()
        self._heap = list(range(len(self._scores)))
        for index in range(len(self._heap) // 2 - 1, -1, -1):
            self._down(index, len(self._heap))

    def __iter__(self) -> Iterator[int]:
        """Pop all rows."""
        heap = self._heap
        while heap:
            last = len(heap) - 1
            heap[0], heap[last] = heap[last], heap[0]
            self._down(0, last)
            yield heap.pop()

    def _down(self, index: int, end: int) -> None:
        heap, scores = self._heap, self._scores
        while (child := 2 * index + 1) < end:
            right = child + 1
            if right < end and scores[heap[right]] > scores[heap[child]]:
                child = right
            if scores[heap[child]] <= scores[heap[index]]:
                return
            heap[index], heap[child] = heap[child], heap[index]
            index = child


class OpportunisticBatch:
    """The nodes that the last cycle of one profile left over."""

    def __init__(self, framework: RunsFilters) -> None:
        self._framework = framework
        #: The queue's scheduling cycle in which a node was chosen last, and that node.
        self.last_cycle = 0
        self.last_node = ""
        #: The scheduling cycle, by the number in its events, whose nodes these are.
        self.from_cycle = 0
        self._signature = b""
        self._nodes: RemainingNodes | None = None
        self._created = 0

    @property
    def left(self) -> int:
        """How many nodes can still be suggested."""
        return 0 if self._nodes is None else len(self._nodes)

    def node_hint(
        self, pod: PodInfo, signature: bytes | None, state: CycleState, *, cycle: int, now: int
    ) -> tuple[str, FlushReason | None]:
        """The node to try first, or "" and why the list cannot be used (None: there is no list). Upstream: GetNodeHint"""
        if not self._nodes:
            return "", None
        why_not = self._why_not(pod, signature, state, cycle=cycle, now=now)
        return ("", why_not) if why_not is not None else (self._nodes.pop(), None)

    def _why_not(self, pod: PodInfo, signature: bytes | None, state: CycleState, *, cycle: int, now: int) -> FlushReason | None:
        """Upstream: batchStateCompatible"""
        if cycle != self.last_cycle + 1:
            return "pod_skipped"
        if signature is None or signature != self._signature:
            return "pod_incompatible"
        if now > self._created + MAX_AGE:
            return "expired"
        snapshot = self._framework.snapshot
        row = snapshot.row_of.get(self.last_node)
        if row is None:
            return "node_missing"
        status = self._framework.run_filter_plugins(state, pod, snapshot.rows(np.array([row])))[0]
        # If the pod fits on the node that was chosen last, its new score is unknown, and it may be the best one again.
        return None if status.is_rejected else "node_not_full"

    def store(
        self, signature: bytes | None, *, hint: str, chosen: str, others: RemainingNodes | None, cycle: int, now: int, number: int
    ) -> FlushReason | None:
        """Keep the other nodes of a cycle. Returns why they cannot be kept; None: they were, or the hint was used.

        `cycle` is the queue's number of the cycle, `number` that of its events. Upstream: StoreScheduleResults
        """
        self.last_cycle, self.last_node = cycle, chosen
        if hint == chosen:
            return None
        if signature is not None and others:
            self._signature, self._nodes, self._created, self.from_cycle = signature, others, now, number
            return None
        self._signature, self._nodes = b"", None
        return "pod_not_batchable" if others else "empty_list"

    def to_view(self) -> dict[str, Any] | None:
        """`lastCycle`, `lastNode` and the number of `nodes` that are left; None: there is no list."""
        if not self._nodes:
            return None
        return {"lastCycle": self.last_cycle, "lastNode": self.last_node, "nodes": len(self._nodes)}

    def to_state(self) -> BatchState:
        """The state for a checkpoint."""
        nodes = None if self._nodes is None else self._nodes.to_state()
        return BatchState(self.last_cycle, self.last_node, self._signature, self._created, nodes, self.from_cycle)

    def load(self, state: BatchState) -> None:
        """Load the state of `to_state`."""
        self.last_cycle, self.last_node = state.last_cycle, state.last_node
        self._signature, self._created, self.from_cycle = state.signature, state.created, state.from_cycle
        self._nodes = None if state.nodes is None else RemainingNodes.from_state(state.nodes)
