"""Volumes in a whole simulation: with the controller's writes, watch latency, and checkpoints."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.clock import SECOND
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim
from schedviz.trace.events import encode_events
from tests.engine import clusters

claim, do, node, objects = clusters.claim, clusters.do, clusters.node, clusters.objects


def _class(name: str, provisioner: str) -> dict[str, Any]:
    return {"kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}


def _pod(name: str, *claims: str, **spec: Any) -> dict[str, Any]:
    volumes = [{"name": f"v{number}", "persistentVolumeClaim": {"claimName": claim}} for number, claim in enumerate(claims)]
    pod: dict[str, Any] = clusters.pod(name, volumes=volumes, **spec)
    return pod


def _simulation(*pods: dict[str, Any], **settings: Any) -> Simulation:
    simulation = Simulation(SimulationSettings(**settings))
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "static"},
    }
    claims = [claim("static", "static"), claim("dynamic", "dynamic"), claim("late", "static")]
    classes = [_class("static", "kubernetes.io/no-provisioner"), _class("dynamic", "x.example.com")]
    simulation.load(objects(node("node1"), node("node2"), *classes, volume, *claims, *pods))
    return simulation


def _stored(simulation: Simulation, kind: str, key: str) -> Any:
    return simulation.cluster.store.get(kind, key)


def test_a_pods_claims_are_bound_before_the_pod() -> None:
    simulation = _simulation(_pod("p", "static", "dynamic"))
    do(simulation, "step")
    volume, claim = _stored(simulation, "PersistentVolume", "pv"), _stored(simulation, "PersistentVolumeClaim", "default/dynamic")
    made = _stored(simulation, "PersistentVolume", "pvc-default-dynamic")

    assert isinstance(volume, PersistentVolume)
    assert isinstance(claim, PersistentVolumeClaim)
    assert (volume.status.phase, volume.spec.claim_ref and volume.spec.claim_ref.uid) == ("Bound", "default/static")
    assert (claim.spec.volume_name, claim.status.phase) == ("pvc-default-dynamic", "Bound")
    assert (made.spec.storage_class_name, made.spec.node_affinity) == ("dynamic", None)
    assert simulation.observed_state()["cache"]["podStates"]["default/p"]["assumed"] is False


def test_prebind_waits_for_watch_events_in_flight() -> None:
    simulation = _simulation(_pod("p", "static", "dynamic"))
    do(simulation, "latency", kind="PersistentVolumeClaim", seconds=5)
    do(simulation, "step")
    waiting = [binding.stage for binding in simulation.scheduler.bindings]
    simulation = Simulation.restore(simulation.checkpoint())
    do(simulation, "advance", to="next")

    assert waiting == ["PreBind"]
    assert simulation.clock_seconds >= 5
    assert simulation.scheduler.bindings == []
    assert simulation.observed_state()["cache"]["podStates"]["default/p"]["assumed"] is False


@pytest.mark.parametrize(
    ("release", "message"), [("v1.27.1", "timed out waiting for the condition"), ("v1.36", "context deadline exceeded")]
)
def test_prebind_times_out_and_the_pod_is_retried(release: str, message: str) -> None:
    config = {"profiles": [{"pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 3}}]}]}
    simulation = _simulation(_pod("p", "dynamic"), config=config, release=release)
    do(simulation, "latency", kind="PersistentVolumeClaim", seconds=60)
    do(simulation, "step")
    began = simulation.clock.now
    do(simulation, "advance", to="next")

    assert simulation.clock.now - began == 3 * SECOND
    assert simulation.scheduler.bindings == []
    queue = simulation.observed_state()["queue"]
    assert [entry["pod"] for name in ("activeQ", "backoffQ", "errorBackoffQ") for entry in queue.get(name, ())] == ["default/p"]
    pod = _stored(simulation, "Pod", "default/p")
    assert pod.status.conditions[0].message == f'running PreBind plugin "VolumeBinding": binding volumes: {message}'


def test_a_concurrently_changed_volume_is_not_overwritten() -> None:
    simulation = _simulation(_pod("p", "static"))
    do(simulation, "schedule")
    changed = {
        "kind": "PersistentVolume",
        "metadata": {"name": "pv", "labels": {"new": "label"}},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "static"},
    }
    do(simulation, "update", object=changed)
    do(simulation, "bind", pod="*")

    assert _stored(simulation, "PersistentVolume", "pv").spec.claim_ref is None
    assert "the object has been modified" in _stored(simulation, "Pod", "default/p").status.conditions[0].message


@pytest.mark.slow
def test_a_checkpoint_at_any_stage_loses_nothing() -> None:
    pods = [_pod("p", "static", "dynamic"), _pod("q", "late"), _pod("r")]
    straight, saved = _simulation(*pods), _simulation(*pods)
    events, saved_events = [], []
    while not do(straight, "step", unit="stage").result:
        events += straight.drain_events()
    outcome = None
    while outcome is None or not outcome.result:
        outcome = do(saved, "step", unit="stage")
        if not outcome.result:
            saved_events += saved.drain_events()
        saved = Simulation.restore(saved.checkpoint())

    assert encode_events(saved_events) == encode_events(events)
    assert saved.state_hash() == straight.state_hash()
    assert [entry["pod"] for entry in saved.observed_state()["queue"]["unschedulable"]] == ["default/q"]


def test_a_restarted_scheduler_has_no_assumed_volumes() -> None:
    simulation = _simulation(_pod("p", "static"), _pod("q", "late"))
    do(simulation, "schedule")
    do(simulation, "restart")
    do(simulation, "run")
    bound = [key for key, state in simulation.observed_state()["cache"]["podStates"].items() if not state["assumed"]]

    assert bound == ["default/p"]
    assert _stored(simulation, "PersistentVolumeClaim", "default/static").spec.volume_name == "pv"
