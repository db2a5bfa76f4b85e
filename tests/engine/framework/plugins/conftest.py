"""Claims, volumes, classes and CSINodes from their essential members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim


class Storage:
    """Adds storage objects to a small cluster."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self._version = 0

    def claim(self, name: str, *, volume: str = "", storage_class: str | None = None, size: str = "1Gi", **rest: Any) -> Any:
        """A claim; with a volume it is fully bound, unless `annotations` are given."""
        annotations = rest.pop("annotations", {"pv.kubernetes.io/bind-completed": "yes"} if volume else {})
        metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": annotations, **rest.pop("metadata", {})}
        spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        if volume:
            spec["volumeName"] = volume
        if storage_class is not None:
            spec["storageClassName"] = storage_class
        status = rest.pop("status", {})
        claim = self._object("v1", "PersistentVolumeClaim", metadata, spec={**spec, **rest}, status=status)
        assert isinstance(claim, PersistentVolumeClaim)
        return claim

    def volume(
        self, name: str, *, storage_class: str = "", size: str = "1Gi", on: Sequence[str] = (), held_by: str = "", **rest: Any
    ) -> PersistentVolume:
        """A volume, reachable only `on` these hosts, reserved for a claim."""
        metadata = {"name": name, "labels": rest.pop("labels", {}), **rest.pop("metadata", {})}
        spec: dict[str, Any] = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
        if on:
            spec["nodeAffinity"] = in_label("kubernetes.io/hostname", *on)
        if held_by:
            spec["claimRef"] = {"name": held_by, "namespace": "default", "uid": rest.pop("claim_uid", f"uid-{held_by}")}
        volume = self._object("v1", "PersistentVolume", metadata, spec={**spec, **rest})
        assert isinstance(volume, PersistentVolume)
        return volume

    def storage_class(self, name: str, provisioner: str = "kubernetes.io/no-provisioner", *, waits: bool = True, **rest: Any) -> None:
        mode = "WaitForFirstConsumer" if waits else "Immediate"
        self._object("storage.k8s.io/v1", "StorageClass", {"name": name}, provisioner=provisioner, volumeBindingMode=mode, **rest)

    def csi_node(self, name: str, *, migrated: str = "", **limits: int | None) -> None:
        """The CSINode of a node, with its drivers' limits."""
        annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
        drivers = [
            {"name": driver, "nodeID": name, "topologyKeys": [], **({} if count is None else {"allocatable": {"count": count}})}
            for driver, count in limits.items()
        ]
        self._object("storage.k8s.io/v1", "CSINode", {"name": name, "annotations": annotations}, spec={"drivers": drivers})

    def pod(self, name: str, *claims: str, **rest: Any) -> Any:
        """A pod with claims."""
        volumes = [{"name": f"v{number}", "persistentVolumeClaim": {"claimName": claim}} for number, claim in enumerate(claims)]
        return self.world.pod(name, volumes=volumes, **rest)

    def _object(self, api_version: str, kind: str, metadata: dict[str, Any], **rest: Any) -> Any:
        self._version += 1
        return self.world.object(
            {"apiVersion": api_version, "kind": kind, "metadata": {**metadata, "resourceVersion": str(self._version)}, **rest}
        )


def in_label(key: str, *values: str) -> dict[str, Any]:
    """A volume's node affinity for nodes with one of these values."""
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}]}}


@pytest.fixture
def storage(world: Any) -> Storage:
    return Storage(world)
