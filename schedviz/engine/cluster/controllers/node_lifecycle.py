"""Node lifecycle: unhealthy conditions and cordoning become NoSchedule taints.

Pods are not evicted: NoExecute taints are not simulated. Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go
doNoScheduleTaintingPass
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.kube.core import Node, Taint
from schedviz.kube.meta import KubeObject

UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
#: Condition, its status -> the key of the taint.
_TAINTS: Final = {
    ("Ready", "False"): "node.kubernetes.io/not-ready",
    ("Ready", "Unknown"): "node.kubernetes.io/unreachable",
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_OWN_TAINTS: Final = frozenset({*_TAINTS.values(), UNSCHEDULABLE})


class NodeLifecycle:
    """Taints nodes by their conditions and their spec.unschedulable."""

    name = "nodeLifecycle"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """Every node that changed."""
        if isinstance(obj, Node):
            yield obj.name, api.clock.now + delay

    def reconcile(self, key: str, api: ControllerApi) -> None:
        """Set the node's taints to those that its conditions require."""
        node = api.store.get("Node", key)
        if not isinstance(node, Node):
            return
        desired = [taint for condition in node.status.conditions if (taint := _TAINTS.get((condition.type, condition.status)))]
        if node.spec.unschedulable:
            desired.append(UNSCHEDULABLE)
        has = {taint.key for taint in node.spec.taints if _is_lifecycle_taint(taint)}
        if has == set(desired):
            return
        taints = tuple(taint for taint in node.spec.taints if not _is_lifecycle_taint(taint) or taint.key in desired)
        now = api.clock.timestamp()
        new = tuple(Taint(key=name, effect="NoSchedule", time_added=now) for name in dict.fromkeys(desired) if name not in has)
        api.replace(replace(node, spec=replace(node.spec, taints=taints + new)), verb="patch", detail="taints")


def _is_lifecycle_taint(taint: Taint) -> bool:
    return taint.key in _OWN_TAINTS and taint.effect == "NoSchedule"
