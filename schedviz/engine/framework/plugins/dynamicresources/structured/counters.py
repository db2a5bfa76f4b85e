"""Counters that the devices of a pool share: how much is left, and how much a search has taken.

Upstream: dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go checkAvailableCounters
"""

from __future__ import annotations

from collections.abc import Mapping

from schedviz.engine.framework.plugins.dynamicresources.structured.pools import Pool, SliceDevice
from schedviz.engine.framework.plugins.dynamicresources.structured.state import AllocatedState
from schedviz.kube.quantity import Quantity, of_int

#: Counter set -> counter -> amount.
Amounts = dict[str, dict[str, Quantity]]

_ZERO = of_int(0)


def available_in(pool: Pool, allocated: AllocatedState) -> Amounts:
    """What is left of each counter of the pool; it may be negative."""
    available: Amounts = {
        counters.name: {name: counter.value or _ZERO for name, counter in counters.counters.items()}
        for counters in pool.counter_sets.values()
    }
    for device in (*pool.devices, *pool.other_devices):
        if not device.device.consumes_counters or not allocated.is_allocated(device.id):
            continue
        for consumption in device.device.consumes_counters:
            counters = available.get(consumption.counter_set, {})
            for name, counter in consumption.counters.items():
                if name in counters:
                    counters[name] = counters[name].minus(counter.value or _ZERO)
    return available


class TakenCounters:
    """What one search has taken, by the name of the pool."""

    def __init__(self) -> None:
        self._taken: dict[str, Amounts] = {}

    def take(self, pool: Pool, device: SliceDevice, available: Mapping[str, Mapping[str, Quantity]]) -> bool:
        """Take what a device consumes. False: there is not enough, and nothing was taken."""
        taken = self._taken.setdefault(pool.id.pool, {})
        for consumption in device.device.consumes_counters:
            counters = taken.setdefault(consumption.counter_set, {})
            for name, counter in consumption.counters.items():
                amount = counter.value or _ZERO
                counters[name] = counters[name].plus(amount) if name in counters else amount
        for set_name, amounts in available.items():
            taken_of_set = taken.get(set_name, {})
            if any(amount.compare(taken_of_set.get(name, _ZERO)) < 0 for name, amount in amounts.items()):
                self.give_back(pool, device)
                return False
        return True

    def give_back(self, pool: Pool, device: SliceDevice) -> None:
        """Give back what a device consumes. Upstream: deallocateCountersForDevice"""
        taken = self._taken[pool.id.pool]
        for consumption in device.device.consumes_counters:
            counters = taken[consumption.counter_set]
            for name, counter in consumption.counters.items():
                counters[name] = counters[name].minus(counter.value or _ZERO)
