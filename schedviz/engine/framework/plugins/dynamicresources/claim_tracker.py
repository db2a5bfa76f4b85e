"""`ClaimTracker`: the claims of a scheduler, with what it has assumed and is allocating, and the devices that they have.

Upstream: framework/plugins/dynamicresources/dra_manager.go claimTracker, allocateddevices.go, util/assumecache/assume_cache.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from schedviz.engine.framework.plugins.dynamicresources.structured import AllocatedState, DeviceID
from schedviz.kube.devices import AllocationResult, ResourceClaim
from schedviz.kube.meta import KubeObject, version_number

#: Gets the versions of a claim before and after a change.
ClaimHandler = Callable[[ResourceClaim | None, ResourceClaim | None], None]


class ClaimNotFoundError(LookupError):
    """There is no such claim. The text is upstream's."""

    def __init__(self, key: str) -> None:
        super().__init__(f'could not find ResourceClaim "{key}"')


class InFlight(msgspec.Struct):
    """A claim that was allocated in a scheduling cycle and is not written yet, and how many pods share the allocation."""

    claim: ResourceClaim
    sharers: int = 1
    #: It was allocated in the running scheduling cycle of a pod group, whose other pods may use it. Upstream: podGroupStateData
    in_group_cycle: bool = False


class _Versions(msgspec.Struct):
    """The informer's version of a claim, and the latest one, which may be assumed."""

    api: ResourceClaim
    latest: ResourceClaim


