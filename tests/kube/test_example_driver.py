"""The slices of a made-up GPU driver."""

from __future__ import annotations

from schedviz.kube.core import Node
from schedviz.kube.example_driver import NodeGpus, slices_of
from schedviz.kube.meta import ObjectMeta

NODE = Node(metadata=ObjectMeta(name="node-1", uid="u1"))


def test_a_node_without_gpus_has_no_slice() -> None:
    assert slices_of(NODE, NodeGpus(0)) == []


def test_whole_gpus_are_in_one_slice_which_the_node_owns() -> None:
    (only,) = slices_of(NODE, NodeGpus(8, "l4"), generation=3)
    assert [device.name for device in only.spec.devices] == [f"gpu-{number}" for number in range(8)]
    assert (only.spec.pool.name, only.spec.pool.generation, only.spec.pool.resource_slice_count) == ("node-1", 3, 1)
    assert [(owner.kind, owner.uid) for owner in only.metadata.owner_references] == [("Node", "u1")]
    roots = [device.attributes["resource.kubernetes.io/pcieRoot"].string_value for device in only.spec.devices[:3]]
    assert roots == ["pci0000:00", "pci0000:00", "pci0000:01"]


def test_partitions_take_from_the_counters_of_their_gpu() -> None:
    counters, devices = slices_of(NODE, NodeGpus(2, "a100", partitions=True))
    assert [counter.name for counter in counters.spec.shared_counters] == ["gpu-0", "gpu-1"]
    assert counters.spec.devices == ()
    whole, *parts = devices.spec.devices[:13]
    assert whole.consumes_counters[0].counters == counters.spec.shared_counters[0].counters
    memory = {part.attributes["profile"].string_value: str(part.capacity["memory"].value) for part in parts}
    assert memory == {"1g.10gb": "10Gi", "2g.20gb": "20Gi", "3g.40gb": "40Gi"}


def test_slices_keep_to_the_limits_of_the_api() -> None:
    slices = slices_of(NODE, NodeGpus(32, "h100", partitions=True))
    assert len({slice_.name for slice_ in slices}) == len(slices) == slices[0].spec.pool.resource_slice_count
    assert all(bool(slice_.spec.devices) != bool(slice_.spec.shared_counters) for slice_ in slices)
    assert max(len(slice_.spec.devices) for slice_ in slices) == 64
    assert max(len(slice_.spec.shared_counters) for slice_ in slices) == 8
    assert sum(len(slice_.spec.devices) for slice_ in slices) == 32 * 13
