"""The pods that use a host port which another pod requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.types import HostPortInfo, NodeInfo, PodInfo
from schedviz.kube.core import Pod
from schedviz.kube.meta import controller_of

#: The label with which a Deployment distinguishes the pods of its versions.
_TEMPLATE_HASH: Final = "pod-template-hash"


def is_used_by_others(dry_run: DryRun, host_port: int) -> bool:
    """Whether a pod that is no replica of this one uses the port on a node. Replicas of one template would follow it to another port."""
    requested = [port for port in dry_run.pod.host_ports if port.port == host_port]
    nodes = (node for node in dry_run.rows.infos if any(map(node.used_ports.check_conflict, requested)))
    infos = (info for node in nodes for info in node.pods)
    return any(host_port in _shared_ports(info, dry_run) and not _is_replica(info.pod, dry_run.pod.pod) for info in infos)


def held_ports(dry_run: DryRun, on_node: NodeInfo, keys: Sequence[str]) -> list[int]:
    """The requested host ports that the pods `keys` of a node use; empty if one of them uses none or is a replica of the pod."""
    ports: list[int] = []
    for info in on_node.pods:
        if info.key in keys:
            shared = [] if _is_replica(info.pod, dry_run.pod.pod) else _shared_ports(info, dry_run)
            if not shared:
                return []
            ports += shared
    return ports


def _shared_ports(info: PodInfo, dry_run: DryRun) -> list[int]:
    """The host ports that both pods need, so that no node can run both."""
    used = HostPortInfo()
    for port in info.host_ports:
        used.add(port)
    return [port.port for port in dry_run.pod.host_ports if used.check_conflict(port)]


def _is_replica(pod: Pod, other: Pod) -> bool:
    """Whether two pods seem to be made from one template: by one controller, or with the same labels or containers."""
    owner = controller_of(pod)
    if owner is not None and owner == controller_of(other):
        return True
    labels, others = ({key: value for key, value in each.metadata.labels.items() if key != _TEMPLATE_HASH} for each in (pod, other))
    return (bool(labels) and labels == others) or pod.spec.containers == other.spec.containers
