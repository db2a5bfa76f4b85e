"""The dump on SIGUSR2: nodes with their pods as the cache has them, and pending pods.

Upstream: internal/cache/debugger/dumper.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from schedviz.engine.cache.debugger.log_line import LogLine
from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.kube.core import Pod

NODES_MESSAGE: Final = "Dump of cached NodeInfo"
QUEUE_MESSAGE: Final = "Dump of scheduling queue"
#: The scheduling gate of pending pods of which only the name in a dump is known, so that they are not tried without their requests.
NAME_ONLY_GATE: Final = "schedviz.io/requests-are-not-in-a-dump"


class DumpedPod(msgspec.Struct, frozen=True):
    """A pod in a dump."""

    name: str
    namespace: str
    uid: str
    phase: str = ""
    nominated_node: str = ""

    @classmethod
    def of(cls, pod: Pod) -> DumpedPod:
        """The dump's data of a pod."""
        return cls(pod.name, pod.namespace, pod.uid, pod.status.phase, pod.status.nominated_node_name)

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def text(self) -> str:
        """The log line of the pod. Upstream: dumper.go printPod"""
        members = f"uid: {self.uid}, phase: {self.phase}, nominated node: {self.nominated_node}"
        return f"name: {self.name}, namespace: {self.namespace}, {members}\n"


class DumpedNode(msgspec.Struct, frozen=True):
    """A node in a dump. `ports` and `images` are not part of a log: None if the dump was read from one."""

    name: str
    requested: Resource
    allocatable: Resource
    is_deleted: bool = False
    pods: tuple[DumpedPod, ...] = ()
    nominated: tuple[DumpedPod, ...] = ()
    #: (IP, protocol, port).
    ports: frozenset[tuple[str, str, int]] | None = None
    images: frozenset[str] | None = None

    @classmethod
    def of(cls, info: NodeInfo, nominated: Iterable[PodInfo]) -> DumpedNode:
        """The dump's data of a node."""
        return cls(
            name=info.name,
            requested=info.requested,
            allocatable=info.allocatable,
            is_deleted=info.node is None,
            pods=tuple(DumpedPod.of(pod.pod) for pod in info.pods),
            nominated=tuple(DumpedPod.of(pod.pod) for pod in nominated),
            ports=frozenset((ip, protocol, port) for ip, ports in info.used_ports.items() for protocol, port in ports),
            images=frozenset(info.image_states),
        )

    def text(self) -> str:
        """The log lines of the node. Upstream: dumper.go printNodeInfo"""
        head = (
            f"Node name: {self.name}\nDeleted: {'true' if self.is_deleted else 'false'}\n"
            f"Requested Resources: {resource_text(self.requested)}\nAllocatable Resources:{resource_text(self.allocatable)}\n"
            f"Scheduled Pods(number: {len(self.pods)}):\n"
        )
        text = head + "".join(pod.text() for pod in self.pods)
        if self.nominated:
            text += f"Nominated Pods(number: {len(self.nominated)}):\n" + "".join(pod.text() for pod in self.nominated)
        return text


class Dump(msgspec.Struct, frozen=True):
    """Cache and queue at one time."""

    nodes: tuple[DumpedNode, ...] = ()
    summary: str = ""
    #: The pending pods.
    pending: tuple[DumpedPod, ...] = ()

    def lines(self, at: int) -> list[LogLine]:
        """The log lines. Upstream: dumper.go DumpAll"""
        nodes = "\n\n".join(node.text() for node in self.nodes)
        pods = "".join(pod.text() for pod in self.pending)
        return [
            LogLine(at, "debugger/dumper.go:52", NODES_MESSAGE, (("nodes", nodes),)),
            LogLine(at, "debugger/dumper.go:62", QUEUE_MESSAGE, (("summary", self.summary), ("pods", pods))),
        ]


def dump_of(
    nodes: Iterable[NodeInfo],
    pending: Sequence[Sequence[Sequence[Pod]]],
    nominated_pods_for_node: Callable[[str], Iterable[PodInfo]],
) -> Dump:
    """A dump of the cache's nodes and of the pods in the three queues: active, backoff, unschedulable. A queue has one or more heaps.

    Where upstream's order is that of a map, it is that of the recorded runs: by a hash of the name.
    """
    by_hash = sorted(nodes, key=lambda info: fnv1a_64(info.name))
    lengths = zip(("activeQ", "backoffQ", "unschedulablePods"), pending, strict=True)
    return Dump(
        nodes=tuple(DumpedNode.of(info, nominated_pods_for_node(info.name)) for info in by_hash),
        summary="; ".join(f"{name}:{sum(map(len, heaps))}" for name, heaps in lengths),
        pending=tuple(DumpedPod.of(pod) for heaps in pending for heap in heaps for pod in sorted(heap, key=lambda pod: fnv1a_64(pod.key))),
    )


def resource_text(resource: Resource) -> str:
    """A resource as Go's `%+v` prints a pointer to one."""
    scalar = " ".join(f"{name}:{resource.scalar[name]}" for name in sorted(resource.scalar))
    return (
        f"&{{MilliCPU:{resource.milli_cpu} Memory:{resource.memory} EphemeralStorage:{resource.ephemeral_storage} "
        f"AllowedPodNumber:{resource.allowed_pod_number} ScalarResources:map[{scalar}]}}"
    )


def fnv1a_64(name: str) -> int:
    """FNV-1a, 64 bits, of a node's name or a pod's `namespace/name`."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value
