"""Pods and nodes of a checkpoint: each version is stored once and referred to by number.

Cache, snapshot, nominator and queue hold versions of a pod that may differ (a snapshot is older, an informer missed an update), and share
equal ones. A checkpoint keeps that: their `to_state(table)` stores references, and `from_state(state, table)` finds the objects again. The
checkpoint owns the table and stores `table.to_state()` last. The session's imported objects have the first numbers and are not stored
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from schedviz.engine.framework.types import PodInfo, QueuedPodInfo
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.packed_nodes import PackedNodes
from schedviz.kube.packed_pods import PackedPods

T = TypeVar("T", Pod, Node)


class OlderTerms(msgspec.Struct, frozen=True, array_like=True):
    """A PodInfo whose affinity terms are from another version of the pod."""

    pod: int
    terms_of: int


#: A reference to a PodInfo: usually the number of its pod.
PodRef = int | OlderTerms


class RetryState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What v1.36 keeps of a pod's failed attempts."""

    pending_plugins: list[str] = []
    gating_plugin: str = ""
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    was_flushed_from_unschedulable: bool = False
    backoff_expiration: int | None = None
    signature: bytes | None = None


class QueuedPodState(msgspec.Struct, frozen=True):
    """A QueuedPodInfo. `retry` is absent if all of it is at its default."""

    pod: PodRef
    timestamp: int
    initial_attempt_timestamp: int | None
    attempts: int
    unschedulable_plugins: list[str]
    gated: bool
    retry: RetryState | UnsetType = UNSET


class ObjectTableState(msgspec.Struct, frozen=True):
    """The state of a table: the pods and nodes that were not imported."""

    pods: PackedPods
    nodes: PackedNodes
    #: Names and sizes of images.
    images: list[tuple[str, int]]


class ObjectTable:
    """Numbers of pods and nodes. Each version of an object (one Python object) has one number."""

    def __init__(
        self, origin: Sequence[KubeObject] = (), state: ObjectTableState | None = None, *, pod_info: type[PodInfo] = PodInfo
    ) -> None:
        #: The release's PodInfo.
        self.pod_info_class = pod_info
        #: Each pod and each node at the position that is its number.
        self.pods: list[Pod] = [obj for obj in origin if isinstance(obj, Pod)]
        self.nodes: list[Node] = [obj for obj in origin if isinstance(obj, Node)]
        self._first_pod, self._first_node = len(self.pods), len(self.nodes)
        if state is not None:
            self.pods += state.pods.unpack()
            self.nodes += state.nodes.unpack()
        self._numbers: dict[int, int] = {id(item): number for items in (self.pods, self.nodes) for number, item in enumerate(items)}
        self._pod_infos: dict[PodRef, PodInfo] = {}
        self._images: list[tuple[str, int]] = [] if state is None else state.images
        self._image_numbers = {image: number for number, image in enumerate(self._images)}

    def to_state(self) -> ObjectTableState:
        """All referenced objects that were not imported."""
        return ObjectTableState(
            pods=PackedPods.of(self.pods[self._first_pod :]),
            nodes=PackedNodes.of(self.nodes[self._first_node :]),
            images=list(self._image_numbers),
        )

    def pod_ref(self, pod: Pod) -> int:
        """The number of a version of a pod."""
        # By identity: the table keeps the object alive, so its id stays unique.
        number = self._numbers.get(id(pod))
        return self._add(pod, self.pods) if number is None else number

    def node_ref(self, node: Node | None) -> int | None:
        """The number of a version of a node; None: no node."""
        if node is None:
            return None
        number = self._numbers.get(id(node))
        return self._add(node, self.nodes) if number is None else number

    def node(self, ref: int | None) -> Node | None:
        """The node with a number."""
        return None if ref is None else self.nodes[ref]

    def image_ref(self, name: str, size: int) -> int:
        """The number of an image."""
        return self._image_numbers.setdefault((name, size), len(self._image_numbers))

    def image(self, ref: int) -> tuple[str, int]:
        """The name and the size of the image with a number."""
        return self._images[ref]

    def pod_info_ref(self, info: PodInfo) -> PodRef:
        """The reference to a PodInfo."""
        pod = self.pod_ref(info.pod)
        return pod if info.terms_of is info.pod else OlderTerms(pod, self.pod_ref(info.terms_of))

    def pod_info(self, ref: PodRef) -> PodInfo:
        """The PodInfo of a reference; the same object for the same reference."""
        info = self._pod_infos.get(ref)
        if info is None:
            pod, terms_of = (ref, None) if isinstance(ref, int) else (ref.pod, self.pods[ref.terms_of])
            info = self._pod_infos[ref] = self.pod_info_class(self.pods[pod], terms_of=terms_of)
        return info

    def queued_pod_state(self, queued: QueuedPodInfo) -> QueuedPodState:
        """The state of a QueuedPodInfo."""
        return QueuedPodState(
            pod=self.pod_info_ref(queued.pod_info),
            timestamp=queued.timestamp,
            initial_attempt_timestamp=queued.initial_attempt_timestamp,
            attempts=queued.attempts,
            unschedulable_plugins=sorted(queued.unschedulable_plugins),
            gated=queued.gated,
            retry=_retry_state(queued),
        )

    def queued_pod(self, state: QueuedPodState) -> QueuedPodInfo:
        """The QueuedPodInfo of a state. Each call creates a new one, because it has one owner."""
        queued = QueuedPodInfo(self.pod_info(state.pod), timestamp=state.timestamp)
        queued.initial_attempt_timestamp = state.initial_attempt_timestamp
        queued.attempts = state.attempts
        queued.unschedulable_plugins = set(state.unschedulable_plugins)
        queued.gated = state.gated
        if state.retry is not UNSET:
            retry = state.retry
            queued.pending_plugins = set(retry.pending_plugins)
            queued.gating_plugin = retry.gating_plugin
            queued.unschedulable_count = retry.unschedulable_count
            queued.consecutive_errors_count = retry.consecutive_errors_count
            queued.was_flushed_from_unschedulable = retry.was_flushed_from_unschedulable
            queued.backoff_expiration = retry.backoff_expiration
            queued.signature = retry.signature
        return queued

    def _add(self, item: T, items: list[T]) -> int:
        number = self._numbers[id(item)] = len(items)
        items.append(item)
        return number


_NO_RETRY = RetryState()


def _retry_state(queued: QueuedPodInfo) -> RetryState | UnsetType:
    state = RetryState(
        pending_plugins=sorted(queued.pending_plugins),
        gating_plugin=queued.gating_plugin,
        unschedulable_count=queued.unschedulable_count,
        consecutive_errors_count=queued.consecutive_errors_count,
        was_flushed_from_unschedulable=queued.was_flushed_from_unschedulable,
        backoff_expiration=queued.backoff_expiration,
        signature=queued.signature,
    )
    return UNSET if state == _NO_RETRY else state
