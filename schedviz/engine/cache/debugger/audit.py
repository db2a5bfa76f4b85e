"""How a dump differs from the API's objects, beyond what upstream's comparer looks at: amounts, ports and images, too, and why.

What passes by itself (an assumed pod, a nominated one that waits) and what is nobody's fault (a pod of another scheduler) is a note.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode, DumpedPod
from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Node, Pod

_FINISHED = ("Succeeded", "Failed")


class Audit(msgspec.Struct, frozen=True):
    """Sentences: what is wrong, and what only looks so."""

    differences: list[str] = []
    notes: list[str] = []


def audit(nodes: Iterable[Node], pods: Iterable[Pod], dump: Dump, *, scheduler_names: Collection[str] = ("default-scheduler",)) -> Audit:
    """Compare the API's objects with the dump of a scheduler that answers to `scheduler_names`."""
    auditor = _Auditor({node.name: node for node in nodes}, {pod.uid: pod for pod in pods}, dump, scheduler_names)
    auditor.nodes()
    auditor.scheduled_pods()
    auditor.waiting_pods()
    auditor.missed_pods()
    auditor.amounts()
    return Audit(auditor.differences, auditor.notes)


class _Auditor:
    def __init__(self, nodes: Mapping[str, Node], pods: Mapping[str, Pod], dump: Dump, scheduler_names: Collection[str]) -> None:
        self.api_nodes = nodes
        self.api_pods = pods
        self.dump = dump
        self.scheduler_names = scheduler_names
        self.differences: list[str] = []
        self.notes: list[str] = []
        #: Pods that the dump has, by uid.
        self.seen: set[str] = set()

    def nodes(self) -> None:
        dumped = {node.name for node in self.dump.nodes}
        for name in sorted(self.api_nodes.keys() - dumped):
            self.differences.append(f"missed node {name}: the API has it, the scheduler does not")
        for node in sorted(self.dump.nodes, key=lambda node: node.name):
            if node.name not in self.api_nodes:
                ghost = (
                    f"it is gone, and kept for the {len(node.pods)} pods on it" if node.is_deleted else "the scheduler takes it for alive"
                )
                self.differences.append(f"redundant node {node.name}: the API does not have it; {ghost}")
            elif node.is_deleted:
                self.differences.append(f"missed node {node.name}: the API has it, the scheduler knows only pods on it")

    def scheduled_pods(self) -> None:
        for node in self.dump.nodes:
            for dumped in node.pods:
                self.seen.add(dumped.uid)
                pod = self.api_pods.get(dumped.uid)
                if pod is None:
                    self.differences.append(f"{self._redundant(dumped)}; the scheduler counts it on {node.name}")
                elif pod.status.phase in _FINISHED:
                    self.differences.append(
                        f"redundant pod {pod.key}: it has finished ({pod.status.phase}); it still counts on {node.name}"
                    )
                elif not pod.spec.node_name:
                    self.notes.append(f"pod {pod.key} is assumed on {node.name}; its binding has not been written yet")
                elif pod.spec.node_name != node.name:
                    self.differences.append(
                        f"pod {pod.key}: the scheduler counts it on {node.name}, the API has it on {pod.spec.node_name}"
                    )
            for dumped in node.nominated:
                self.notes.append(f"pod {dumped.key} is nominated to {node.name} and waits for pods to go")

    def waiting_pods(self) -> None:
        for dumped in self.dump.pending:
            self.seen.add(dumped.uid)
            pod = self.api_pods.get(dumped.uid)
            if pod is None:
                self.differences.append(f"{self._redundant(dumped)}; it waits in the scheduling queue")
            elif pod.spec.node_name:
                self.differences.append(f"pod {pod.key}: it waits in the scheduling queue, the API has it on {pod.spec.node_name}")

    def missed_pods(self) -> None:
        for pod in self.api_pods.values():
            if pod.uid in self.seen or pod.status.phase in _FINISHED:
                continue
            if pod.spec.node_name:
                self.differences.append(f"missed pod {pod.key}: the API has it on {pod.spec.node_name}, the scheduler does not have it")
            elif pod.spec.scheduler_name in self.scheduler_names:
                self.differences.append(f"missed pod {pod.key}: it is pending, and neither in cache nor queue (unless its cycle just runs)")
            else:
                self.notes.append(f"pod {pod.key} belongs to another scheduler ({pod.spec.scheduler_name}): that it is missing is right")

    def amounts(self) -> None:
        for node in sorted(self.dump.nodes, key=lambda node: node.name):
            known = [self.api_pods.get(dumped.uid) for dumped in node.pods]
            pods = [PodInfo(pod) for pod in known if pod is not None]
            if len(pods) == len(node.pods):
                self._requested(node, pods)
            else:
                self.notes.append(f"node {node.name}: what the pods request is not compared, since the API does not have all of them")
            api = self.api_nodes.get(node.name)
            if api is not None and not node.is_deleted:
                self._of_node(node, api)

    def _requested(self, node: DumpedNode, pods: list[PodInfo]) -> None:
        total = Resource()
        for pod in pods:
            total.add(pod.requests.resource, 1)
        for name, cached, actual in _different(node.requested, total):
            shares = ", ".join(f"{pod.key} {amount}" for pod in pods if (amount := _amounts(pod.requests.resource).get(name)))
            whose = f" ({shares})" if shares else ""
            self.differences.append(f"node {node.name}: requested {name} is {cached} in the cache, {actual} by the pods at the API{whose}")
        if node.ports is not None:
            api_ports = {(port.ip, port.protocol, port.port): pod.key for pod in pods for port in pod.host_ports}
            for port in sorted(node.ports - api_ports.keys()):
                self.differences.append(f"node {node.name}: port {_port(port)} is taken in the cache, by no pod at the API")
            for port in sorted(api_ports.keys() - node.ports):
                self.differences.append(f"node {node.name}: port {_port(port)} is free in the cache, {api_ports[port]} takes it at the API")

    def _of_node(self, node: DumpedNode, api: Node) -> None:
        for name, cached, actual in _different(node.allocatable, Resource.of(api.status.allocatable)):
            self.differences.append(f"node {node.name}: allocatable {name} is {cached} in the cache, {actual} at the API")
        if node.images is not None:
            images = {name for image in api.status.images for name in image.names}
            for name in sorted(node.images - images):
                self.differences.append(f"node {node.name}: image {name} is in the cache, and not on the node at the API")
            for name in sorted(images - node.images):
                self.differences.append(f"node {node.name}: image {name} is on the node at the API, and not in the cache")

    def _redundant(self, dumped: DumpedPod) -> str:
        for pod in self.api_pods.values():
            if pod.key == dumped.key:
                return f"redundant pod {dumped.key}: the API has another one of that name (uid {pod.uid}, not {dumped.uid})"
        return f"redundant pod {dumped.key}: the API does not have it"


def _different(cached: Resource, actual: Resource) -> Iterator[tuple[str, int, int]]:
    left, right = _amounts(cached), _amounts(actual)
    for name in sorted(left.keys() | right.keys()):
        if left.get(name, 0) != right.get(name, 0):
            yield name, left.get(name, 0), right.get(name, 0)


def _amounts(resource: Resource) -> dict[str, int]:
    return {
        "milliCPU": resource.milli_cpu,
        "memory": resource.memory,
        "ephemeral-storage": resource.ephemeral_storage,
        "pods": resource.allowed_pod_number,
        **resource.scalar,
    }


def _port(port: tuple[str, str, int]) -> str:
    return f"{port[1]}/{port[2]} of {port[0]}"
