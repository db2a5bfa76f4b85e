"""`device_inventory`: the devices of a session's nodes with their users, its claims and its device classes (v1.36).

Devices are those of the API server's slices, allocations those that the scheduler counts: in a claim, assumed, or in flight (allocated in a
scheduling cycle and not written yet).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.framework.plugins.dynamicresources.device_taint_rules import tainted
from schedviz.engine.framework.plugins.dynamicresources.dra_manager import DRAManager
from schedviz.engine.framework.plugins.dynamicresources.structured import DeviceID
from schedviz.engine.framework.plugins.dynamicresources.structured.requests import ALL, alternatives_of
from schedviz.explain.why import find_pod
from schedviz.kube.core import Pod
from schedviz.kube.devices import (
    Device,
    DeviceAttribute,
    DeviceClass,
    DeviceSelector,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)

#: Taints with these effects keep claims off a device.
_HARD: Final = ("NoSchedule", "NoExecute")

#: `allocated`: in a claim of the API server. `assumed`: the scheduler has written it, and has not seen it yet. `inFlight`: not written yet.
ClaimState = Literal["pending", "allocated", "assumed", "inFlight"]


class _Part(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A part of the inventory. Members with their default are left out: a large cluster has many devices."""


class DeviceView(_Part, frozen=True):
    """A device. `state`: free, or that of the claim that has it."""

    name: str
    state: Literal["free", "allocated", "assumed", "inFlight"] = "free"
    #: `namespace/name` of the claims that have it or a share of it.
    claims: tuple[str, ...] = ()
    #: It is free, and the counters that it takes from have too little left.
    blocked: bool = False
    #: `key=value:effect`, and whether one of them keeps claims off.
    taints: tuple[str, ...] = ()
    tainted: bool = False
    #: Attribute or capacity -> its value as text.
    attributes: dict[str, str] = {}
    capacity: dict[str, str] = {}
    #: The counter sets that it takes from.
    counter_sets: tuple[str, ...] = ()


class CounterView(_Part, frozen=True):
    """A counter that devices share: how much the allocated devices take, in the counter's unit."""

    counter_set: str
    counter: str
    used: float
    total: float
    #: The total as written, such as `80Gi`.
    text: str


class PoolView(_Part, frozen=True):
    """The devices of a pool. Only slices of the highest generation count."""

    driver: str
    pool: str
    generation: int
    slices: tuple[str, ...]
    devices: tuple[DeviceView, ...]
    #: "": not of one node.
    node: str = ""
    #: Fewer slices than the pool should have: no device can be allocated.
    incomplete: bool = False
    counters: tuple[CounterView, ...] = ()


class RequestView(_Part, frozen=True):
    """A request of a claim, or an alternative of one."""

    name: str
    device_class: str
    #: 0: all.
    count: int
    selectors: tuple[str, ...] = ()


class AllocatedDevice(_Part, frozen=True):
    """A device of a claim."""

    request: str
    driver: str
    pool: str
    device: str
    #: The share of a device, and what it consumes.
    share: str = ""
    consumed: dict[str, str] = {}
    admin: bool = False


class ClaimView(_Part, frozen=True):
    """A claim."""

    claim: str
    state: ClaimState
    requests: tuple[RequestView, ...]
    constraints: tuple[str, ...] = ()
    devices: tuple[AllocatedDevice, ...] = ()
    #: The pods (`namespace/name`) for which it is reserved, and those whose spec or status names it.
    reserved_for: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()


class ClassView(_Part, frozen=True):
    """A device class, and how many claims request it."""

    name: str
    selectors: tuple[str, ...]
    claims: int
    extended_resource: str = ""


class TemplateView(_Part, frozen=True):
    """A template of claims, and the requests of its claims."""

    template: str
    requests: tuple[RequestView, ...]


class DeviceInventory(_Part, frozen=True):
    """Everything. `devices` has the number of devices by state (`free`: without the `blocked` ones), and of those that are `tainted`;
    `states` the number of claims by state.
    """

    devices: dict[str, int]
    states: dict[str, int]
    pools: tuple[PoolView, ...] = ()
    claims: tuple[ClaimView, ...] = ()
    classes: tuple[ClassView, ...] = ()
    templates: tuple[TemplateView, ...] = ()


