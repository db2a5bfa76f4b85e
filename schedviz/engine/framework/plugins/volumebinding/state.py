"""VolumeBinding's data of a pod from PreFilter to PreBind.

Upstream: framework/plugins/volumebinding/volume_binding.go stateData, binder.go PodVolumes, PodVolumeClaims
"""

from __future__ import annotations

from typing import Any, Self

import msgspec

from schedviz.engine.framework.cycle_state import StateKey
from schedviz.engine.framework.plugins import names
from schedviz.kube.codec import dec_hook, enc_hook
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim


class BindingInfo(msgspec.Struct, frozen=True):
    """A claim, and the volume that it will be bound to."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


class PodVolumes(msgspec.Struct, frozen=True):
    """The bindings for a pod on one node. None: nothing was found (after Filter), or nothing was searched."""

    static_bindings: tuple[BindingInfo, ...] | None = None
    dynamic_provisions: tuple[PersistentVolumeClaim, ...] | None = None


class PodVolumeClaims(msgspec.Struct, frozen=True):
    """A pod's claims, and the candidate volumes of unbound claims by storage class."""

    bound: tuple[PersistentVolumeClaim, ...] = ()
    #: Unbound claims that are bound once the pod has a node.
    unbound_delayed: tuple[PersistentVolumeClaim, ...] = ()
    #: Unbound claims that should already be bound.
    unbound_immediate: tuple[PersistentVolumeClaim, ...] = ()
    volumes: dict[str, tuple[PersistentVolume, ...]] = {}


class StateData(msgspec.Struct):
    """The state of the pod's volumes. Upstream: stateData

    Upstream keeps Filter's result for each node. It follows from the claims and the node, so here it is computed for the selected node
    only, if Filter ran (`is_filtered`).
    """

    all_bound: bool = False
    is_filtered: bool = False
    #: None: the pod has no claims.
    claims: PodVolumeClaims | None = None
    #: For the selected node, from Reserve on.
    pod_volumes: PodVolumes | None = None
    #: The bindings were written to the API server; PreBind waits for the controller.
    is_written: bool = False

    def clone(self) -> StateData:
        """The same object: dry runs on nodes do not change it."""
        return self

    def to_state(self) -> Any:
        """Plain data, for a checkpoint."""
        return msgspec.to_builtins(self, enc_hook=enc_hook)

    @classmethod
    def from_state(cls, data: Any) -> Self:
        return msgspec.convert(data, cls, dec_hook=dec_hook)


STATE_KEY = StateKey(names.VOLUME_BINDING, StateData)
