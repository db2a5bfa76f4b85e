"""A claim whose StorageClass does not exist is the answer about its pod."""

from __future__ import annotations

from typing import Any

from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, node, pod

CLAIM: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
POD = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])


def storage_class(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "Immediate",
    }


def test_the_missing_class_is_named_with_those_that_exist() -> None:
    [clause] = why_pending(cluster(node("n1"), storage_class("gp3"), CLAIM, POD), "default/p").clauses
    assert clause.headline == "the claim `default/data` has no volume: StorageClass `fast` does not exist"
    assert clause.advice == "create StorageClass `fast`, or recreate the claim with an existing class: gp3"


def test_a_class_that_exists_is_not_blamed_and_the_claim_is_named() -> None:
    [clause] = why_pending(cluster(node("n1"), storage_class("fast"), CLAIM, POD), "default/p").clauses
    assert clause.headline == "a PersistentVolumeClaim of the pod is not bound"
    assert clause.advice == "run `kubectl describe pvc data`; its events show why the claim is not bound"


def test_files_without_classes_say_nothing_about_them() -> None:
    [clause] = why_pending(cluster(node("n1"), CLAIM, POD), "default/p").clauses
    assert clause.headline == "a PersistentVolumeClaim of the pod is not bound"


def test_a_claim_that_names_a_volume_without_being_bound_is_the_reason_and_not_the_place_of_its_volume() -> None:
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv-1"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "nodeAffinity": {
                "required": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]}]
                }
            },
        },
    }
    claim = {**CLAIM, "spec": {**CLAIM["spec"], "volumeName": "pv-1"}}
    [clause] = why_pending(cluster(node("n1"), volume, claim, POD), "default/p").clauses
    assert clause.headline == "the claim `default/data` names the volume `pv-1` but is not bound to it"
    assert clause.details == ()
