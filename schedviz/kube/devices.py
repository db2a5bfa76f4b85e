# ruff: noqa: RUF012  (msgspec copies the empty defaults)
"""Dynamic resource allocation (`resource.k8s.io/v1`) and pod groups (`scheduling.k8s.io/v1alpha2`).

Their specs are stored as they are: the engine reads only which claims and classes there are.
"""

from __future__ import annotations

from typing import Any

from schedviz.kube.meta import KubeObject


class ResourceClaim(KubeObject, frozen=True, kw_only=True, gc=False, tag="ResourceClaim"):
    """A claim on devices."""

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class ResourceClaimTemplate(KubeObject, frozen=True, kw_only=True, gc=False, tag="ResourceClaimTemplate"):
    """What claims of pods are made from."""

    spec: dict[str, Any] = {}


class DeviceClass(KubeObject, frozen=True, kw_only=True, gc=False, tag="DeviceClass"):
    """A kind of device that claims can name."""

    spec: dict[str, Any] = {}


class ResourceSlice(KubeObject, frozen=True, kw_only=True, gc=False, tag="ResourceSlice"):
    """Devices of a driver on a node."""

    spec: dict[str, Any] = {}


class PodGroup(KubeObject, frozen=True, kw_only=True, gc=False, tag="PodGroup"):
    """Pods that are scheduled together."""

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
