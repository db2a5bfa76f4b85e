"""The log lines of a recorded run's scheduler up to verbosity 2: nodes added and removed, pods bound or unschedulable, and in v1.36 what
preemption found.

Upstream: backend/cache/node_tree.go, pkg/scheduler/schedule_one.go, framework/preemption/preemption.go. Errors, lines about evictions and
volumes, and lines above verbosity 2 are not reproduced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from schedviz.engine import stages
from schedviz.engine.cache.debugger.log_line import LogLine, ObjectRef
from schedviz.engine.clock import EPOCH_SECONDS, SECOND, nanoseconds
from schedviz.engine.failure import NO_NODES_AVAILABLE
from schedviz.trace.events import AnyEvent, BindingStageEnded, CacheNode, CycleEnded, CycleStarted, StageEnded
from schedviz.trace.releases import V1_27, V1_36

_NO_NODES: Final = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
_NO_FIT: Final = "Unable to schedule pod; no fit; waiting"


class _Wording(NamedTuple):
    """What differs between releases: lines of upstream's files, and messages."""

    added: str
    removed: str
    bound: str
    no_nodes: str
    no_fit: str
    logs_preemption: bool


_WORDINGS: Final[Mapping[str, _Wording]] = {
    V1_27: _Wording(
        "Added node in listed group to NodeTree",
        "Removed node in listed group from NodeTree",
        "scheduler/schedule_one.go:252",
        "scheduler/schedule_one.go:863",
        "scheduler/schedule_one.go:867",
        logs_preemption=False,
    ),
    V1_36: _Wording(
        "Added node to NodeTree",
        "Removed node from NodeTree",
        "scheduler/schedule_one.go:481",
        "scheduler/schedule_one.go:1235",
        "scheduler/schedule_one.go:1239",
        logs_preemption=True,
    ),
}


class SchedulerLog:
    """Turns trace events into log lines. Remembers cycles, because a binding may be held over many steps."""

    def __init__(self, release: str = V1_27) -> None:
        self._words = _WORDINGS[release]
        #: Cycle -> its pod.
        self._pods: dict[int, str] = {}
        #: Cycle that has not been bound yet -> its node, and the numbers of evaluated and feasible nodes.
        self._results: dict[int, tuple[str, int, int]] = {}

    def lines(self, events: Iterable[AnyEvent]) -> Iterator[LogLine]:
        """The log lines of these events."""
        for event in events:
            at = EPOCH_SECONDS * SECOND + nanoseconds(event.at)
            match event:
                case CacheNode():
                    yield from self._tree(at, event)
                case CycleStarted():
                    self._pods[event.cycle] = event.pod
                case StageEnded(stage=stages.POST_FILTER) if self._words.logs_preemption:
                    yield from self._preemption(at, event)
                case CycleEnded():
                    yield from self._cycle(at, event)
                case BindingStageEnded(stage=stages.POST_BIND) if event.cycle in self._results:
                    node, evaluated, feasible = self._results.pop(event.cycle)
                    values = (("pod", ObjectRef.of(event.pod)), ("node", node), ("evaluatedNodes", evaluated), ("feasibleNodes", feasible))
                    yield LogLine(at, self._words.bound, "Successfully bound pod to node", values, verbosity=2)

    def _cycle(self, at: int, event: CycleEnded) -> Iterator[LogLine]:
        pod = self._pods.pop(event.cycle, "")
        if event.outcome == "scheduled":
            self._results[event.cycle] = event.node, event.evaluated_nodes, event.feasible_nodes
        elif event.outcome == "unschedulable":
            nothing = event.message == NO_NODES_AVAILABLE
            caller, message = (self._words.no_nodes, _NO_NODES) if nothing else (self._words.no_fit, _NO_FIT)
            values = (("pod", ObjectRef.of(pod)), ("err", event.message))
            yield LogLine(at, caller, message, values, verbosity=2)

    def _preemption(self, at: int, event: StageEnded) -> Iterator[LogLine]:
        pod, node = ("pod", ObjectRef.of(self._pods.get(event.cycle, ""))), event.facts.get("nominatedNode")
        if node is None:
            return
        if node:
            message = "the target node for the preemption is determined"
            yield LogLine(at, "preemption/preemption.go:162", message, (("node", node), pod), verbosity=2)
        else:
            message = "No preemption candidate is found; preemption is not helpful for scheduling"
            yield LogLine(at, "preemption/preemption.go:136", message, (pod,), verbosity=2)

    def _tree(self, at: int, event: CacheNode) -> Iterator[LogLine]:
        if event.tree is None:
            return
        node = ("node", ObjectRef(event.node))
        if event.tree.left is not None:
            yield LogLine(at, "cache/node_tree.go:79", self._words.removed, (node, ("zone", event.tree.left)), verbosity=2)
        if event.tree.joined is not None:
            yield LogLine(at, "cache/node_tree.go:65", self._words.added, (node, ("zone", event.tree.joined)), verbosity=2)
