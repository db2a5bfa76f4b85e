"""Nodes and pods that one side alone has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode, DumpedPod
from schedviz.explain.doctor.evidence import BINDING_SECONDS, Evidence, advice_for
from schedviz.explain.doctor.finding import Finding, Scheduler, Side, counted
from schedviz.kube.core import Node, Pod

FINISHED: Final = frozenset({"Succeeded", "Failed"})
_NAMED: Final = 3
_HANGS: Final = (
    "a PreBind plugin that waits (volumes), a Permit plugin that holds it, an extender's bind or an API server that does not answer"
)


class Presence:
    """Who has what. `nodes` by name and `pods` by uid are the API's."""

    def __init__(self, nodes: Mapping[str, Node], pods: Mapping[str, Pod], evidence: Evidence, scheduler: Scheduler) -> None:
        self.nodes = nodes
        self.pods = pods
        self.evidence = evidence
        self.scheduler = scheduler
        self.dump: Dump = evidence.signal.dump
        self._by_key = {pod.key: pod for pod in pods.values()}

    def findings(self) -> Iterator[Finding]:
        """All of them, nodes first."""
        yield from self._missed_nodes()
        for node in sorted(self.dump.nodes, key=lambda node: node.name):
            yield from self._dumped_node(node)
        for node in self.dump.nodes:
            for pod in node.pods:
                yield from self._on_node(node, pod)
        yield from self._queue()
        yield from self._missed_pods()

    def _missed_nodes(self) -> Iterator[Finding]:
        dumped = {node.name for node in self.dump.nodes}
        for name in sorted(self.nodes.keys() - dumped):
            cause = self.evidence.why_missed("node", self.nodes[name])
            sentence = f"node {name} is at the API, and the scheduler does not know it: no pod can be placed there"
            yield Finding(True, "missed node", f"Node {name}", ("API", "cache"), sentence, cause, advice_for(cause))

    def _dumped_node(self, node: DumpedNode) -> Iterator[Finding]:
        about = f"Node {node.name}"
        if node.name in self.nodes:
            if node.is_deleted:
                sentence = f"node {node.name} is at the API; the scheduler knows only pods on it, and takes it for deleted"
                cause = self.evidence.why_missed("node", self.nodes[node.name])
                yield Finding(True, "missed node", about, ("API", "cache"), sentence, cause, advice_for(cause))
        elif node.is_deleted:
            yield self._ghost(node)
        else:
            sentence = f"node {node.name} is gone at the API; the scheduler takes it for alive, and may place pods there"
            cause = self.evidence.why_redundant("node", node.name)
            yield Finding(True, "redundant node", about, ("API", "cache"), sentence, cause, advice_for(cause))

    def _ghost(self, node: DumpedNode) -> Finding:
        kept = [pod for pod in node.pods if pod.uid in self.pods]
        whose = f"the pods on it ({_some(pod.key for pod in node.pods)})"
        sentence = f"node {node.name} is a ghost: it was deleted, and the scheduler keeps it for {whose}"
        if kept:
            cause = f"the node was deleted before its pods: {counted(len(kept), 'pod')} still bound to it at the API"
            advice = (
                "the pod garbage collector removes them within a minute; if it does not, look at their finalizers. No pod is placed there."
            )
        else:
            cause = "its pods are gone at the API, too, and the scheduler has not seen it: watch events were lost, or have not come yet"
            advice = advice_for("informer")
        return Finding(True, "ghost node", f"Node {node.name}", ("API", "cache"), sentence, cause, advice)

    def _on_node(self, node: DumpedNode, dumped: DumpedPod) -> Iterator[Finding]:
        pod = self.pods.get(dumped.uid)
        about = f"Pod {dumped.key}"
        if pod is None:
            yield self._redundant(dumped, f"the scheduler counts it on {node.name}")
        elif pod.status.phase in FINISHED:
            sentence = f"pod {pod.key} has finished ({pod.status.phase}) and still counts on {node.name}"
            cause = "the update that it finished was not seen: " + self.evidence.why_redundant("pod", dumped.uid)
            yield Finding(True, "redundant pod", about, ("API", "cache"), sentence, cause, advice_for(cause))
        elif not pod.spec.node_name:
            yield self._assumed(node, pod)
        elif pod.spec.node_name != node.name:
            sentence = f"pod {pod.key} counts on {node.name} in the cache, and is bound to {pod.spec.node_name} at the API"
            cause = "somebody else has bound it, or a pod of the same uid was bound twice"
            yield Finding(True, "other node", about, ("API", "cache"), sentence, cause, "look for a second scheduler with the same name")

    def _assumed(self, node: DumpedNode, pod: Pod) -> Finding:
        about = f"Pod {pod.key}"
        between: tuple[Side, Side] = ("API", "cache")
        since = self.evidence.assumed_for(pod.uid, node.name)
        if since is not None and since >= BINDING_SECONDS:
            sentence = (
                f"pod {pod.key} has been assumed on {node.name} for {since:.0f} s and more, and is not bound at the API: its binding hangs"
            )
            return Finding(True, "hanging binding", about, between, sentence, _HANGS, "look for its binding in the log, and at its volumes")
        sentence = f"pod {pod.key} is assumed on {node.name}; its binding has not been written yet"
        advice = "it passes by itself; make another dump after a minute: if it is still so, the binding hangs"
        return Finding(False, "assumed pod", about, between, sentence, "", advice)

    def _queue(self) -> Iterator[Finding]:
        for dumped in self.dump.pending:
            pod = self.pods.get(dumped.uid)
            about = f"Pod {dumped.key}"
            if pod is None:
                yield self._redundant(dumped, "it waits in the scheduling queue")
            elif pod.spec.node_name:
                sentence = f"pod {pod.key} waits in the scheduling queue, and is bound to {pod.spec.node_name} at the API"
                cause = "somebody else bound it, and the scheduler has not seen that yet"
                yield Finding(True, "bound pod in queue", about, ("API", "queue"), sentence, cause, advice_for("informer"))
            elif pod.metadata.deletion_timestamp is not None:
                sentence = f"pod {pod.key} is being deleted and waits in the scheduling queue; its cycle will be skipped"
                yield Finding(False, "deleting pod", about, ("API", "queue"), sentence)

    def _missed_pods(self) -> Iterator[Finding]:
        seen = {pod.uid for node in self.dump.nodes for pod in node.pods} | {pod.uid for pod in self.dump.pending}
        for pod in self.pods.values():
            if pod.uid in seen or pod.status.phase in FINISHED:
                continue
            about = f"Pod {pod.key}"
            cause = self.evidence.why_missed("pod", pod)
            if pod.spec.node_name:
                where = f"pod {pod.key} is bound to {pod.spec.node_name} at the API, and does not count in the cache"
                sentence = f"{where}: there is less room than the scheduler thinks"
                yield Finding(True, "missed pod", about, ("API", "cache"), sentence, cause, advice_for(cause))
            elif pod.spec.scheduler_name in self.scheduler.names:
                sentence = f"pod {pod.key} is pending at the API, and neither in the cache nor in the queue: nobody will schedule it"
                advice = f"{advice_for(cause)}; a pod whose scheduling cycle runs at that moment is in neither, too"
                yield Finding(True, "missed pod", about, ("API", "queue"), sentence, cause, advice)
            else:
                yield self._of_another(pod)

    def _of_another(self, pod: Pod) -> Finding:
        mismatch = self.evidence.signal.mismatch
        false_alarm = mismatch is not None and pod.uid in mismatch.missed_pods
        alarm = "; that the scheduler's own comparer reports it as missed is a false alarm" if false_alarm else ""
        sentence = f'pod {pod.key} belongs to another scheduler ("{pod.spec.scheduler_name}"), so it is rightly not here{alarm}'
        return Finding(False, "other scheduler", f"Pod {pod.key}", ("API", "queue"), sentence)

    def _redundant(self, dumped: DumpedPod, where: str) -> Finding:
        again = self._by_key.get(dumped.key)
        if again is not None:
            sentence = f"pod {dumped.key} of uid {dumped.uid} is gone at the API, where another one has its name (uid {again.uid}); {where}"
            cause = "it was deleted and made again, and the scheduler has not seen that yet"
        else:
            sentence = f"pod {dumped.key} is gone at the API; {where}"
            cause = self.evidence.why_redundant("pod", dumped.uid)
        return Finding(True, "redundant pod", f"Pod {dumped.key}", ("API", "cache"), sentence, cause, advice_for(cause))


def _some(names: Iterator[str]) -> str:
    every = list(names)
    return ", ".join(every[:_NAMED]) + (f" and {len(every) - _NAMED} more" if len(every) > _NAMED else "")
