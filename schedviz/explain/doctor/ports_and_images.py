"""Compares host ports and images in the cache with the API's pods and nodes. Dumps do not contain them; engines and states do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.doctor.differences import KnownScheduler, difference
from schedviz.explain.finding import Finding
from schedviz.kube.core import Node, Pod
from schedviz.trace.phrase import Phrase, phrase, some

Port = tuple[str, str, int]


def ports_and_images(nodes: Mapping[str, Node], pods: Mapping[str, Pod], dump: Dump, scheduler: KnownScheduler) -> Iterator[Finding]:
    """The differences, node by node."""
    for node in sorted(dump.nodes, key=lambda node: node.name):
        if node.ports is not None and all(dumped.uid in pods for dumped in node.pods):
            yield from _ports(node, node.ports, [scheduler.pod_info(pods[dumped.uid]) for dumped in node.pods])
        api = nodes.get(node.name)
        if node.images is not None and api is not None and not node.is_deleted:
            yield from _images(node, node.images, api)


def _ports(node: DumpedNode, cached: frozenset[Port], pods: Sequence[PodInfo]) -> Iterator[Finding]:
    used_ports = {(port.ip, port.protocol, port.port): pod.key for pod in pods for port in pod.host_ports}
    for port in sorted(cached - used_ports.keys()):
        sentence = phrase(
            "node {node}: host port {port} is taken in the cache, by no pod in the API server", node=node.name, port=_port(port)
        )
        cause = phrase("a pod released it, but the scheduler has not seen that update")
        yield _difference("port", node, sentence, cause, phrase("pods that request the port are not placed there"))
    for port in sorted(used_ports.keys() - cached):
        sentence = phrase(
            "node {node}: host port {port} is free in the cache; in the API server pod {pod} uses it",
            node=node.name,
            port=_port(port),
            pod=used_ports[port],
        )
        # Upstream keeps ports in a set: if two pods have one port, the first deletion frees it.
        cause = phrase("an update of the pod was not seen, or another pod with the same port has left the node")
        advice = phrase("a second pod with the port can be placed there, and the kubelet then refuses it")
        yield _difference("port", node, sentence, cause, advice)


def _images(node: DumpedNode, cached: frozenset[str], api: Node) -> Iterator[Finding]:
    image_names = {name for image in api.status.images for name in image.names}
    cause = phrase("an update of the node's status that the scheduler has not seen")
    advice = phrase("ImageLocality scores the node by what it knows")
    if names := sorted(cached - image_names):
        sentence = (
            phrase("node {node}: image {image} is in the cache, but not on the node in the API server", node=node.name, image=names[0])
            if len(names) == 1
            else phrase(
                "node {node}: images {images} are in the cache, but not on the node in the API server", node=node.name, images=some(names)
            )
        )
        yield _difference("image", node, sentence, cause, advice)
    if names := sorted(image_names - cached):
        sentence = (
            phrase("node {node}: image {image} is on the node in the API server, but not in the cache", node=node.name, image=names[0])
            if len(names) == 1
            else phrase(
                "node {node}: images {images} are on the node in the API server, but not in the cache", node=node.name, images=some(names)
            )
        )
        yield _difference("image", node, sentence, cause, advice)


def _difference(kind: str, node: DumpedNode, sentence: Phrase, cause: Phrase, advice: Phrase) -> Finding:
    return difference(kind, f"Node {node.name}", ("API", "cache"), sentence, cause, advice)


def _port(port: Port) -> str:
    ip, protocol, number = port
    return f"{protocol}/{number}" if ip == "0.0.0.0" else f"{protocol}/{number} of {ip}"  # noqa: S104  (nothing is bound here)
