"""The volumes that are provisioned for a pod on the node that its scheduler has chosen: its binding waits for them."""

from __future__ import annotations

from schedviz.engine import Simulation
from schedviz.kube.claims import SELECTED_NODE, claim_name, class_of_claim
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim, StorageClass
from schedviz.trace.phrase import Phrase, phrase


def provisioning(simulation: Simulation, pod: Pod) -> Phrase | None:
    """The first claim of the pod that is to be provisioned on its nominated node; None: none is."""
    informers = simulation.scheduler.state.informers
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        claim = informers.get("PersistentVolumeClaim", pod.namespace, name) if name else None
        if not isinstance(claim, PersistentVolumeClaim) or claim.spec.volume_name:
            continue
        if claim.metadata.annotations.get(SELECTED_NODE) != pod.status.nominated_node_name:
            continue
        storage_class = informers.get("StorageClass", "", class_of_claim(claim))
        return phrase(
            "its scheduler has chosen the node, and its binding waits until {provisioner} has provisioned the claim {claim}",
            provisioner=storage_class.provisioner if isinstance(storage_class, StorageClass) else phrase("the provisioner"),
            claim=claim.key,
        )
    return None
