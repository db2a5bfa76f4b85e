"""Small objects for tests of the allocator, and an allocator over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedviz.engine.framework.plugins.dynamicresources.structured import AllocatedState, Allocator, AllocatorFeatures, DeviceID
from schedviz.engine.framework.plugins.dynamicresources.structured.pools import PoolIndex
from schedviz.engine.framework.plugins.dynamicresources.structured.selectors import Selectors
from schedviz.kube.codec import from_dict
from schedviz.kube.core import Node
from schedviz.kube.defaults import default_object
from schedviz.kube.devices import AllocationResult, DeviceClass, ResourceClaim, ResourceSlice

DRIVER = "gpu.example.com"
API = "resource.k8s.io/v1"


def made(data: dict[str, Any]) -> Any:
    return default_object(from_dict(data, strict=True))


def node_called(name: str, **labels: str) -> Node:
    node: Node = made({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})
    return node


def device(name: str, **members: Any) -> dict[str, Any]:
    """A device; strings among `members` are attributes."""
    attributes = {key: {"string": value} for key, value in members.items() if isinstance(value, str) and key != "nodeName"}
    rest = {key: value for key, value in members.items() if not isinstance(value, str) or key == "nodeName"}
    return {"name": name, "attributes": attributes} | rest


def slice_of(
    *devices: dict[str, Any], name: str = "", pool: str = "pool", count: int = 1, generation: int = 1, **spec: Any
) -> ResourceSlice:
    """A slice of a pool for node n1, or for what `spec` says."""
    where = {} if {"nodeSelector", "allNodes", "perDeviceNodeSelection", "sharedCounters"} & spec.keys() else {"nodeName": "n1"}
    pool_spec = {"name": pool, "generation": generation, "resourceSliceCount": count}
    content = {"devices": list(devices)} if devices else {}
    body = {"driver": DRIVER, "pool": pool_spec} | content | where | spec
    result: ResourceSlice = made({"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name or pool}, "spec": body})
    return result


def request(name: str = "r", **exactly: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": "any"} | exactly}


def first_of(*alternatives: dict[str, Any], name: str = "r") -> dict[str, Any]:
    return {"name": name, "firstAvailable": [{"deviceClassName": "any"} | alternative for alternative in alternatives]}


def where(expression: str) -> list[dict[str, Any]]:
    return [{"cel": {"expression": expression}}]


def claim_for(*requests: dict[str, Any], name: str = "c", constraints: Sequence[dict[str, Any]] = ()) -> ResourceClaim:
    spec = {"devices": {"requests": list(requests), "constraints": list(constraints)}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    claim: ResourceClaim = made({"apiVersion": API, "kind": "ResourceClaim", "metadata": metadata, "spec": spec})
    return claim


def class_called(name: str, **spec: Any) -> DeviceClass:
    result: DeviceClass = made({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec})
    return result


class Devices:
    """Slices and classes, and what is allocated."""

    def __init__(self, *slices: ResourceSlice, classes: Sequence[DeviceClass] = (), **features: bool) -> None:
        self.slices = sorted(slices, key=lambda each: each.name)
        self.classes = {each.name: each for each in (class_called("any"), *classes)}
        self.allocated = AllocatedState()
        self.features = AllocatorFeatures(**features)
        self.max_steps = 100_000

    def take(self, *names: str, pool: str = "pool") -> Devices:
        """Let another claim have devices."""
        self.allocated.devices |= {DeviceID(DRIVER, pool, name) for name in names}
        return self

    def allocator(self) -> Allocator:
        pools = PoolIndex(self.features)
        pools.update(self.slices)
        features = self.features
        selectors = Selectors(list_type_attributes=features.list_type_attributes, shows_sharing=not features.is_stable)
        return Allocator(self.features, self.allocated, self.classes.get, pools, selectors, max_steps=self.max_steps)

    def results(self, *claims: ResourceClaim, node: Node | None = None) -> list[AllocationResult] | None:
        """The allocations on a node, n1 if none is given; None: there are none."""
        allocator = self.allocator()
        on = node or node_called("n1")
        result = allocator.find(on, claims)
        return (
            None if result is None else [allocator.result(claim, devices, on.name) for claim, devices in zip(claims, result, strict=True)]
        )

    def names(self, *claims: ResourceClaim, node: Node | None = None) -> list[list[str]] | None:
        """`request=device` of each result, by claim."""
        results = self.results(*claims, node=node)
        if results is None:
            return None
        return [[f"{result.request}={result.device}" for result in result.devices.results] for result in results]
