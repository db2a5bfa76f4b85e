"""The nominator of v1.36, which returns nominated pods as the queue has them. Upstream: backend/queue/nominator.go"""

from __future__ import annotations

from collections.abc import Callable

from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.queue import nominator
from schedviz.engine.queue.nominator import PodLister
from schedviz.kube.core import Pod
from schedviz.kube.meta import ObjectMeta
from schedviz.trace.recorder import Recorder


class Nominator(nominator.Nominator):
    """Nominated pods by node, as in v1.27.1, except that `nominated_pods_for_node` looks the pods up in the queue.

    Upstream's nominator stores references (name, namespace, uid). This one stores the PodInfos of the nomination in `nominated_pods`, and
    uses no more of them than upstream's references have.
    """

    def __init__(self, recorder: Recorder, pod_lister: PodLister, find: Callable[[str], PodInfo | None]) -> None:
        super().__init__(recorder, pod_lister)
        self._find = find

    def update_nominated_pod(self, old: PodInfo, new: PodInfo) -> None:
        """Replace a pod by a newer version. A nomination that only the scheduler knows is kept. Upstream: UpdateNominatedPod"""
        nominating_info = None
        if not old.pod.status.nominated_node_name and not new.pod.status.nominated_node_name:
            node = self.nominated_pod_to_node.get(old.uid)
            if node is not None:
                nominating_info = NominatingInfo(NominatingMode.OVERRIDE, node)
        before = self._delete(old.uid)
        # Upstream's addNominatedPod deletes the new pod's own entry too.
        before = self._delete(new.uid) or before
        self._record(new, before, self._add(new, nominating_info))

    def nominated_pods_for_node(self, node_name: str) -> list[PodInfo]:
        """The pods that are nominated to a node, as the queue has them. A pod that it does not have, because it is in flight, has name,
        namespace and uid only. Upstream: NominatedPodsForNode, nominatedPodToInfo
        """
        pods = self.nominated_pods.get(node_name)
        return [self._find(pod.key) or _named(pod) for pod in pods] if pods else []


def _named(pod: PodInfo) -> PodInfo:
    metadata = ObjectMeta(name=pod.name, namespace=pod.namespace, uid=pod.uid)
    return PodInfo(Pod(metadata=metadata))
