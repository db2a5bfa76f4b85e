"""Claims with immediate binding get a volume at once."""

from __future__ import annotations

from typing import Any


def _claim(name: str, size: str, storage_class: str = "") -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "storageClassName": storage_class}
    return {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": name}, "spec": spec}


def _volume(name: str, size: str) -> dict[str, Any]:
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    return {"kind": "PersistentVolume", "apiVersion": "v1", "metadata": {"name": name}, "spec": spec}


def _class(name: str, mode: str, provisioner: str = "example.com/disk") -> dict[str, Any]:
    return {
        "kind": "StorageClass",
        "apiVersion": "storage.k8s.io/v1",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def _bound_to(do: Any, claim: str) -> str:
    return str(do.get("PersistentVolumeClaim", f"default/{claim}").spec.volume_name)


def test_a_claim_gets_the_smallest_volume_that_satisfies_it(session: Any) -> None:
    do = session()
    do("helper", name="pvBinder")
    for name, size in (("big", "9Gi"), ("small", "1Gi"), ("fits", "5Gi")):
        do("create", object=_volume(name, size))
    do("create", object=_claim("c", "2Gi"))
    assert _bound_to(do, "c") == "fits"
    volume = do.get("PersistentVolume", "fits")
    assert (volume.status.phase, volume.spec.claim_ref.name) == ("Bound", "c")
    do("create", object=_claim("huge", "20Gi"))
    assert _bound_to(do, "huge") == ""
    do("create", object=_volume("late", "30Gi"))
    assert _bound_to(do, "huge") == "late"


def test_a_class_provisions_volumes_at_once_unless_it_waits_for_a_pod(session: Any) -> None:
    do = session()
    do("helper", name="pvBinder")
    do("create", object=_class("now", "Immediate"))
    do("create", object=_class("later", "WaitForFirstConsumer"))
    do("create", object=_class("never", "Immediate", "kubernetes.io/no-provisioner"))
    for name in ("now", "later", "never"):
        do("create", object=_claim(name, "2Gi", name))
    assert [_bound_to(do, name) for name in ("now", "later", "never")] == ["pvc-default-now", "", ""]


def test_without_the_controller_claims_are_not_bound(session: Any) -> None:
    do = session()
    do("create", object=_volume("v", "5Gi"))
    do("create", object=_claim("c", "2Gi"))
    assert _bound_to(do, "c") == ""
