"""The log lines of v1.27.1's scheduler up to verbosity 2: nodes added and removed, pods bound or unschedulable.

Upstream: internal/cache/node_tree.go, pkg/scheduler/schedule_one.go. Errors, lines about preemption and volumes, and lines above
verbosity 2 are not reproduced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from schedviz.engine import stages
from schedviz.engine.cache.debugger.log_line import LogLine, ObjectRef
from schedviz.engine.clock import EPOCH_SECONDS, SECOND, nanoseconds
from schedviz.engine.failure import NO_NODES_AVAILABLE
from schedviz.trace.events import AnyEvent, BindingStageEnded, CacheNode, CycleEnded, CycleStarted

_NO_NODES: Final = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
_NO_FIT: Final = "Unable to schedule pod; no fit; waiting"


class SchedulerLogV127:
    """Turns trace events into log lines. Remembers cycles, because a binding may be held over many steps."""

    def __init__(self) -> None:
        #: Cycle -> its pod.
        self._pods: dict[int, str] = {}
        #: Cycle that has not been bound yet -> its node, and the numbers of evaluated and feasible nodes.
        self._results: dict[int, tuple[str, int, int]] = {}

    def lines(self, events: Sequence[AnyEvent], records: Mapping[int, dict[str, Any]]) -> Iterator[LogLine]:  # noqa: ARG002
        """The log lines of these events. `records` of cycles are not needed."""
        for event in events:
            time = EPOCH_SECONDS * SECOND + nanoseconds(event.at)
            match event:
                case CacheNode():
                    yield from self._tree(time, event)
                case CycleStarted():
                    self._pods[event.cycle] = event.pod
                case CycleEnded():
                    yield from self._cycle(time, event)
                case BindingStageEnded(stage=stages.POST_BIND) if event.cycle in self._results:
                    node, evaluated, feasible = self._results.pop(event.cycle)
                    values = (("pod", ObjectRef.of(event.pod)), ("node", node), ("evaluatedNodes", evaluated), ("feasibleNodes", feasible))
                    yield LogLine(time, "scheduler/schedule_one.go:252", "Successfully bound pod to node", values, verbosity=2)

    def _cycle(self, time: int, event: CycleEnded) -> Iterator[LogLine]:
        pod = self._pods.pop(event.cycle, "")
        if event.outcome == "scheduled":
            self._results[event.cycle] = event.node, event.evaluated_nodes, event.feasible_nodes
        elif event.outcome == "unschedulable":
            has_no_nodes = event.message == NO_NODES_AVAILABLE
            caller, message = ("scheduler/schedule_one.go:863", _NO_NODES) if has_no_nodes else ("scheduler/schedule_one.go:867", _NO_FIT)
            values = (("pod", ObjectRef.of(pod)), ("err", event.message))
            yield LogLine(time, caller, message, values, verbosity=2)

    def _tree(self, time: int, event: CacheNode) -> Iterator[LogLine]:
        if event.tree is None:
            return
        node = ("node", ObjectRef(event.node))
        if event.tree.left is not None:
            values = (node, ("zone", event.tree.left))
            yield LogLine(time, "cache/node_tree.go:79", "Removed node in listed group from NodeTree", values, verbosity=2)
        if event.tree.joined is not None:
            values = (node, ("zone", event.tree.joined))
            yield LogLine(time, "cache/node_tree.go:65", "Added node in listed group to NodeTree", values, verbosity=2)
