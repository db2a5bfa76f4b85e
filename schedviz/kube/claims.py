"""The relations between claims, volumes and pods: storage classes, bindings, and the claims of ephemeral volumes.

Upstream: component-helpers/storage/volume, component-helpers/storage/ephemeral
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from schedviz.kube.core import Pod
from schedviz.kube.meta import ObjectMeta
from schedviz.kube.quantity import Quantity, of_int
from schedviz.kube.storage import ObjectReference, PersistentVolume, PersistentVolumeClaim
from schedviz.kube.volumes import Volume

#: Annotations. For most of them only their presence matters.
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"

#: The provisioner of classes whose volumes are created manually.
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"

_NOTHING: Final = of_int(0)


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """The claim's storage class, "" for none. Upstream: helpers.go GetPersistentVolumeClaimClass"""
    return claim.metadata.annotations.get(STORAGE_CLASS, claim.spec.storage_class_name or "")


def class_of_volume(volume: PersistentVolume) -> str:
    """The volume's storage class, "" for none. Upstream: helpers.go GetPersistentVolumeClass"""
    return volume.metadata.annotations.get(STORAGE_CLASS, volume.spec.storage_class_name)


def requested_storage(claim: PersistentVolumeClaim) -> Quantity:
    """The requested storage."""
    return claim.spec.resources.requests.get("storage", _NOTHING)


def storage_capacity(volume: PersistentVolume) -> Quantity:
    """The volume's capacity."""
    return volume.spec.capacity.get("storage", _NOTHING)


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether the claim has a volume and the controller has completed the binding. Upstream: binder.go isPVCFullyBound"""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume is bound to this claim, or to any claim of its name. Upstream: pv_helpers.go IsVolumeBoundToClaim"""
    held_by = volume.spec.claim_ref
    if held_by is None or held_by.name != claim.name or held_by.namespace != claim.namespace:
        return False
    return not held_by.uid or held_by.uid == claim.uid


def bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume bound to the claim; the same object if it already is. Upstream: pv_helpers.go GetBindVolumeToClaim"""
    by_controller = not is_bound_to(volume, claim)
    held_by = volume.spec.claim_ref
    if held_by is None or (held_by.name, held_by.namespace, held_by.uid) != (claim.name, claim.namespace, claim.uid):
        reference = ObjectReference(
            api_version="v1", kind="PersistentVolumeClaim", namespace=claim.namespace, name=claim.name, uid=claim.uid
        )
        volume = replace(volume, spec=replace(volume.spec, claim_ref=reference))
    if by_controller and BOUND_BY_CONTROLLER not in volume.metadata.annotations:
        volume = replace(volume, metadata=annotated(volume.metadata, BOUND_BY_CONTROLLER, "yes"))
    return volume


def annotated(metadata: ObjectMeta, key: str, value: str) -> ObjectMeta:
    """The metadata with one annotation set."""
    if metadata.annotations.get(key) == value:
        return metadata
    return replace(metadata, annotations={**metadata.annotations, key: value})


def have_different_modes(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether one is a file system and the other a block device. Upstream: pv_helpers.go CheckVolumeModeMismatches"""
    return (claim.spec.volume_mode or "Filesystem") != (volume.spec.volume_mode or "Filesystem")


def has_access_modes(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether the volume offers every access mode of the claim. Upstream: pv_helpers.go CheckAccessModes"""
    offered: Sequence[str] = volume.spec.access_modes
    return all(mode in offered for mode in claim.spec.access_modes)


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The name of the claim behind a pod's volume; None if it has none. Upstream: ephemeral.go VolumeClaimName"""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.name}-{volume.name}" if volume.ephemeral is not None else None


def claim_keys(pod: Pod) -> list[str]:
    """The claims of the pod's volumes, `namespace/name`."""
    names = (claim_name(pod, volume) for volume in pod.spec.volumes)
    return [f"{pod.namespace}/{name}" for name in names if name]


def why_not_for_pod(claim: PersistentVolumeClaim, pod: Pod) -> str:
    """Why the claim is not that of the pod's ephemeral volume; "" if it is.

    Upstream: ephemeral.go VolumeIsForPod
    """
    owner = next((owner for owner in claim.metadata.owner_references if owner.controller), None)
    if claim.namespace == pod.namespace and owner is not None and owner.uid == pod.uid:
        return ""
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"
