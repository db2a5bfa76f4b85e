"""Which claims a pod uses, for queueing hints."""

from __future__ import annotations

from schedviz.kube.claims import claim_name
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim


def uses_claim(pod: Pod, claim: PersistentVolumeClaim, *, ephemeral: bool = True) -> bool:
    """Whether a volume of the pod is this claim; `ephemeral`: also one that is made for the pod."""
    if pod.namespace != claim.namespace:
        return False
    volumes = [volume for volume in pod.spec.volumes if ephemeral or volume.persistent_volume_claim is not None]
    return any(claim_name(pod, volume) == claim.name for volume in volumes)
