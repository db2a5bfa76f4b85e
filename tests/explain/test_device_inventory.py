"""The inventory of devices: who has them, and what is left of shared counters."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.explain.device_inventory import DeviceInventory, device_inventory
from schedviz.explain.why import PodUnknownError
from schedviz.ingest.generate import GenerateSpec, generate
from tests.explain.small_clusters import cluster, do, node


def session(**spec: Any) -> Simulation:
    simulation = Simulation(SimulationSettings(release="v1.36"))
    simulation.load(generate(GenerateSpec(**({"shape": "devices", "nodes": 2, "gpus": 2, "pods": 8} | spec))))
    return simulation


def states(found: DeviceInventory) -> dict[str, str]:
    return {f"{pool.node}/{device.name}": device.state for pool in found.pools for device in pool.devices}


def test_a_cluster_without_devices_has_an_empty_inventory() -> None:
    for release in ("v1.27.1", "v1.36"):
        assert device_inventory(cluster(node("n1"), release=release)) == DeviceInventory(devices={"tainted": 0}, states={})


def test_a_device_names_its_claim_and_the_claim_its_device_and_pod() -> None:
    simulation = session()
    assert device_inventory(simulation).devices == {"free": 4, "tainted": 0}
    do(simulation, "run")

    result = device_inventory(simulation)
    taken = [(device, pool) for pool in result.pools for device in pool.devices if device.state == "allocated"]
    assert result.devices["allocated"] == len(taken) > 0
    device, pool = taken[0]
    claim = next(claim for claim in result.claims if claim.claim == device.claims[0])
    assert (pool.pool, device.name) in [(device.pool, device.device) for device in claim.devices]
    assert claim.pods == claim.reserved_for == (claim.claim,)
    assert sum(result.states.values()) == len(result.claims)


def test_a_device_is_in_flight_while_the_binding_cycle_is_held() -> None:
    simulation = session()
    do(simulation, "schedule")
    assert "inFlight" in states(device_inventory(simulation)).values()
    do(simulation, "bind")
    do(simulation, "confirm")
    assert "inFlight" not in states(device_inventory(simulation)).values()


def test_shared_counters_show_the_consumption_of_allocated_devices() -> None:
    simulation = session(nodes=1, gpus=1, partitions=True, pods=12)
    do(simulation, "run")
    (pool,) = device_inventory(simulation).pools
    memory = next(counter for counter in pool.counters if counter.counter == "memory")
    sizes = {"10Gi": 10, "20Gi": 20, "40Gi": 40, "80Gi": 80}
    assert memory.used == sum(sizes[device.capacity["memory"]] for device in pool.devices if device.state != "free") * 2**30 > 0
    assert (memory.counter_set, memory.total, memory.text) == ("gpu-0", 80 * 2**30, "80Gi")


def test_a_free_device_whose_counters_are_used_up_is_blocked() -> None:
    simulation = session(nodes=1, gpus=2, partitions=True, pods=1, seed=3)
    do(simulation, "run")
    result = device_inventory(simulation)
    (pool,) = result.pools
    (taken,) = [device for device in pool.devices if device.state == "allocated"]
    same = [device for device in pool.devices if device.counter_sets == taken.counter_sets and device is not taken]
    assert [device.name for device in pool.devices if device.blocked] == [
        device.name for device in same if taken.name in ("gpu-0", "gpu-1") or device.name in ("gpu-0", "gpu-1")
    ]
    assert result.devices["blocked"] + result.devices["free"] + 1 == len(pool.devices)


def test_the_inventory_of_one_node_or_pod_is_a_part_of_the_whole() -> None:
    simulation = session()
    do(simulation, "run")
    of_node = device_inventory(simulation, node="node-1")
    assert {pool.node for pool in of_node.pools} == {"node-1"}
    assert {claim.claim for claim in of_node.claims} == {
        claim for pool in of_node.pools for device in pool.devices for claim in device.claims
    }
    pod = of_node.claims[0].pods[0]
    of_pod = device_inventory(simulation, pod=pod)
    assert [claim.pods for claim in of_pod.claims] == [(pod,)]
    with pytest.raises(PodUnknownError):
        device_inventory(simulation, pod="default/nobody")


def test_classes_count_the_claims_that_request_them() -> None:
    result = device_inventory(session())
    claims_of_class = {priority_class.name: priority_class.claims for priority_class in result.classes}
    assert claims_of_class["gpu.example.com"] == len(result.claims)
    assert claims_of_class["partition.gpu.example.com"] == 0