def device_inventory(simulation: Simulation, *, node: str = "", pod: str = "") -> DeviceInventory:
    """The inventory. Of a node: only its pools, and the claims that have their devices. Of a pod: only its claims, and their pools.

    Raises `PodUnknownError`.
    """
    if pod:
        find_pod(simulation, pod)
    everything = _Claims(simulation)
    claims = list(everything.views())
    pools = list(_pools(simulation, everything))
    if node:
        pools = [pool for pool in pools if pool.node == node]
        allocated = {claim for pool in pools for device in pool.devices for claim in device.claims}
        claims = [claim for claim in claims if claim.claim in allocated]
    elif pod:
        claims = [claim for claim in claims if pod in claim.pods or pod in claim.reserved_for]
        allocated_pools = {(device.driver, device.pool) for claim in claims for device in claim.devices}
        pools = [pool for pool in pools if (pool.driver, pool.pool) in allocated_pools]
    states = Counter("blocked" if device.blocked else device.state for pool in pools for device in pool.devices)
    return DeviceInventory(
        devices={**states, "tainted": sum(device.tainted for pool in pools for device in pool.devices)},
        states=dict(Counter(claim.state for claim in claims)),
        pools=tuple(pools),
        claims=tuple(claims),
        classes=() if node or pod else tuple(_classes(simulation, claims)),
        templates=() if node or pod else tuple(_templates(simulation)),
    )


class _Claims:
    """The claims with their state, and the devices that they have."""

    def __init__(self, simulation: Simulation) -> None:
        self._manager: DRAManager | None = simulation.scheduler.state.dra_manager
        stored = simulation.cluster.store.of_kind("ResourceClaim")
        self._claims = {key: self._latest(claim) for key, claim in stored.items() if isinstance(claim, ResourceClaim)}
        #: Claim -> the pods that name it.
        self._pods: dict[str, list[str]] = {}
        for stored_pod in simulation.cluster.store.of_kind("Pod").values():
            if isinstance(stored_pod, Pod):
                for name in _claim_names(stored_pod):
                    self._pods.setdefault(f"{stored_pod.namespace}/{name}", []).append(stored_pod.key)
        #: Device -> the claims that have it, with their states.
        self.holders: dict[DeviceID, list[tuple[str, ClaimState]]] = {}
        for key, (claim, state) in self._claims.items():
            for result in claim.status.allocation.devices.results if claim.status.allocation is not None else ():
                if not result.admin_access:
                    self.holders.setdefault(DeviceID(result.driver, result.pool, result.device), []).append((key, state))

    def _latest(self, stored: ResourceClaim) -> tuple[ResourceClaim, ClaimState]:
        if stored.status.allocation is not None or self._manager is None:
            return stored, "pending" if stored.status.allocation is None else "allocated"
        in_flight = self._manager.claims.pending_allocation(stored.uid)
        if in_flight is not None:
            return msgspec.structs.replace(stored, status=msgspec.structs.replace(stored.status, allocation=in_flight)), "inFlight"
        try:
            latest = self._manager.claims.get(stored.key)
        except LookupError:
            return stored, "pending"
        is_assumed = latest.uid == stored.uid and latest.status.allocation is not None
        return (latest, "assumed") if is_assumed else (stored, "pending")

    def views(self) -> Iterator[ClaimView]:
        """The claims, sorted by key."""
        for key in sorted(self._claims):
            claim, state = self._claims[key]
            results = claim.status.allocation.devices.results if claim.status.allocation is not None else ()
            yield ClaimView(
                claim=key,
                state=state,
                requests=_requests(claim),
                constraints=tuple(
                    f"matchAttribute {constraint.match_attribute}"
                    if constraint.match_attribute
                    else f"distinctAttribute {constraint.distinct_attribute}"
                    for constraint in claim.spec.devices.constraints
                ),
                devices=tuple(
                    AllocatedDevice(
                        request=result.request,
                        driver=result.driver,
                        pool=result.pool,
                        device=result.device,
                        share=result.share_id or "",
                        consumed={name: str(amount) for name, amount in result.consumed_capacity.items()},
                        admin=bool(result.admin_access),
                    )
                    for result in results
                ),
                reserved_for=tuple(f"{claim.namespace}/{user.name}" for user in claim.status.reserved_for if user.resource == "pods"),
                pods=tuple(self._pods.get(key, ())),
            )


