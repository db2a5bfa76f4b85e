"""What DynamicResources passes from one extension point to the next. Upstream: dynamicresources.go stateData"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.cycle_state import StateKey
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.dynamicresources.structured import AllocatedState, Allocator
from schedviz.engine.framework.plugins.dynamicresources.structured.allocator import ClaimsAllocator, Found
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status
from schedviz.kube.codec import dec_hook, enc_hook
from schedviz.kube.core import ContainerExtendedResourceRequest
from schedviz.kube.devices import AllocationResult, DeviceTaintRule, ResourceClaim, ResourceSlice
from schedviz.kube.node_affinity import LazyErrorNodeSelector, node_selector


class AllocatorInputs(NamedTuple):
    """What the allocator of a pod reads: slices, rules for their taints and allocated devices as they were when PreFilter ran."""

    slices: Sequence[ResourceSlice]
    allocated: AllocatedState
    taint_rules: Sequence[DeviceTaintRule] = ()


class NodeAllocation(msgspec.Struct, frozen=True):
    """What Filter found on a node. Upstream: nodeAllocation"""

    #: The claims to allocate, in order; the special claim with the requests that it has on this node.
    claims: tuple[ResourceClaim, ...] = ()
    results: tuple[AllocationResult, ...] = ()
    #: There is a special claim for extended resources, the last of `claims`.
    has_special: bool = False
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    #: Allocations that other pods of the group have made. They stand at the end of `results`.
    pending: tuple[AllocationResult, ...] = ()

    @property
    def special_claim(self) -> ResourceClaim | None:
        """The special claim for the extended resources of the node."""
        return self.claims[-1] if self.has_special else None


class _Stored(msgspec.Struct, frozen=True):
    """A StateData in a checkpoint."""

    claims: list[ResourceClaim]
    user_claim_count: int = msgspec.field(name="users")
    special_uid: str
    allocations: list[AllocationResult | None]
    needs_allocator: bool
    unavailable: list[int]
    nodes: dict[str, NodeAllocation]
    scalar_resources: dict[str, int]
    waits: bool
    searched: dict[str, Status] = {}
    steps_left: int | None = None


_encoder = msgspec.msgpack.Encoder(enc_hook=enc_hook)
_decoder = msgspec.msgpack.Decoder(_Stored, dec_hook=dec_hook)


class StateData:
    """Written by PreFilter. Dry runs share it, as upstream's do."""

    def __init__(self) -> None:
        #: The pod's claims; the special claim for extended resources comes last.
        self.claims: list[ResourceClaim] = []
        #: How many of them are not special. Upstream: userClaims
        self.user_claim_count = 0
        #: The uid of the special claim before it is created.
        self.special_uid = ""
        #: By claim: its allocation that is not written yet.
        self.allocations: list[AllocationResult | None] = []
        #: There are claims to allocate, and the pod has no node yet.
        self.needs_allocator = False
        #: Stored by `DRAManager`, which can refer to objects.
        self.inputs: AllocatorInputs | None = None
        #: Created again after a restore.
        self.allocator: Allocator | None = None
        #: The allocator of the claims, if they are the same on every node; not stored.
        self.for_claims: ClaimsAllocator | None = None
        #: The claims for which Filter searches nodes, if they are the same on every node. It is shared by the results for all of them.
        self.common_allocation = NodeAllocation()
        #: Claims that are not available on a node where the pod would fit otherwise.
        self.unavailable: set[int] = set()
        #: What Filter found, by node. Allocations are built when they are needed.
        self.found: dict[str, tuple[Found, NodeAllocation]] = {}
        #: Rows whose devices were read from arrays, and which of them have a free one: what they get is looked up when it is needed.
        self.free: list[tuple[Rows, npt.NDArray[np.bool_]]] = []
        #: The results of searches, by node, if the claims are the same on every node.
        self.searched: dict[str, Status] = {}
        #: The allocator's remaining steps, from a checkpoint; None: all.
        self.steps_left: int | None = None
        #: The pod's requests of scalar resources, if device classes may provide them.
        self.scalar_resources: dict[str, int] = {}
        #: PreBind has written the claims and waits for the devices' conditions.
        self.waits = False
        self._selectors: list[LazyErrorNodeSelector | None] | None = None

    def clone(self) -> StateData:
        return self

    @property
    def special_claim(self) -> ResourceClaim | None:
        """The special claim for extended resources."""
        return self.claims[self.user_claim_count] if self.user_claim_count < len(self.claims) else None

    def to_allocate(self) -> Iterator[tuple[int, ResourceClaim]]:
        """Claims without an allocation, with their places."""
        return ((index, claim) for index, claim in enumerate(self.claims) if claim.status.allocation is None)

    @property
    def pending(self) -> tuple[AllocationResult, ...]:
        """The allocations of claims that other pods of the group have made."""
        return tuple(allocation for index, _ in self.to_allocate() if (allocation := self.allocations[index]) is not None)

    def to_search(self) -> Iterator[tuple[int, ResourceClaim]]:
        """Claims for which Filter searches devices, with their places."""
        return ((index, claim) for index, claim in self.to_allocate() if self.allocations[index] is None)

    def selectors(self) -> Sequence[LazyErrorNodeSelector | None]:
        """By claim: the nodes on which its allocation is available; None: all. Raises `SelectorError`."""
        if self._selectors is None:
            self._selectors = [_selector_of(claim.status.allocation) for claim in self.claims]
        return self._selectors

    def on_node(self, name: str) -> NodeAllocation | None:
        """What Filter found on a node, with its results; None: it did not look for devices there. Raises `AllocationError`."""
        result = self.found.get(name) or self._find_free(name)
        if result is None:
            return None
        devices_of_claims, allocation = result
        if (devices_of_claims or allocation.pending) and not allocation.results:
            assert self.allocator is not None
            results = [
                self.allocator.result(claim, devices, name) for claim, devices in zip(allocation.claims, devices_of_claims, strict=False)
            ]
            allocation = msgspec.structs.replace(allocation, results=(*results, *allocation.pending))
            self.found[name] = (devices_of_claims, allocation)
        return allocation

    def _find_free(self, name: str) -> tuple[Found, NodeAllocation] | None:
        for rows, is_free in self.free:
            for place in rows.places_of([name]):
                node = rows.infos[place].node
                if is_free[place] and node is not None and self.for_claims is not None:
                    self.found[name] = (self.for_claims.find_free(node), self.common_allocation)
                    return self.found[name]
        return None

    def to_state(self) -> Any:
        names_free = [rows.names[place] for rows, is_free in self.free for place in np.flatnonzero(is_free).tolist()]
        nodes = {name: allocation for name in dict.fromkeys([*self.found, *names_free]) if (allocation := self.on_node(name)) is not None}
        stored = _Stored(
            self.claims,
            self.user_claim_count,
            self.special_uid,
            self.allocations,
            self.needs_allocator,
            sorted(self.unavailable),
            nodes,
            self.scalar_resources,
            self.waits,
            self.searched,
            self.steps_left if self.allocator is None else self.allocator.steps_left,
        )
        return _encoder.encode(stored)

    @classmethod
    def from_state(cls, data: Any) -> StateData:
        if not isinstance(data, bytes):
            # A checkpoint of an engine that allocated no devices.
            return cls()
        stored = _decoder.decode(data)
        state = cls()
        state.claims, state.user_claim_count, state.special_uid = stored.claims, stored.user_claim_count, stored.special_uid
        state.allocations, state.needs_allocator = stored.allocations, stored.needs_allocator
        state.unavailable = set(stored.unavailable)
        state.found = {name: ((), allocation) for name, allocation in stored.nodes.items()}
        state.scalar_resources, state.waits = stored.scalar_resources, stored.waits
        state.searched = {name: SUCCESS if status.is_success else status for name, status in stored.searched.items()}
        state.steps_left = stored.steps_left
        return state


def _selector_of(allocation: AllocationResult | None) -> LazyErrorNodeSelector | None:
    if allocation is None or allocation.node_selector is None:
        return None
    return node_selector(allocation.node_selector, lists_operators=True)


STATE_KEY = StateKey(names.DYNAMIC_RESOURCES, StateData)
