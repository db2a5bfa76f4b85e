"""Devices: how many of those that the nodes have are left for each request of the pod's claims, and what excludes the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedviz.engine.framework.plugins.dynamicresources.claims import ClaimError, claims_of
from schedviz.engine.framework.plugins.dynamicresources.dra_manager import DRAManager
from schedviz.engine.framework.plugins.dynamicresources.structured import AllocationError, Allocator
from schedviz.engine.framework.plugins.dynamicresources.structured.pools import Pool
from schedviz.engine.framework.plugins.dynamicresources.structured.requests import ALL, Request, alternatives_of
from schedviz.engine.framework.plugins.dynamicresources.structured.search import MAX_STEPS, TooLongError
from schedviz.explain.details.detail import DeviceDetail
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.kube.core import Node
from schedviz.kube.devices import ResourceClaim
from schedviz.trace.phrase import Phrase, counted, joined, phrase

#: What excludes devices, in the order in which the allocator looks; "": nothing.
_REASONS = ("class", "selectors", "in use", "taints", "capacity", "counters", "")


def _counted(why: str, count: int) -> Phrase:
    match why:
        case "class":
            return counted(count, "{count} is of another class", "{count} are of other classes")
        case "selectors":
            return counted(count, "{count} does not match the selectors", "{count} do not match the selectors")
        case "in use":
            return counted(count, "{count} is in use", "{count} are in use")
        case "taints":
            return counted(count, "{count} has a taint that is not tolerated", "{count} have taints that are not tolerated")
        case "capacity":
            return counted(count, "{count} has too little capacity", "{count} have too little capacity")
        case "counters":
            return counted(count, "{count} shares counters that are used up", "{count} share counters that are used up")
    return counted(count, "{count} is free", "{count} are free")


def device_details(rejected: RejectedNodes) -> Iterator[DeviceDetail]:
    """Each request of the pod's claims that have no devices yet."""
    manager = rejected.simulation.scheduler.state.dra_manager
    if manager is None:
        return
    try:
        claims = [claim for claim in claims_of(rejected.pod.pod, manager.claims) if claim.status.allocation is None]
    except ClaimError:
        return
    allocator = manager.allocator(manager.inputs(), max_steps=MAX_STEPS)
    try:
        seen = [(info.node, allocator.pools_of(info.node)) for info in rejected.rows.infos if info.node is not None]
        for claim in claims:
            for device_request in claim.spec.devices.requests:
                for request in alternatives_of(device_request):
                    yield from _detail(manager, allocator, claim, request, seen)
    except (AllocationError, TooLongError):
        # The clause has the error.
        return


def _detail(
    manager: DRAManager, allocator: Allocator, claim: ResourceClaim, request: Request, seen: Sequence[tuple[Node, Sequence[Pool]]]
) -> Iterator[DeviceDetail]:
    device_class = manager.device_class(request.device_class_name)
    if device_class is None:
        return
    request.set_class(device_class)
    whys: dict[object, str] = {}
    for node, pools in seen:
        search = allocator.search(node, pools)
        for pool in pools:
            for device in pool.devices:
                if device.id not in whys:
                    whys[device.id] = search.why_excluded(claim, request, device, pool)
    counts = Counter(whys.values())
    wanted_count = 0 if request.mode == ALL else request.count
    detail = phrase(
        "request {request} of claim `{claim}` needs {wanted} of class {class}; {found}",
        request=request.full_name,
        claim=claim.key,
        wanted=phrase("all devices") if wanted_count == 0 else counted(wanted_count, "{count} device", "{count} devices"),
        found=_availability(len(whys), counts, nodes=len(seen)),
        **{"class": request.device_class_name},
    )
    yield DeviceDetail(
        sentence=detail.text,
        sentence_phrase=detail,
        claim=claim.key,
        request=request.full_name,
        device_class=request.device_class_name,
        wanted=wanted_count,
        devices=len(whys),
        free=counts[""],
        excluded={why: counts[why] for why in _REASONS if why and counts[why]},
    )


def _availability(devices: int, counts: Counter[str], *, nodes: int) -> Phrase:
    on = counted(nodes, "{count} node", "{count} nodes")
    if devices == 0:
        return phrase("there is no device on {nodes}", nodes=on)
    parts = [_counted(why, counts[why]) for why in _REASONS if counts[why]]
    return phrase(
        "of {devices} on {nodes}, {parts}", devices=counted(devices, "{count} device", "{count} devices"), nodes=on, parts=joined(parts)
    )
