"""VolumeBinding's operations on claims and volumes: classify, assume, write, and wait for the controller.

Upstream: framework/plugins/volumebinding/binder.go
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.plugins.helper.csi_translation import (
    MIGRATION_ON,
    TranslationError,
    in_tree_plugin,
    migrated_plugins,
    translated,
)
from schedviz.engine.framework.plugins.volumebinding.assume_cache import AssumeError, ClaimCache, VolumeCache
from schedviz.engine.framework.plugins.volumebinding.reach import local_node_names, why_out_of_reach
from schedviz.engine.framework.plugins.volumebinding.state import BindingInfo, PodVolumeClaims, PodVolumes
from schedviz.engine.framework.status import StatusError
from schedviz.kube.claims import (
    SELECTED_NODE,
    WAIT_FOR_FIRST_CONSUMER,
    annotated,
    bound_to,
    claim_name,
    class_of_claim,
    is_fully_bound,
    why_not_for_pod,
)
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from schedviz.kube.volumes import Volume


class BindingError(ValueError):
    """The pod's volumes cannot be classified, assumed or bound."""


class VolumeBinder:
    """The assume caches of one profile, and the operations on them. Upstream: volumeBinder"""

    def __init__(
        self,
        handle: Handle,
        claims: ClaimCache | None = None,
        volumes: VolumeCache | None = None,
        *,
        migrated: frozenset[str] = MIGRATION_ON,
        lists_operators: bool = False,
    ) -> None:
        """`migrated` has the names of the in-tree plugins whose migration to a CSI driver is on."""
        self._handle = handle
        self.claims = ClaimCache() if claims is None else claims
        self.volumes = VolumeCache() if volumes is None else volumes
        self._migrated = migrated
        self._lists_operators = lists_operators

    # PreFilter.

    def get_pod_volume_claims(self, pod: Pod) -> PodVolumeClaims:
        """The pod's claims, by what has to be done with them. Raises `BindingError`. Upstream: GetPodVolumeClaims"""
        bound: list[PersistentVolumeClaim] = []
        delayed: list[PersistentVolumeClaim] = []
        immediate: list[PersistentVolumeClaim] = []
        for volume in pod.spec.volumes:
            claim = self._claim_of(pod, volume)
            if claim is None:
                continue
            if is_fully_bound(claim):
                bound.append(claim)
            elif self._is_delayed(claim) and not claim.spec.volume_name:
                delayed.append(claim)
            else:
                immediate.append(claim)
        classes = dict.fromkeys(class_of_claim(claim) for claim in delayed)
        volumes = {name: tuple(self.volumes.list_volumes(name)) for name in classes}
        return PodVolumeClaims(tuple(bound), tuple(delayed), tuple(immediate), volumes)

    def _claim_of(self, pod: Pod, volume: Volume) -> PersistentVolumeClaim | None:
        """Upstream: isVolumeBound"""
        name = claim_name(pod, volume)
        if name is None:
            return None
        try:
            claim = self.claims.get(f"{pod.namespace}/{name}")
        except AssumeError as error:
            raise BindingError(f'error getting PVC "{pod.namespace}/{name}": {error}') from None
        if volume.persistent_volume_claim is None and (why := why_not_for_pod(claim, pod)):
            raise BindingError(why)
        return claim

    def _is_delayed(self, claim: PersistentVolumeClaim) -> bool:
        """Upstream: component-helpers/storage/volume/pv_helpers.go IsDelayBindingMode"""
        name = class_of_claim(claim)
        storage_class: StorageClass | None = self._handle.objects.get("StorageClass", "", name) if name else None
        if storage_class is None:
            return False
        if storage_class.volume_binding_mode is None:
            raise BindingError(f'VolumeBindingMode not set for StorageClass "{name}"')
        return storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    def get_eligible_nodes(self, bound: Iterable[PersistentVolumeClaim]) -> frozenset[str] | None:
        """The nodes that the pod's local volumes allow; None: all. Upstream: GetEligibleNodes"""
        eligible: frozenset[str] | None = None
        for claim in bound:
            try:
                volume = self.volumes.get(claim.spec.volume_name)
            except AssumeError:
                return None
            named = local_node_names(volume.spec.node_affinity)
            if named:
                eligible = frozenset(named) if eligible is None else eligible & frozenset(named)
        return eligible

    # Reserve.

    def assume_pod_volumes(self, pod: Pod, node_name: str, pod_volumes: PodVolumes) -> PodVolumes | None:
        """Assume what was found; None: everything is already bound.

        Raises `AssumeError`, with nothing assumed. Upstream: AssumePodVolumes
        """
        if self._are_all_bound(pod):
            return None
        bindings: list[BindingInfo] = []
        claims: list[PersistentVolumeClaim] = []
        try:
            for binding in pod_volumes.static_bindings or ():
                volume = bound_to(binding.volume, binding.claim)
                if volume is not binding.volume:
                    self.volumes.assume(volume)
                bindings.append(BindingInfo(binding.claim, volume))
            for claim in pod_volumes.dynamic_provisions or ():
                selected = _with_selected_node(claim, node_name)
                self.claims.assume(selected)
                claims.append(selected)
        except AssumeError:
            self.revert_assumed_pod_volumes(PodVolumes(tuple(bindings), tuple(claims)))
            raise
        return PodVolumes(tuple(bindings), tuple(claims))

    def _are_all_bound(self, pod: Pod) -> bool:
        """Upstream: arePodVolumesBound"""
        try:
            claims = [self._claim_of(pod, volume) for volume in pod.spec.volumes]
        except BindingError:
            return False
        return all(claim is None or is_fully_bound(claim) for claim in claims)

    def revert_assumed_pod_volumes(self, volumes: PodVolumes) -> None:
        """Drop the assumed versions. Upstream: RevertAssumedPodVolumes"""
        for binding in volumes.static_bindings or ():
            self.volumes.restore(binding.volume)
        for claim in volumes.dynamic_provisions or ():
            self.claims.restore(claim)

    # PreBind.

    def bind_api_update(self, pod: Pod, volumes: PodVolumes) -> PodVolumes | StatusError:
        """Write the assumed versions: volumes with their claims, claims with their node. Returns the updated objects, or an error.

        Versions that could not be written are no longer assumed. Upstream: bindAPIUpdate
        """
        if volumes.static_bindings is None:
            return StatusError(f'failed to get cached bindings for pod "{pod.key}"')
        if volumes.dynamic_provisions is None:
            return StatusError(f'failed to get cached claims to provision for pod "{pod.key}"')
        client = self._handle.client
        bindings: list[BindingInfo] = []
        claims: list[PersistentVolumeClaim] = []
        for binding in volumes.static_bindings:
            volume = client.update(binding.volume)
            if isinstance(volume, StatusError):
                return self._revert_rest(volumes, len(bindings), 0, volume)
            bindings.append(BindingInfo(binding.claim, volume))
        for provision in volumes.dynamic_provisions:
            claim = client.update(provision)
            if isinstance(claim, StatusError):
                return self._revert_rest(volumes, len(bindings), len(claims), claim)
            claims.append(claim)
        return PodVolumes(tuple(bindings), tuple(claims))

    def _revert_rest(self, volumes: PodVolumes, bindings: int, claims: int, error: StatusError) -> StatusError:
        self.revert_assumed_pod_volumes(PodVolumes((volumes.static_bindings or ())[bindings:], (volumes.dynamic_provisions or ())[claims:]))
        return error

    def check_bindings(self, pod: Pod, volumes: PodVolumes) -> bool:
        """Whether the controller has completed the binding; False: not yet.

        Raises `BindingError` if it cannot complete. Upstream: checkBindings
        """
        objects = self._handle.objects
        node_name = pod.spec.node_name
        node: Node | None = objects.get("Node", "", node_name)
        if node is None:
            raise BindingError(f'failed to get node "{node_name}": node "{node_name}" not found')
        if objects.get("Pod", pod.namespace, pod.name) is None:
            raise BindingError(f'pod does not exist any more: pod "{pod.name}" not found')
        return all(self._is_bound(binding, node) for binding in volumes.static_bindings or ()) and all(
            self._is_provisioned(claim, node) for claim in volumes.dynamic_provisions or ()
        )

    def _is_bound(self, binding: BindingInfo, node: Node) -> bool:
        try:
            volume = self.volumes.get_api_object(binding.volume.key)
            claim = self.claims.get_api_object(binding.claim.key)
        except AssumeError as error:
            raise BindingError(f"failed to check binding: {error}") from None
        if _is_older(volume, binding.volume):
            return False
        self._check_reach(volume, node, "failed to translate pv to csi: ")
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise BindingError(f'ClaimRef got reset for pv "{volume.name}"')
        return is_fully_bound(claim)

    def _is_provisioned(self, provision: PersistentVolumeClaim, node: Node) -> bool:
        try:
            claim = self.claims.get_api_object(provision.key)
        except AssumeError as error:
            raise BindingError(f"failed to check provisioning pvc: {error}") from None
        if _is_older(claim, provision):
            return False
        # An object may have only annotations that schedviz does not keep: upstream distinguishes that from having none.
        if not claim.metadata.annotations and not claim.metadata.unread_annotations:
            raise BindingError(f'selectedNode annotation reset for PVC "{claim.name}"')
        if claim.metadata.annotations.get(SELECTED_NODE, "") != node.name:
            raise BindingError(f'provisioning failed for PVC "{claim.name}"')
        if claim.spec.volume_name:
            try:
                volume = self.volumes.get_api_object(claim.spec.volume_name)
            except AssumeError:
                return False  # The write has not reached the informer yet.
            self._check_reach(volume, node, "")
        return is_fully_bound(claim)

    def _check_reach(self, volume: PersistentVolume, node: Node, context: str) -> None:
        try:
            translated_volume = self._translated_for(volume, node)
        except TranslationError as error:
            raise BindingError(f"{context}could not translate pv: {error}") from None
        why = why_out_of_reach(translated_volume.spec.node_affinity, node, lists_operators=self._lists_operators)
        if why:
            raise BindingError(f'pv "{volume.name}" node affinity doesn\'t match node "{node.name}": {why}')

    def _translated_for(self, volume: PersistentVolume, node: Node) -> PersistentVolume:
        """The volume, translated to CSI if the node's driver handles it. Raises `TranslationError`. Upstream: tryTranslatePVToCSI"""
        plugin = in_tree_plugin(volume.spec)
        csi_node: CSINode | None = self._handle.objects.get("CSINode", "", node.name)
        if plugin is None or plugin.name not in self._migrated or csi_node is None or plugin.name not in migrated_plugins(csi_node):
            return volume
        return translated(volume, plugin)


def _with_selected_node(claim: PersistentVolumeClaim, node_name: str) -> PersistentVolumeClaim:
    return replace(claim, metadata=annotated(claim.metadata, SELECTED_NODE, node_name))


def _is_older(cached: KubeObject, updated: KubeObject) -> bool:
    """Whether the informer's version is older than the written one."""
    own, others = cached.metadata.resource_version, updated.metadata.resource_version
    return own.isdecimal() and others.isdecimal() and int(own) < int(others)
