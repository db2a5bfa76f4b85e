"""The capacity of nodes and the requests on them, recalculated from the API's objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode
from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.doctor.differences import KnownScheduler, difference, note
from schedviz.explain.doctor.times import Times
from schedviz.explain.finding import Finding, Value
from schedviz.kube.core import Node, Pod
from schedviz.kube.printed_amount import exact_amount
from schedviz.trace.phrase import Phrase, joined, phrase, some

_COMPARER = phrase("the scheduler's comparer compares names only")


def amounts(
    nodes: Mapping[str, Node], pods: Mapping[str, Pod], dump: Dump, scheduler: KnownScheduler, times: Times | None = None
) -> Iterator[Finding]:
    """The differences, node by node. `times`: of files that may be of different times; a node that differs then cannot be compared."""
    if times is None or not times.may_differ:
        yield from _amounts(nodes, pods, dump, scheduler)
        return
    for found in _amounts(nodes, pods, dump, scheduler):
        times.leave_out(found.about)


def _amounts(nodes: Mapping[str, Node], pods: Mapping[str, Pod], dump: Dump, scheduler: KnownScheduler) -> Iterator[Finding]:
    for node in sorted(dump.nodes, key=lambda node: node.name):
        pod_infos = [scheduler.pod_info(pods[dumped.uid]) for dumped in node.pods if dumped.uid in pods]
        lost = [dumped.key for dumped in node.pods if dumped.uid not in pods]
        if lost:
            yield from _rest(node, pod_infos, lost)
        else:
            yield from _requested(node, pod_infos)
        api = nodes.get(node.name)
        if api is not None and not node.is_deleted:
            yield from _allocatable(node, api)


def _requested(node: DumpedNode, pods: Sequence[PodInfo]) -> Iterator[Finding]:
    due = _sum(pods)
    values = differing(node.requested, due)
    if not values:
        return
    sentence = phrase(
        "node {node}: requested in the cache is {amounts}",
        node=node.name,
        amounts=joined(
            [
                phrase("{name} {cached}, while its pods request {due}", name=value.name, cached=_right(value), due=_left(value))
                for value in values
            ]
        ),
    )
    cause, advice = _why_requested(values, pods)
    yield difference("requested", f"Node {node.name}", ("API", "cache"), sentence, cause, advice, values)


def _why_requested(values: Sequence[Value], pods: Sequence[PodInfo]) -> tuple[Phrase, Phrase]:
    """The pod whose requests explain the difference, if a single one does."""
    more = {value.name: value.left - value.right for value in values}
    exact_pods = [pod for pod in pods if amounts_of(pod.requests.resource) == more]
    if len(exact_pods) == 1:
        return (
            phrase("pod {pod} is listed but not counted", pod=exact_pods[0].key),
            phrase("sums that differ from those of the pods are a bug of that scheduler release: restart the scheduler"),
        )
    changed = [(pod, before) for pod in pods if (before := _before(pod, more)) is not None]
    if len(changed) == 1:
        pod, before = changed[0]
        now = amounts_of(pod.requests.resource)
        amounts = [
            phrase(
                "{name} {now} (counted with {before})",
                name=name,
                now=exact_amount(name, now.get(name, 0)),
                before=exact_amount(name, before[name]),
            )
            for name in more
        ]
        return (
            phrase(
                "pod {pod} requests {amounts}: an update of the pod, as by a resize in place, that the scheduler has not seen; {comparer}",
                pod=pod.key,
                amounts=joined(amounts, "{first} and {next}"),
                comparer=_COMPARER,
            ),
            phrase("until it sees the update, it uses wrong amounts; a restart recounts them"),
        )
    advice = phrase("compare what the pods request with what they requested before")
    if not changed:
        return phrase("the requests of one of its pods changed; {comparer}", comparer=_COMPARER), advice
    names = ", ".join(pod.key for pod, _ in changed[:3])
    return phrase("the requests of one of its pods changed (it may be {pods}); {comparer}", pods=names, comparer=_COMPARER), advice


def _before(pod: PodInfo, more: Mapping[str, int]) -> dict[str, int] | None:
    """What a pod requested when it was counted, if it is the one that changed; None if it cannot be.

    Assumes that it requests the same resources as before with other amounts: a change that adds or drops a resource is rarer.
    """
    now = amounts_of(pod.requests.resource)
    before = {name: now.get(name, 0) - amount for name, amount in more.items()}
    return before if all(name in now and amount > 0 for name, amount in before.items()) else None


def _rest(node: DumpedNode, pod_infos: Sequence[PodInfo], lost: Sequence[str]) -> Iterator[Finding]:
    """The requests of pods that the API no longer has are unknown; the remaining difference is theirs."""
    remaining = {value.name: value.right - value.left for value in differing(node.requested, _sum(pod_infos))}
    about = f"Node {node.name}"
    if any(amount < 0 for amount in remaining.values()):
        sentence = phrase("node {node}: requested in the cache is less than the pods on it that the API has", node=node.name)
        values = differing(node.requested, _sum(pod_infos))
        yield difference("requested", about, ("API", "cache"), sentence, phrase("requests of its pods changed"), values=values)
    else:
        amounts = ", ".join(f"{name} {exact_amount(name, amount)}" for name, amount in sorted(remaining.items())) or phrase("nothing")
        sentence = phrase(
            "node {node}: {amounts} of what is requested there belongs to pods that the API does not have ({pods})",
            node=node.name,
            amounts=amounts,
            pods=some(lost),
        )
        yield note("unknown requests", about, ("API", "cache"), sentence)


def _allocatable(node: DumpedNode, api: Node) -> Iterator[Finding]:
    values = differing(node.allocatable, Resource.of(api.status.allocatable))
    if not values:
        return
    sentence = phrase(
        "node {node}: allocatable in the cache is {amounts}",
        node=node.name,
        amounts=joined(
            [
                phrase("{name} {cached}, while the node has {due}", name=value.name, cached=_right(value), due=_left(value))
                for value in values
            ]
        ),
    )
    devices = [value.name for value in values if "/" in value.name]
    cause = (
        phrase(
            "an update of the node's status that the scheduler has not seen (a device plugin was added or removed: {devices}); {comparer}",
            devices=", ".join(devices),
            comparer=_COMPARER,
        )
        if devices and len(devices) == len(values)
        else phrase(
            "an update of the node's status that the scheduler has not seen (the kubelet's reservations, or the machine, changed); "
            "{comparer}",
            comparer=_COMPARER,
        )
    )
    smaller = any(value.left < value.right for value in values)
    advice = (
        phrase("the scheduler may overcommit the node, and the kubelet then refuses pods (OutOfcpu, OutOfmemory)")
        if smaller
        else phrase("the node has more room than the scheduler assumes")
    )
    yield difference("allocatable", f"Node {node.name}", ("API", "cache"), sentence, cause, advice, values)


def _left(value: Value) -> str:
    return exact_amount(value.name, value.left)


def _right(value: Value) -> str:
    return exact_amount(value.name, value.right)


def differing(cached: Resource, due: Resource) -> tuple[Value, ...]:
    """Two amounts that differ: expected on the left, cached on the right."""
    left, right = amounts_of(due), amounts_of(cached)
    names = sorted(left.keys() | right.keys())
    return tuple(Value(name, left.get(name, 0), right.get(name, 0)) for name in names if left.get(name, 0) != right.get(name, 0))


def amounts_of(resource: Resource) -> dict[str, int]:
    """Nonzero amounts by name; cpu in millicores."""
    result = {"cpu": resource.milli_cpu, "memory": resource.memory, "ephemeral-storage": resource.ephemeral_storage}
    result = {**result, "pods": resource.allowed_pod_number, **resource.scalar}
    return {name: amount for name, amount in result.items() if amount}


def _sum(pods: Sequence[PodInfo]) -> Resource:
    total = Resource()
    for pod in pods:
        total.add(pod.requests.resource, 1)
    return total
