"""DeviceTaintRules: the taints that an administrator adds to devices without a change of their driver's slices.

What the scheduler reads are slices with these taints. They follow from slices and rules alone, so nothing of them is part of a checkpoint.

Upstream: dynamic-resource-allocation/resourceslice/tracker/tracker.go
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from schedviz.kube import timestamps
from schedviz.kube.devices import Device, DeviceTaint, DeviceTaintRule, ResourceSlice


class TaintedSlices:
    """Adds the taints of rules to slices; unchanged slices with the same rules are the same objects each time."""

    def __init__(self) -> None:
        self._slices: Sequence[ResourceSlice] = ()
        self._rules: Sequence[DeviceTaintRule] = ()
        self._tainted: Sequence[ResourceSlice] = ()
        #: By name of a slice: the slice, the rules for its driver and pool, and the slice with their taints.
        self._known: dict[str, tuple[ResourceSlice, list[DeviceTaintRule], ResourceSlice]] = {}

    def with_taints(self, slices: Sequence[ResourceSlice], rules: Sequence[DeviceTaintRule]) -> Sequence[ResourceSlice]:
        """The slices with the taints of the rules, in their order. The same lists give the same list.

        Upstream: ListPatchedResourceSlices
        """
        if not rules:
            return slices
        if slices is not self._slices or rules is not self._rules:
            self._slices, self._rules = slices, rules
            previous, self._known = self._known, {}
            for slice_ in slices:
                self._known[slice_.name] = _reuse_or_taint(
                    previous.get(slice_.name), slice_, [rule for rule in rules if selects_slice(rule, slice_)]
                )
            self._tainted = [tainted for _, _, tainted in self._known.values()]
        return self._tainted


def _reuse_or_taint(
    previous: tuple[ResourceSlice, list[DeviceTaintRule], ResourceSlice] | None, slice_: ResourceSlice, rules: list[DeviceTaintRule]
) -> tuple[ResourceSlice, list[DeviceTaintRule], ResourceSlice]:
    """The previous result if slice and rules are unchanged, otherwise the newly tainted slice."""
    if previous is not None and previous[0] is slice_ and len(previous[1]) == len(rules) and all(map(operator.is_, previous[1], rules)):
        return previous
    return slice_, rules, tainted(slice_, rules)


def tainted(slice_: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> ResourceSlice:
    """The slice with the taints of the rules behind its own; the slice itself, if they select none of its devices.

    Deviation: rules apply in the order of the list, which is that of their names; upstream's order is random.
    Upstream: applyPatches
    """
    own = [rule for rule in rules if selects_slice(rule, slice_)]
    if not own:
        return slice_
    before = slice_.spec.devices
    devices = tuple(_tainted_device(device, own) for device in before)
    if all(device is device_before for device, device_before in zip(devices, before, strict=True)):
        return slice_
    return replace(slice_, spec=replace(slice_.spec, devices=devices))


def _tainted_device(device: Device, rules: Sequence[DeviceTaintRule]) -> Device:
    added = tuple(rule.spec.taint for rule in rules if _selects_device(rule, device))
    return replace(device, taints=(*device.taints, *added)) if added else device


def selects_slice(rule: DeviceTaintRule, slice_: ResourceSlice) -> bool:
    """Whether the rule is for driver and pool of the slice. A rule without a selector is for all, as upstream's code has it."""
    selector = rule.spec.device_selector
    if selector is None:
        return True
    is_of_driver = selector.driver is None or selector.driver == slice_.spec.driver
    return is_of_driver and (selector.pool is None or selector.pool == slice_.spec.pool.name)


def _selects_device(rule: DeviceTaintRule, device: Device) -> bool:
    selector = rule.spec.device_selector
    return selector is None or selector.device is None or selector.device == device.name


def changed_slices(
    slices: Sequence[ResourceSlice], before: Sequence[DeviceTaintRule], after: Sequence[DeviceTaintRule]
) -> Iterator[tuple[ResourceSlice, ResourceSlice]]:
    """The slices whose taints differ between two lists of rules, with the taints of either. Upstream: syncSlice"""
    for slice_ in slices:
        old, new = tainted(slice_, before), tainted(slice_, after)
        if any(map(_taints_differ, old.spec.devices, new.spec.devices)):
            yield old, new


def _taints_differ(old: Device, new: Device) -> bool:
    return len(old.taints) != len(new.taints) or not all(map(_are_equal, old.taints, new.taints))


def _are_equal(first: DeviceTaint, second: DeviceTaint) -> bool:
    """Whether two taints are the same; the same time can be written in different zones. Upstream: taintsEqual"""
    if first == second:
        return True
    if first.time_added is None or second.time_added is None:
        return False
    same_time = timestamps.parse_timestamp(first.time_added) == timestamps.parse_timestamp(second.time_added)
    return same_time and (first.key, first.value, first.effect) == (second.key, second.value, second.effect)
