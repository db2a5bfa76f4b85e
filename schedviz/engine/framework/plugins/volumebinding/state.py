"""What VolumeBinding remembers of a pod from PreFilter to PreBind.

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
    """A claim, and the volume that it is to get."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


class PodVolumes(msgspec.Struct, frozen=True):
    """What is to be done for a pod on one node. None: nothing was found (after Filter), or not looked for."""

    static_bindings: tuple[BindingInfo, ...] | None = None
    dynamic_provisions: tuple[PersistentVolumeClaim, ...] | None = None


class PodVolumeClaims(msgspec.Struct, frozen=True):
    """A pod's claims, and the volumes that those without a volume may get, by storage class."""

    bound: tuple[PersistentVolumeClaim, ...] = ()
    #: Without a volume, to be bound when the pod has a node.
    unbound_delayed: tuple[PersistentVolumeClaim, ...] = ()
    #: Without a volume although they should have one already.
    unbound_immediate: tuple[PersistentVolumeClaim, ...] = ()
    volumes: dict[str, tuple[PersistentVolume, ...]] = {}


class StateData(msgspec.Struct):
    """What is known of the pod's volumes. Upstream: stateData

    Upstream keeps what Filter found for each node. It follows from the claims and the node, so here it is made for the one
    node that is chosen, if Filter ran (`is_filtered`).
    """

    all_bound: bool = False
    is_filtered: bool = False
    #: None: the pod has none.
    claims: PodVolumeClaims | None = None
    #: For the chosen node, from Reserve on.
    pod_volumes: PodVolumes | None = None
    #: They were written to the API server; PreBind waits for the controller.
    is_written: bool = False

    def clone(self) -> StateData:
        """The same object: nodes that are tried do not change it."""
        return self

    def to_state(self) -> Any:
        """Plain data, for a checkpoint."""
        return msgspec.to_builtins(self, enc_hook=enc_hook)

    @classmethod
    def from_state(cls, data: Any) -> Self:
        return msgspec.convert(data, cls, dec_hook=dec_hook)


STATE_KEY = StateKey(names.VOLUME_BINDING, StateData)
