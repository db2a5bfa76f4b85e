"""The volume binder: claims with immediate binding get a volume, an existing or a new one. A session can switch this controller on;
`volume_controller`, which completes the scheduler's bindings, is always on.

Claims of a class with WaitForFirstConsumer are the scheduler's. Upstream: pkg/controller/volume/persistentvolume/pv_controller.go
syncUnboundClaim, component-helpers/storage/volume/pv_helpers.go FindMatchingVolume
"""

from __future__ import annotations

from collections.abc import Iterable

from schedviz.engine.cluster import volume_controller
from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.kube.claims import (
    NO_PROVISIONER,
    WAIT_FOR_FIRST_CONSUMER,
    bound_to,
    class_of_claim,
    class_of_volume,
    has_access_modes,
    have_different_modes,
    is_bound_to,
    requested_storage,
    storage_capacity,
)
from schedviz.kube.meta import KubeObject
from schedviz.kube.selectors import EVERYTHING, SelectorError, label_selector
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim, StorageClass


class PVBinder:
    """Binds claims to volumes."""

    name = "pvBinder"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """A claim without a volume; all such claims when a volume or a class was added."""
        if isinstance(obj, PersistentVolumeClaim):
            claims: Iterable[KubeObject] = (obj,)
        elif isinstance(obj, (PersistentVolume, StorageClass)):
            claims = api.store.of_kind("PersistentVolumeClaim").values()
        else:
            return
        for claim in claims:
            if isinstance(claim, PersistentVolumeClaim) and not claim.spec.volume_name:
                yield claim.key, api.clock.now + delay

    def reconcile(self, key: str, api: ControllerApi) -> None:
        """Bind the claim to the smallest matching volume, or provision one."""
        claim = api.store.get("PersistentVolumeClaim", key)
        if not isinstance(claim, PersistentVolumeClaim) or claim.spec.volume_name or claim.metadata.deletion_timestamp is not None:
            return
        storage_class = api.store.get("StorageClass", class_of_claim(claim))
        found = storage_class if isinstance(storage_class, StorageClass) else None
        volume = _held(claim, api)
        if volume is None and found is not None and found.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            return
        if volume is None:
            volume = _smallest(claim, api)
        if volume is not None:
            bound_volume = bound_to(volume, claim)
            api.put(bound_volume)
            volume_controller.react(api, bound_volume)
        elif found is not None and found.provisioner != NO_PROVISIONER:
            volume_controller.provision(api, claim, found)


def _volumes(api: ControllerApi) -> list[PersistentVolume]:
    return [volume for volume in api.store.of_kind("PersistentVolume").values() if isinstance(volume, PersistentVolume)]


def _held(claim: PersistentVolumeClaim, api: ControllerApi) -> PersistentVolume | None:
    """The volume that is already reserved for this claim."""
    return next((volume for volume in _volumes(api) if is_bound_to(volume, claim)), None)


def _smallest(claim: PersistentVolumeClaim, api: ControllerApi) -> PersistentVolume | None:
    """The smallest unreserved volume that matches the claim; of equal ones the first by name."""
    try:
        selector = label_selector(claim.spec.selector) if claim.spec.selector is not None else EVERYTHING
    except SelectorError:
        return None
    requested = requested_storage(claim)
    fitting = [
        volume
        for volume in _volumes(api)
        if volume.spec.claim_ref is None
        and volume.status.phase == "Available"
        and volume.metadata.deletion_timestamp is None
        and class_of_volume(volume) == class_of_claim(claim)
        and not have_different_modes(claim, volume)
        and has_access_modes(claim, volume)
        and storage_capacity(volume).compare(requested) >= 0
        and selector.matches(volume.metadata.labels)
    ]
    return min(fitting, key=lambda volume: (storage_capacity(volume).value, volume.name), default=None)
