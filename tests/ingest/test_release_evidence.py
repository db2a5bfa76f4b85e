"""Which release files suggest, why, and what is known to differ for a cluster between the releases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schedviz.ingest.files.source import Source
from schedviz.ingest.load import load
from schedviz.ingest.release_evidence import ReleaseEvidence, differences_from
from schedviz.trace.releases import V1_27, V1_36

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
STARTED = 'I1125 16:37:37.509255   16876 server.go:183] "Starting Kubernetes Scheduler" version="{}"\n'
UNABLE = 'I1125 16:38:00.000000   16876 schedule_one.go:1] "Unable to schedule pod; no fit" pod="default/p" err="0/1 nodes are available: 1 x."\n'


def evidence(*objects: dict[str, Any], log: str = "") -> ReleaseEvidence:
    found = {"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]}
    sources = [Source.of_bytes("objects.json", json.dumps(found).encode())]
    if log:
        sources.append(Source.of_bytes("scheduler.log", (log + UNABLE).encode()))
    return load(sources).evidence


def pod(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c"}], **spec},
    }


SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {"driver": "d", "nodeName": "n", "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}},
}


@pytest.mark.parametrize(
    ("obj", "field"),
    [
        (SLICE, "ResourceSlice objects of resource.k8s.io/v1"),
        (pod(resources={"requests": {"cpu": "1"}}), "spec.resources of pods"),
        (pod(initContainers=[{"name": "mesh", "restartPolicy": "Always"}]), "sidecar containers (restartPolicy Always)"),
    ],
)
def test_fields_that_only_the_newer_release_reads_suggest_it(obj: dict[str, Any], field: str) -> None:
    result = evidence(obj)

    assert result.suggested == V1_36
    assert result.note is not None
    assert result.note.text.startswith(
        f"The session simulates kube-scheduler v1.36, because its objects have {field}, which older releases do not read."
    )


def test_the_wording_of_messages_suggests_a_release_if_nothing_else_does() -> None:
    result = evidence(log=UNABLE.replace("/p", "/q").replace("1 x.", "1 x. no new claims to deallocate, preemption: not helpful."))

    assert result.suggested == V1_36
    assert evidence(log=UNABLE).suggested == V1_27


def test_ordinary_objects_suggest_no_release() -> None:
    result = evidence(pod(initContainers=[{"name": "init"}]))

    assert (result.is_conclusive, result.suggested, result.note) == (False, V1_27, None)
    assert result.suggested_or(V1_36) == V1_36


def test_an_old_kubelet_comes_before_the_release_of_files_without_a_version() -> None:
    assert ReleaseEvidence(kubelet="v1.27.4").suggested_or(V1_36) == V1_27
    assert ReleaseEvidence(config_releases=(V1_27,)).suggested_or(V1_36) == V1_27


@pytest.mark.parametrize(("version", "release"), [("v1.36.0", V1_36), ("v1.32.4", V1_36), ("v1.28.2", V1_27), ("v1.27.1", V1_27)])
def test_the_log_of_the_scheduler_has_its_version(version: str, release: str) -> None:
    result = evidence(log=STARTED.format(version))

    assert (result.scheduler, result.suggested) == (version, release)


def test_the_version_of_the_scheduler_has_precedence_over_the_kubelets() -> None:
    assert ReleaseEvidence(kubelet="v1.36.0", scheduler="v1.27.4").suggested == V1_27
    assert ReleaseEvidence(kubelet="v1.28.0", newer_field="spec.resources of pods").suggested == V1_27


def test_no_difference_is_listed_for_the_clusters_own_release() -> None:
    note = ReleaseEvidence(scheduler="v1.36.1").note

    assert note is not None
    assert note.text == "The session simulates kube-scheduler v1.36, because the log of its scheduler says v1.36.1."


def test_for_a_cluster_between_the_releases_the_known_differences_are_listed() -> None:
    newer, older = ReleaseEvidence(kubelet="v1.33.4").note, ReleaseEvidence(kubelet="v1.30.0").note
    assert newer is not None
    assert older is not None

    assert "Known differences: claims of devices and pod-level requests are read (from v1.34 on); pods are nominated before" in newer.text
    assert "Known differences: sidecar containers add to the requests of a pod (from v1.29 on)." in older.text


def test_the_differences_are_those_between_the_cluster_and_the_simulated_release() -> None:
    assert differences_from("v1.36.2", V1_36) == []
    assert differences_from("v1.28.0", V1_27) == []
    assert [change.text[-20:] for change in differences_from("v1.35.0", V1_36)] == ["aint (from v1.36 on)"]


GATES = 'I1125 17:50:07.577400    4788 flags.go:64] FLAG: --feature-gates="{}"\n'


def test_the_feature_gates_of_the_log_are_set() -> None:
    flags = ":GenericWorkload=true,:GangScheduling=true,KubeletFineGrainedAuthz=true,SchedulerAsyncPreemption=true"
    result = evidence(log=GATES.format(flags) + STARTED.format("v1.36.0"))

    assert result.suggested_gates == {"GenericWorkload": True, "GangScheduling": True}
    assert result.gates_note is not None
    assert result.gates_note.text == (
        "Feature gates of the simulated scheduler: GangScheduling=true, GenericWorkload=true, because the log of its scheduler says so."
    )


def test_pods_of_a_group_need_its_feature_gates() -> None:
    result = evidence(pod(resources={"requests": {"cpu": "1"}}, schedulingGroup={"podGroupName": "g"}))

    assert result.suggested_gates == {"GenericWorkload": True, "GangScheduling": True}


RULE = {
    "apiVersion": "resource.k8s.io/v1beta2",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "r"},
    "spec": {"taint": {"key": "k", "effect": "NoSchedule"}},
}


def test_device_taint_rules_need_their_feature_gate() -> None:
    result = evidence(RULE)

    assert (result.suggested, result.newer_field) == (V1_36, "DeviceTaintRule objects of resource.k8s.io/v1beta2")
    assert result.suggested_gates == {"DRADeviceTaintRules": True}
    assert result.gates_note is not None
    assert result.gates_note.text.endswith("DRADeviceTaintRules=true, because there are DeviceTaintRules.")


def test_every_reason_for_gates_is_named() -> None:
    result = evidence(RULE, pod(schedulingGroup={"podGroupName": "g"}))

    assert result.gates_note is not None
    assert result.gates_note.text.endswith("because pods name a pod group, and there are DeviceTaintRules.")


def test_feature_gates_that_upstream_would_refuse_are_omitted() -> None:
    assert evidence(log=GATES.format("GangScheduling=true") + STARTED.format("v1.36.0")).suggested_gates == {}
    assert evidence(log=GATES.format("GenericWorkload=true") + STARTED.format("v1.27.1")).suggested_gates == {}
