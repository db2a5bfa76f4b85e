"""The shapes of generated clusters: their nodes and pods."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from schedviz.kube.example_driver import DRIVER, GPU_CLASS, PARTITION_CLASS, PCIE_ROOT

Json = dict[str, Any]

_IMAGES: Final = {
    "web": ("registry.example.com/shop/web:2.4", 83_000_000),
    "api": ("registry.example.com/shop/api:1.9", 141_000_000),
    "cache": ("registry.example.com/library/redis:7.2", 41_000_000),
    "batch": ("registry.example.com/data/batch:5.0", 620_000_000),
    "train": ("registry.example.com/ml/train:3.1", 4_200_000_000),
}
_START: Final = "2024-01-01T00:00:00Z"
#: The value of the priority class `urgent`.
_URGENT: Final = 1000


class Cluster(msgspec.Struct, frozen=True):
    """The size of a generated cluster."""

    nodes: int
    pods: int
    zones: int
    seed: int
    #: The nodes offer partitions of their GPUs.
    partitions: bool = False

    def zone(self, number: int) -> str:
        """The zone of the node with this number: `zone-a`, `zone-b`, …"""
        index = number % self.zones
        return f"zone-{chr(ord('a') + index)}" if self.zones <= 26 else f"zone-{index + 1}"


class Shape(msgspec.Struct, frozen=True):
    """A kind of cluster, with its default size."""

    name: str
    description: str
    nodes: int
    pods: int
    zones: int
    make: Callable[[Cluster], Iterator[Json]]
    #: The GPUs of each node (dynamic resource allocation).
    gpus: int = 0


def _node(cluster: Cluster, number: int, *, cpu: str = "4", memory: str = "16Gi", pods: str = "110", **more: Any) -> Json:
    name = f"node-{number + 1}"
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/region": "region-1",
        "topology.kubernetes.io/zone": cluster.zone(number),
        **more.get("labels", {}),
    }
    capacity = {"cpu": cpu, "memory": memory, "ephemeral-storage": "100Gi", "pods": pods, **more.get("resources", {})}
    images = [{"names": [_IMAGES[image][0]], "sizeBytes": _IMAGES[image][1]} for image in more.get("images", ())]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}", "creationTimestamp": _START, "labels": labels},
        "spec": {"taints": more["taints"]} if "taints" in more else {},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True"}],
            **({"images": images} if images else {}),
        },
    }


def _pod(app: str, number: int, *, cpu: str, memory: str, order: int, **spec: Any) -> Json:
    """A pod named `app-number`. `order` makes creation times increase in the order of creation."""
    name = f"{app}-{number}"
    resources = {"cpu": cpu, "memory": memory, **spec.pop("resources", {})}
    labels = {"app": app, **spec.pop("labels", {})}
    image = _IMAGES.get(app, _IMAGES["api"])[0]
    extended = {key: value for key, value in resources.items() if "/" in key}
    container: Json = {"name": app, "image": image, "resources": {"requests": resources, **({"limits": extended} if extended else {})}}
    if ports := spec.pop("ports", None):
        container["ports"] = ports
    minute, second = divmod(order // 50, 60)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "creationTimestamp": f"2024-01-01T{minute // 60 % 24:02}:{minute % 60:02}:{second:02}Z",
            "labels": labels,
        },
        "spec": {"containers": [container], **spec},
    }


def _priority_class(name: str, value: int, **more: Any) -> Json:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value, **more}


def _urgent() -> Json:
    return {"priorityClassName": "urgent", "priority": _URGENT}


def _spread(app: str, key: str, *, when: str) -> Json:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": {"app": app}},
    }


def _random(cluster: Cluster, purpose: str) -> random.Random:
    return random.Random(f"{cluster.seed}/{purpose}")  # noqa: S311  (not for security)


def _numbered(counts: dict[str, int], app: str) -> int:
    counts[app] = counts.get(app, 0) + 1
    return counts[app]


def _demo(cluster: Cluster) -> Iterator[Json]:
    """A dozen pods for a first look: two are running, most fit, two wait for capacity, one for its scheduling gate, one for a node
    label.
    """
    yield _priority_class("urgent", _URGENT)
    for number in range(cluster.nodes):
        taints: Json = (
            {"taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]} if number == cluster.nodes - 1 > 0 else {}
        )
        disk = "ssd" if number == 0 else "hdd"
        images = ("web", "api") if number % 2 == 0 else ("cache",)
        yield _node(cluster, number, cpu="4", memory="8Gi", pods="20", labels={"disk": disk}, images=images, **taints)
    makers: tuple[Callable[[int, int], Json], ...] = (
        lambda n, o: _pod("cache", n, cpu="500m", memory="1Gi", order=o, nodeName="node-1"),
        lambda n, o: _pod("api", n, cpu="1", memory="1Gi", order=o, nodeName=f"node-{min(2, cluster.nodes)}"),
        lambda n, o: _pod("web", n, cpu="500m", memory="512Mi", order=o),
        lambda n, o: _pod("web", n, cpu="500m", memory="512Mi", order=o),
        lambda n, o: _pod("api", n, cpu="1", memory="1Gi", order=o, **_urgent()),
        lambda n, o: _pod("batch", n, cpu="3", memory="4Gi", order=o, tolerations=[{"key": "dedicated", "operator": "Exists"}]),
        lambda n, o: _pod("web", n, cpu="500m", memory="512Mi", order=o, nodeSelector={"disk": "ssd"}),
        lambda n, o: _pod("batch", n, cpu="6", memory="4Gi", order=o),
        lambda n, o: _pod("cache", n, cpu="500m", memory="1Gi", order=o, nodeSelector={"disk": "nvme"}),
        lambda n, o: _pod("web", n, cpu="500m", memory="512Mi", order=o, schedulingGates=[{"name": "example.com/quota"}]),
        lambda n, o: _pod("api", n, cpu="1", memory="1Gi", order=o, **_urgent()),
        lambda n, o: _pod("batch", n, cpu="3", memory="12Gi", order=o),
    )
    apps = ("cache", "api", "web", "web", "api", "batch", "web", "batch", "cache", "web", "api", "batch")
    counts: dict[str, int] = {}
    for order in range(cluster.pods):
        index = order % len(makers)
        yield makers[index](_numbered(counts, apps[index]), order)


def _basic(cluster: Cluster) -> Iterator[Json]:
    """Equal nodes, plain pods of four sizes."""
    for number in range(cluster.nodes):
        yield _node(cluster, number)
    rng = _random(cluster, "basic")
    for number in range(cluster.pods):
        cpu, memory = rng.choice((("100m", "128Mi"), ("250m", "256Mi"), ("500m", "1Gi"), ("1", "2Gi")))
        yield _pod("web", number + 1, cpu=cpu, memory=memory, order=number)


def _mixed(cluster: Cluster) -> Iterator[Json]:
    """A web shop: web, api, cache and batch pods, two priorities, tainted nodes, and some pods that cannot fit."""
    yield _priority_class("urgent", _URGENT)
    rng = _random(cluster, "mixed")
    for number in range(cluster.nodes):
        large = number % 5 == 0
        taints: Json = {"taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]} if number % 10 == 9 else {}
        yield _node(
            cluster,
            number,
            cpu="16" if large else "8",
            memory="64Gi" if large else "32Gi",
            labels={"disk": "ssd" if number % 3 == 0 else "hdd"},
            images=rng.sample(("web", "api", "cache", "batch"), k=2),
            **taints,
        )
    counts: dict[str, int] = {}
    for order in range(cluster.pods):
        app = rng.choices(("web", "api", "cache", "batch"), weights=(5, 3, 1, 2))[0]
        yield _mixed_pod(app, _numbered(counts, app), order, rng)


def _mixed_pod(app: str, number: int, order: int, rng: random.Random) -> Json:
    if app == "web":
        return _pod(app, number, cpu=rng.choice(("100m", "250m", "500m")), memory="256Mi", order=order)
    if app == "api":
        urgent = _urgent() if number % 4 == 0 else {}
        return _pod(app, number, cpu=rng.choice(("500m", "1")), memory=rng.choice(("512Mi", "1Gi")), order=order, **urgent)
    if app == "cache":
        return _pod(app, number, cpu="500m", memory="4Gi", order=order, nodeSelector={"disk": "ssd"})
    more: Json = {"tolerations": [{"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}]}
    if number % 12 == 0:
        more["schedulingGates"] = [{"name": "example.com/quota"}]
    cpu = "40" if number % 25 == 0 else rng.choice(("1", "2", "4"))
    return _pod(app, number, cpu=cpu, memory=rng.choice(("2Gi", "4Gi", "8Gi")), order=order, **more)


def _gpu(cluster: Cluster) -> Iterator[Json]:
    """Half of the nodes have GPUs of two models and a taint; training pods request one, two or four GPUs."""
    for number in range(cluster.nodes):
        if number % 2:
            yield _node(cluster, number, cpu="8", memory="32Gi", images=("web",))
            continue
        yield _node(
            cluster,
            number,
            cpu="64",
            memory="256Gi",
            images=("train",) if number % 4 == 0 else (),
            labels={"gpu-model": "v100" if number % 4 else "a100"},
            resources={"nvidia.com/gpu": "8" if number % 4 == 0 else "4"},
            taints=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        )
    rng = _random(cluster, "gpu")
    counts: dict[str, int] = {}
    for order in range(cluster.pods):
        app = rng.choices(("train", "web"), weights=(2, 3))[0]
        number = _numbered(counts, app)
        if app == "web":
            yield _pod(app, number, cpu=rng.choice(("250m", "500m")), memory="512Mi", order=order)
            continue
        gpus = rng.choice(("1", "1", "2", "4"))
        model = {"nodeSelector": {"gpu-model": rng.choice(("a100", "v100"))}} if number % 3 == 0 else {}
        tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
        yield _pod(app, number, cpu="8", memory="32Gi", order=order, resources={"nvidia.com/gpu": gpus}, tolerations=tolerations, **model)


def _spread_shape(cluster: Cluster) -> Iterator[Json]:
    """Apps that must be spread evenly over zones and should be spread over nodes."""
    for number in range(cluster.nodes):
        yield _node(cluster, number)
    rng = _random(cluster, "spread")
    counts: dict[str, int] = {}
    for order in range(cluster.pods):
        app = rng.choice(("web", "api", "cache"))
        constraints = [
            _spread(app, "topology.kubernetes.io/zone", when="DoNotSchedule"),
            _spread(app, "kubernetes.io/hostname", when="ScheduleAnyway"),
        ]
        yield _pod(app, _numbered(counts, app), cpu="250m", memory="512Mi", order=order, topologySpreadConstraints=constraints)


def _affinity(cluster: Cluster) -> Iterator[Json]:
    """Caches that must not share a node, and web pods that prefer a node near a cache."""
    for number in range(cluster.nodes):
        yield _node(cluster, number)
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    near = {
        "podAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 100,
                    "podAffinityTerm": {
                        "labelSelector": {"matchLabels": {"app": "cache"}},
                        "topologyKey": "topology.kubernetes.io/zone",
                    },
                }
            ]
        }
    }
    counts: dict[str, int] = {}
    for order in range(cluster.pods):
        app = "cache" if order % 5 == 0 else "web"
        affinity = apart if app == "cache" else near
        yield _pod(app, _numbered(counts, app), cpu="250m", memory="512Mi", order=order, affinity=affinity)


def _preempt(cluster: Cluster) -> Iterator[Json]:
    """Nodes full of batch pods; the pending pods have a high priority and need their capacity."""
    yield _priority_class("urgent", _URGENT)
    yield _priority_class("low", 1)
    for number in range(cluster.nodes):
        yield _node(cluster, number, cpu="4", memory="16Gi")
    running = min(cluster.pods, cluster.nodes * 4)
    low = {"priorityClassName": "low", "priority": 1}
    for order in range(running):
        yield _pod("batch", order + 1, cpu="1", memory="2Gi", order=order, nodeName=f"node-{order % cluster.nodes + 1}", **low)
    rng = _random(cluster, "preempt")
    for order in range(running, cluster.pods):
        yield _pod("api", order - running + 1, cpu=rng.choice(("1", "2", "3")), memory="2Gi", order=order, **_urgent())


def _devices(cluster: Cluster) -> Iterator[Json]:
    """Pods with claims: training takes two GPUs on one PCIe root, a notebook one with much memory, inference a partition if there are
    any, and web pods take none.
    """
    for number in range(cluster.nodes):
        yield _node(cluster, number, cpu="64", memory="256Gi", images=("train",) if number % 2 == 0 else ())
    rng = _random(cluster, "devices")
    counts: dict[str, int] = {}
    for order in range(cluster.pods):
        app = rng.choices(("train", "notebook", "inference", "web"), weights=(2, 2, 4, 2))[0]
        number = _numbered(counts, app)
        if app == "web":
            yield _pod(app, number, cpu="250m", memory="512Mi", order=order)
            continue
        claim = f"{app}-{number}"
        yield _claim(claim, *_requests(app, partitions=cluster.partitions))
        yield _pod(app, number, cpu="4", memory="16Gi", order=order, resourceClaims=[{"name": "gpu", "resourceClaimName": claim}])


def _requests(app: str, *, partitions: bool) -> tuple[Json, list[Json]]:
    """The request of an app's claims, and the constraints."""
    request: Json = {"deviceClassName": GPU_CLASS}
    if app == "train":
        return {"name": "gpus", "exactly": {**request, "count": 2}}, [{"requests": ["gpus"], "matchAttribute": PCIE_ROOT}]
    if app == "notebook":
        expression = f"device.capacity['{DRIVER}'].memory.compareTo(quantity('40Gi')) >= 0"
        return {"name": "gpu", "exactly": {**request, "selectors": [{"cel": {"expression": expression}}]}}, []
    if not partitions:
        return {"name": "gpu", "exactly": request}, []
    part = {"name": "partition", "deviceClassName": PARTITION_CLASS}
    return {"name": "gpu", "firstAvailable": [part, {"name": "whole", **request}]}, []


def _claim(name: str, request: Json, constraints: list[Json]) -> Json:
    devices: Json = {"requests": [request], **({"constraints": constraints} if constraints else {})}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-claim-{name}", "creationTimestamp": _START},
        "spec": {"devices": devices},
    }


SHAPES: Final[dict[str, Shape]] = {
    shape.name: shape
    for shape in (
        Shape("demo", "Four nodes and a dozen pods that show most of what the scheduler does", 4, 12, 2, _demo),
        Shape("basic", "Equal nodes and plain pods", 10, 100, 3, _basic),
        Shape("mixed", "Several apps, two priorities, taints, labels, some pods that cannot fit", 20, 200, 3, _mixed),
        Shape("gpu", "GPU nodes behind a taint, training and web pods", 20, 100, 2, _gpu),
        Shape("spread", "Apps spread evenly over zones and nodes", 12, 90, 3, _spread_shape),
        Shape("affinity", "Caches apart from one another, web pods near them", 10, 60, 3, _affinity),
        Shape("preempt", "Full nodes and urgent pods", 6, 36, 2, _preempt),
        Shape("devices", "Nodes whose GPUs are allocated by claims (v1.36)", 6, 30, 2, _devices, gpus=4),
    )
}
