"""The volume controller and the provisioners, which complete a volume binding of the scheduler at once.

A volume to which the scheduler assigned a claim is bound to it; a claim for which the scheduler selected a node gets a volume of its own.
Nothing else is reconciled (FORMAT.md, "What the API server does").
"""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from schedviz.kube.claims import BIND_COMPLETED, BOUND_BY_CONTROLLER, PROVISIONED_BY, SELECTED_NODE, annotated, class_of_claim
from schedviz.kube.meta import KubeObject, ObjectMeta
from schedviz.kube.storage import (
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
)
from schedviz.kube.volumes import CSISource

BOUND = "Bound"


class VolumeApi(Protocol):
    """The API server's interface for controllers."""

    def find(self, kind: str, key: str) -> KubeObject | None: ...

    def put(self, obj: KubeObject) -> None:
        """Create or replace an object, and send watch events if it changed."""
        ...


def react(api: VolumeApi, obj: KubeObject) -> None:
    """Complete what the scheduler started with this volume or claim."""
    match obj:
        case PersistentVolume():
            _bind_claimed(api, obj)
        case PersistentVolumeClaim():
            _provision(api, obj)


def _bind_claimed(api: VolumeApi, volume: PersistentVolume) -> None:
    held_by = volume.spec.claim_ref
    claim = None if held_by is None else api.find("PersistentVolumeClaim", f"{held_by.namespace}/{held_by.name}")
    if held_by is None or not isinstance(claim, PersistentVolumeClaim) or claim.uid != held_by.uid:
        return
    if claim.spec.volume_name not in ("", volume.name):
        return
    api.put(replace(volume, status=replace(volume.status, phase=BOUND)))
    api.put(_bound(claim, volume.name))


def _provision(api: VolumeApi, claim: PersistentVolumeClaim) -> None:
    if SELECTED_NODE not in claim.metadata.annotations or claim.spec.volume_name:
        return
    storage_class = api.find("StorageClass", class_of_claim(claim))
    if isinstance(storage_class, StorageClass):
        provision(api, claim, storage_class)


def provision(api: VolumeApi, claim: PersistentVolumeClaim, storage_class: StorageClass) -> None:
    """Create a volume for a claim, and bind the two."""
    volume = _volume_for(claim, storage_class)
    if api.find("PersistentVolume", volume.name) is None:
        api.put(volume)
    api.put(_bound(claim, volume.name))


def _volume_for(claim: PersistentVolumeClaim, storage_class: StorageClass) -> PersistentVolume:
    name = f"pvc-{claim.uid.replace('/', '-')}"
    return PersistentVolume(
        metadata=ObjectMeta(name=name, annotations={PROVISIONED_BY: storage_class.provisioner}),
        spec=PersistentVolumeSpec(
            capacity=claim.spec.resources.requests,
            access_modes=claim.spec.access_modes,
            claim_ref=ObjectReference(
                api_version="v1", kind="PersistentVolumeClaim", namespace=claim.namespace, name=claim.name, uid=claim.uid
            ),
            storage_class_name=storage_class.name,
            volume_mode=claim.spec.volume_mode,
            csi=CSISource(driver=storage_class.provisioner, volume_handle=name),
        ),
        status=PersistentVolumeStatus(phase=BOUND),
    )


def _bound(claim: PersistentVolumeClaim, volume_name: str) -> PersistentVolumeClaim:
    metadata = claim.metadata
    if not claim.spec.volume_name:
        metadata = annotated(metadata, BOUND_BY_CONTROLLER, "yes")
    return replace(
        claim,
        metadata=annotated(metadata, BIND_COMPLETED, "yes"),
        spec=replace(claim.spec, volume_name=volume_name),
        status=replace(claim.status, phase=BOUND),
    )
