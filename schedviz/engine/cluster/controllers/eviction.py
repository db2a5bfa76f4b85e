"""The eviction API, cordon and drain: a pod is deleted, unless a disruption budget forbids it.

Only the commands `evict` and `drain` evict pods. Budgets are read from their status, which the pdbStatus controller updates. Upstream:
pkg/registry/core/pod/storage/eviction.go, kubectl/pkg/drain
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from schedviz.engine.cluster.controllers.controller import ControllerApi
from schedviz.engine.cluster.controllers.pdb_status import budgets_of
from schedviz.engine.cluster.controllers.pods import all_pods, is_ready
from schedviz.engine.cluster.status_patch import with_applied
from schedviz.kube.core import Node, Pod, PodCondition
from schedviz.kube.meta import controller_of
from schedviz.kube.policy import PodDisruptionBudget

_WOULD_VIOLATE: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_TOO_MANY: Final = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def evict(pod: Pod, api: ControllerApi) -> str:
    """Delete the pod if its budget allows it. Returns the reason if it does not, or "". Upstream: EvictionREST.Create"""
    if not _needs_no_budget(pod):
        budgets = budgets_of(pod, api.store)
        if len(budgets) > 1:
            return _TOO_MANY
        refused = _spend(budgets[0], pod, api) if budgets else ""
        if refused:
            return refused
    graceful = api.ends_gracefully(pod)
    if graceful and pod.metadata.deletion_timestamp is None:
        condition = PodCondition(
            type="DisruptionTarget",
            status="True",
            reason="EvictionByEvictionAPI",
            message="Eviction API: evicting",
            last_transition_time=api.clock.timestamp(),
        )
        api.replace(replace(pod, status=with_applied(pod.status, condition)), verb="patch", subresource="status", detail="DisruptionTarget")
    api.delete("Pod", pod.namespace, pod.name, graceful=graceful)
    return ""


def cordon(node: Node, api: ControllerApi, *, on: bool) -> bool:
    """Set spec.unschedulable. False: it had that value."""
    if node.spec.unschedulable == on:
        return False
    api.replace(replace(node, spec=replace(node.spec, unschedulable=on)), verb="patch", detail="cordon" if on else "uncordon")
    return True


def drain(node: Node, api: ControllerApi) -> list[tuple[str, str]]:
    """Cordon the node and evict its pods, except those of daemon sets. Returns the pods that stay, and why."""
    cordon(node, api, on=True)
    refused = []
    for pod in [pod for pod in all_pods(api.store) if pod.spec.node_name == node.name]:
        owner = controller_of(pod)
        if (owner is not None and owner.kind == "DaemonSet") or pod.metadata.deletion_timestamp is not None:
            continue
        why = evict(pod, api)
        if why:
            refused.append((pod.key, why))
    return refused


def _needs_no_budget(pod: Pod) -> bool:
    """Whether the pod is not running, so that no budget applies. Upstream: canIgnorePDB"""
    return pod.is_finished or pod.status.phase == "Pending" or pod.metadata.deletion_timestamp is not None


def _spend(budget: PodDisruptionBudget, pod: Pod, api: ControllerApi) -> str:
    """Take one disruption from the pod's budget; some pods that are not ready need none. Returns why the eviction is refused, or "".

    Upstream: checkAndDecrement
    """
    status = budget.status
    if not is_ready(pod):
        always = budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
        if always or (status.current_healthy >= status.desired_healthy and status.desired_healthy > 0):
            return ""
    if status.disruptions_allowed < 0:
        return "pdb disruptions allowed is negative"
    if status.disruptions_allowed == 0:
        return (
            f"{_WOULD_VIOLATE} The disruption budget {budget.name} needs {status.desired_healthy} healthy pods "
            f"and has {status.current_healthy} currently"
        )
    disrupted = {**status.disrupted_pods, pod.name: api.clock.timestamp()}
    remaining = status.disruptions_allowed - 1
    spent = replace(status, disruptions_allowed=remaining, disrupted_pods=disrupted)
    api.replace(replace(budget, status=spent), subresource="status", detail=f"disruptionsAllowed {remaining}")
    return ""
