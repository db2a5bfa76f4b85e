"""Pods and nodes of a saved engine, each version written once and referred to by number.

Cache, snapshot, nominator and queue hold versions of a pod that may differ (a snapshot is behind, an informer missed an
update), and share those that do not. A checkpoint keeps exactly that: `to_state(table)` of each of them puts references in, and
`from_state(state, table)` finds the objects again. The checkpoint owns the table and writes `table.to_state()` last.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from schedviz.engine.framework.types import PodInfo, QueuedPodInfo
from schedviz.kube.core import Node, Pod

T = TypeVar("T", Pod, Node)


class PodRef(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A PodInfo: the pod, and the version that its affinity terms are from where that is another one."""

    pod: int
    terms_of: int = -1


class QueuedPodState(msgspec.Struct, frozen=True):
    """A QueuedPodInfo."""

    pod: PodRef
    timestamp: int
    initial_attempt_timestamp: int
    attempts: int
    unschedulable_plugins: list[str]
    gated: bool


class ObjectTableState(msgspec.Struct, frozen=True):
    """What is saved of a table."""

    pods: list[Pod]
    nodes: list[Node]


class ObjectTable:
    """Numbers for pods and nodes, and back. One version of an object (one Python object) has one number."""

    def __init__(self, state: ObjectTableState | None = None) -> None:
        self._pods: list[Pod] = list(state.pods) if state else []
        self._nodes: list[Node] = list(state.nodes) if state else []
        self._numbers: dict[int, int] = {id(item): number for items in (self._pods, self._nodes) for number, item in enumerate(items)}
        self._pod_infos: dict[PodRef, PodInfo] = {}

    def to_state(self) -> ObjectTableState:
        """Everything that was referred to."""
        return ObjectTableState(pods=self._pods, nodes=self._nodes)

    def pod_ref(self, pod: Pod) -> int:
        """The number of a version of a pod."""
        return self._number(pod, self._pods)

    def pod(self, ref: int) -> Pod:
        """The pod of a number."""
        return self._pods[ref]

    def node_ref(self, node: Node | None) -> int | None:
        """The number of a version of a node; None for no node."""
        return None if node is None else self._number(node, self._nodes)

    def node(self, ref: int | None) -> Node | None:
        """The node of a number."""
        return None if ref is None else self._nodes[ref]

    def pod_info_ref(self, info: PodInfo) -> PodRef:
        """What stands for a PodInfo."""
        return PodRef(self.pod_ref(info.pod), -1 if info.terms_of is info.pod else self.pod_ref(info.terms_of))

    def pod_info(self, ref: PodRef) -> PodInfo:
        """The PodInfo of a reference; the same one for the same reference."""
        info = self._pod_infos.get(ref)
        if info is None:
            info = PodInfo(self._pods[ref.pod], terms_of=None if ref.terms_of < 0 else self._pods[ref.terms_of])
            self._pod_infos[ref] = info
        return info

    def queued_pod_state(self, queued: QueuedPodInfo) -> QueuedPodState:
        """What stands for a QueuedPodInfo."""
        return QueuedPodState(
            pod=self.pod_info_ref(queued.pod_info),
            timestamp=queued.timestamp,
            initial_attempt_timestamp=queued.initial_attempt_timestamp,
            attempts=queued.attempts,
            unschedulable_plugins=sorted(queued.unschedulable_plugins),
            gated=queued.gated,
        )

    def queued_pod(self, state: QueuedPodState) -> QueuedPodInfo:
        """A QueuedPodInfo again. Each call makes a new one: it has one owner."""
        queued = QueuedPodInfo(self.pod_info(state.pod), timestamp=state.timestamp)
        queued.initial_attempt_timestamp = state.initial_attempt_timestamp
        queued.attempts = state.attempts
        queued.unschedulable_plugins = set(state.unschedulable_plugins)
        queued.gated = state.gated
        return queued

    def _number(self, item: T, items: list[T]) -> int:
        # By identity: the table holds the object, so that its id stays its own.
        number = self._numbers.get(id(item))
        if number is None:
            number = self._numbers[id(item)] = len(items)
            items.append(item)
        return number
