"""Clusters and pods for measurements, in the shapes of upstream's scheduler_perf.

A node has 4 cpus, 32Gi and room for 110 pods in one of three zones and runs one pod; a pod requests 100m and 500Mi. A cycle of preempt is
the one that evicts, not the one that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from schedviz.kube.codec import from_dict
from schedviz.kube.meta import KubeObject
from schedviz.trace.commands import AnyCommand, Update

ZONES = ("zone-a", "zone-b", "zone-c")


def _node(index: int, *, round_number: int = 0) -> dict[str, Any]:
    amounts = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    name = f"node-{index:05d}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": ZONES[index % len(ZONES)], "round": str(round_number)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def _gpu_node(index: int) -> dict[str, Any]:
    node = _node(index)
    amounts = {"cpu": "96", "memory": "384Gi", "pods": "110"}
    if index % 6:
        amounts |= {"example.com/gpu-count": "8", "example.com/gpu-milli": "8000"}
    node["status"] = {"capacity": amounts, "allocatable": amounts}
    return node


def _pod(
    name: str, requests: dict[str, str], *, node: str | None = None, labels: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    spec["containers"] = [{"name": "c", "image": "pause", "resources": {"requests": requests}}]
    if node is not None:
        spec["nodeName"] = node
    metadata = {"name": name, "namespace": "default", "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


SMALL = {"cpu": "100m", "memory": "500Mi"}
HUGE = {"cpu": "64", "memory": "500Mi"}


def _small_pod(index: int) -> dict[str, Any]:
    return _pod(f"pod-{index:06d}", SMALL)


def _huge_pod(index: int) -> dict[str, Any]:
    return _pod(f"pod-{index:06d}", HUGE)


def _gpu_pod(index: int) -> dict[str, Any]:
    requests = {"cpu": f"{2 + index % 7}", "memory": f"{4 + index % 13}Gi"}
    if index % 5:
        requests |= {"example.com/gpu-count": "1", "example.com/gpu-milli": str((index % 4 + 1) * 250)}
    return _pod(f"pod-{index:06d}", requests)


BLUE = {"color": "blue"}
GREEN = {"color": "green"}
_ZONE = "topology.kubernetes.io/zone"
_HOSTNAME = "kubernetes.io/hostname"


def _running_pod(index: int) -> Iterator[dict[str, Any]]:
    """The pod that already runs on the node."""
    yield _pod(f"there-{index:05d}", SMALL, node=f"node-{index:05d}", labels=BLUE)


def _small_pods(index: int, count: int) -> Iterator[dict[str, Any]]:
    """Pods with negligible requests."""
    for number in range(count):
        yield _pod(f"there-{index:05d}-{number:03d}", {"cpu": "1m", "memory": "1Mi"}, node=f"node-{index:05d}", labels=BLUE)


def _four_of_low_priority(index: int) -> Iterator[dict[str, Any]]:
    """They leave no room for a big pod on their node."""
    for number in range(4):
        yield _pod(f"low-{index:05d}-{number}", {"cpu": "900m", "memory": "500Mi"}, node=f"node-{index:05d}")


def _preempting_pod(index: int) -> dict[str, Any]:
    return _pod(f"pod-{index:06d}", {"cpu": "3", "memory": "500Mi"}, priority=10)


def _spread_pod(when_unsatisfiable: str) -> Callable[[int], dict[str, Any]]:
    constraint = {
        "maxSkew": 5,
        "topologyKey": _ZONE,
        "whenUnsatisfiable": when_unsatisfiable,
        "labelSelector": {"matchLabels": BLUE},
    }
    return lambda index: _pod(f"pod-{index:06d}", SMALL, labels=BLUE, topologySpreadConstraints=[constraint])


def _near_pod(index: int) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": BLUE}, "topologyKey": _ZONE}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return _pod(f"pod-{index:06d}", SMALL, labels=BLUE, affinity=affinity)


def _far_pod(index: int) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": GREEN}, "topologyKey": _HOSTNAME}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return _pod(f"pod-{index:06d}", SMALL, labels=GREEN, affinity=affinity)


def _preferring_pod(index: int) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": BLUE}, "topologyKey": _HOSTNAME}
    affinity = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}}
    return _pod(f"pod-{index:06d}", SMALL, labels=BLUE, affinity=affinity)


_DEVICE_API = "resource.k8s.io/v1"
_DRIVER = "gpu.example.com"


def _claiming_pod(index: int) -> dict[str, Any]:
    name = f"pod-{index:06d}"
    return _pod(name, SMALL, resourceClaims=[{"name": "gpu", "resourceClaimName": name}])


def _devices(per_node: int) -> Callable[[int, int], Iterator[dict[str, Any]]]:
    """A class that selects devices by an attribute, a slice of devices for each node, and a claim for each pod."""

    def objects(nodes: int, pods: int) -> Iterator[dict[str, Any]]:
        expression = f'device.driver == "{_DRIVER}" && device.attributes["{_DRIVER}"].model == "A"'
        selector = {"cel": {"expression": expression}}
        yield {"apiVersion": _DEVICE_API, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}}
        for index in range(nodes):
            yield _slice(f"node-{index:05d}", per_node)
        request = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
        for index in range(pods):
            metadata = {"name": f"pod-{index:06d}", "namespace": "default"}
            spec = {"devices": {"requests": [request]}}
            yield {"apiVersion": _DEVICE_API, "kind": "ResourceClaim", "metadata": metadata, "spec": spec}

    return objects


def _slice(node: str, count: int) -> dict[str, Any]:
    """Devices of which the first half are of another model."""
    devices = [
        {
            "name": f"gpu-{number:02d}",
            "attributes": {"model": {"string": "B" if number < count // 2 else "A"}},
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for number in range(count)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": _DRIVER, "nodeName": node, "pool": pool, "devices": devices}
    return {"apiVersion": _DEVICE_API, "kind": "ResourceSlice", "metadata": {"name": f"{node}-gpu"}, "spec": spec}


def _nothing(nodes: int, pods: int) -> Iterator[dict[str, Any]]:
    del nodes, pods
    yield from ()


def relabel(node: int, round_number: int) -> AnyCommand:
    """Change a label of a node on which nothing depends."""
    return Update(object=_node(node, round_number=round_number + 1))


def _relabel_a_node(index: int, nodes: int) -> AnyCommand:
    return relabel((index * 7) % nodes, index)


@dataclass(frozen=True)
class Workload:
    """Nodes, the pods to schedule, and the changes between two of them."""

    summary: str
    node: Callable[[int], dict[str, Any]] = _node
    pod: Callable[[int], dict[str, Any]] = _small_pod
    between: Callable[[int, int], AnyCommand] | None = None
    #: The pods that run on the node with this number.
    running: Callable[[int], Iterator[dict[str, Any]]] = _running_pod
    #: Other objects, for a number of nodes and of pods.
    objects: Callable[[int, int], Iterator[dict[str, Any]]] = _nothing

    def cluster(self, nodes: int, pods: int, *, running: int | None = None) -> Iterator[KubeObject]:
        """Nodes, other objects, running pods (`running` per node, if given), and pending pods."""
        for index in range(nodes):
            yield from_dict(self.node(index))
        for obj in self.objects(nodes, pods):
            yield from_dict(obj)
        for index in range(nodes):
            for pod in self.running(index) if running is None else _small_pods(index, running):
                yield from_dict(pod)
        for index in range(pods):
            yield from_dict(self.pod(index))


WORKLOADS = {
    "basic": Workload("small pods on equal nodes"),
    "spread": Workload("small pods, spread over the zones", pod=_spread_pod("DoNotSchedule")),
    "spread-soft": Workload("small pods that prefer to be spread over the zones", pod=_spread_pod("ScheduleAnyway")),
    "affinity": Workload("small pods with required affinity in their zone", pod=_near_pod),
    "antiaffinity": Workload("small pods, each on its own node", pod=_far_pod),
    "preferred": Workload("small pods that prefer a node with similar pods", pod=_preferring_pod),
    "preempt": Workload("pods that need three victims", pod=_preempting_pod, running=_four_of_low_priority),
    "unschedulable": Workload("pods that fit nowhere", pod=_huge_pod),
    "churn": Workload("small pods, with a label change of a node before each", between=_relabel_a_node),
    "gpu": Workload("big nodes with two extended resources, pods of many sizes", node=_gpu_node, pod=_gpu_pod),
    "devices-2": Workload("v1.36: pods with a claim on one of 2 devices of a node", pod=_claiming_pod, objects=_devices(2)),
    "devices-8": Workload("v1.36: pods with a claim on one of 8 devices of a node", pod=_claiming_pod, objects=_devices(8)),
    "devices-32": Workload("v1.36: pods with a claim on one of 32 devices of a node", pod=_claiming_pod, objects=_devices(32)),
}
