"""VolumeBinding: the pod's claims are bound, or can be bound to volumes that its node can reach.

Upstream: framework/plugins/volumebinding/volume_binding.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from schedviz.engine.config.plugin_args import VolumeBindingArgs
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError
from schedviz.engine.framework.interface import PRE_BIND_WAIT_KEY, Handle, ObjectVerb, PreBindWait, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.volumebinding.assume_cache import AssumeError, Find, Number
from schedviz.engine.framework.plugins.volumebinding.binder import BindingError, VolumeBinder
from schedviz.engine.framework.plugins.volumebinding.find_volumes import SearchRules, VolumeSearch
from schedviz.engine.framework.plugins.volumebinding.state import STATE_KEY, PodVolumeClaims, PodVolumes, StateData
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, StatusError, as_status, unresolvable
from schedviz.engine.framework.types import GVK, NANOS_PER_SECOND, ActionType, ClusterEvent, PodInfo, RegisteredEvent
from schedviz.engine.framework.uniform import uniform
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.claims import claim_name, why_not_for_pod
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim

_UNBOUND_IMMEDIATE: Final = unresolvable("pod has unbound immediate PersistentVolumeClaims")


class VolumeBinding:
    name = names.VOLUME_BINDING
    watched_kinds = ("PersistentVolume", "PersistentVolumeClaim")
    is_dry_run_safe = True
    rules: ClassVar[SearchRules] = SearchRules()
    #: Whether PreFilter leaves only the nodes of local volumes.
    narrows_nodes: ClassVar[bool] = True
    #: The error of a binding that the controller did not complete in time.
    timeout_error: ClassVar[str] = "timed out waiting for the condition"
    #: The error of a node that Filter did not evaluate.
    no_volumes_error: ClassVar[str] = "no pod volumes found for node"

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        self._handle = handle
        self._bind_timeout = args.bind_timeout_seconds * NANOS_PER_SECOND
        self._binder = VolumeBinder(handle)
        #: The last search: a pod is filtered in several parts.
        self._search: tuple[PodVolumeClaims, VolumeSearch] | None = None

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        add_or_update = ActionType.ADD | ActionType.UPDATE
        return (
            ClusterEvent(GVK.STORAGE_CLASS, add_or_update),
            ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, add_or_update),
            ClusterEvent(GVK.PERSISTENT_VOLUME, add_or_update),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
            ClusterEvent(GVK.CSI_NODE, add_or_update),
            ClusterEvent(GVK.CSI_DRIVER, add_or_update),
            ClusterEvent(GVK.CSI_STORAGE_CAPACITY, add_or_update),
        )

    # State between pods.

    def object_changed(self, verb: ObjectVerb, obj: KubeObject) -> None:
        """Update the assume caches."""
        match obj:
            case PersistentVolume():
                (self._binder.volumes.delete if verb == "DELETED" else self._binder.volumes.add)(obj)
            case PersistentVolumeClaim():
                (self._binder.claims.delete if verb == "DELETED" else self._binder.claims.add)(obj)

    def to_state(self, number: Number) -> Any:
        """The state of the assume caches, for a checkpoint."""
        return {"volumes": self._binder.volumes.to_state(number), "claims": self._binder.claims.to_state(number)}

    def load(self, state: Any, find: Find) -> None:
        """Load the state of `to_state`."""
        self._binder.volumes.load(state["volumes"], find)
        self._binder.claims.load(state["claims"], find)

    # Scheduling cycle.

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        try:
            if not self._has_claims(pod.pod):
                state.write(STATE_KEY, StateData())
                return None, SKIP
        except BindingError as error:
            return None, unresolvable(str(error))
        try:
            claims = self._binder.get_pod_volume_claims(pod.pod)
        except BindingError as error:
            return None, as_status(str(error))
        if claims.unbound_immediate:
            return None, _UNBOUND_IMMEDIATE
        eligible = self._binder.get_eligible_nodes(claims.bound) if self.narrows_nodes else None
        state.write(STATE_KEY, StateData(claims=claims))
        return None if eligible is None else PreFilterResult(eligible), SUCCESS

    def _has_claims(self, pod: Pod) -> bool:
        """Raises `BindingError` for a claim that cannot be used. Upstream: podHasPVCs"""
        has_claims = False
        for volume in pod.spec.volumes:
            name = claim_name(pod, volume)
            if name is None:
                continue
            has_claims = True
            claim: PersistentVolumeClaim | None = self._handle.objects.get("PersistentVolumeClaim", pod.namespace, name)
            if claim is None and volume.persistent_volume_claim is None:
                raise BindingError(f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"')
            if claim is None:
                raise BindingError(f'persistentvolumeclaim "{name}" not found')
            if claim.status.phase == "Lost":
                raise BindingError(f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"')
            if claim.metadata.deletion_timestamp is not None:
                raise BindingError(f'persistentvolumeclaim "{name}" is being deleted')
            if volume.persistent_volume_claim is None and (why := why_not_for_pod(claim, pod)):
                raise BindingError(why)
        return has_claims

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return Verdicts.all(len(rows), as_status(str(error)))
        if data.claims is None:
            return None
        data.is_filtered = True
        return self._search_for(data.claims).filter(rows)

    def _search_for(self, claims: PodVolumeClaims) -> VolumeSearch:
        if self._search is None or self._search[0] is not claims:
            self._search = claims, VolumeSearch(claims, self._binder.volumes, self._handle.objects, self.rules)
        return self._search[1]

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        """No score: the feature gate VolumeCapacityPriority is off."""
        return uniform(len(rows), 0)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return as_status(str(error))
        pod_volumes = self._pod_volumes(data, node_name)
        if pod_volumes is None:
            data.all_bound = True
            return SUCCESS
        data.pod_volumes = pod_volumes
        try:
            assumed = self._binder.assume_pod_volumes(pod.pod, node_name, pod_volumes)
        except AssumeError as error:
            return as_status(str(error))
        finally:
            # The claims are not needed any more, and the state of waiting pods should be small.
            data.claims = None
        data.all_bound = assumed is None
        data.pod_volumes = assumed or pod_volumes
        return SUCCESS

    def _pod_volumes(self, data: StateData, node_name: str) -> PodVolumes | None:
        """The bindings for a node; None: Filter did not evaluate it."""
        if data.pod_volumes is not None or data.claims is None or not data.is_filtered:
            return data.pod_volumes
        info = self._handle.snapshot.node_info_map.get(node_name)
        return None if info is None else self._search_for(data.claims).pod_volumes(Rows.of([info]))

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:  # noqa: ARG002 - the extension point's shape
        try:
            volumes = self._pod_volumes(state.read(STATE_KEY), node_name)
        except NotFoundError:
            return
        if volumes is not None:
            self._binder.revert_assumed_pod_volumes(volumes)

    # Binding cycle.

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Write the assumed bindings, and wait until the controller has completed them (None: not yet)."""
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return as_status(str(error))
        if data.all_bound:
            return SUCCESS
        volumes = self._pod_volumes(data, node_name)
        if volumes is None:
            return as_status(f'{self.no_volumes_error} "{node_name}"')
        if not data.is_written:
            updated = self._binder.bind_api_update(pod.pod, volumes)
            if isinstance(updated, StatusError):
                return as_status(updated)
            volumes = data.pod_volumes = updated
            data.is_written = True
            state.write(PRE_BIND_WAIT_KEY, PreBindWait(self._handle.clock() + self._bind_timeout))
        return self._wait_for_bindings(pod.pod, volumes, state.read(PRE_BIND_WAIT_KEY).deadline)

    def _wait_for_bindings(self, pod: Pod, volumes: PodVolumes, deadline: int) -> Status | None:
        """Upstream polls every second; here the check runs after every change."""
        try:
            if self._binder.check_bindings(pod, volumes):
                return SUCCESS
        except BindingError as error:
            return as_status(f"binding volumes: {error}")
        return as_status(f"binding volumes: {self.timeout_error}") if self._handle.clock() >= deadline else None
