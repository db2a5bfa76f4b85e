"""Pods that are nominated to a node, to run there once its victims are gone.

Upstream: v1.27.1 internal/queue/scheduling_queue.go nominator; v1.36 backend/queue/nominator.go
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.object_table import ObjectTable, PodRef
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod
from schedviz.trace.events import PodNominated
from schedviz.trace.recorder import Recorder

#: The informer's version of a pod, by namespace and name.
PodLister = Callable[[str, str], Pod | None]


class NominatorState(msgspec.Struct, frozen=True):
    """A nominator in a checkpoint."""

    pods: dict[str, list[PodRef]]
    nodes: dict[str, str]


class NominatesPods:
    """The part of a queue that passes calls on to its nominator. Upstream: scheduling_queue.go SchedulingQueue, which is a PodNominator"""

    nominator: Nominator

    def add_nominated_pod(self, pod: PodInfo, nominating_info: NominatingInfo | None) -> None:
        """See Nominator."""
        self.nominator.add_nominated_pod(pod, nominating_info)

    def delete_nominated_pod_if_exists(self, pod: PodInfo) -> None:
        """See Nominator."""
        self.nominator.delete_nominated_pod_if_exists(pod)

    def nominated_pods_for_node(self, node_name: str) -> list[PodInfo]:
        """See Nominator."""
        return self.nominator.nominated_pods_for_node(node_name)

    def nominated_node_names(self) -> Collection[str]:
        """See Nominator."""
        return self.nominator.nominated_node_names()


class Nominator:
    """Nominated pods by node: those for which preemption made room there, and those whose status names the node.

    The key "" has pods whose last attempt failed and cleared their nomination, even if they had none: preemption found no node, or the
    attempt or the binding ended with an error (tests/conformance/FORMAT.md, behaviour 1; FORMAT-1.36.md, 2.2 no. 14). Such a pod stays
    there until it is assumed, deleted or nominated.

    Upstream: internal/queue/scheduling_queue.go nominator
    """

    def __init__(self, recorder: Recorder, pod_lister: PodLister) -> None:
        self._recorder = recorder
        self.pod_lister = pod_lister
        #: Node name -> pods in the order of their nomination. No list is empty.
        self.nominated_pods: dict[str, list[PodInfo]] = {}
        #: Uid -> node name.
        self.nominated_pod_to_node: dict[str, str] = {}

    def add_nominated_pod(self, pod: PodInfo, nominating_info: NominatingInfo | None) -> None:
        """Nominate a pod to the node in `nominating_info`; without one (or with noop), to the node in its status.

        Upstream: scheduling_queue.go AddNominatedPod
        """
        before = self._delete(pod.uid)
        self._record(pod, before, self._add(pod, nominating_info))

    def delete_nominated_pod_if_exists(self, pod: PodInfo) -> None:
        """Remove a pod. Upstream: scheduling_queue.go DeleteNominatedPodIfExists"""
        self._record(pod, self._delete(pod.uid), None)

    def update_nominated_pod(self, old: PodInfo, new: PodInfo) -> None:
        """Replace a pod by a newer version. A nomination that only the scheduler knows is kept. Upstream: scheduling_queue.go
        UpdateNominatedPod
        """
        nominating_info = None
        if not old.pod.status.nominated_node_name and not new.pod.status.nominated_node_name:
            # The update was sent before the pod was nominated, so it has no information about the nomination.
            node = self.nominated_pod_to_node.get(old.uid)
            if node is not None:
                nominating_info = NominatingInfo(NominatingMode.OVERRIDE, node)
        if old.uid != new.uid and nominating_info is not None and self._replace(old.uid, new, nominating_info.nominated_node_name):
            return
        before = self._delete(old.uid)
        self._delete(new.uid)
        self._record(new, before, self._add(new, nominating_info))

    def _replace(self, uid: str, new: PodInfo, node: str) -> bool:
        """Give a pod's entry to another pod of the same name, because the first pod's deletion was missed.

        Upstream's list shares its entries with the queue, which has already updated the entry, so no pod of the old uid is found in it.
        """
        listed = self.pod_lister(new.namespace, new.name)
        if listed is None or listed.spec.node_name:
            return False
        pods = self.nominated_pods[node]
        index = next(position for position, pod in enumerate(pods) if pod.uid == uid)
        pods[index] = new
        del self.nominated_pod_to_node[uid]
        self.nominated_pod_to_node[new.uid] = node
        return True

    def nominated_pods_for_node(self, node_name: str) -> list[PodInfo]:
        """The pods that are nominated to a node. Upstream: scheduling_queue.go NominatedPodsForNode"""
        pods = self.nominated_pods.get(node_name)
        return pods.copy() if pods else []

    def nominated_node_names(self) -> Collection[str]:
        """Nodes that have nominated pods; "" may be among them."""
        return self.nominated_pods.keys()

    def _add(self, pod: PodInfo, nominating_info: NominatingInfo | None) -> str | None:
        """The node, or None if the pod was not added. Upstream: scheduling_queue.go addNominatedPodUnlocked"""
        if nominating_info is not None and nominating_info.mode is NominatingMode.OVERRIDE:
            node = nominating_info.nominated_node_name
        elif pod.pod.status.nominated_node_name:
            node = pod.pod.status.nominated_node_name
        else:
            return None
        listed = self.pod_lister(pod.namespace, pod.name)
        if listed is None or listed.spec.node_name:
            return None
        self.nominated_pod_to_node[pod.uid] = node
        self.nominated_pods.setdefault(node, []).append(pod)
        return node

    def _delete(self, uid: str) -> tuple[str, bool] | None:
        """The pod's node, and whether it was the last pod there; None: it was on none. Upstream: scheduling_queue.go delete"""
        node = self.nominated_pod_to_node.pop(uid, None)
        if node is None:
            return None
        pods = self.nominated_pods[node]
        index = next(position for position, pod in enumerate(pods) if pod.uid == uid)
        was_last = index == len(pods) - 1
        del pods[index]
        if not pods:
            del self.nominated_pods[node]
        return node, was_last

    def _record(self, pod: PodInfo, before: tuple[str, bool] | None, node: str | None) -> None:
        """Record where the pod is now, unless it is where it was: in no list, or last in the same one."""
        unchanged = before is None if node is None else before == (node, True)
        if not unchanged:
            self._recorder.record(PodNominated, pod=pod.key, node=node)

    def to_view(self) -> dict[str, list[str]]:
        """Node name -> keys of pods."""
        return {node: [pod.key for pod in pods] for node, pods in self.nominated_pods.items()}

    def to_state(self, table: ObjectTable) -> NominatorState:
        """The state for a checkpoint."""
        return NominatorState(
            pods={node: [table.pod_info_ref(pod) for pod in pods] for node, pods in self.nominated_pods.items()},
            nodes=self.nominated_pod_to_node.copy(),
        )

    def load(self, state: NominatorState, table: ObjectTable) -> None:
        """Load the state of `to_state`."""
        self.nominated_pods = {node: [table.pod_info(ref) for ref in pods] for node, pods in state.pods.items()}
        self.nominated_pod_to_node = state.nodes.copy()
