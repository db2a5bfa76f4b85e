"""Changes to the claims of a pod and to devices (dynamic resource allocation)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from msgspec.structs import replace

from schedviz.engine import Simulation
from schedviz.engine.cluster.controllers.device_driver import DeviceDriver
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.dynamicresources.claims import ClaimError, claims_of
from schedviz.engine.framework.plugins.dynamicresources.dra_manager import DRAManager
from schedviz.engine.framework.plugins.dynamicresources.structured import AllocationError, DeviceID
from schedviz.engine.framework.plugins.dynamicresources.structured.pools import Pool, SliceDevice
from schedviz.engine.framework.plugins.dynamicresources.structured.requests import ALL, Request
from schedviz.engine.framework.plugins.dynamicresources.structured.search import MAX_STEPS
from schedviz.engine.framework.types import NodeInfo
from schedviz.explain.changes.change import INTENTIONAL, Change, named, shell
from schedviz.explain.explanation import Explanation, NodeVerdict
from schedviz.kube.core import Pod, PodResourceClaim
from schedviz.kube.defaults import EXACT_COUNT
from schedviz.kube.devices import (
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimMeta,
    ResourceClaimStatus,
    ResourceSlice,
)
from schedviz.kube.example_driver import DRIVER
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import counted, phrase

_REJECTING_PLUGINS: Final = frozenset({names.DYNAMIC_RESOURCES})
#: Nodes and claims tried.
_MAX_TRIED: Final = 3
#: Device classes tried.
_MAX_CLASSES: Final = 6
_NUMBER: Final = re.compile(r"\d+$")


class _Target(NamedTuple):
    """A request of a claim, or an alternative of one."""

    claim: ResourceClaim
    #: The positions of the request and of the alternative; -1: the request has none.
    request_index: int
    alternative: int
    asked: ExactDeviceRequest | DeviceSubRequest

    @property
    def request(self) -> Request:
        """As the allocator reads it."""
        name = self.claim.spec.devices.requests[self.request_index].name
        return Request(name, self.asked) if isinstance(self.asked, ExactDeviceRequest) else Request(self.asked.name, self.asked, name)

    def changed(self, **members: object) -> ResourceClaim:
        """The claim with another request."""
        requests = list(self.claim.spec.devices.requests)
        request: DeviceRequest = requests[self.request_index]
        if isinstance(self.asked, ExactDeviceRequest):
            requests[self.request_index] = replace(request, exactly=replace(self.asked, **members))
        else:
            alternatives = list(request.first_available)
            alternatives[self.alternative] = replace(self.asked, **members)
            requests[self.request_index] = replace(request, first_available=tuple(alternatives))
        return _with_devices(self.claim, requests=tuple(requests))


class _NodeDevices(NamedTuple):
    """The devices of a node that match a request: those in use, those that are free, and the taints that exclude others."""

    info: NodeInfo
    in_use: list[SliceDevice]
    ready: list[SliceDevice]
    taints: dict[tuple[str, str, str], None]


def changes_of_devices(simulation: Simulation, dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """All single changes to claims, devices, and the pods that have them, if DynamicResources rejects a node."""
    manager = simulation.scheduler.state.dra_manager
    rejected = [verdict for verdict in explanation.matrix if _is_rejected(verdict)]
    if manager is None or not rejected:
        return
    pod = dry_run.pod.pod
    try:
        claims = claims_of(pod, manager.claims)
    except ClaimError:
        return
    rows = {verdict.node: row for row, verdict in enumerate(explanation.matrix)}
    nearest = sorted(rejected, key=lambda verdict: len(verdict.objections))
    infos = [info for verdict in nearest if (info := dry_run.rows.infos[rows[verdict.node]]).node is not None]
    for claim in claims:
        if claim.status.allocation is not None:
            yield from _own_claim(pod, claim)
            continue
        for target in _targets(claim):
            yield from _relaxed(simulation, target)
            try:
                seen = _seen(manager, target, infos)
            except AllocationError:
                continue
            yield from _tolerations(target, seen)
            yield from _freed(simulation, manager, target, seen)
            yield from _more_devices(simulation, target, seen)
        yield from _without_constraints(claim)


def _is_rejected(verdict: NodeVerdict) -> bool:
    """Whether DynamicResources rejects the node, in PreFilter or in Filter."""
    return names.DYNAMIC_RESOURCES in (verdict.plugin, *(objection.plugin for objection in verdict.objections))


def _targets(claim: ResourceClaim) -> Iterator[_Target]:
    for index, request in enumerate(claim.spec.devices.requests):
        if request.exactly is not None:
            yield _Target(claim, index, -1, request.exactly)
        for alternative, subrequest in enumerate(request.first_available):
            yield _Target(claim, index, alternative, subrequest)


# Changes of the claim.


def _relaxed(simulation: Simulation, target: _Target) -> Iterator[Change]:
    request, claim, device_request = target.request, target.claim, target.asked
    where = {"request": request.full_name, "claim": claim.key}
    amount = phrase("all devices") if request.mode == ALL else counted(request.count, "{count} device", "{count} devices")
    # Of several numbers, the largest that helps is suggested.
    for count in (1,) if request.mode == ALL else range(request.count - 1, 0, -1):
        yield Change(
            "request",
            phrase(
                "lower request `{request}` of claim `{claim}` from {before} to {after}",
                after=counted(count, "{count} device", "{count} devices"),
                before=amount,
                **where,
            ),
            against=_REJECTING_PLUGINS,
            amount=1.0 if request.mode == ALL else (request.count - count) / request.count,
            ladder=f"fewer devices {claim.key} {request.full_name}",
            updated=(target.changed(allocation_mode=EXACT_COUNT, count=count),),
        )
    for index, selector in enumerate(device_request.selectors):
        selectors = device_request.selectors[:index] + device_request.selectors[index + 1 :]
        expression = "" if selector.cel is None else selector.cel.expression.strip()
        yield Change(
            "selector",
            phrase("remove the selector `{expression}` from request `{request}` of claim `{claim}`", expression=expression, **where),
            against=_REJECTING_PLUGINS,
            amount=1 / len(device_request.selectors),
            updated=(target.changed(selectors=selectors),),
        )
    classes = [key for key in simulation.cluster.store.of_kind("DeviceClass") if key != device_request.device_class_name]
    for name in sorted(classes)[:_MAX_CLASSES]:
        yield Change(
            "class",
            phrase("use the device class `{class}` in request `{request}` of claim `{claim}`", **{"class": name}, **where),
            against=_REJECTING_PLUGINS,
            updated=(target.changed(device_class_name=name),),
        )


def _tolerations(target: _Target, seen: Sequence[_NodeDevices]) -> Iterator[Change]:
    taints: dict[tuple[str, str, str], None] = {}
    for node_devices in seen:
        taints |= node_devices.taints
    for key, value, effect in taints:
        toleration = DeviceToleration(key=key, operator="Equal", value=value, effect=effect)
        yield Change(
            "toleration",
            phrase(
                "add a toleration for the device taint `{taint}` to request `{request}` of claim `{claim}`",
                taint=f"{key}={value}:{effect}" if value else f"{key}:{effect}",
                request=target.request.full_name,
                claim=target.claim.key,
            ),
            against=_REJECTING_PLUGINS,
            updated=(target.changed(tolerations=(*target.asked.tolerations, toleration)),),
        )


def _without_constraints(claim: ResourceClaim) -> Iterator[Change]:
    constraints = claim.spec.devices.constraints
    for index, constraint in enumerate(constraints):
        attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        equal = phrase(
            "remove the constraint that requires equal values of `{attribute}` from claim `{claim}`", attribute=attribute, claim=claim.key
        )
        distinct = phrase(
            "remove the constraint that requires distinct values of `{attribute}` from claim `{claim}`",
            attribute=attribute,
            claim=claim.key,
        )
        yield Change(
            "constraint",
            equal if constraint.match_attribute else distinct,
            against=_REJECTING_PLUGINS,
            consequence=INTENTIONAL,
            updated=(_with_devices(claim, constraints=constraints[:index] + constraints[index + 1 :]),),
        )


def _own_claim(pod: Pod, claim: ResourceClaim) -> Iterator[Change]:
    """A copy, for this pod alone, of a claim that is allocated on a node where the pod does not fit."""
    used = next((pod_claim for pod_claim in pod.spec.resource_claims if pod_claim.resource_claim_name == claim.name), None)
    if used is None:
        return
    name = f"{claim.name}-{pod.name}"
    another = ResourceClaim(metadata=ResourceClaimMeta(name=name, namespace=claim.namespace), spec=claim.spec)
    yield Change(
        "claim",
        phrase("give {pod} its own claim, `{name}`, instead of `{claim}`", pod=pod.key, name=name, claim=claim.key),
        against=_REJECTING_PLUGINS,
        pod=partial(_with_claim, used=used.name, claim=name),
        updated=(another,),
    )


def _with_claim(pod: Pod, *, used: str, claim: str) -> Pod:
    claims: tuple[PodResourceClaim, ...] = tuple(
        replace(pod_claim, resource_claim_name=claim) if pod_claim.name == used else pod_claim for pod_claim in pod.spec.resource_claims
    )
    return replace(pod, spec=replace(pod.spec, resource_claims=claims))


def _with_devices(claim: ResourceClaim, **members: object) -> ResourceClaim:
    return replace(claim, spec=replace(claim.spec, devices=replace(claim.spec.devices, **members)))


# Changes of devices, and of the pods that have them.


def _seen(manager: DRAManager, target: _Target, infos: Sequence[NodeInfo]) -> list[_NodeDevices]:
    """What the nodes offer, for nodes that offer anything. Raises `AllocationError`."""
    request = target.request
    device_class = manager.device_class(request.device_class_name)
    if device_class is None:
        return []
    request.set_class(device_class)
    allocator = manager.allocator(manager.inputs(), max_steps=MAX_STEPS)
    devices: list[_NodeDevices] = []
    for info in infos:
        assert info.node is not None
        pools: Sequence[Pool] = allocator.pools_of(info.node)
        search = allocator.search(info.node, pools)
        seen = _NodeDevices(info, [], [], {})
        for pool in pools:
            for device in pool.devices:
                match search.why_excluded(target.claim, request, device, pool):
                    case "in use":
                        seen.in_use.append(device)
                    case "":
                        seen.ready.append(device)
                    case "taints":
                        seen.taints.update({(taint.key, taint.value, taint.effect): None for taint in device.device.taints})
        if seen.in_use or seen.ready or seen.taints:
            devices.append(seen)
    return devices


def _lacking(target: _Target, seen: _NodeDevices) -> int:
    return max(1, target.request.count - len(seen.ready))


def _freed(simulation: Simulation, manager: DRAManager, target: _Target, seen: Sequence[_NodeDevices]) -> Iterator[Change]:
    """The pods whose removal would free enough devices of a node for the request."""
    holders: dict[DeviceID, ResourceClaim] = {}
    for claim in manager.claims:
        if claim.status.allocation is not None:
            for result in claim.status.allocation.devices.results:
                holders[DeviceID(result.driver, result.pool, result.device)] = claim
    for node_devices in [node_devices for node_devices in seen if node_devices.in_use][:_MAX_TRIED]:
        claims = {holder.key: holder for device in node_devices.in_use if (holder := holders.get(device.id)) is not None}
        users = {key: _users(simulation, holder) for key, holder in claims.items()}
        ordered = sorted((key for key in claims if users[key]), key=lambda key: (_priority(users[key]), len(users[key])))
        lacking = _lacking(target, node_devices)
        sets = [(key,) for key in ordered[:_MAX_TRIED]] if lacking == 1 else [tuple(ordered[:lacking])] if len(ordered) >= lacking else []
        for keys in sets:
            pods = tuple({pod.key: pod for key in keys for pod in users[key]}.values())
            yield _removal(node_devices.info.name, pods, [claims[key] for key in keys])


def _users(simulation: Simulation, claim: ResourceClaim) -> list[Pod]:
    """The pods of a claim; none if something else uses it, too."""
    pods = [simulation.cluster.find("Pod", f"{claim.namespace}/{user.name}") for user in claim.status.reserved_for]
    return [pod for pod in pods if isinstance(pod, Pod)] if all(isinstance(pod, Pod) for pod in pods) else []


def _priority(pods: Sequence[Pod]) -> int:
    return max((pod.spec.priority or 0 for pod in pods), default=0)


def _removal(node: str, pods: tuple[Pod, ...], claims: Sequence[ResourceClaim]) -> Change:
    kubectl = shell("kubectl", "delete", "pod", "-n", pods[0].namespace, names=[pods[0].name]) if len(pods) == 1 else ""
    generated = [claim for claim in claims if any(owner.kind == "Pod" and owner.controller for owner in claim.metadata.owner_references)]
    freed = [
        replace(claim, metadata=replace(claim.metadata, finalizers=()), status=ResourceClaimStatus())
        for claim in claims
        if claim not in generated
    ]
    removed: tuple[KubeObject, ...] = (*pods, *generated)
    return Change(
        "victim",
        phrase("remove {pods} from {node}, which frees `{claims}`", pods=named(pods), node=node, claims="`, `".join(c.key for c in claims)),
        kubectl,
        _REJECTING_PLUGINS,
        amount=1 - 1 / (1 + len(pods)),
        updated=tuple(freed),
        deleted=removed,
    )


def _restored_driver(simulation: Simulation) -> str:
    """The driver whose slices a simulated controller restores when they are changed; "": none."""
    return DRIVER if DeviceDriver.name in simulation.cluster.controllers.delays else ""


def _more_devices(simulation: Simulation, target: _Target, seen: Sequence[_NodeDevices]) -> Iterator[Change]:
    """Additional devices on a node, as many as the request lacks there, copied from an existing one. Of several nodes, the first
    that helps.
    """
    restored = _restored_driver(simulation)
    for node_devices in [node_devices for node_devices in seen if node_devices.in_use or node_devices.ready][:_MAX_TRIED]:
        model = (node_devices.in_use or node_devices.ready)[0]
        # The device's own slice has the taints of DeviceTaintRules, too.
        published = simulation.scheduler.state.informers.get("ResourceSlice", "", model.slice.name)
        if model.id.driver == restored or published is None:
            continue
        count = _lacking(target, node_devices)
        yield Change(
            "device",
            phrase(
                "add {devices} like `{device}` to {node}",
                devices=counted(count, "{count} device", "{count} devices"),
                device=model.device.name,
                node=node_devices.info.name,
            ),
            against=_REJECTING_PLUGINS,
            amount=1 - 1 / count,
            ladder=f"more devices {target.claim.key} {target.request.full_name}",
            updated=(_with_more(published, model, count),),
        )


def _with_more(slice_: ResourceSlice, model: SliceDevice, count: int) -> ResourceSlice:
    """The slice with copies of one of its devices. The copies consume no shared counters."""
    spec = slice_.spec
    stem = _NUMBER.sub("", model.device.name)
    used_names = {device.name for device in spec.devices}
    free = (f"{stem}{number}" for number in range(len(used_names) + count + 1))
    new = [name for name in free if name not in used_names][:count]
    devices = tuple(replace(model.device, name=name, consumes_counters=(), taints=()) for name in new)
    return replace(slice_, spec=replace(spec, devices=(*spec.devices, *devices)))
