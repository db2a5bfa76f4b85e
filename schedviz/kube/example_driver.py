"""The devices of a made-up GPU driver: what it publishes for a node, and the classes of its devices.

GPUs come in pairs that share a PCIe root. A model that can be partitioned offers each GPU as a whole or as smaller devices, as MIG does.
All of them take from the counters of their GPU, so that it is used whole or in parts (partitionable devices).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeVar

import msgspec

from schedviz.kube.core import Node
from schedviz.kube.devices import (
    CELDeviceSelector,
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClass,
    DeviceClassSpec,
    DeviceCounterConsumption,
    DeviceSelector,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from schedviz.kube.meta import ObjectMeta, OwnerReference
from schedviz.kube.quantity import Quantity, of_int, parse

DRIVER: Final = "gpu.example.com"
#: The class of whole GPUs, and the class of their partitions.
GPU_CLASS: Final = "gpu.example.com"
PARTITION_CLASS: Final = "partition.gpu.example.com"
PCIE_ROOT: Final = "resource.kubernetes.io/pcieRoot"

Model = Literal["a100", "h100", "l4"]

MAX_GPUS: Final = 32
#: Upstream: pkg/apis/resource/types.go ResourceSliceMaxDevices, ResourceSliceMaxDevicesWithAdvancedFeatures, ResourceSliceMaxCounterSets
_MAX_DEVICES: Final = 128
_MAX_PARTITIONABLE_DEVICES: Final = 64
_MAX_COUNTER_SETS: Final = 8
#: Of a node with `MAX_GPUS`, each with its partitions.
_MAX_SLICES: Final = 16

_Item = TypeVar("_Item")


class _ModelHardware(msgspec.Struct, frozen=True):
    """A model: its memory in GiB, its multiprocessors, and the sevenths of a GPU that its partitions have -> how many fit."""

    memory: int
    multiprocessors: int
    partitions: dict[int, int]


_MODEL_HARDWARE: Final[dict[str, _ModelHardware]] = {
    "a100": _ModelHardware(80, 98, {1: 7, 2: 3, 3: 2}),
    "h100": _ModelHardware(96, 126, {1: 7, 2: 3, 3: 2}),
    "l4": _ModelHardware(24, 58, {}),
}
MODELS: Final[tuple[str, ...]] = tuple(_MODEL_HARDWARE)


class NodeGpus(msgspec.Struct, frozen=True):
    """What a node has: GPUs of one model, which are offered in partitions, too, if the model has any."""

    gpus: int
    model: str = "a100"
    partitions: bool = False


def can_be_partitioned(model: str) -> bool:
    """Whether GPUs of the model have partitions."""
    return bool(_MODEL_HARDWARE[model].partitions)


def device_classes() -> list[DeviceClass]:
    """The classes that the driver's installation creates."""
    return [_device_class(GPU_CLASS, "gpu"), _device_class(PARTITION_CLASS, "partition")]


def _device_class(name: str, kind: str) -> DeviceClass:
    expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == '{kind}'"
    selector = DeviceSelector(cel=CELDeviceSelector(expression=expression))
    return DeviceClass(metadata=ObjectMeta(name=name), spec=DeviceClassSpec(selectors=(selector,)))


def slices_of(node: Node, hardware: NodeGpus, *, generation: int = 1) -> list[ResourceSlice]:
    """The slices of a node's pool, which has the name of the node: counters first, then devices. None if there are no GPUs."""
    partitioned = hardware.partitions and can_be_partitioned(hardware.model)
    numbers = range(hardware.gpus)
    counters = [_counters(number, hardware.model) for number in numbers] if partitioned else []
    devices = [device for number in numbers for device in _devices(number, hardware.model, partitioned=partitioned)]
    maximum = _MAX_PARTITIONABLE_DEVICES if partitioned else _MAX_DEVICES
    specs: list[tuple[tuple[CounterSet, ...], tuple[Device, ...]]] = [
        *((part, ()) for part in _batches(counters, _MAX_COUNTER_SETS)),
        *(((), part) for part in _batches(devices, maximum)),
    ]
    pool = ResourcePool(name=node.name, generation=generation, resource_slice_count=len(specs))
    owner = OwnerReference(api_version="v1", kind="Node", name=node.name, uid=node.uid, controller=True)
    return [
        ResourceSlice(
            metadata=ObjectMeta(name=name, owner_references=(owner,)),
            spec=ResourceSliceSpec(driver=DRIVER, node_name=node.name, pool=pool, shared_counters=shared, devices=some),
        )
        for name, (shared, some) in zip(slice_names(node.name), specs, strict=False)
    ]


def slice_names(node: str) -> list[str]:
    """The names of all slices that a node may have."""
    return [f"{node}-{DRIVER}-{number}" for number in range(_MAX_SLICES)]


def _batches(items: Sequence[_Item], size: int) -> Iterator[tuple[_Item, ...]]:
    return (tuple(items[start : start + size]) for start in range(0, len(items), size))


def _gibibytes(count: int) -> Quantity:
    return parse(f"{count}Gi")


def _counters(number: int, model: str) -> CounterSet:
    hardware = _MODEL_HARDWARE[model]
    return CounterSet(name=f"gpu-{number}", counters=_amounts(hardware.memory, hardware.multiprocessors))


def _amounts(memory: int, multiprocessors: int) -> dict[str, Counter]:
    return {"memory": Counter(value=_gibibytes(memory)), "multiprocessors": Counter(value=of_int(multiprocessors, "DecimalSI"))}


def _devices(number: int, model: str, *, partitioned: bool) -> Iterator[Device]:
    hardware = _MODEL_HARDWARE[model]
    name = f"gpu-{number}"
    yield _device(name, number, model, memory=hardware.memory, multiprocessors=hardware.multiprocessors, profile="", takes=partitioned)
    if partitioned:
        for sevenths, count in hardware.partitions.items():
            # A partition of three sevenths has half of the memory.
            memory = hardware.memory * (sevenths + sevenths // 3) // 8
            multiprocessors = hardware.multiprocessors * sevenths // 7
            profile = f"{sevenths}g.{memory}gb"
            for device_number in range(count):
                device = f"{name}-{sevenths}g-{device_number}"
                yield _device(device, number, model, memory=memory, multiprocessors=multiprocessors, profile=profile, takes=True)


def _device(name: str, number: int, model: str, *, memory: int, multiprocessors: int, profile: str, takes: bool) -> Device:
    attributes = {
        "type": DeviceAttribute(string_value="partition" if profile else "gpu"),
        "model": DeviceAttribute(string_value=model),
        "index": DeviceAttribute(int_value=number),
        "driverVersion": DeviceAttribute(version_value="1.36.0"),
        PCIE_ROOT: DeviceAttribute(string_value=f"pci0000:{number // 2:02x}"),
    }
    if profile:
        attributes["profile"] = DeviceAttribute(string_value=profile)
    amounts = _amounts(memory, multiprocessors)
    consumption = DeviceCounterConsumption(counter_set=f"gpu-{number}", counters=amounts)
    return Device(
        name=name,
        attributes=attributes,
        capacity={key: DeviceCapacity(value=counter.value) for key, counter in amounts.items()},
        consumes_counters=(consumption,) if takes else (),
    )
