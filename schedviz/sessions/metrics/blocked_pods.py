"""Pending pods that wait for an object or a change of their own: no change of a node makes them schedulable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from schedviz.engine import Simulation
from schedviz.engine.framework.plugins.dynamicresources.claims import ClaimError, claims_of
from schedviz.engine.informers import Informers
from schedviz.kube.claims import claim_name
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim

SCHEDULING_GATES = "scheduling gates"
CLAIM_MISSING = "persistent volume claim missing"
CLAIM_LOST = "persistent volume claim lost"
RESOURCE_CLAIM = "resource claim missing"
POD_GROUP = "pod group missing"


def blocked_pods(simulation: Simulation) -> Counter[str]:
    """How many pods in the queue are blocked, by reason; a pod with several reasons counts for the first.

    Claims that a provisioner is about to bind and claims of devices that are not free are no reasons: a new node can have both.
    """
    state = simulation.scheduler.state
    counts = Counter[str]()
    for pod in (queued.pod for queued in state.queue.queued_pods()):
        reason = next(_reasons(simulation, pod, state.informers), None)
        if reason is not None:
            counts[reason] += 1
    return counts


def _reasons(simulation: Simulation, pod: Pod, informers: Informers) -> Iterator[str]:
    if pod.spec.scheduling_gates:
        yield SCHEDULING_GATES
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name:
            claim = informers.by_key("PersistentVolumeClaim", f"{pod.namespace}/{name}")
            if not isinstance(claim, PersistentVolumeClaim):
                yield CLAIM_MISSING
            elif claim.status.phase == "Lost":
                yield CLAIM_LOST
    state = simulation.scheduler.state
    if state.dra_manager is not None and pod.spec.resource_claims:
        try:
            claims_of(pod, state.dra_manager.claims)
        except ClaimError:
            yield RESOURCE_CLAIM
    group = pod.spec.scheduling_group
    name = "" if group is None else group.pod_group_name
    if state.features.generic_workload and name and informers.by_key("PodGroup", f"{pod.namespace}/{name}") is None:
        yield POD_GROUP
