"""A small cluster as `kubectl get nodes,pods -A -o json` prints one."""

from __future__ import annotations

from typing import Any


def node(name: str, zone: str, cpu: str) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "20"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}},
        "spec": {},
        # The files of these tests select v1.27.1.
        "status": {"capacity": amounts, "allocatable": amounts, "nodeInfo": {"kubeletVersion": "v1.27.4"}},
    }


def pod(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


def dump(nodes: int = 5, pods: int = 16) -> dict[str, Any]:
    """Nodes of two sizes in two zones, a bound pod, pods that fit, one that fits nowhere."""
    items = [node(f"node-{i}", f"zone-{i % 2}", "8" if i % 2 else "4") for i in range(1, nodes + 1)]
    items.append(pod("old", "1", nodeName="node-1"))
    items.append(pod("giant", "64"))
    items += [pod(f"web-{i}", "500m") for i in range(1, pods + 1)]
    return {"apiVersion": "v1", "kind": "List", "items": items}
