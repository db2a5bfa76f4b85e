"""Nominated pods: whether their victims are terminating, or whether they will wait forever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from schedviz.engine.cache.debugger.dumper import Dump
from schedviz.engine.failure import SCHEDULER_ERROR
from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.doctor.amounts import amounts_of
from schedviz.explain.doctor.differences import KnownScheduler, difference, note
from schedviz.explain.finding import Finding, Side
from schedviz.kube.core import Node, Pod
from schedviz.trace.phrase import Phrase, phrase, some

FOR_EVER = "nominated for ever"
NOMINATED = "nominated pod"
WITHOUT_PREEMPTION = "nominated without a preemption"
#: A failed preemption in the message of a condition.
_NOTHING_EVICTED = " preemption: "
_SILENT = (
    "the extender {extender} has a filterVerb but no preemptVerb: its filter rejects the node in every cycle, "
    "while preemption does not consult the extender, finds that the pod fits without evictions, and nominates the "
    "node again"
)
_UNKNOWN = (
    "something that preemption does not consult rejects the node, most often an extender with a filterVerb but no "
    "preemptVerb; add the scheduler's configuration to confirm"
)
_FIX = (
    "implement and configure a preemptVerb for the extender, so that preemption also consults it; alternatively, "
    "make the extender ignorable, or replace it with a Filter plugin"
)


def _unknown_attempt(_pod: Pod, _node: str) -> bool:
    """False: a dump does not show in which queue a pod waits, so its next attempt is unknown."""
    return False


def nominations_of_dump(
    nodes: Mapping[str, Node],
    pods: Mapping[str, Pod],
    dump: Dump,
    scheduler: KnownScheduler,
    *,
    is_placed_next: Callable[[Pod, str], bool] = _unknown_attempt,
) -> Iterator[Finding]:
    """Findings about the nominated pods of a dump, given the API's objects.

    `is_placed_next`: whether a pod's next attempt, which no event has to trigger any more, places it on a node.
    """
    listed: set[str] = set()
    for dumped_node in sorted(dump.nodes, key=lambda node: node.name):
        for dumped in dumped_node.nominated:
            listed.add(dumped.uid)
            pod = pods.get(dumped.uid)
            if pod is None:
                continue  # Reported with the queue.
            if pod.status.nominated_node_name not in ("", dumped_node.name):
                sentence = phrase(
                    "pod {pod} is nominated to {node} by the scheduler, and to {other} in the API server",
                    pod=pod.key,
                    node=dumped_node.name,
                    other=pod.status.nominated_node_name,
                )
                cause = phrase("the scheduler nominated it again, and the API does not know yet")
                yield note("nominated elsewhere", f"Pod {pod.key}", ("API", "queue"), sentence, cause)
            free = Resource()
            free.add(dumped_node.allocatable, 1)
            free.add(dumped_node.requested, -1)
            pods_on_node = [scheduler.pod_info(pods[pod.uid]) for pod in dumped_node.pods if pod.uid in pods]
            is_due = is_placed_next(pod, dumped_node.name)
            yield judge(scheduler.pod_info(pod), dumped_node.name, free, pods_on_node, scheduler, is_placed_next=is_due)
    pending_uids = {pod.uid for pod in dump.pending}
    for pod in pods.values():
        node = pod.status.nominated_node_name
        if node and not pod.spec.node_name and pod.uid in pending_uids - listed:
            sentence = phrase(
                "pod {pod} is nominated to {node} in the API server; the scheduler's nominator does not have it there",
                pod=pod.key,
                node=node,
            )
            cause = (
                phrase("node {node} was deleted", node=node)
                if node not in nodes
                else phrase("the nomination was withdrawn, and the API does not know yet")
            )
            yield (note if node in nodes else difference)("nomination unknown", f"Pod {pod.key}", ("API", "queue"), sentence, cause)


def nominations_of_objects(nodes: Mapping[str, Node], pods: Sequence[Pod], scheduler: KnownScheduler) -> Iterator[Finding]:
    """The same with API objects only."""
    on_node: dict[str, list[PodInfo]] = {}
    for pod in pods:
        if pod.spec.node_name and not pod.is_finished:
            on_node.setdefault(pod.spec.node_name, []).append(scheduler.pod_info(pod))
    for pod in pods:
        name = pod.status.nominated_node_name
        if not name or pod.spec.node_name or pod.is_finished:
            continue
        node = nodes.get(name)
        if node is None:
            sentence = phrase("pod {pod} is nominated to {node}, which is not in the API server", pod=pod.key, node=name)
            cause = phrase("the node was deleted after the nomination")
            advice = phrase("it is tried on the others")
            yield difference("nomination unknown", f"Pod {pod.key}", ("API", "API"), sentence, cause, advice)
            continue
        pods_on_node = on_node.get(name, [])
        free = Resource.of(node.status.allocatable)
        for other in pods_on_node:
            free.add(other.requests.resource, -1)
        yield judge(scheduler.pod_info(pod), name, free, pods_on_node, scheduler)


def judge(
    pod: PodInfo,
    node: str,
    free: Resource,
    pods_on_node: Sequence[PodInfo],
    scheduler: KnownScheduler,
    *,
    is_placed_next: bool = False,
) -> Finding:
    """Whether the pod waits for terminating victims or for its next attempt, or stays nominated forever.

    `free` is the free capacity of the node. `is_placed_next`: its next attempt, which no event has to trigger any more, places it there.
    """
    about = f"Pod {pod.key}"
    between: tuple[Side, Side] = ("API", "queue")
    if victims := terminating_victims(pod, pods_on_node):
        sentence = phrase(
            "pod {pod} is nominated to {node} and is waiting for the pods evicted there to terminate: {victims}",
            pod=pod.key,
            node=node,
            victims=some(victims, 5),
        )
        advice = phrase("wait until they have terminated; if they do not, check their finalizers and grace periods")
        return note(NOMINATED, about, between, sentence, None, advice)
    if (nominated_by := _why_without_preemption(pod.pod, scheduler)) is not None:
        sentence = phrase("pod {pod} is nominated to {node} without a preemption", pod=pod.key, node=node)
        return note(WITHOUT_PREEMPTION, about, between, sentence, nominated_by)
    wants = amounts_of(pod.requests.resource)
    have = amounts_of(free)
    lacks = [name for name, amount in wants.items() if have.get(name, 0) < amount]
    if lacks:
        sentence = phrase(
            "pod {pod} is nominated to {node}, which lacks {resources}, and no lower-priority pod there is terminating",
            pod=pod.key,
            node=node,
            resources=", ".join(lacks),
        )
        cause = phrase("its victims are gone and other pods use their room, or the victims could not be deleted")
        advice = phrase("its next cycle renews the nomination or withdraws it")
        return note(NOMINATED, about, between, sentence, cause, advice)
    if is_placed_next:
        sentence = phrase("pod {pod} is nominated to {node}, where its next attempt will place it", pod=pod.key, node=node)
        return note(NOMINATED, about, between, sentence, phrase("its victims are gone, and its next attempt is due"))
    sentence = phrase(
        "pod {pod} is nominated to {node}, which has enough room without evictions, but it is not bound there",
        pod=pod.key,
        node=node,
    )
    return difference(FOR_EVER, about, between, sentence, *why_for_ever(scheduler))


def _why_without_preemption(pod: Pod, scheduler: KnownScheduler) -> Phrase | None:
    """What nominated a pod for which nothing was evicted; None: its scheduler's preemption may have."""
    if pod.spec.scheduling_gates:
        return phrase("it has scheduling gates, so its scheduler has not tried it: another component nominated it")
    if not scheduler.nominates_before_binding:
        return None
    condition = next(
        (condition for condition in pod.status.conditions if condition.type == "PodScheduled" and condition.status == "False"), None
    )
    if condition is None:
        return phrase(
            "its scheduler has chosen the node and prepares the binding, which takes time if a volume is provisioned, a device is "
            "allocated, or a Permit plugin waits; or another component, such as an autoscaler or a job queue, nominated it"
        )
    if condition.reason == SCHEDULER_ERROR:
        return phrase("its last attempt ended with an error ({error}); it is tried again", error=condition.message)
    if _NOTHING_EVICTED in condition.message:
        return phrase("preemption evicted nothing in its last attempt: another component nominated it, or its next attempt is due")
    return None


def terminating_victims(pod: PodInfo, pods_on_node: Sequence[PodInfo]) -> list[str]:
    """The pods of a node with a lower priority than `pod` that are being deleted."""
    return [other.key for other in pods_on_node if other.priority < pod.priority and other.pod.metadata.deletion_timestamp is not None]


def why_for_ever(scheduler: KnownScheduler) -> tuple[Phrase, Phrase]:
    """The likely cause of an endless nomination, and the remedy."""
    silent = silent_extenders(scheduler)
    if silent:
        return phrase(_SILENT, extender=silent[0]), phrase(_FIX)
    if scheduler.extenders is None:
        return phrase(_UNKNOWN), phrase(_FIX)
    return phrase("its next scheduling cycle is due, or a plugin other than NodeResourcesFit rejects the node"), phrase(
        "run `schedviz explain` for the pod"
    )


def silent_extenders(scheduler: KnownScheduler) -> list[str]:
    """Extenders with a filter that preemption does not call."""
    return [extender.url_prefix for extender in scheduler.extenders or () if extender.filter_verb and not extender.preempt_verb]
