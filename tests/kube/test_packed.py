"""Compact storage of objects: all are restored in order, with any shared parts."""

import zlib
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from schedviz.cli.bench.kubectl_dump import kubectl_dump
from schedviz.ingest.files.source import Source
from schedviz.ingest.load import load
from schedviz.kube.codec import enc_hook, from_dict
from schedviz.kube.core import Node, Pod, PodResourceClaim, PodSchedulingGroup, ResourceRequirements
from schedviz.kube.defaults import default_object
from schedviz.kube.meta import KubeObject
from schedviz.kube.packed import pack, unpack
from schedviz.kube.packed_nodes import PackedNodes
from schedviz.kube.packed_pods import PackedPods
from schedviz.kube.quantity import parse
from schedviz.kube.sharing import Sharing

PODS: list[dict[str, object]] = [
    {},
    {"spec": {"nodeName": "n1"}},
    {"spec": {"nodeName": "n1", "containers": [{"name": "a", "resources": {"requests": {"cpu": "1500m"}}}]}},
    {"spec": {"volumes": [{"name": "a"}, {"name": "b", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "s", "secret": {}}]}},
    {"spec": {"priority": 1000, "tolerations": [{"operator": "Exists"}], "preemptionPolicy": "Never"}},
    {"metadata": {"labels": {"app": "web"}, "annotations": {"note": "x"}, "deletionTimestamp": "2024-01-01T00:00:00Z"}},
    {"metadata": {"generateName": "web-", "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": True}]}},
    {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "startTime": "2024-01-01T00:00:00Z"}},
    {"spec": {"resources": {"requests": {"cpu": "1"}}, "hostUsers": False}},
    {"spec": {"resources": {"requests": {"cpu": "2"}}, "schedulingGroup": {"podGroupName": "g"}}},
    {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}},
    {"spec": {"volumes": [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": f"claim-{n}"}} for n in range(100)]}},
    {"spec": {"hostNetwork": True, "schedulingGates": [{"name": "wait"}], "nodeSelector": {"disk": "ssd"}}},
]


def pod(number: int, content: dict[str, object]) -> Pod:
    metadata = {"name": f"pod-{number}", "uid": f"u-{number}", "resourceVersion": str(number), **content.get("metadata", {})}  # type: ignore[dict-item]
    made = default_object(from_dict({"apiVersion": "v1", "kind": "Pod", **content, "metadata": metadata}))
    assert isinstance(made, Pod)
    return made


def pods() -> list[Pod]:
    return [pod(number, content) for number, content in enumerate([*PODS, *PODS])]


@pytest.fixture(scope="module")
def dump() -> tuple[KubeObject, ...]:
    text = b"".join(kubectl_dump(7, 600, "json", pending=20))
    return load([Source.of_bytes("dump.json", text)]).objects


def test_all_objects_of_a_dump_are_unpacked_in_order(dump: tuple[KubeObject, ...]) -> None:
    assert unpack(pack(dump)) == list(dump)


def test_objects_of_different_kinds_keep_their_order() -> None:
    namespace = from_dict({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    node = from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    objects: list[KubeObject] = [pods()[0], namespace, node, pods()[1], pods()[2], node]

    assert unpack(pack(objects)) == objects
    assert unpack(pack([])) == []


def test_objects_packed_by_an_older_version_are_unpacked(dump: tuple[KubeObject, ...]) -> None:
    packed = zlib.compress(msgspec.msgpack.Encoder(enc_hook=enc_hook).encode(dump), 1)

    assert unpack(packed) == list(dump)


def test_every_kind_of_pod_is_unpacked_as_it_was() -> None:
    assert list(PackedPods.of(pods()).unpack()) == pods()


def test_pods_are_packed_equally_whether_or_not_they_share_their_parts() -> None:
    sharing = Sharing()
    apart = PackedPods.of(pods())

    assert PackedPods.of([sharing.object(pod) for pod in pods()]) == apart
    assert PackedPods.of(list(apart.unpack())) == apart


def test_a_long_list_of_volumes_is_stored_once_and_a_short_one_in_its_pod() -> None:
    claims = [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": f"claim-{n}"}} for n in range(1000)]
    short: dict[str, object] = {"spec": {"volumes": [{"name": "a"}]}}
    table = PackedPods.of([*(pod(number, {"spec": {"volumes": claims}}) for number in range(50)), pod(50, short)])

    assert len(msgspec.msgpack.Encoder(enc_hook=enc_hook).encode(table)) < 120_000
    assert table.volumes == [*[0] * 50, ("a",)]
    first, second, *_ = table.unpack()
    assert first.spec.volumes is second.spec.volumes
    assert len(first.spec.volumes) == 1000


def test_pods_that_share_containers_keep_their_own_resources_claims_and_group() -> None:
    plain = pod(0, PODS[2])
    changes: list[dict[str, Any]] = [
        {"resources": ResourceRequirements(requests={"cpu": parse("1")})},
        {"resources": ResourceRequirements(requests={"cpu": parse("2")})},
        {"resource_claims": (PodResourceClaim(name="gpu", resource_claim_name="c"),)},
        {"scheduling_group": PodSchedulingGroup(pod_group_name="g")},
        {"host_users": False},
    ]
    alike = [plain, *(replace(plain, spec=replace(plain.spec, **change)) for change in changes)]

    assert list(PackedPods.of(alike).unpack()) == alike


def test_unpacked_pods_share_what_they_have_in_common() -> None:
    one, *_, other = PackedPods.of([pod(1, PODS[2]), pod(2, PODS[1]), pod(3, PODS[2])]).unpack()

    assert one.spec.containers is other.spec.containers
    assert one.spec.node_name is other.spec.node_name


def test_packed_nodes_have_each_image_once(dump: tuple[KubeObject, ...]) -> None:
    nodes = [obj for obj in dump if isinstance(obj, Node)]
    packed = PackedNodes.of(nodes)

    assert len(packed.images) == 20
    assert list(packed.unpack()) == nodes