class ClaimTracker:
    """Claims by key. `on_change` gets every change, also those that the scheduler assumes."""

    def __init__(self) -> None:
        self.on_change: ClaimHandler = _ignore
        self._claims: dict[str, _Versions] = {}
        self._in_flight: dict[str, InFlight] = {}
        self._allocated = AllocatedState()

    # The assume cache.

    def add(self, claim: ResourceClaim) -> None:
        """Store a claim that was added or updated. A version that is not newer than the stored one is ignored."""
        versions = self._claims.get(claim.key)
        if versions is not None and version_number(claim) <= version_number(versions.latest):
            return
        self._claims[claim.key] = _Versions(claim, claim)
        self._changed(None if versions is None else versions.latest, claim)

    def delete(self, claim: ResourceClaim) -> None:
        """Remove a deleted claim."""
        versions = self._claims.pop(claim.key, None)
        if versions is not None:
            self._changed(versions.latest, None)

    def get(self, key: str) -> ResourceClaim:
        """The latest version of a claim. Raises `ClaimNotFoundError`."""
        versions = self._claims.get(key)
        if versions is None:
            raise ClaimNotFoundError(key)
        return versions.latest

    def __iter__(self) -> Iterator[ResourceClaim]:
        """The latest versions, sorted by key."""
        return (self._claims[key].latest for key in sorted(self._claims))

    def assume(self, claim: ResourceClaim) -> bool:
        """Assume a version that the API server returned, until the informer has it. False: a newer one is known, or none."""
        versions = self._claims.get(claim.key)
        if versions is None or version_number(claim) < version_number(versions.latest):
            return False
        before, versions.latest = versions.latest, claim
        self._changed(before, claim)
        return True

    def restore(self, key: str) -> None:
        """Drop the assumed version of a claim."""
        versions = self._claims.get(key)
        if versions is not None and versions.latest is not versions.api:
            before, versions.latest = versions.latest, versions.api
            self._changed(before, versions.api)

    def _changed(self, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        self._track(old, new)
        self.on_change(old, new)

    # What is in flight. Upstream: GetPendingAllocation, SignalClaimPendingAllocation, MaybeRemoveClaimPendingAllocation

    def pending_allocation(self, uid: str) -> AllocationResult | None:
        """The allocation of a claim that is not written yet."""
        pending = self._in_flight.get(uid)
        return None if pending is None else pending.claim.status.allocation

    def allocation_of_group(self, uid: str) -> AllocationResult | None:
        """The allocation of a claim that is not written yet, if the running cycle of a pod group made it."""
        pending = self._in_flight.get(uid)
        return pending.claim.status.allocation if pending is not None and pending.in_group_cycle else None

    def signal_pending_allocation(self, uid: str, claim: ResourceClaim, *, in_group_cycle: bool = False) -> None:
        """Remember an allocation that is to be written, for one more pod."""
        pending = self._in_flight.get(uid)
        if pending is not None:
            pending.sharers += 1
        else:
            pending = self._in_flight[uid] = InFlight(claim)
        pending.in_group_cycle = pending.in_group_cycle or in_group_cycle

    def remove_pending_allocation(self, uid: str, *, force: bool = False) -> bool:
        """Forget an allocation for one pod, or for all. True: no pod needs it any more."""
        pending = self._in_flight.get(uid)
        if pending is None:
            return False
        if force or pending.sharers == 1:
            del self._in_flight[uid]
            return True
        pending.sharers -= 1
        return False

    # Allocated devices.

    def gather_allocated_state(self) -> AllocatedState:
        """What all claims have, with the allocations in flight. Upstream: GatherAllocatedState"""
        allocated = self._allocated
        state = AllocatedState(set(allocated.devices), dict(allocated.shared), allocated.capacities.clone())
        for in_flight in self._in_flight.values():
            _count(state, in_flight.claim, 1)
        return state

    def _track(self, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        """Upstream: allocatedDevices.onAdd, onUpdate, onDelete: an allocation never changes"""
        had = old is not None and old.status.allocation is not None
        has = new is not None and new.status.allocation is not None
        if had == has:
            return
        if has and new is not None:
            _count(self._allocated, new, 1)
        elif old is not None:
            _count(self._allocated, old, -1)

    # Checkpoints.

    def to_state(self, number: Callable[[KubeObject], int]) -> Any:
        """Plain data; objects are stored as the numbers that `number` returns."""
        return {
            "claims": [[number(versions.api), number(versions.latest)] for versions in self._claims.values()],
            # Absent if it follows from the claims.
            "allocated": None if self._derived() == self._allocated else self._allocated.to_state(),
            "inFlight": [
                [uid, number(pending.claim), pending.sharers, *([True] if pending.in_group_cycle else [])]
                for uid, pending in self._in_flight.items()
            ],
        }

    def load(self, state: Any, find: Callable[[str, int], KubeObject]) -> None:
        """Load the data of `to_state` into a new tracker."""

        def claim(number: int) -> ResourceClaim:
            claim_object = find("ResourceClaim", number)
            assert isinstance(claim_object, ResourceClaim)
            return claim_object

        for api, latest in state["claims"]:
            versions = _Versions(claim(api), claim(latest))
            self._claims[versions.api.key] = versions
        saved = state["allocated"]
        self._allocated = self._derived() if saved is None else AllocatedState.from_state(saved)
        for uid, number, *rest in state["inFlight"]:
            self._in_flight[uid] = InFlight(claim(number), *rest)

    def _derived(self) -> AllocatedState:
        """What the claims have now.

        `_allocated` can differ: as upstream, it goes on counting the first allocation of a claim whose allocation was replaced.
        """
        state = AllocatedState()
        for versions in self._claims.values():
            _count(state, versions.latest, 1)
        return state


def _count(state: AllocatedState, claim: ResourceClaim, sign: int) -> None:
    """Add the devices of a claim to the allocated state, or remove them. Upstream: foreachAllocatedDevice"""
    allocation = claim.status.allocation
    for result in allocation.devices.results if allocation is not None else ():
        if result.admin_access:
            continue
        device = DeviceID(result.driver, result.pool, result.device)
        if result.share_id is None:
            (state.devices.add if sign > 0 else state.devices.discard)(device)
            continue
        shares = state.shared.get(device, 0) + sign
        if shares > 0:
            state.shared[device] = shares
        else:
            state.shared.pop(device, None)
        if result.consumed_capacity:
            (state.capacities.insert if sign > 0 else state.capacities.remove)(device, result.consumed_capacity)


def _ignore(old: ResourceClaim | None, new: ResourceClaim | None) -> None:
    del old, new
