"""Pod garbage collection: pods of deleted nodes, and terminating pods that were never bound.

Upstream: pkg/controller/podgc/gc_controller.go gcOrphaned, gcUnscheduledTerminating
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.engine.cluster.controllers.pods import all_pods, with_uid
from schedviz.engine.cluster.status_patch import with_applied
from schedviz.kube.core import Node, Pod, PodCondition
from schedviz.kube.meta import KubeObject


class PodGC:
    """Deletes pods of deleted nodes, and terminating pods without a node."""

    name = "podGc"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """The pods of a deleted node, after its quarantine; a terminating pod without a node at once."""
        if isinstance(obj, Pod):
            pods: Iterable[Pod] = (obj,)
        elif isinstance(obj, Node) and api.store.get("Node", obj.name) is None:
            pods = [pod for pod in all_pods(api.store) if pod.spec.node_name == obj.name]
        else:
            return
        for pod in pods:
            if not pod.spec.node_name:
                if pod.metadata.deletion_timestamp is not None:
                    yield with_uid(pod.key, pod.uid), api.clock.now
            elif api.store.get("Node", pod.spec.node_name) is None:
                yield with_uid(pod.key, pod.uid), api.clock.now + delay

    def reconcile(self, key: str, api: ControllerApi) -> None:
        """Delete the pod, unless its node exists again, or it has none and is not terminating."""
        pod_key, uid = key.split(" ")
        pod = api.store.get("Pod", pod_key)
        if not isinstance(pod, Pod) or pod.uid != uid:
            return
        if pod.spec.node_name:
            if api.store.get("Node", pod.spec.node_name) is not None:
                return
            _mark_failed(pod, api)
        elif pod.metadata.deletion_timestamp is None:
            return
        api.delete("Pod", pod.namespace, pod.name)


def _mark_failed(pod: Pod, api: ControllerApi) -> None:
    """Set the pod's phase to Failed, with the condition DisruptionTarget, unless it is finished.

    Upstream: gc_controller.go markFailedAndDeletePodWithCondition
    """
    if pod.is_finished:
        return
    condition = PodCondition(
        type="DisruptionTarget",
        status="True",
        reason="DeletionByPodGC",
        message="PodGC: node no longer exists",
        last_transition_time=api.clock.timestamp(),
    )
    status = replace(with_applied(pod.status, condition), phase="Failed")
    api.replace(replace(pod, status=status), verb="patch", subresource="status", detail="phase Failed")
