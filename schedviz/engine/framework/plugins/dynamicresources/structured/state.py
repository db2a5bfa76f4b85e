"""What is allocated in the cluster, as the allocator reads it, and the features that it has.

Upstream: dynamic-resource-allocation/structured/schedulerapi/types.go, structured/internal/types.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from schedviz.kube.quantity import Quantity, parse


class DeviceID(NamedTuple):
    """The name of a device in the cluster."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class PoolID(NamedTuple):
    """The name of a pool in the cluster."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


#: Amounts by the qualified name of a capacity.
ConsumedCapacity = Mapping[str, Quantity]


class ConsumedCapacities(dict[DeviceID, dict[str, Quantity]]):
    """How much of each shared device is in use. Upstream: ConsumedCapacityCollection"""

    def insert(self, device: DeviceID, amounts: ConsumedCapacity) -> None:
        """Add what one allocation consumes."""
        existing = self.get(device)
        if existing is None:
            self[device] = dict(amounts)
            return
        for name, amount in amounts.items():
            existing[name] = existing[name].plus(amount) if name in existing else amount

    def remove(self, device: DeviceID, amounts: ConsumedCapacity) -> None:
        """Take away what one allocation consumed; a device of which nothing is used is forgotten."""
        existing = self.get(device)
        if existing is None:
            return
        for name, amount in amounts.items():
            if name in existing:
                existing[name] = existing[name].minus(amount)
        if all(amount.is_zero for amount in existing.values()):
            del self[device]

    def clone(self) -> ConsumedCapacities:
        """A copy."""
        copy = ConsumedCapacities()
        for device, amounts in self.items():
            copy[device] = dict(amounts)
        return copy


class AllocatedState(msgspec.Struct):
    """The allocated devices: exclusive ones, and shares of devices. Upstream: AllocatedState"""

    devices: set[DeviceID] = set()
    #: Each shared device, with the number of its shares.
    shared: dict[DeviceID, int] = {}
    capacities: ConsumedCapacities = msgspec.field(default_factory=ConsumedCapacities)

    def to_state(self) -> Any:
        """Plain data, for a checkpoint."""
        return {
            "devices": sorted(map(list, self.devices)),
            "shared": [[*device, shares] for device, shares in sorted(self.shared.items())],
            "capacities": [
                [*device, {name: str(amount) for name, amount in amounts.items()}] for device, amounts in sorted(self.capacities.items())
            ],
        }

    @classmethod
    def from_state(cls, state: Any) -> AllocatedState:
        """The state of `to_state`."""
        state_ = cls({DeviceID(*device) for device in state["devices"]})
        state_.shared = {DeviceID(*device): shares for *device, shares in state["shared"]}
        for *device, amounts in state["capacities"]:
            state_.capacities[DeviceID(*device)] = {name: parse(amount) for name, amount in amounts.items()}
        return state_

    def is_allocated(self, device: DeviceID) -> bool:
        """Whether a claim has the device or a share of it. Upstream: IsDeviceAllocated"""
        return device in self.devices or device in self.shared or device in self.capacities


class AllocatorFeatures(msgspec.Struct, frozen=True):
    """What the allocator supports. Upstream: structured/internal/types.go Features"""

    admin_access: bool = True
    consumable_capacity: bool = True
    device_binding_and_status: bool = True
    device_taints: bool = True
    list_type_attributes: bool = False
    partitionable_devices: bool = True
    prioritized_list: bool = True

    @property
    def is_stable(self) -> bool:
        """Whether upstream uses its allocator for stable features. Upstream: structured/allocator.go availableAllocators

        It ignores requests for capacity and what it does not know of devices, and refuses distinct attributes. Deviation: its order of
        pools is random; here, it is that of the other allocator.
        """
        return not (self.consumable_capacity or self.device_binding_and_status or self.list_type_attributes)
