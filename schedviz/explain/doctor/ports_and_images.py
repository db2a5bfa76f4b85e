"""Host ports and images as the cache has them, beside the API's pods and nodes. No log has them: an engine, or a state, does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.doctor.finding import Finding
from schedviz.kube.core import Node, Pod

Port = tuple[str, str, int]


def ports_and_images(nodes: Mapping[str, Node], pods: Mapping[str, Pod], dump: Dump) -> Iterator[Finding]:
    """What differs, node by node."""
    for node in sorted(dump.nodes, key=lambda node: node.name):
        if node.ports is not None and all(dumped.uid in pods for dumped in node.pods):
            yield from _ports(node, node.ports, {dumped.uid: pods[dumped.uid] for dumped in node.pods})
        api = nodes.get(node.name)
        if node.images is not None and api is not None and not node.is_deleted:
            yield from _images(node, node.images, api)


def _ports(node: DumpedNode, cached: frozenset[Port], pods: Mapping[str, Pod]) -> Iterator[Finding]:
    taken = {(port.ip, port.protocol, port.port): pod.key for pod in pods.values() for port in PodInfo(pod).host_ports}
    for port in sorted(cached - taken.keys()):
        sentence = f"node {node.name}: host port {_port(port)} is taken in the cache, by no pod at the API"
        cause = "a pod gave it up, and the scheduler has not seen that update"
        yield _finding("port", node, sentence, cause, "pods that want the port are not placed there")
    for port in sorted(taken.keys() - cached):
        sentence = f"node {node.name}: host port {_port(port)} is free in the cache, pod {taken[port]} takes it at the API"
        # Upstream keeps ports in a set: of two pods with one port the first to go frees it.
        cause = "an update of the pod was not seen, or another pod with the same port has left the node"
        yield _finding("port", node, sentence, cause, "a second pod with the port can be placed there, and the kubelet then refuses it")


def _images(node: DumpedNode, cached: frozenset[str], api: Node) -> Iterator[Finding]:
    there = {name for image in api.status.images for name in image.names}
    for names, sentence in (
        (cached - there, "in the cache, and not on the node at the API"),
        (there - cached, "on the node at the API, and not in the cache"),
    ):
        if names:
            first = ", ".join(sorted(names)[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            what = f"image {first} is" if len(names) == 1 else f"images {first} are"
            cause = "an update of the node's status that the scheduler has not seen"
            yield _finding("image", node, f"node {node.name}: {what} {sentence}", cause, "ImageLocality scores the node by what it knows")


def _finding(kind: str, node: DumpedNode, sentence: str, cause: str, advice: str) -> Finding:
    return Finding(True, kind, f"Node {node.name}", ("API", "cache"), sentence, cause, advice)


def _port(port: Port) -> str:
    ip, protocol, number = port
    return f"{protocol}/{number}" if ip == "0.0.0.0" else f"{protocol}/{number} of {ip}"  # noqa: S104  (nothing is bound here)
