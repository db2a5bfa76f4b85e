"""`DRAManager`: what all profiles of a scheduler share about devices.

Upstream: framework/plugins/dynamicresources/dra_manager.go DefaultDRAManager
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from schedviz.engine.features import Features
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import DeviceTotals
from schedviz.engine.framework.listers import ObjectLister
from schedviz.engine.framework.plugins.dynamicresources.claim_tracker import ClaimTracker
from schedviz.engine.framework.plugins.dynamicresources.device_class_resolver import DeviceClassResolver
from schedviz.engine.framework.plugins.dynamicresources.device_taint_rules import TaintedSlices, changed_slices, selects_slice, tainted
from schedviz.engine.framework.plugins.dynamicresources.device_totals import DeviceCounter
from schedviz.engine.framework.plugins.dynamicresources.state import STATE_KEY, AllocatorInputs
from schedviz.engine.framework.plugins.dynamicresources.structured import AllocatedState, Allocator, AllocatorFeatures
from schedviz.engine.framework.plugins.dynamicresources.structured.free_devices import FreeDeviceIndex, FreeDevices, PlainRequest
from schedviz.engine.framework.plugins.dynamicresources.structured.pools import PoolIndex
from schedviz.engine.framework.plugins.dynamicresources.structured.selectors import Selectors
from schedviz.kube.core import Node
from schedviz.kube.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice
from schedviz.kube.meta import KubeObject


class DRAManager:
    """Claims, pools and classes."""

    def __init__(self, objects: ObjectLister, features: Features) -> None:
        self._objects = objects
        self._features = features
        self.claims = ClaimTracker()
        self.device_classes = DeviceClassResolver()
        self._tainted = TaintedSlices()
        #: The pod of a checkpoint's running cycle, and its allocator's inputs.
        self._restored: tuple[str, AllocatorInputs] | None = None

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Process the change of a claim or a device class. The versions are the informer's, None where there is none."""
        match new or old:
            case ResourceClaim() as claim:
                (self.claims.delete if new is None else self.claims.add)(claim)
            case DeviceClass() as device_class:
                if new is None:
                    self.device_classes.remove(device_class)
                else:
                    self.device_classes.update(old if isinstance(old, DeviceClass) else None, device_class)

    def inputs(self) -> AllocatorInputs:
        """The present state, for the allocator of a pod."""
        return AllocatorInputs(self._objects.list("ResourceSlice"), self._allocated(), self._taint_rules())

    def with_taints(self, slice_: ResourceSlice) -> ResourceSlice:
        """The slice with the taints of the present rules."""
        return tainted(slice_, self._taint_rules())

    def slices_changed_by(self, old: DeviceTaintRule | None, new: DeviceTaintRule | None) -> Iterator[tuple[ResourceSlice, ResourceSlice]]:
        """What a change of a rule, which the informer has stored, does to slices: those whose taints differ, before and after it.

        Upstream: resourceslice/tracker/tracker.go deviceTaintAdd, deviceTaintUpdate, deviceTaintDelete
        """
        after = self._taint_rules()
        rules = {rule.name: rule for rule in after}
        if new is not None:
            rules.pop(new.name, None)
        if old is not None:
            rules[old.name] = old
        before = [rules[name] for name in sorted(rules)]
        concerned = [rule for rule in (old, new) if rule is not None]
        slices = self._objects.list("ResourceSlice")
        return changed_slices([slice_ for slice_ in slices if any(selects_slice(rule, slice_) for rule in concerned)], before, after)

    def restored_inputs(self, pod_uid: str) -> AllocatorInputs:
        """The state for which a checkpoint's running cycle has begun, if it is that of the pod; otherwise the present state."""
        restored = self._restored
        return restored[1] if restored is not None and restored[0] == pod_uid else self.inputs()

    def allocator(self, inputs: AllocatorInputs, *, max_steps: int) -> Allocator:
        """An allocator for a state."""
        self._pools.update(self._tainted.with_taints(inputs.slices, inputs.taint_rules))
        features, pools, selectors = self._allocator_features, self._pools, self._selectors
        return Allocator(features, inputs.allocated, self.device_class, pools, selectors, max_steps=max_steps)

    def free_devices(self, request: PlainRequest, inputs: AllocatorInputs) -> FreeDevices:
        """Which nodes have enough free devices for a request, for the state for which the latest allocator was made."""
        return self._free_devices.devices_for(request, inputs.allocated.devices)

    def is_quick(self, request: PlainRequest, nodes: int, *, steps: int) -> bool:
        """Whether `free_devices` computes this many nodes in the time of these steps."""
        return self._free_devices.is_quick(request, nodes, steps=steps)

    def device_class(self, name: str) -> DeviceClass | None:
        """The class, or None."""
        device_class: DeviceClass | None = self._objects.get("DeviceClass", "", name)
        return device_class

    def class_name_for(self, resource: str) -> str | None:
        """The device class that provides an extended resource; None: no class does."""
        return self.device_classes.class_name_for(resource)

    def device_totals(self, resources: Iterable[str], nodes: Sequence[Node]) -> dict[str, dict[str, DeviceTotals]]:
        """The devices behind each of these resources, by node name. Upstream: getDRAPreScoredParams"""
        names = {resource: self.class_name_for(resource) for resource in resources}
        classes = {resource: self.device_class(name) for resource, name in names.items() if name is not None}
        if not classes:
            return {}
        slices, allocated = self._objects.list("ResourceSlice"), self._allocated()
        return {
            resource: self._device_counter.totals(device_class, nodes, slices, allocated)
            for resource, device_class in classes.items()
            if device_class is not None
        }

    def _taint_rules(self) -> Sequence[DeviceTaintRule]:
        """The rules, sorted by name; none if the gate is off."""
        return self._objects.list("DeviceTaintRule") if self._features.dra_device_taint_rules else ()

    def _allocated(self) -> AllocatedState:
        state = self.claims.gather_allocated_state()
        if not self._features.dra_consumable_capacity:
            # Shared devices count as taken. Upstream: GatherAllocatedState
            return AllocatedState(state.devices | state.shared.keys())
        return state

    @cached_property
    def _allocator_features(self) -> AllocatorFeatures:
        """Upstream: AllocatorFeatures"""
        gates = self._features
        return AllocatorFeatures(
            admin_access=gates.dra_admin_access,
            prioritized_list=gates.dra_prioritized_list,
            partitionable_devices=gates.dra_partitionable_devices,
            device_taints=gates.dra_device_taints,
            device_binding_and_status=gates.waits_for_binding_conditions,
            consumable_capacity=gates.dra_consumable_capacity,
        )

    @cached_property
    def _pools(self) -> PoolIndex:
        return PoolIndex(self._allocator_features)

    @cached_property
    def _free_devices(self) -> FreeDeviceIndex:
        return FreeDeviceIndex(self._pools, self._selectors)

    @cached_property
    def _device_counter(self) -> DeviceCounter:
        return DeviceCounter(self._selectors)

    @cached_property
    def _selectors(self) -> Selectors:
        shows_sharing = not self._allocator_features.is_stable
        return Selectors(list_type_attributes=self._features.dra_list_type_attributes, shows_sharing=shows_sharing)

    def to_state(self, number: Callable[[KubeObject], int], running: tuple[str, CycleState] | None) -> Any:
        """Plain data, for a checkpoint; objects are stored as the numbers that `number` returns. `running`: pod and state of the cycle."""
        return {
            "claims": self.claims.to_state(number),
            "classes": self.device_classes.to_state(),
            "running": None if running is None else self._running_state(number, *running),
        }

    def _running_state(self, number: Callable[[KubeObject], int], pod_uid: str, state: CycleState) -> Any:
        """What the running cycle's allocator reads, as long as it may need it."""
        if STATE_KEY not in state or not state.read(STATE_KEY).needs_allocator:
            return None
        inputs = state.read(STATE_KEY).inputs or self.restored_inputs(pod_uid)
        state_of = [pod_uid, [number(slice_) for slice_ in inputs.slices], inputs.allocated.to_state()]
        # Without rules, workers of an older version can read it.
        return [*state_of, [number(rule) for rule in inputs.taint_rules]] if inputs.taint_rules else state_of

    def load(self, state: Any, find: Callable[[str, int], KubeObject]) -> None:
        """Load the data of `to_state` into a new manager."""
        self.claims.load(state["claims"], find)
        self.device_classes.load(state["classes"])
        if state["running"] is not None:
            pod_uid, slice_numbers, allocated, *rest = state["running"]
            slices = [slice_ for number in slice_numbers if isinstance(slice_ := find("ResourceSlice", number), ResourceSlice)]
            numbers = rest[0] if rest else ()
            rules = [rule for number in numbers if isinstance(rule := find("DeviceTaintRule", number), DeviceTaintRule)]
            self._restored = (pod_uid, AllocatorInputs(slices, AllocatedState.from_state(allocated), rules))