def _claim_names(pod: Pod) -> list[str]:
    """The names of the pod's claims, those from templates and for extended resources included."""
    special = pod.status.extended_resource_claim_status
    own = [claim.resource_claim_name for claim in pod.spec.resource_claims]
    generated = [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    return [name for name in (*own, *generated, None if special is None else special.resource_claim_name) if name]


def _requests(claim: ResourceClaim | ResourceClaimTemplate) -> tuple[RequestView, ...]:
    spec = claim.spec if isinstance(claim, ResourceClaim) else claim.spec.spec
    return tuple(
        RequestView(
            name=alternative.full_name,
            device_class=alternative.device_class_name,
            count=0 if alternative.mode == ALL else alternative.count,
            selectors=_expressions(alternative.selectors),
        )
        for request in spec.devices.requests
        for alternative in alternatives_of(request)
    )


def _expressions(selectors: Iterable[DeviceSelector]) -> tuple[str, ...]:
    return tuple(selector.cel.expression for selector in selectors if selector.cel is not None)


def _pools(simulation: Simulation, claims: _Claims) -> Iterator[PoolView]:
    """The pools, sorted by node, driver and name."""
    slices: dict[tuple[str, str, str], list[ResourceSlice]] = {}
    rules = _taint_rules(simulation)
    for resource_slice in simulation.cluster.store.of_kind("ResourceSlice").values():
        if isinstance(resource_slice, ResourceSlice):
            key = (resource_slice.spec.node_name or "", resource_slice.spec.driver, resource_slice.spec.pool.name)
            slices.setdefault(key, []).append(tainted(resource_slice, rules))
    for key in sorted(slices):
        newest = max(resource_slice.spec.pool.generation for resource_slice in slices[key])
        yield _pool(*key, [resource_slice for resource_slice in slices[key] if resource_slice.spec.pool.generation == newest], claims)


def _taint_rules(simulation: Simulation) -> list[DeviceTaintRule]:
    """The rules of the API server, sorted by name; none if the scheduler does not read them."""
    if not simulation.features.dra_device_taint_rules:
        return []
    rules = simulation.cluster.store.of_kind("DeviceTaintRule")
    return [rule for name in sorted(rules) if isinstance(rule := rules[name], DeviceTaintRule)]


def _pool(node: str, driver: str, name: str, slices: list[ResourceSlice], claims: _Claims) -> PoolView:
    own = [device for slice_ in slices for device in slice_.spec.devices]
    allocated = [device for device in own if DeviceID(driver, name, device.name) in claims.holders]
    counters = tuple(_counters(slices, allocated))
    remaining = {(counter.counter_set, counter.counter): counter.total - counter.used for counter in counters}
    return PoolView(
        driver=driver,
        pool=name,
        generation=slices[0].spec.pool.generation,
        slices=tuple(sorted(slice_.name for slice_ in slices)),
        devices=tuple(_device(DeviceID(driver, name, device.name), device, claims, remaining) for device in own),
        node=node,
        incomplete=len(slices) < slices[0].spec.pool.resource_slice_count,
        counters=counters,
    )


def _device(device_id: DeviceID, device: Device, claims: _Claims, remaining: Mapping[tuple[str, str], float]) -> DeviceView:
    holders = claims.holders.get(device_id, [])
    states = {state for _, state in holders}
    state: Literal["free", "allocated", "assumed", "inFlight"] = "free"
    if states:
        state = "inFlight" if "inFlight" in states else "assumed" if "assumed" in states else "allocated"
    return DeviceView(
        name=device.name,
        state=state,
        claims=tuple(claim for claim, _ in holders),
        blocked=not holders and _exceeds(device, remaining),
        taints=tuple(
            f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}" for taint in device.taints
        ),
        tainted=any(taint.effect in _HARD for taint in device.taints),
        attributes={name: _text(attribute) for name, attribute in device.attributes.items()},
        capacity={name: str(capacity.value) for name, capacity in device.capacity.items() if capacity.value is not None},
        counter_sets=tuple(counter.counter_set for counter in device.consumes_counters),
    )


def _exceeds(device: Device, remaining: Mapping[tuple[str, str], float]) -> bool:
    """Whether the device takes more of a counter than is left."""
    return any(
        amount.value is not None and amount.value.milli_value / 1000 > remaining.get((consumption.counter_set, counter), 0)
        for consumption in device.consumes_counters
        for counter, amount in consumption.counters.items()
    )


def _text(attribute: DeviceAttribute) -> str:
    for value in (attribute.string_value, attribute.version_value, attribute.int_value):
        if value is not None:
            return str(value)
    if attribute.bool_value is not None:
        return str(attribute.bool_value).lower()
    lists = (attribute.string_values, attribute.version_values, attribute.int_values, attribute.bool_values)
    return ", ".join(str(value) for values in lists for value in values)


def _counters(slices: list[ResourceSlice], allocated: list[Device]) -> Iterator[CounterView]:
    used: Counter[tuple[str, str]] = Counter()
    for device in allocated:
        for consumption in device.consumes_counters:
            for counter, amount in consumption.counters.items():
                used[consumption.counter_set, counter] += 0 if amount.value is None else amount.value.milli_value
    for slice_ in slices:
        for shared in slice_.spec.shared_counters:
            for counter, total in shared.counters.items():
                if total.value is not None:
                    consumed = used[shared.name, counter] / 1000
                    yield CounterView(shared.name, counter, consumed, total.value.milli_value / 1000, str(total.value))


def _classes(simulation: Simulation, claims: list[ClaimView]) -> Iterator[ClassView]:
    uses = Counter(name for claim in claims for name in {request.device_class for request in claim.requests})
    for name, device_class in sorted(simulation.cluster.store.of_kind("DeviceClass").items()):
        if isinstance(device_class, DeviceClass):
            yield ClassView(name, _expressions(device_class.spec.selectors), uses[name], device_class.spec.extended_resource_name or "")


def _templates(simulation: Simulation) -> Iterator[TemplateView]:
    for key, template in sorted(simulation.cluster.store.of_kind("ResourceClaimTemplate").items()):
        if isinstance(template, ResourceClaimTemplate):
            yield TemplateView(key, _requests(template))
