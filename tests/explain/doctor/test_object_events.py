"""Events about the claims of a pending pod are shown with its explanation."""

from __future__ import annotations

from typing import Any

from schedviz.explain.doctor.import_check import examine_import
from schedviz.explain.doctor.known_findings import KnownFindings
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from schedviz.ingest.load import Import
from schedviz.ingest.object_events import ObjectEvent
from tests.explain.small_clusters import cluster, node, pod

CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}},
}
CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "csi.example",
    "volumeBindingMode": "Immediate",
}
FAILED = ObjectEvent("PersistentVolumeClaim default/data", "ProvisioningFailed", "quota exceeded.", "2026-01-01T00:00:00Z")
OTHER = ObjectEvent("PersistentVolumeClaim default/other", "ProvisioningFailed", "no")


def explained(*events: ObjectEvent, **spec: Any):
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    simulation = cluster(node("n1"), CLASS, CLAIM, pod("web", volumes=volumes, **spec))
    findings = KnownFindings(examine_import(Import(tuple(simulation.stored_objects()), events=events)))
    return simulation, findings


def test_the_event_of_its_claim_is_a_finding_of_the_pod() -> None:
    simulation, findings = explained(FAILED, OTHER)

    [found] = why_pending(simulation, "default/web", findings).findings
    assert found.sentence == "event for PersistentVolumeClaim default/data at 2026-01-01T00:00:00Z: ProvisioningFailed: quota exceeded"
    assert found.cause == "a storage limit is reached"
    assert not found.differs


def test_a_storage_class_that_does_not_exist_is_not_blamed_on_its_provisioner() -> None:
    missing = ObjectEvent("PersistentVolumeClaim default/data", "ProvisioningFailed", 'storageclass.storage.k8s.io "fats" not found')
    simulation, findings = explained(missing)

    [found] = why_pending(simulation, "default/web", findings).findings
    assert found.cause == "StorageClass `fats` does not exist"
    assert found.advice == "create StorageClass `fats`, or recreate the claim with an existing class: fast"


def test_the_overview_has_the_event_if_there_are_no_numbers() -> None:
    simulation, findings = explained(FAILED)

    [reason] = overview(simulation, findings).reasons
    assert reason.reason == "pod has unbound immediate PersistentVolumeClaims"
    assert "ProvisioningFailed: quota exceeded" in reason.groups[0].detail


def test_the_overview_says_that_an_autoscaler_was_making_a_node() -> None:
    simulation = cluster(node("n1"), pod("web", cpu="64"))
    scale_up = ObjectEvent("Pod default/web", "TriggeredScaleUp", "pod triggered scale-up: [{a 1->2 (max: 3)}]", "2026-01-01T00:00:00Z")
    findings = KnownFindings(examine_import(Import(tuple(simulation.stored_objects()), events=(scale_up,))))

    [reason] = overview(simulation, findings).reasons
    assert reason.groups[0].event == (
        "a node was on its way at that time (event for Pod default/web at 2026-01-01T00:00:00Z: TriggeredScaleUp: pod "
        "triggered scale-up: [{a 1->2 (max: 3)}])"
    )


def test_events_are_no_differences() -> None:
    simulation, _ = explained()
    [examination] = examine_import(Import(tuple(simulation.stored_objects()), events=(FAILED,)))

    assert examination.differences == ()
    assert [note.kind for note in examination.notes] == ["event"]


def test_the_overview_says_why_no_autoscaler_makes_a_node() -> None:
    for reason, message, cause in (
        (
            "NotTriggerScaleUp",
            "pod didn't trigger scale-up: 2 node(s) didn't match node selector, 1 max node group size reached",
            "1 node group is at its maximum size",
        ),
        (
            "FailedScheduling",
            "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=arm)",
            "another node would exceed the limits of NodePool `arm`",
        ),
    ):
        simulation = cluster(node("n1"), pod("web", cpu="64"))
        refused = ObjectEvent("Pod default/web", reason, message)
        findings = KnownFindings(examine_import(Import(tuple(simulation.stored_objects()), events=(refused,))))

        [waiting] = overview(simulation, findings).reasons
        assert waiting.groups[0].event.startswith(f"{cause} (")
