"""Nodes and pods that only one side has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode, DumpedPod
from schedviz.explain.doctor.differences import KnownScheduler, difference, note
from schedviz.explain.doctor.evidence import BINDING_SECONDS, Evidence, advice_for, advice_for_lost_watch
from schedviz.explain.doctor.times import Times
from schedviz.explain.finding import Finding, Side
from schedviz.kube.core import Node, Pod
from schedviz.trace.phrase import Phrase, counted, phrase, some

_HANGS: Final = phrase(
    "a PreBind plugin that waits (volumes), a Permit plugin that holds it, an extender's bind or an API server that does not answer"
)


class Presence:
    """The nodes and pods of both sides. `nodes` by name and `pods` by uid are the API's. What cannot be compared is left to `times`."""

    def __init__(
        self, nodes: Mapping[str, Node], pods: Mapping[str, Pod], evidence: Evidence, scheduler: KnownScheduler, times: Times | None = None
    ) -> None:
        self.nodes = nodes
        self.pods = pods
        self.evidence = evidence
        self.scheduler = scheduler
        #: None: both sides are of the same moment.
        self.times = times
        self.dump: Dump = evidence.signal.dump
        self._by_key = {pod.key: pod for pod in pods.values()}

    def findings(self) -> Iterator[Finding]:
        """All such nodes and pods, nodes first."""
        yield from self._missed_nodes()
        for node in sorted(self.dump.nodes, key=lambda node: node.name):
            yield from self._dumped_node(node)
        for node in self.dump.nodes:
            for pod in node.pods:
                yield from self._on_node(node, pod)
        yield from self._queue()
        yield from self._missed_pods()

    def _left_out(self, about: str, *, undecided: bool) -> bool:
        """Whether an object cannot be compared, which is `undecided`. If so, the times count it for their note."""
        if self.times is not None and undecided:
            self.times.leave_out(about)
        return undecided

    def _is_recent(self, obj: Node | Pod) -> bool:
        return self.times is not None and self.times.is_recent(obj)

    @property
    def _order_is_unknown(self) -> bool:
        return self.times is not None and self.times.order is not None

    def _may_be_missing(self, obj: Node | Pod) -> bool:
        return self.times is not None and self.times.may_lack(obj)

    def _missed_nodes(self) -> Iterator[Finding]:
        dumped = {node.name for node in self.dump.nodes}
        for name in sorted(self.nodes.keys() - dumped):
            if self._left_out(
                f"Node {name}", undecided=self._may_be_missing(self.nodes[name]) and not self.evidence.is_named("node", name)
            ):
                continue
            cause = self.evidence.why_missed("node", self.nodes[name])
            sentence = phrase("node {node} is in the API server, but the scheduler does not know it: no pod can be placed there", node=name)
            yield difference("missed node", f"Node {name}", ("API", "cache"), sentence, cause, advice_for(cause))

    def _dumped_node(self, node: DumpedNode) -> Iterator[Finding]:
        about = f"Node {node.name}"
        if node.name in self.nodes:
            if node.is_deleted:
                sentence = phrase(
                    "node {node} is in the API server; the scheduler has only its pods and treats the node as deleted", node=node.name
                )
                cause = self.evidence.why_missed("node", self.nodes[node.name])
                yield difference("missed node", about, ("API", "cache"), sentence, cause, advice_for(cause))
        elif node.is_deleted:
            yield self._ghost(node)
        elif self._left_out(about, undecided=self._order_is_unknown and not self.evidence.is_named("node", node.name)):
            return
        else:
            sentence = phrase(
                "node {node} was deleted in the API server; the scheduler still has it and may place pods there", node=node.name
            )
            cause = self.evidence.why_redundant("node", node.name)
            yield difference("redundant node", about, ("API", "cache"), sentence, cause, advice_for(cause))

    def _ghost(self, node: DumpedNode) -> Finding:
        existing = [pod for pod in node.pods if pod.uid in self.pods]
        sentence = phrase(
            "node {node} was deleted, but the scheduler's cache keeps it because of the pods on it ({pods})",
            node=node.name,
            pods=some([pod.key for pod in node.pods]),
        )
        if existing:
            cause = phrase(
                "the node was deleted before its pods: {pods} still bound to it in the API server",
                pods=counted(len(existing), "{count} pod is", "{count} pods are"),
            )
            advice = phrase(
                "the pod garbage collector removes them within a minute; if it does not, look at their finalizers. No pod is placed there."
            )
        else:
            cause = phrase(
                "its pods were deleted in the API server, too, but the scheduler has not seen it: watch events were lost or "
                "have not arrived yet"
            )
            advice = advice_for_lost_watch()
        return difference("ghost node", f"Node {node.name}", ("API", "cache"), sentence, cause, advice)

    def _on_node(self, node: DumpedNode, dumped: DumpedPod) -> Iterator[Finding]:
        pod = self.pods.get(dumped.uid)
        about = f"Pod {dumped.key}"
        if pod is None:
            yield from self._redundant(dumped, phrase("the scheduler counts it on {node}", node=node.name))
        elif pod.is_finished:
            if self._left_out(about, undecided=self._is_recent(pod)):
                return
            sentence = phrase(
                "pod {pod} has finished ({phase}) and still counts on {node}", pod=pod.key, phase=pod.status.phase, node=node.name
            )
            cause = phrase("the update that marks it as finished was not seen: {why}", why=self.evidence.why_redundant("pod", dumped.uid))
            yield difference("redundant pod", about, ("API", "cache"), sentence, cause, advice_for(cause))
        elif not pod.spec.node_name:
            if not self._left_out(about, undecided=self.times is not None and self.times.was_bound(pod)):
                yield self._assumed(node, pod)
        elif pod.spec.node_name != node.name:
            sentence = phrase(
                "pod {pod} counts on {node} in the cache, and is bound to {other} in the API server",
                pod=pod.key,
                node=node.name,
                other=pod.spec.node_name,
            )
            cause = phrase("another client bound it, or a pod with the same UID was bound twice")
            advice = phrase("look for a second scheduler with the same name")
            yield difference("other node", about, ("API", "cache"), sentence, cause, advice)

    def _assumed(self, node: DumpedNode, pod: Pod) -> Finding:
        about = f"Pod {pod.key}"
        between: tuple[Side, Side] = ("API", "cache")
        since = self.evidence.assumed_for(pod.uid, node.name)
        if since is not None and since >= BINDING_SECONDS:
            sentence = phrase(
                "pod {pod} has been assumed on {node} for at least {seconds} s but is not bound in the API server: its binding hangs",
                pod=pod.key,
                node=node.name,
                seconds=f"{since:.0f}",
            )
            advice = phrase("check its binding in the log, and its volumes")
            return difference("hanging binding", about, between, sentence, _HANGS, advice)
        sentence = phrase("pod {pod} is assumed on {node}; its binding has not been written yet", pod=pod.key, node=node.name)
        advice = phrase("make another dump after a minute; if nothing has changed, the binding hangs")
        return note("assumed pod", about, between, sentence, None, advice)

    def _queue(self) -> Iterator[Finding]:
        for dumped in self.dump.pending:
            pod = self.pods.get(dumped.uid)
            about = f"Pod {dumped.key}"
            if pod is None:
                yield from self._redundant(dumped, phrase("it waits in the scheduling queue"))
            elif pod.spec.node_name:
                if self._left_out(about, undecided=self._is_recent(pod)):
                    continue
                sentence = phrase(
                    "pod {pod} waits in the scheduling queue, and is bound to {node} in the API server",
                    pod=pod.key,
                    node=pod.spec.node_name,
                )
                cause = phrase("another client bound it, and the scheduler has not seen that yet")
                yield difference("bound pod in queue", about, ("API", "queue"), sentence, cause, advice_for_lost_watch())
            elif pod.metadata.deletion_timestamp is not None:
                sentence = phrase("pod {pod} is being deleted and waits in the scheduling queue; its cycle will be skipped", pod=pod.key)
                yield note("deleting pod", about, ("API", "queue"), sentence)

    def _missed_pods(self) -> Iterator[Finding]:
        seen = {pod.uid for node in self.dump.nodes for pod in node.pods} | {pod.uid for pod in self.dump.pending}
        for pod in self.pods.values():
            if pod.uid in seen or pod.is_finished:
                continue
            about = f"Pod {pod.key}"
            is_own = bool(pod.spec.node_name) or pod.spec.scheduler_name in self.scheduler.names
            was_tried = self.times is not None and not pod.spec.node_name and self.times.was_tried(pod.key)
            if is_own and self._left_out(about, undecided=self._may_be_missing(pod) or was_tried):
                continue
            cause = self.evidence.why_missed("pod", pod)
            if pod.spec.node_name:
                sentence = phrase(
                    "pod {pod} is bound to {node} in the API server but is not counted in the cache: the node has less room "
                    "than the scheduler assumes",
                    pod=pod.key,
                    node=pod.spec.node_name,
                )
                yield difference("missed pod", about, ("API", "cache"), sentence, cause, advice_for(cause))
            elif pod.spec.scheduler_name in self.scheduler.names:
                sentence = phrase(
                    "pod {pod} is pending in the API server and is neither in the cache nor in the queue: the scheduler will not try it",
                    pod=pod.key,
                )
                advice = phrase("{advice}; a pod whose scheduling cycle is running is in neither of them either", advice=advice_for(cause))
                yield difference("missed pod", about, ("API", "queue"), sentence, cause, advice)
            else:
                yield self._finding_about_another(pod)

    def _finding_about_another(self, pod: Pod) -> Finding:
        mismatch = self.evidence.signal.mismatch
        false_alarm = mismatch is not None and pod.uid in mismatch.missed_pods
        sentence = phrase(
            'pod {pod} belongs to another scheduler ("{scheduler}"), so this scheduler does not track it{alarm}',
            pod=pod.key,
            scheduler=pod.spec.scheduler_name,
            alarm=phrase("; the report of the scheduler's own comparer that the pod is missing is a false alarm") if false_alarm else "",
        )
        return note("other scheduler", f"Pod {pod.key}", ("API", "queue"), sentence)

    def _redundant(self, dumped: DumpedPod, where: Phrase) -> Iterator[Finding]:
        about = f"Pod {dumped.key}"
        may_be_gone = self.times is not None and self.times.may_be_gone(dumped.key, dumped.uid)
        if self._left_out(about, undecided=may_be_gone and not self.evidence.is_named("pod", dumped.uid)):
            return
        existing = self._by_key.get(dumped.key)
        if existing is not None:
            sentence = phrase(
                "pod {pod} with UID {uid} was deleted in the API server, where another pod has its name (UID {other}); {where}",
                pod=dumped.key,
                uid=dumped.uid,
                other=existing.uid,
                where=where,
            )
            cause = phrase("it was deleted and recreated, and the scheduler has not seen that yet")
        else:
            sentence = phrase("pod {pod} was deleted in the API server; {where}", pod=dumped.key, where=where)
            cause = self.evidence.why_redundant("pod", dumped.uid)
        yield difference("redundant pod", about, ("API", "cache"), sentence, cause, advice_for(cause))
