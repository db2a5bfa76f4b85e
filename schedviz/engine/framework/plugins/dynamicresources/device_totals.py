"""How many devices of a class each node has, and how many of them are allocated, for the scores of extended resources.

Unlike the allocator, upstream counts the devices of all slices here, also those of obsolete generations and of incomplete pools.

Deviation: upstream's NodeResourcesFit goes on using what a selector once selected, by the device's name. Its
NodeResourcesBalancedAllocation has no compiler for selectors, and crashes.

Upstream: framework/plugins/noderesources/resource_allocation.go calculateDRAResourceTotals
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from schedviz.engine.framework.interface import DeviceTotals
from schedviz.engine.framework.plugins.dynamicresources.structured import AllocatedState, DeviceID
from schedviz.engine.framework.plugins.dynamicresources.structured.pools import MAX_KEPT_RESULTS, node_matches
from schedviz.engine.framework.plugins.dynamicresources.structured.selectors import SelectorError, Selectors
from schedviz.kube.core import Node
from schedviz.kube.devices import Device, DeviceClass, ResourceSlice
from schedviz.kube.selectors import SelectorError as NodeSelectorError

#: For each device of a slice: whether all selectors of a class select it, or how they fail; None: not evaluated yet.
_Results = list[bool | SelectorError | None]


class DeviceCounter:
    """Counts devices, and keeps the results of selectors as long as a slice exists."""

    def __init__(self, selectors: Selectors) -> None:
        self._selectors = selectors
        self._slices: Sequence[ResourceSlice] = ()
        #: Key of a slice -> the slice, and the results by the expressions of a class.
        self._results: dict[str, tuple[ResourceSlice, dict[tuple[str, ...], _Results]]] = {}

    def totals(
        self, device_class: DeviceClass, nodes: Iterable[Node], slices: Sequence[ResourceSlice], allocated: AllocatedState
    ) -> dict[str, DeviceTotals]:
        """The totals by node name; nodes without a device of the class are absent."""
        self._update(slices)
        expressions = tuple(selector.cel.expression for selector in device_class.spec.selectors if selector.cel is not None)
        totals: dict[str, DeviceTotals] = {}
        for node, of_node in _by_node(nodes, slices):
            try:
                total = self._total(node, of_node, expressions, allocated)
            except (SelectorError, NodeSelectorError):
                # Upstream logs the error, and the resource does not count on the node.
                continue
            if total.devices:
                totals[node.name] = total
        return totals

    def _update(self, slices: Sequence[ResourceSlice]) -> None:
        """Take the slices of the cluster. The same list means that nothing has changed."""
        if slices is not self._slices:
            previous, self._slices = self._results, slices
            kept = ((slice_.key, previous.get(slice_.key)) for slice_ in slices)
            self._results = {
                key: results if results is not None and results[0] is slice_ else (slice_, {})
                for slice_, (key, results) in zip(slices, kept, strict=True)
            }

    def _total(self, node: Node, slices: Iterable[ResourceSlice], expressions: tuple[str, ...], allocated: AllocatedState) -> DeviceTotals:
        """The totals of a node. Raises `SelectorError`, `NodeSelectorError`."""
        devices = taken = 0
        for slice_ in slices:
            results = self._results_of(slice_, expressions)
            for position, device in _devices_for(slice_, node):
                if self._selects(results, position, slice_, expressions):
                    devices += 1
                    taken += allocated.is_allocated(DeviceID(slice_.spec.driver, slice_.spec.pool.name, device.name))
        return DeviceTotals(devices, taken)

    def _results_of(self, slice_: ResourceSlice, expressions: tuple[str, ...]) -> _Results:
        _, by_class = self._results[slice_.key]
        results = by_class.get(expressions)
        if results is None:
            if len(by_class) >= MAX_KEPT_RESULTS:
                by_class.clear()
            results = by_class[expressions] = [None] * len(slice_.spec.devices)
        return results

    def _selects(self, results: _Results, position: int, slice_: ResourceSlice, expressions: tuple[str, ...]) -> bool:
        """Whether the class has the device. Raises `SelectorError`. Upstream: deviceMatchesClass"""
        result = results[position]
        if result is None:
            try:
                result = self._evaluate(slice_.spec.devices[position], slice_.spec.driver, expressions)
            except SelectorError as error:
                result = error
            results[position] = result
        if isinstance(result, SelectorError):
            raise result
        return result

    def _evaluate(self, device: Device, driver: str, expressions: tuple[str, ...]) -> bool:
        # Upstream does not tell these selectors that a device can be shared.
        exclusive = replace(device, allow_multiple_allocations=None) if device.allow_multiple_allocations else device
        return all(self._selectors.matches(expression, driver, exclusive) for expression in expressions)


def _by_node(nodes: Iterable[Node], slices: Sequence[ResourceSlice]) -> Iterator[tuple[Node, list[ResourceSlice]]]:
    """The slices that may be for each node, in their order: the first device whose selectors fail decides."""
    on_node: dict[str, list[int]] = {}
    elsewhere: list[int] = []
    for position, slice_ in enumerate(slices):
        spec = slice_.spec
        pinned = "" if spec.all_nodes or spec.per_device_node_selection else spec.node_name
        (on_node.setdefault(pinned, []) if pinned else elsewhere).append(position)
    for node in nodes:
        yield node, [slices[position] for position in sorted([*on_node.get(node.name, ()), *elsewhere])]


def _devices_for(slice_: ResourceSlice, node: Node) -> Iterator[tuple[int, Device]]:
    """The devices of a slice that are for the node, with their positions. Raises `NodeSelectorError`."""
    spec = slice_.spec
    if spec.per_device_node_selection:
        for position, device in enumerate(spec.devices):
            if device.all_nodes or node_matches(node, device.node_name, None, device.node_selector):
                yield position, device
    elif (
        spec.all_nodes
        or (not spec.node_name and spec.node_selector is None)
        or node_matches(node, spec.node_name, None, spec.node_selector)
    ):
        yield from enumerate(spec.devices)
