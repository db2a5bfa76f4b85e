"""The driver of made-up GPUs: publishes the devices of each node, as the labels of the node describe them.

Like a real driver, it restores slices that somebody else changed, under a new generation of the pool.

Upstream: staging/src/k8s.io/dynamic-resource-allocation/resourceslice/resourceslicecontroller.go syncPool
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.kube.core import Node
from schedviz.kube.devices import ResourceSlice
from schedviz.kube.example_driver import DRIVER, MAX_GPUS, MODELS, NodeGpus, device_classes, slice_names, slices_of
from schedviz.kube.meta import KubeObject

#: The labels of a node that describe its devices.
COUNT_LABEL: Final = f"{DRIVER}/count"
MODEL_LABEL: Final = f"{DRIVER}/model"
PARTITIONS_LABEL: Final = f"{DRIVER}/partitions"
#: The GPUs of a node without labels, or with a count that is not a number.
_DEFAULT: Final = NodeGpus(gpus=4)


class DeviceDriver:
    """Publishes slices."""

    name = "deviceDriver"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """A node, and the node of a slice."""
        if isinstance(obj, Node):
            yield obj.name, api.clock.now + delay
        elif isinstance(obj, ResourceSlice) and obj.spec.driver == DRIVER and obj.spec.node_name:
            yield obj.spec.node_name, api.clock.now + delay

    def reconcile(self, key: str, api: ControllerApi) -> None:
        """Publish the devices of a node, or delete the slices of a node that was deleted. Classes are created once."""
        node = api.store.get("Node", key)
        published = _published(key, api)
        if not isinstance(node, Node):
            _delete(published, api)
            return
        for device_class in device_classes():
            if ("DeviceClass", device_class.name) not in api.store.creations:
                api.put(device_class)
        generation = max((published_slice.spec.pool.generation for published_slice in published.values()), default=0)
        desired = slices_of(node, hardware_of(node), generation=generation)
        if {resource_slice.name: resource_slice.spec for resource_slice in desired} == {
            name: resource_slice.spec for name, resource_slice in published.items()
        }:
            return
        desired = slices_of(node, hardware_of(node), generation=generation + 1)
        for resource_slice in desired:
            api.put(resource_slice)
        names = {resource_slice.name for resource_slice in desired}
        _delete({name: resource_slice for name, resource_slice in published.items() if name not in names}, api)


def hardware_of(node: Node) -> NodeGpus:
    """What the labels of a node describe."""
    labels = node.metadata.labels
    count = labels.get(COUNT_LABEL, "")
    model = labels.get(MODEL_LABEL, _DEFAULT.model)
    return NodeGpus(
        gpus=min(int(count), MAX_GPUS) if count.isdecimal() else _DEFAULT.gpus,
        model=model if model in MODELS else _DEFAULT.model,
        partitions=labels.get(PARTITIONS_LABEL) == "true",
    )


def _published(node: str, api: ControllerApi) -> dict[str, ResourceSlice]:
    stored = (api.store.get("ResourceSlice", name) for name in slice_names(node))
    return {
        resource_slice.name: resource_slice
        for resource_slice in stored
        if isinstance(resource_slice, ResourceSlice) and resource_slice.spec.driver == DRIVER
    }


def _delete(slices: dict[str, ResourceSlice], api: ControllerApi) -> None:
    for name in slices:
        api.delete("ResourceSlice", "", name)
