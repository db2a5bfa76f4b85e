"""NodeInfos in views and in checkpoints."""

from __future__ import annotations

import msgspec

from schedviz.engine.framework.object_table import ObjectTable, PodRef
from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import Generations, HostPortInfo, ImageStateSummary, NodeInfo, SharedImages
from schedviz.kube.core import Node
from schedviz.kube.zones import zone_key
from schedviz.trace.view import ImageState, NodeItem, Resources


def node_item(info: NodeInfo) -> NodeItem:
    """A NodeInfo as a view shows it. Shares nothing with the NodeInfo."""
    node = info.node
    return NodeItem(
        name=info.name,
        generation=info.generation,
        has_node=node is not None,
        unschedulable=node is not None and node.spec.unschedulable,
        taints=taints(node),
        zone=zone_key(node) if node is not None else "",
        pod_order=[pod.key for pod in info.pods],
        pods_with_affinity=[pod.key for pod in info.pods_with_affinity],
        pods_with_required_anti_affinity=[pod.key for pod in info.pods_with_required_anti_affinity],
        requested=info.requested.to_view(),
        non_zero_requested=info.non_zero_requested.to_view(),
        allocatable=info.allocatable.to_view(),
        used_ports=used_ports(info.used_ports),
        image_states=image_states(info),
        pvc_ref_counts=info.pvc_ref_counts.copy(),
        declared_features=declared_features(node),
    )


def taints(node: Node | None) -> list[str]:
    """The node's taints, as `kubectl` prints them."""
    return [] if node is None else [taint.to_string() for taint in node.spec.taints]


def declared_features(node: Node | None) -> list[str]:
    """What the node's kubelet declares, sorted."""
    return [] if node is None else sorted(node.status.declared_features)


def used_ports(ports: HostPortInfo) -> dict[str, list[str]]:
    """IP -> sorted `TCP/80`."""
    return {ip: sorted(f"{protocol}/{port}" for protocol, port in ports_of_ip) for ip, ports_of_ip in ports.items()}


def image_states(info: NodeInfo) -> dict[str, ImageState]:
    """The images of a NodeInfo. SharedImages have no numbers of nodes of their own: those of the cache apply."""
    if isinstance(info.image_states, SharedImages):
        return {name: ImageState(size=state.size, num_nodes=0) for name, state in info.image_states.items()}
    return {name: ImageState(size=state.size, num_nodes=state.num_nodes) for name, state in info.image_states.items()}


class NodeInfoState(msgspec.Struct, frozen=True):
    """A NodeInfo in a checkpoint; pods and node are references into an ObjectTable."""

    name: str
    generation: int
    node: int | None
    pods: list[PodRef]
    pods_with_affinity: list[PodRef]
    pods_with_required_anti_affinity: list[PodRef]
    requested: Resources
    non_zero_requested: Resources
    allocatable: Resources
    used_ports: dict[str, list[tuple[str, int]]]
    #: Images by their number in the table, and the number of nodes with each when this NodeInfo's node was last set.
    images: list[int]
    image_nodes: list[int]
    pvc_ref_counts: dict[str, int]
    #: v1.36: the images are SharedImages.
    shares_images: bool = False


def node_info_state(info: NodeInfo, table: ObjectTable) -> NodeInfoState:
    """The state of a NodeInfo."""
    ref = table.pod_info_ref
    return NodeInfoState(
        name=info.name,
        generation=info.generation,
        node=table.node_ref(info.node),
        pods=[ref(pod) for pod in info.pods],
        pods_with_affinity=[ref(pod) for pod in info.pods_with_affinity],
        pods_with_required_anti_affinity=[ref(pod) for pod in info.pods_with_required_anti_affinity],
        requested=info.requested.to_view(),
        non_zero_requested=info.non_zero_requested.to_view(),
        allocatable=info.allocatable.to_view(),
        used_ports=dict(info.used_ports.items()),
        images=[table.image_ref(name, image.size) for name, image in info.image_states.items()],
        image_nodes=[image.num_nodes for image in info.image_states.values()],
        pvc_ref_counts=info.pvc_ref_counts.copy(),
        shares_images=isinstance(info.image_states, SharedImages),
    )


def node_info_of(state: NodeInfoState, table: ObjectTable, generations: Generations) -> NodeInfo:
    """The NodeInfo of a state. Does not change the generation counter."""
    before = generations.last
    info = NodeInfo(state.name, generations)
    generations.last = before
    info.generation = state.generation
    info.node = table.node(state.node)
    info.pods = [table.pod_info(ref) for ref in state.pods]
    info.pods_with_affinity = [table.pod_info(ref) for ref in state.pods_with_affinity]
    info.pods_with_required_anti_affinity = [table.pod_info(ref) for ref in state.pods_with_required_anti_affinity]
    info.requested = Resource.from_view(state.requested)
    info.non_zero_requested = Resource.from_view(state.non_zero_requested)
    info.allocatable = Resource.from_view(state.allocatable)
    info.used_ports = HostPortInfo(state.used_ports)
    info.image_states = {
        name: ImageStateSummary(size, num_nodes)
        for (name, size), num_nodes in zip(map(table.image, state.images), state.image_nodes, strict=True)
    }
    if state.shares_images:
        info.image_states = SharedImages(info.image_states)
    info.pvc_ref_counts = state.pvc_ref_counts.copy()
    return info
