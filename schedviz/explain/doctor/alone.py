"""A dump by itself: what can be said without the API's objects."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine.cache.debugger.dumper import DumpedNode
from schedviz.engine.cache.debugger.signal import Signal
from schedviz.explain.doctor.amounts import amounts_of, shown
from schedviz.explain.doctor.finding import Finding, Value


def alone(signal: Signal) -> Iterator[Finding]:
    """Ghosts, nodes on which more is requested than there is, pods that are nominated, and what the comparer said."""
    for node in sorted(signal.dump.nodes, key=lambda node: node.name):
        yield from _node(node)
    waiting = {pod.uid for pod in signal.dump.pending}
    for node in signal.dump.nodes:
        for pod in node.nominated:
            free = {name: amount - amounts_of(node.requested).get(name, 0) for name, amount in amounts_of(node.allocatable).items()}
            room = ", ".join(f"{name} {shown(name, free[name])}" for name in ("cpu", "memory") if name in free)
            sentence = f"pod {pod.key} is nominated to {node.name}, where {room} are free"
            cause = (
                "if that is enough for it, something that preemption does not ask rejects the node: most often an extender with "
                "a filterVerb and no preemptVerb"
            )
            advice = "bring the API's objects and the scheduler's configuration: a dump does not say what a pod requests"
            yield Finding(False, "nominated pod", f"Pod {pod.key}", ("dump", "queue"), sentence, cause, advice)
            if pod.uid not in waiting and waiting:
                text = f"pod {pod.key} is nominated to {node.name} and is not in the queue"
                yield Finding(False, "nomination unknown", f"Pod {pod.key}", ("dump", "queue"), text, "its scheduling cycle runs just then")
    yield from _comparer(signal)


def _node(node: DumpedNode) -> Iterator[Finding]:
    about = f"Node {node.name}"
    if node.is_deleted:
        sentence = f"node {node.name} is a ghost: it was deleted, and the scheduler keeps it for the {len(node.pods)} pods on it"
        cause = "the node was deleted before its pods"
        yield Finding(
            True, "ghost node", about, ("dump", "cache"), sentence, cause, "the pod garbage collector removes them within a minute"
        )
        return
    have = amounts_of(node.allocatable)
    more = {name: amount for name, amount in amounts_of(node.requested).items() if amount > have.get(name, 0)}
    unknown = [name for name in more if "/" in name and name not in have]
    if unknown:
        sentence = f"pods on node {node.name} request {', '.join(unknown)}, of which it has none"
        cause = "an extender looks after it, and the scheduler ignores it (managedResources); or a device plugin went"
        yield Finding(False, "unknown resource", about, ("dump", "cache"), sentence, cause)
    over = [Value(name, have.get(name, 0), amount) for name, amount in more.items() if name not in unknown]
    if over:
        said = ", ".join(f"{value.name} {shown(value.name, value.right)} of {shown(value.name, value.left)}" for value in over)
        sentence = f"more is requested on node {node.name} than it has: {said}"
        cause = "the node became smaller, pods were bound past the scheduler, or a device plugin went"
        yield Finding(
            True, "overcommitted", about, ("dump", "cache"), sentence, cause, "no pod that requests it is placed there", tuple(over)
        )


def _comparer(signal: Signal) -> Iterator[Finding]:
    mismatch = signal.mismatch
    if mismatch is None:
        return
    ghosts = {node.name for node in signal.dump.nodes if node.is_deleted}
    for word, nodes, pods in (
        ("does not have", mismatch.missed_nodes, mismatch.missed_pods),
        ("still has", [name for name in mismatch.redundant_nodes if name not in ghosts], mismatch.redundant_pods),
    ):
        if nodes or pods:
            names = ", ".join([*(f"node {name}" for name in nodes), *(f"pod of uid {uid}" for uid in pods)])
            sentence = f"the scheduler's own comparer says that the cache {word} {names}, unlike its informers"
            cause = "an event handler failed; or, where a pod is missed, it belongs to another scheduler (a false alarm of the comparer)"
            yield Finding(True, "comparer", "Cache", ("comparer", "cache"), sentence, cause, "bring the API's objects to be sure")
