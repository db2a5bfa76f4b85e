"""The kubelets: a bound pod runs after a delay, a terminating pod is deleted after its grace period.

Pods run for ever and stay ready. A deleted node has no kubelet.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.engine.cluster.controllers.pods import virtual_time_of, with_uid
from schedviz.engine.cluster.status_patch import with_condition
from schedviz.kube.core import Pod, PodCondition
from schedviz.kube.meta import KubeObject

#: A kubelet's conditions of a running pod, in its order.
_CONDITIONS = ("Initialized", "Ready", "ContainersReady")


class Kubelet:
    """All kubelets of the cluster."""

    name = "kubelet"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """A pod on a node: when it will run, and when it will be deleted."""
        if not isinstance(obj, Pod) or not obj.spec.node_name:
            return
        if obj.metadata.deletion_timestamp is not None:
            yield f"end of {with_uid(obj.key, obj.uid)}", max(virtual_time_of(obj.metadata.deletion_timestamp), api.clock.now)
        elif obj.status.phase == "Pending":
            yield f"start of {with_uid(obj.key, obj.uid)}", api.clock.now + delay

    def reconcile(self, key: str, api: ControllerApi) -> None:
        """Start or end the pod, if its node exists."""
        action, _, pod_key, uid = key.split(" ")
        pod = api.store.get("Pod", pod_key)
        if not isinstance(pod, Pod) or pod.uid != uid or api.store.get("Node", pod.spec.node_name) is None:
            return
        if action == "start":
            _start(pod, api)
        elif pod.metadata.deletion_timestamp is not None:
            api.delete("Pod", pod.namespace, pod.name)


def _start(pod: Pod, api: ControllerApi) -> None:
    if pod.status.phase != "Pending" or pod.metadata.deletion_timestamp is not None:
        return
    now = api.clock.timestamp()
    status = replace(pod.status, phase="Running", start_time=pod.status.start_time or now)
    for condition in _CONDITIONS:
        status = with_condition(status, PodCondition(type=condition, status="True", last_transition_time=now))
    api.replace(replace(pod, status=status), verb="patch", subresource="status", detail="phase Running")
