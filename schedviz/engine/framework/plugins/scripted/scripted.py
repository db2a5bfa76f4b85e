"""`Scripted`: returns configured results at chosen extension points, for chosen pods and nodes, a number of times, after a delay.

It implements only the extension points that its rules name, so it can be enabled with multiPoint. Upstream has no such plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import msgspec

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import PRE_BIND_WAIT_KEY, Handle, PostFilterResult, PreBindWait, PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins.names import SCRIPTED
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime.user_plugin_guard import GuardedPlugin
from schedviz.engine.framework.status import SKIP, SUCCESS, Code, Status, StatusError, unschedulable
from schedviz.engine.framework.types import NANOS_PER_SECOND, NodeInfo, PodInfo
from schedviz.kube.meta import KubeObject

#: Extension point -> the method that implements it.
_METHODS: Final = {
    "preEnqueue": "pre_enqueue",
    "preFilter": "pre_filter",
    "filter": "filter_node",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score_node",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
}


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One result. Without `pods` it applies to all pods, without `nodes` to all nodes; `times` 0: always."""

    point: Literal["preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind"]
    #: `namespace/name`.
    pods: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    #: The error is that this node was not found.
    not_found_node: str = ""
    #: Raise an exception with this message.
    raises: str = msgspec.field(default="", name="raise")
    #: The score, if the code is Success.
    score: int = 0
    times: int = 0
    #: Permit: the pod's timeout. PreBind: how long it takes.
    delay_seconds: float = 0

    def status(self) -> Status:
        """The status. Raises the exception of `raises`."""
        if self.raises:
            raise RuntimeError(self.raises)
        if self.not_found_node:
            error = StatusError(f'nodes "{self.not_found_node}" not found', "node", self.not_found_node)
            return Status(self.code, self.reasons, error)
        return Status(self.code, self.reasons)


class ScriptedArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules; the first one that matches and has times left applies."""

    rules: tuple[Rule, ...] = ()


def make_scripted(args: Any, handle: Handle) -> GuardedPlugin:
    """Create the plugin, guarded like users' plugins: exceptions become Status Error. Raises `ValueError`."""
    return GuardedPlugin(SCRIPTED, Scripted(args, handle))


class Scripted:
    """Returns the results of its rules."""

    name = SCRIPTED

    def __init__(self, args: Any, handle: Handle) -> None:
        try:
            self._rules: Sequence[Rule] = msgspec.convert(args or {}, ScriptedArgs).rules
        except msgspec.ValidationError as error:
            raise ValueError(f"args: {error}") from None
        self._handle = handle
        #: How often each rule has applied.
        self._applied = [0] * len(self._rules)
        named = {rule.point for rule in self._rules}
        for point, method in _METHODS.items():
            if point not in named:
                # GuardedPlugin uses the methods that are callable.
                setattr(self, method, None)

    def _rule(self, point: str, pod: PodInfo, node: str = "", *, use: bool = True) -> Rule | None:
        for index, rule in enumerate(self._rules):
            fits = rule.point == point and (not rule.pods or pod.key in rule.pods) and (not rule.nodes or not node or node in rule.nodes)
            if fits and (not rule.times or self._applied[index] < rule.times):
                self._applied[index] += use
                return rule
        return None

    def _status(self, point: str, pod: PodInfo, node: str = "", default: Status = SUCCESS) -> Status:
        rule = self._rule(point, pod, node)
        return default if rule is None else rule.status()

    def pre_enqueue(self, pod: PodInfo) -> Status:
        return self._status("preEnqueue", pod)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        return None, self._status("preFilter", pod)

    def filter_node(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> Status:  # noqa: ARG002
        return self._status("filter", pod, node_info.name)

    def post_filter(
        self,
        state: CycleState,  # noqa: ARG002
        pod: PodInfo,
        node_to_status: NodeToStatusMap,  # noqa: ARG002
    ) -> tuple[PostFilterResult | None, Status]:
        return None, self._status("postFilter", pod, default=unschedulable())

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:  # noqa: ARG002
        return self._status("preScore", pod)

    def score_node(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> int | Status:  # noqa: ARG002
        rule = self._rule("score", pod, node_info.name)
        if rule is None:
            return 0
        status = rule.status()
        return rule.score if status.is_success else status

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002
        return self._status("reserve", pod, node_name)

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """There is nothing to undo."""

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]:  # noqa: ARG002
        rule = self._rule("permit", pod, node_name)
        return (SUCCESS, 0) if rule is None else (rule.status(), round(rule.delay_seconds * NANOS_PER_SECOND))

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        rule = self._rule("preBind", pod, node_name, use=False)
        if rule is not None and rule.delay_seconds:
            if PRE_BIND_WAIT_KEY not in state:
                state.write(PRE_BIND_WAIT_KEY, PreBindWait(self._handle.clock() + round(rule.delay_seconds * NANOS_PER_SECOND)))
            if self._handle.clock() < state.read(PRE_BIND_WAIT_KEY).deadline:
                return None
            state.delete(PRE_BIND_WAIT_KEY)
        return self._status("preBind", pod, node_name)

    def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002
        rule = self._rule("bind", pod, node_name)
        return SKIP if rule is None else rule.status()

    def to_state(self, number: Callable[[KubeObject], int]) -> list[int]:  # noqa: ARG002
        return list(self._applied)

    def load(self, state: list[int], find: Callable[[int], KubeObject]) -> None:  # noqa: ARG002
        self._applied = list(state)
