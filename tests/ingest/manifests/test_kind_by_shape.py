"""Objects without a kind are recognised by their members: Insights archives, items of support bundles, fragments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schedviz.ingest.files.source import Source
from schedviz.ingest.load import Import, load
from tests.ingest.bombs import tarred
from tests.ingest.sources import source

METADATA = {"name": "a", "namespace": "shop", "resourceVersion": "7"}
NODE: dict[str, Any] = {
    "metadata": {"name": "n1", "labels": {"zone": "a"}},
    "spec": {},
    "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4", "pods": "10"}, "nodeInfo": {"kubeletVersion": "v1.27.3"}},
}
POD: dict[str, Any] = {
    "metadata": METADATA,
    "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "8"}}}]},
    "status": {"phase": "Pending"},
}
EVENT: dict[str, Any] = {
    "metadata": {"name": "a.1"},
    "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "a"},
    "reason": "FailedScheduling",
    "message": "0/1 nodes are available: 1 Insufficient cpu.",
}


def read(*files: tuple[str, Any]) -> Import:
    return load([Source.of_bytes(name, json.dumps(content).encode()) for name, content in files])


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (NODE, "Node"),
        (POD, "Pod"),
        ({"metadata": {"name": "v"}, "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}}, "PersistentVolume"),
        (
            {"metadata": METADATA, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
            "PersistentVolumeClaim",
        ),
        ({"metadata": {"name": "fast"}, "provisioner": "csi.example.com"}, "StorageClass"),
        ({"metadata": {"name": "n1"}, "spec": {"drivers": []}}, "CSINode"),
        ({"metadata": METADATA, "spec": {"selector": {}, "minAvailable": 1}}, "PodDisruptionBudget"),
    ],
)
def test_an_object_is_recognised_by_its_members(content: dict[str, Any], kind: str) -> None:
    for written in (content, [content], {"items": [content]}):
        assert [type(obj).__name__ for obj in read(("x.json", written)).objects] == [kind]


def test_the_files_of_an_insights_archive_are_one_cluster() -> None:
    members = [
        ("config/pod/shop/a.json", json.dumps(POD).encode()),
        ("config/node/n1.json", json.dumps(NODE).encode()),
        ("config/installplans.json", b'{"items": null, "stats": {"total": 0}}'),
        ("config/id", b"1234"),
        ("config/version.json", b'{"metadata": {"name": "version"}, "spec": {"channel": "stable"}}'),
        ("config/workload_info.json", b'{"pods": 7, "namespaces": {}}'),
        ("events/shop.json", b'{"items": [{"namespace": "shop", "reason": "BackOff", "message": "x", "type": "Warning"}]}'),
    ]
    result = load([source(tarred(members), "insights.tar.gz")])

    assert [(type(obj).__name__, obj.key) for obj in result.objects] == [("Node", "n1"), ("Pod", "shop/a")]
    assert not result.report.refused
    assert {drop.reason for drop in result.report.dropped if drop.kind == "File"} >= {"it contains no Kubernetes objects"}


def test_the_events_of_a_support_bundle_need_no_kind() -> None:
    result = read(
        ("cluster-resources/pods/shop.json", {"items": [POD]}),
        ("cluster-resources/nodes.json", {"items": [NODE]}),
        ("events.json", {"items": [EVENT]}),
    )

    assert [(message.pod, message.message) for message in result.messages] == [("shop/a", EVENT["message"])]


@pytest.mark.parametrize(
    "text",
    [
        "metadata:\n  name: web\nspec:\n  containers:\n  - name: main\n    image: x\n",
        "spec:\n  nodeSelector:\n    disk: ssd\n  containers:\n  - name: main\n    image: x\n",
        "nodeSelector:\n  disk: ssd\ncontainers:\n- name: main\n  image: x\n",
    ],
    ids=["without its kind", "without its metadata", "the specification alone"],
)
def test_a_fragment_of_a_pod_is_a_pod(text: str) -> None:
    [pod] = load([source(text.encode(), "pasted.txt")]).objects
    assert pod.name in ("web", "unnamed")


def test_an_operators_config_is_not_taken_for_a_kubeconfig() -> None:
    result = read(
        ("n.json", {"kind": "Node", **NODE}),
        ("c.json", {"apiVersion": "operator.example.com/v1", "kind": "Config", "metadata": {"name": "cluster"}}),
    )

    assert not result.report.refused
    assert [drop.kind for drop in result.report.dropped] == ["Config"]


def test_an_object_that_has_a_kind_is_not_guessed() -> None:
    result = read(("n.json", {"kind": "Node", **NODE}), ("x.json", {"kind": "Widget", **POD}))

    assert [type(obj).__name__ for obj in result.objects] == ["Node"]
