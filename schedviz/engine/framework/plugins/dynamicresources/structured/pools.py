"""Pools of devices, as one node sees them.

A pool is complete only if all slices of its newest generation exist. What a node sees depends on slices and the Node object alone, so
`PoolIndex` keeps it until one of them changes.

Upstream: dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from schedviz.engine.framework.plugins.dynamicresources.structured.selectors import SelectorError, SelectorResult, Selectors
from schedviz.engine.framework.plugins.dynamicresources.structured.state import AllocatorFeatures, DeviceID, PoolID
from schedviz.kube.affinity import NodeSelector
from schedviz.kube.core import Node
from schedviz.kube.devices import CounterSet, Device, ResourceSlice
from schedviz.kube.node_affinity import node_selector, printed_node_selector
from schedviz.kube.selectors import SelectorError as NodeSelectorError

#: Longer expressions count as work when they are first used, because they are compiled then.
_LONG_EXPRESSION: Final = 1024
#: How many selectors a device keeps results of.
MAX_KEPT_RESULTS: Final = 64


_UNKNOWN: Final = object()


def is_long(expression: str) -> bool:
    """Whether compiling the expression takes unusually long."""
    return len(expression) > _LONG_EXPRESSION


class PoolError(ValueError):
    """Pools cannot be gathered for a node."""


class SliceDevice:
    """A device of a slice, with cached selector results."""

    __slots__ = ("_results", "allows_multiple", "amounts", "device", "has_request_policy", "id", "slice")

    def __init__(self, slice_: ResourceSlice, device: Device) -> None:
        self.slice = slice_
        self.device = device
        self.id = DeviceID(slice_.spec.driver, slice_.spec.pool.name, device.name)
        self.allows_multiple = bool(device.allow_multiple_allocations)
        self.has_request_policy = any(capacity.request_policy is not None for capacity in device.capacity.values())
        #: The capacities, and the values that their policies allow.
        self.amounts = sum(
            1 + len(capacity.request_policy.valid_values if capacity.request_policy else ()) for capacity in device.capacity.values()
        )
        self._results: dict[str, SelectorResult] = {}

    @property
    def is_plain(self) -> bool:
        """Whether only selectors, and whether it is in use, decide which request gets the device."""
        own = self.device
        special = own.consumes_counters or own.taints or own.binding_conditions or self.has_request_policy or self.allows_multiple
        return not special and not self.slice.spec.per_device_node_selection

    def result(self, expression: str, selectors: Selectors) -> SelectorResult:
        """Whether a selector selects the device."""
        result = self._results.get(expression)
        if result is None:
            if len(self._results) >= MAX_KEPT_RESULTS:
                self._results.clear()
            result = self._results[expression] = selectors.result(expression, self.id.driver, self.device)
        return result


class Pool:
    """A pool as a node sees it. One that is incomplete or invalid has no devices."""

    __slots__ = ("_selected", "counter_sets", "devices", "id", "invalid_reason", "is_incomplete", "other_devices")

    def __init__(
        self,
        pool_id: PoolID,
        *,
        is_incomplete: bool = False,
        invalid_reason: str = "",
        devices: Sequence[SliceDevice] = (),
        other_devices: Sequence[SliceDevice] = (),
        counter_sets: Mapping[str, CounterSet] | None = None,
    ) -> None:
        self.id = pool_id
        self.is_incomplete = is_incomplete
        #: Why no device can be used; "": all can.
        self.invalid_reason = invalid_reason
        #: The devices of slices that are for the node, in the order in which they are tried.
        self.devices = devices
        #: Devices for other nodes, which may share counters with these.
        self.other_devices = other_devices
        self.counter_sets = counter_sets or {}
        self._selected: dict[tuple[str, ...], Sequence[SliceDevice] | None] = {}

    def selected(self, expressions: tuple[str, ...], selectors: Selectors) -> Sequence[SliceDevice] | None:
        """The devices that all selectors select; None: a device is not plain, or a selector fails for one or is unusually expensive."""
        selected = self._selected.get(expressions, _UNKNOWN)
        if selected is _UNKNOWN:
            if len(self._selected) >= MAX_KEPT_RESULTS:
                self._selected.clear()
            selected = self._selected[expressions] = self._select(expressions, selectors)
        return selected  # type: ignore[return-value]  # it is known

    def _select(self, expressions: tuple[str, ...], selectors: Selectors) -> Sequence[SliceDevice] | None:
        if self.is_incomplete or self.invalid_reason:
            return ()
        if not all(device.is_plain for device in self.devices) or any(map(is_long, expressions)):
            return None
        selected: list[SliceDevice] = []
        for device in self.devices:
            for expression in expressions:
                result = device.result(expression, selectors)
                if isinstance(result.value, SelectorError) or not result.is_cheap:
                    # The error, and the time, count only if the search comes to that device.
                    return None
                if not result.value:
                    break
            else:
                selected.append(device)
        return selected

    @property
    def has_binding_conditions(self) -> bool:
        """Whether a device has to be prepared before a pod is bound. Upstream: poolHasBindingConditions"""
        return any(device.device.binding_conditions for device in self.devices)


def node_matches(node: Node, node_name: str | None, all_nodes: bool | None, selector: NodeSelector | None) -> bool:  # noqa: FBT001
    """Whether a slice or a device is for the node. Raises `NodeSelectorError`. Upstream: NodeMatches"""
    if node_name:
        return node.name == node_name
    if all_nodes:
        return True
    if selector is None:
        return False
    try:
        parsed = node_selector(selector, lists_operators=True)
    except NodeSelectorError as error:
        raise NodeSelectorError([f"failed to parse node selector {printed_node_selector(selector)}: {error}"]) from None
    return parsed.match(node)


def selected_devices(pools: Sequence[Pool], expressions: tuple[str, ...], selectors: Selectors) -> list[SliceDevice] | None:
    """The devices of all pools that all selectors select, in the order in which they are tried; None: see `Pool.selected`."""
    devices: list[SliceDevice] = []
    for pool in pools:
        selected = pool.selected(expressions, selectors)
        if selected is None:
            return None
        devices += selected
    return devices


def device_count(pools: Sequence[Pool]) -> int:
    """How many devices the pools have."""
    return sum(len(pool.devices) for pool in pools)


class PoolIndex:
    """The pools of every node, computed on demand and cached."""

    def __init__(self, features: AllocatorFeatures) -> None:
        self._features = features
        self._slices: Sequence[ResourceSlice] = ()
        #: The slices of each pool, in their order.
        self._of_pool: dict[PoolID, list[ResourceSlice]] = {}
        #: Devices by the uid of their slice, with the version of the slice.
        self._devices: dict[str, tuple[ResourceSlice, tuple[SliceDevice, ...]]] = {}
        self._on_node: dict[str, list[ResourceSlice]] = {}
        self._on_several_nodes: list[ResourceSlice] = []
        self._pools: dict[str, tuple[Node, list[Pool]]] = {}
        #: Incremented whenever slices change.
        self.version = 0
        #: All devices, and those in slices that several nodes may see.
        self.device_count = 0
        self.several_nodes_device_count = 0

    def update(self, slices: Sequence[ResourceSlice]) -> None:
        """Take the slices of the cluster, sorted by name. The same list means that nothing has changed."""
        if slices is self._slices:
            return
        self._slices = slices
        self.version += 1
        cached = self._devices
        self._devices = {}
        self._on_node, self._on_several_nodes, self._pools, self._of_pool = {}, [], {}, {}
        self.device_count = self.several_nodes_device_count = 0
        for slice_ in slices:
            devices = cached.get(slice_.key)
            if devices is not None and devices[0] is slice_:
                self._devices[slice_.key] = devices
            self._of_pool.setdefault(PoolID(slice_.spec.driver, slice_.spec.pool.name), []).append(slice_)
            self.device_count += len(slice_.spec.devices)
            name = slice_.spec.node_name
            if not name or slice_.spec.shared_counters:
                self._on_several_nodes.append(slice_)
                self.several_nodes_device_count += len(slice_.spec.devices)
            else:
                self._on_node.setdefault(name, []).append(slice_)

    def pools_of(self, node: Node) -> list[Pool]:
        """The pools that the node sees, in the order in which they are tried. Raises `PoolError`."""
        cached = self._pools.get(node.name)
        if cached is not None and cached[0] is node:
            return cached[1]
        pools = self._gathered(node)
        self._pools[node.name] = (node, pools)
        return pools

    def _gathered(self, node: Node) -> list[Pool]:
        """Upstream: GatherPools"""
        by_pool: dict[PoolID, list[ResourceSlice]] = {}
        for slice_ in [*self._on_node.get(node.name, ()), *self._on_several_nodes]:
            if self._is_relevant(slice_, node):
                _add(by_pool, slice_)
        pools = [pool for pool_id, slices in by_pool.items() if (pool := self._pool(pool_id, slices)) is not None]
        # Pools whose devices need preparation come last.
        return sorted(pools, key=lambda pool: (pool.has_binding_conditions, pool.id))

    def _is_relevant(self, slice_: ResourceSlice, node: Node) -> bool:
        spec = slice_.spec
        has_counters = bool(spec.shared_counters)
        if not self._features.partitionable_devices and (spec.per_device_node_selection is not None or has_counters):
            return False
        if has_counters:
            # They are needed for the pool's devices, on whichever node those are.
            return True
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            try:
                return node_matches(node, spec.node_name, spec.all_nodes, spec.node_selector)
            except NodeSelectorError as error:
                raise PoolError(f"failed to perform node selection for slice {slice_.name}: {error}") from None
        if not spec.per_device_node_selection:
            return False
        return any(self._is_for_node(slice_, device, node) for device in spec.devices)

    def _is_for_node(self, slice_: ResourceSlice, device: Device, node: Node) -> bool:
        try:
            return node_matches(node, device.node_name, device.all_nodes, device.node_selector)
        except NodeSelectorError as error:
            raise PoolError(f"failed to perform node selection for device {device.name} in slice {slice_.name}: {error}") from None

    def _pool(self, pool_id: PoolID, slices: list[ResourceSlice]) -> Pool | None:
        """The pool of the slices that the node sees; None: they are obsolete."""
        pool = slices[0].spec.pool
        if len(slices) == pool.resource_slice_count:
            return self._built(pool_id, slices, slices)
        everything = self._of_pool[pool_id]
        if any(slice_.spec.pool.generation > pool.generation for slice_ in everything):
            return None
        current = [slice_ for slice_ in everything if slice_.spec.pool.generation == pool.generation]
        if len(current) != pool.resource_slice_count:
            return Pool(pool_id, is_incomplete=True)
        return self._built(pool_id, slices, current)

    def _built(self, pool_id: PoolID, slices: list[ResourceSlice], everything: Sequence[ResourceSlice]) -> Pool:
        """Upstream: buildPool"""
        slices.sort(key=lambda slice_: slice_.name)
        has_counters = self._features.partitionable_devices
        of_devices = [slice_ for slice_ in slices if not (has_counters and slice_.spec.shared_counters)]
        devices = [device for slice_device in of_devices for device in self._devices_of(slice_device)]
        reason = _duplicate(device.device.name for device in devices)
        if reason:
            return Pool(pool_id, invalid_reason=f"duplicate device name {reason}")
        if not has_counters:
            return Pool(pool_id, devices=devices)
        sets = [counters for slice_ in slices for counters in slice_.spec.shared_counters]
        reason = _duplicate(counters.name for counters in sets)
        if reason:
            return Pool(pool_id, invalid_reason=f"duplicate counter set name {reason}")
        by_name = {counters.name: counters for counters in sets}
        seen = {slice_.name for slice_ in slices}
        others = [device for slice_ in everything if slice_.name not in seen for device in self._devices_of(slice_)]
        all_of_node = [device for slice_ in slices for device in self._devices_of(slice_)]
        reason = _unknown_counter(all_of_node, by_name) or _unknown_counter(others, by_name)
        if reason:
            return Pool(pool_id, invalid_reason=reason)
        return Pool(pool_id, devices=devices, other_devices=others, counter_sets=by_name)

    def _devices_of(self, slice_: ResourceSlice) -> tuple[SliceDevice, ...]:
        devices = self._devices.get(slice_.key)
        if devices is None or devices[0] is not slice_:
            devices = self._devices[slice_.key] = (slice_, tuple(SliceDevice(slice_, device) for device in slice_.spec.devices))
        return devices[1]


def _add(pools: dict[PoolID, list[ResourceSlice]], slice_: ResourceSlice) -> None:
    """Add a slice to its pool, unless the pool has newer ones. Upstream: addSlice"""
    pool = slice_.spec.pool
    pool_id = PoolID(slice_.spec.driver, pool.name)
    existing = pools.get(pool_id)
    if existing is None or pool.generation > existing[0].spec.pool.generation:
        pools[pool_id] = [slice_]
    elif pool.generation == existing[0].spec.pool.generation:
        existing.append(slice_)


def _duplicate(names: Iterable[str]) -> str:
    """The first name that occurs twice; "": none does."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _unknown_counter(devices: Sequence[SliceDevice], sets: Mapping[str, CounterSet]) -> str:
    """Why a device's counters cannot be used; "": all can. Upstream: validateDeviceCounterConsumption"""
    for device in devices:
        for consumption in device.device.consumes_counters:
            counters = sets.get(consumption.counter_set)
            if counters is None:
                return f"counter set {consumption.counter_set} not found"
            for name in consumption.counters:
                if name not in counters.counters:
                    return f"counter {name} not found in counter set {counters.name}"
    return ""
