"""`FreeDevices` against the allocator, which looks at one node after the other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from schedviz.cli.bench.check import differences
from schedviz.cli.bench.workloads import WORKLOADS
from schedviz.engine.framework.plugins.dynamicresources.structured import AllocationError, DeviceID, NodeAllocationError
from schedviz.engine.framework.plugins.dynamicresources.structured.free_devices import (
    FREE,
    INVALID_POOL,
    NONE_FREE,
    SEARCH,
    FreeDeviceIndex,
    PlainRequest,
)
from schedviz.engine.framework.plugins.dynamicresources.structured.pools import PoolIndex
from schedviz.engine.framework.plugins.dynamicresources.structured.selectors import Selectors
from schedviz.engine.framework.types import Generations, NodeInfo
from schedviz.kube.core import Node
from tests.engine.framework.plugins.dynamicresources.builders import (
    DRIVER,
    Devices,
    claim_for,
    device,
    node_called,
    request,
    slice_of,
    where,
)

IS_A = f'device.attributes["{DRIVER}"].model == "A"'
NODES = [node_called(f"n{number}", zone="a" if number % 2 else "b") for number in range(6)]
IN_ZONE_A = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}


class Arrays:
    """The results of `FreeDevices` for all nodes, while slices and allocations change."""

    def __init__(self, devices: Devices, count: int = 1) -> None:
        self.devices = devices
        self.request = PlainRequest((IS_A,), count, devices.max_steps)
        self.pools = PoolIndex(devices.features)
        self.pools.update(devices.slices)
        self.index = FreeDeviceIndex(self.pools, Selectors())

    def results(self, nodes: Sequence[Node] = NODES) -> list[int]:
        free = self.index.devices_for(self.request, set(self.devices.allocated.devices))
        return free.results_of(np.array([free.code_of(_info(node)) for node in nodes])).tolist()


def _info(node: Node) -> NodeInfo:
    info = NodeInfo(node.name, Generations())
    info.node = node
    return info


def _searched(devices: Devices, node: Node, count: int) -> int:
    """The answer of a search, which a constraint that all devices satisfy makes necessary."""
    constraint = {"matchAttribute": f"{DRIVER}/model", "requests": ["r"]}
    try:
        found = devices.allocator().find(node, [claim_for(request(selectors=where(IS_A), count=count), constraints=[constraint])])
    except NodeAllocationError:
        return INVALID_POOL
    return NONE_FREE if found is None else FREE


def _pool(number: int, models: Sequence[str], **spec: Any) -> Any:
    made = [device(f"d{number}-{index}", model=model) for index, model in enumerate(models)]
    return slice_of(*made, name=f"s{number}", pool=f"p{number}", **spec)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_results_equal_those_of_a_search_on_each_node(seed: int, count: int) -> None:
    source = random.Random(seed)
    models = [[source.choice("AAB") for _ in range(source.randrange(1, 4))] for _ in range(6)]
    slices = [_pool(number, models[number], nodeName=f"n{number}") for number in range(4)]
    slices.append(_pool(4, models[4], nodeSelector=IN_ZONE_A))
    twice = [device("same", model="A"), device("same", model="B")]
    slices.append(slice_of(*twice, name="s5", pool="p5", nodeName="n5"))
    devices = Devices(*slices)
    every = [DeviceID(DRIVER, each.spec.pool.name, one.name) for each in slices for one in each.spec.devices]
    arrays = Arrays(devices, count)

    for _ in range(30):
        devices.allocated.devices ^= {source.choice(every)}
        assert arrays.results() == [_searched(devices, node, count) for node in NODES]


def test_a_plain_request_gets_the_devices_that_a_search_finds() -> None:
    devices = Devices(_pool(0, "ABAAB", nodeName="n0"), _pool(1, "BAA", nodeName="n0")).take("d0-2", pool="p0")
    plain = claim_for(request(selectors=where(IS_A), count=4))
    constraint = {"matchAttribute": f"{DRIVER}/model", "requests": ["r"]}
    searched = claim_for(request(selectors=where(IS_A), count=4), constraints=[constraint])

    assert devices.names(plain, node=NODES[0]) == devices.names(searched, node=NODES[0]) == [["r=d0-0", "r=d0-3", "r=d1-1", "r=d1-2"]]


def test_too_few_devices_of_many_take_a_search_because_it_may_time_out() -> None:
    devices = Devices(_pool(0, "A" * 20, nodeName="n0"))

    assert Arrays(devices, 20).results(NODES[:1]) == [FREE]
    assert Arrays(devices, 21).results(NODES[:1]) == [SEARCH]
    devices.max_steps = 10_000_000
    assert Arrays(devices, 21).results(NODES[:1]) == [NONE_FREE]


@pytest.mark.parametrize(
    ("devices", "selectors", "spec", "nodes", "is_quick"),
    [
        (100, 1, {"nodeName": "n0"}, 1, True),
        (100, 64, {"nodeName": "n0"}, 1, False),
        (100, 64, {"nodeName": "n0"}, 120, True),
        (1, 65, {"nodeName": "n0"}, 100, False),
        (100, 1, {"allNodes": True}, 100, True),
        (100, 31, {"allNodes": True}, 1000, False),
    ],
)
def test_arrays_are_used_only_if_they_take_no_longer_than_a_search_may(
    devices: int, selectors: int, spec: dict[str, Any], nodes: int, *, is_quick: bool
) -> None:
    pools = PoolIndex(Devices().features)
    pools.update([_pool(0, "A" * devices, **spec)])
    request = PlainRequest(tuple(f"{number} < 100" for number in range(selectors)), 1, 1000)

    assert FreeDeviceIndex(pools, Selectors()).is_quick(request, nodes, steps=2_500 + 25 * nodes) is is_quick


def test_changed_slices_and_nodes_have_new_results() -> None:
    devices = Devices(_pool(0, "A", nodeName="n0"))
    arrays = Arrays(devices)
    assert arrays.results(NODES[:2]) == [FREE, NONE_FREE]

    devices.slices = [_pool(0, "A", nodeName="n1"), _pool(1, "A", nodeSelector=IN_ZONE_A)]
    arrays.pools.update(devices.slices)

    assert arrays.results(NODES[:2]) == [NONE_FREE, FREE]
    assert arrays.results([node_called("n0", zone="a")]) == [FREE]


@pytest.mark.parametrize(
    "member", [{"taints": [{"key": "k", "effect": "NoSchedule"}]}, {"allowMultipleAllocations": True}, {"attributes": {}}]
)
def test_a_device_that_is_not_plain_or_fails_a_selector_takes_a_search(member: dict[str, Any]) -> None:
    special = device("special", model="A") | member
    arrays = Arrays(Devices(slice_of(special, name="s0", pool="p0", nodeName="n0"), _pool(1, "A", nodeName="n1")))

    assert arrays.results(NODES[:3]) == [SEARCH, FREE, NONE_FREE]


def test_an_error_of_a_node_is_left_to_the_search() -> None:
    invalid = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Gt", "values": ["x"]}]}]}
    devices = Devices(_pool(0, "A", nodeSelector=invalid))

    assert Arrays(devices).results(NODES[:1]) == [SEARCH]
    with pytest.raises(AllocationError):
        devices.allocator().find(NODES[0], [claim_for(request())])


@pytest.mark.parametrize("name", ["devices-2", "devices-8"])
def test_pods_are_placed_as_if_each_node_was_searched(name: str) -> None:
    assert differences(WORKLOADS[name], nodes=20, every_node=True, release="v1.36") == []
