"""A specification that was decoded before is reused, with the same result as decoding it again."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from schedviz.cli.bench.kubectl_dump import kubectl_dump
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.meta import KubeObject
from schedviz.kube.pod_texts import PodTexts
from schedviz.kube.sharing import Sharing


@pytest.fixture
def pods() -> PodTexts:
    return PodTexts(Sharing())


def texts(count: int) -> Iterator[bytes]:
    """Pods of one Deployment as kubectl prints them."""
    dump = json.loads(b"".join(kubectl_dump(3, 500 * count, "json")))
    return (printed(item) for item in dump["items"] if item["kind"] == "Pod" and "service-007" in item["metadata"]["name"])


def printed(pod: dict[str, Any]) -> bytes:
    return json.dumps(pod, indent=4).encode()


def read_alone(text: bytes) -> KubeObject:
    return default_object(codec.decode(text))


def pod(name: str, spec: dict[str, Any], **others: Any) -> bytes:
    metadata = {"name": name, "namespace": "shop", "uid": name, "labels": {"app": "web"}}
    return printed({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}, **others})


SPEC = {"containers": [{"name": "main", "resources": {"limits": {"cpu": "100u"}}, "env": [{"name": "A", "value": "1"}]}]}


def test_pods_of_a_deployment_are_decoded_as_by_the_codec(pods: PodTexts) -> None:
    for text in texts(2):
        assert pods.decode(text) == read_alone(text)


def test_decoded_pods_share_all_but_the_node_and_the_volume_of_their_token(pods: PodTexts) -> None:
    one, other = [found for text in texts(1) if (found := pods.decode(text)) is not None][:2]

    assert one.spec.containers is other.spec.containers
    assert one.spec.tolerations is other.spec.tolerations
    assert one.metadata.labels is other.metadata.labels
    assert one.metadata.owner_references is other.metadata.owner_references
    assert one.status is other.status
    assert one.spec.node_name != other.spec.node_name
    assert one.spec.volumes[0] is other.spec.volumes[0]
    assert one.spec.volumes[1].name != other.spec.volumes[1].name
    assert one.unread != other.unread


@pytest.mark.parametrize(
    "spec",
    [
        {**SPEC, "nodeName": "n1", "nodeSelector": {"nodeName": "n1"}},
        {**SPEC, "nodeSelector": {"nodeName": "n1"}},
        {**SPEC, "nodeSelector": {"nodeName": "n1"}, "nodeName": "n2"},
        {**SPEC, "nodeName": "__node__"},
        {**SPEC, "nodeName": "kube-api-access-abcde"},
        {**SPEC, "volumes": [{"name": "kube-api-access-abcde"}, {"name": "kube-api-access-fghij"}]},
        {**SPEC, "volumes": [{"name": "kube-api-access-abcdefg"}], "hostname": "kube-api-access-abcde"},
        {**SPEC, "volumes": [{"name": "kube-api-access-abcde"}, {"name": "kube-api-access-__token__"}]},
        {**SPEC, "volumes": [{"name": "a", "ephemeral": {}}], "nodeSelector": {"kube-api-access-abcde": "x"}},
        {**SPEC, "hostname": '"nodeName": "n1"', "nodeName": "n2"},
    ],
)
def test_a_node_and_a_token_in_other_places_change_nothing(pods: PodTexts, spec: dict[str, Any]) -> None:
    for name, node in (("web-1", "n1"), ("web-2", "n2")):
        text = pod(name, {**spec, "nodeName": node} if "nodeName" in spec else spec)

        assert (pods.decode(text) or read_alone(text)) == read_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}',
        b'{"kind": "Pod", "metadata": {"name": "a", "namespace": "b"}, "spec": {}, "status": {"phase": "Running"}}',
        pod("", SPEC),
        pod("web-1", {**SPEC, "priority": "high"}),
        pod("web-1", {**SPEC, "containers": [{"name": None}]}),
        pod("web-1", SPEC, unread="0123"),
        pod("web-1", SPEC)[:-3],
        pod("web-1", SPEC, status={}),
        pod("web-1", SPEC, status={"phase": "Running", "startTime": "yesterday"}),
    ],
)
def test_unusual_and_invalid_pods_are_left_to_the_codec(pods: PodTexts, text: bytes) -> None:
    assert pods.decode(text) is None


def test_equal_parts_of_objects_are_stored_once() -> None:
    sharing = Sharing()

    one, other = (sharing.object(default_object(codec.decode(pod(name, {**SPEC, "nodeName": name})))) for name in ("a", "b"))

    assert isinstance(one, Pod)
    assert isinstance(other, Pod)
    assert one.spec.containers is other.spec.containers
    assert one.status is other.status
    assert (one.name, one.spec.node_name, other.name, other.spec.node_name) == ("a", "a", "b", "b")


def test_parts_of_different_types_are_not_shared() -> None:
    sharing = Sharing()
    empty: tuple[str, ...] = ()

    assert sharing.part(empty) is empty
    assert sharing.part([]) == []
