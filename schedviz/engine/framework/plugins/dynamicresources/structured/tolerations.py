"""Taints of devices, and requests that tolerate them. Upstream: dynamic-resource-allocation/resourceclaim/devicetoleration.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.kube.devices import DeviceTaint, DeviceToleration

#: Other effects are for information only.
_EFFECTS: Final = ("NoSchedule", "NoExecute")


def prevents_allocation(taints: Sequence[DeviceTaint], tolerations: Sequence[DeviceToleration]) -> bool:
    """Whether a taint keeps a request off the device. Upstream: taintPreventsAllocation"""
    return any(
        taint.effect in _EFFECTS and not any(_tolerates_device_taint(toleration, taint) for toleration in tolerations) for taint in taints
    )


def _tolerates_device_taint(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Whether a toleration of devices tolerates a taint of a device. Upstream: ToleratesTaint"""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"
