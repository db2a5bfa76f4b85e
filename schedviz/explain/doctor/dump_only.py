"""Findings about a dump without API objects."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine.cache.debugger.dumper import DumpedNode
from schedviz.engine.cache.debugger.signal import Signal
from schedviz.explain.doctor.amounts import amounts_of
from schedviz.explain.doctor.differences import difference, note
from schedviz.explain.finding import Finding, Value
from schedviz.kube.printed_amount import exact_amount
from schedviz.trace.phrase import joined, phrase


def alone(signal: Signal) -> Iterator[Finding]:
    """Ghosts, overcommitted nodes, nominated pods, and the comparer's findings."""
    for node in sorted(signal.dump.nodes, key=lambda node: node.name):
        yield from _node(node)
    waiting = {pod.uid for pod in signal.dump.pending}
    for node in signal.dump.nodes:
        for pod in node.nominated:
            free = {name: amount - amounts_of(node.requested).get(name, 0) for name, amount in amounts_of(node.allocatable).items()}
            room = ", ".join(f"{name} {exact_amount(name, free[name])}" for name in ("cpu", "memory") if name in free)
            sentence = phrase("pod {pod} is nominated to {node}, where {room} are free", pod=pod.key, node=node.name, room=room)
            cause = phrase(
                "if that is enough for it, something that preemption does not consult rejects the node, most often an extender "
                "with a filterVerb but no preemptVerb"
            )
            advice = phrase("add the API objects and the scheduler's configuration: a dump does not contain what a pod requests")
            yield note("nominated pod", f"Pod {pod.key}", ("dump", "queue"), sentence, cause, advice)
            if pod.uid not in waiting and waiting:
                absent = phrase("pod {pod} is nominated to {node} and is not in the queue", pod=pod.key, node=node.name)
                runs = phrase("its scheduling cycle was running at that moment")
                yield note("nomination unknown", f"Pod {pod.key}", ("dump", "queue"), absent, runs)
    yield from _comparer(signal)


def _node(node: DumpedNode) -> Iterator[Finding]:
    about = f"Node {node.name}"
    if node.is_deleted:
        ghost = phrase(
            "node {node} was deleted, but the scheduler's cache keeps it because of the {count} pods on it",
            node=node.name,
            count=len(node.pods),
        )
        deleted = phrase("the node was deleted before its pods")
        collected = phrase("the pod garbage collector removes them within a minute")
        yield difference("ghost node", about, ("dump", "cache"), ghost, deleted, collected)
        return
    have = amounts_of(node.allocatable)
    more = {name: amount for name, amount in amounts_of(node.requested).items() if amount > have.get(name, 0)}
    unknown = [name for name in more if "/" in name and name not in have]
    if unknown:
        sentence = phrase("pods on node {node} request {resources}, which it does not have", node=node.name, resources=", ".join(unknown))
        cause = phrase("an extender manages the resource and the scheduler ignores it (managedResources), or a device plugin was removed")
        yield note("unknown resource", about, ("dump", "cache"), sentence, cause)
    over = [Value(name, have.get(name, 0), amount) for name, amount in more.items() if name not in unknown]
    if over:
        amounts = [
            phrase(
                "{name} {requested} of {allocatable}",
                name=value.name,
                requested=exact_amount(value.name, value.right),
                allocatable=exact_amount(value.name, value.left),
            )
            for value in over
        ]
        sentence = phrase("more is requested on node {node} than it has: {amounts}", node=node.name, amounts=joined(amounts))
        cause = phrase("the node's capacity was reduced, pods were bound without the scheduler, or a device plugin was removed")
        advice = phrase("no further pod that requests it is placed there")
        yield difference("overcommitted", about, ("dump", "cache"), sentence, cause, advice, tuple(over))


def _comparer(signal: Signal) -> Iterator[Finding]:
    mismatch = signal.mismatch
    if mismatch is None:
        return
    ghosts = {node.name for node in signal.dump.nodes if node.is_deleted}
    still = [name for name in mismatch.redundant_nodes if name not in ghosts]
    failed = phrase("an event handler failed")
    false_alarm = phrase(
        "they belong to another scheduler, or one of them was being tried: the comparer reports such pods too. Otherwise an event handler "
        "failed"
    )
    for missing, nodes, pods in ((True, mismatch.missed_nodes, mismatch.missed_pods), (False, still, mismatch.redundant_pods)):
        if not nodes and not pods:
            continue
        names = ", ".join([*(f"node {name}" for name in nodes), *(f"pod of uid {uid}" for uid in pods)])
        sentence = (
            phrase("the scheduler's comparer reports that the informers have {names} and the cache does not", names=names)
            if missing
            else phrase("the scheduler's comparer reports that the cache still has {names} and the informers do not", names=names)
        )
        advice = phrase("add the API objects to confirm")
        # Pods that are rightly in neither cache nor queue are "missed" in every dump.
        differs = bool(nodes) or not missing
        yield (difference if differs else note)(
            "comparer", "Cache", ("comparer", "cache"), sentence, failed if differs else false_alarm, advice
        )
