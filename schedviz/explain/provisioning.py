"""The volumes that are provisioned for a pod on the node that its scheduler has chosen: its binding waits for them."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine import Simulation
from schedviz.kube.claims import SELECTED_NODE, claim_name, class_of_claim
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim, StorageClass
from schedviz.trace.phrase import Phrase, phrase


def provisioning(simulation: Simulation, pod: Pod) -> Phrase | None:
    """The first claim of the pod that is to be provisioned on its nominated node; None: none is."""
    for claim in _claims(simulation, pod):
        if claim.spec.volume_name or claim.metadata.annotations.get(SELECTED_NODE) != pod.status.nominated_node_name:
            continue
        storage_class = simulation.scheduler.state.informers.get("StorageClass", "", class_of_claim(claim))
        return phrase(
            "its scheduler has chosen the node, and its binding waits until {provisioner} has provisioned the claim `{claim}`",
            provisioner=storage_class.provisioner if isinstance(storage_class, StorageClass) else phrase("the provisioner"),
            claim=claim.key,
        )
    return None


def selected_node(simulation: Simulation, pod: Pod) -> str:
    """The node on which the scheduler of a real cluster has assumed an unbound pod, as its claims show; "": they show none.

    A scheduler writes the node into a claim before the volume is provisioned, where it stays. That of v1.36 also nominates the pod to the
    node, and takes that back if the binding fails.
    """
    nominated = pod.status.nominated_node_name
    for claim in _claims(simulation, pod):
        node = claim.metadata.annotations.get(SELECTED_NODE, "")
        if node and (node == nominated if nominated else not claim.spec.volume_name):
            return node
    return ""


def _claims(simulation: Simulation, pod: Pod) -> Iterator[PersistentVolumeClaim]:
    informers = simulation.scheduler.state.informers
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        claim = informers.get("PersistentVolumeClaim", pod.namespace, name) if name else None
        if isinstance(claim, PersistentVolumeClaim):
            yield claim
