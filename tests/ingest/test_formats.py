"""Every format gives the same kind of import."""

import gzip
import lzma

import pytest

from schedviz.ingest.files.source import Source
from schedviz.ingest.load import load
from schedviz.kube import codec
from tests.ingest.sources import SAMPLES, imported, keys, sample

NODE = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"%s"},"status":{"capacity":{"cpu":"4"}}}'
LIST = (SAMPLES / "list.json").read_bytes()


def test_a_json_list_gives_nodes_and_unfinished_pods():
    result = sample("list.json")
    assert keys(result) == ["Node node-1", "Node node-2", "Pod shop/web-1", "Pod shop/web-2"]
    assert [pod.spec.node_name for pod in result.objects[2:]] == ["node-1", ""]
    assert result.report.kinds == {"Node": 2, "Pod": 2}
    (file,) = result.report.files
    assert (file.format, file.objects, file.unpacked_bytes) == ("JSON", 4, len(LIST))
    assert [(drop.kind, drop.reason, drop.count, drop.examples) for drop in result.report.dropped] == [
        ("Pod", "the pod has finished (Succeeded)", 1, ("shop/report-1",))
    ]


def test_a_yaml_list_gives_the_same_objects():
    assert sample("list.yaml").objects == sample("list.json").objects
    assert sample("list.yaml").report.files[0].format == "YAML"


def test_unread_fields_are_not_kept():
    for obj in sample("list.json").objects:
        assert b"hush" not in codec.encode(obj)


def test_the_items_of_a_pod_list_need_no_kind():
    assert keys(sample("pod-list.json")) == ["Pod shop/api-1"]


def test_manifests_are_documents_and_secrets_are_not_parsed():
    result = sample("manifests.yaml")
    assert keys(result) == ["Namespace shop", "PriorityClass urgent", "Deployment default/web", "Pod shop/batch-1"]
    assert [(drop.kind, drop.reason, drop.count) for drop in result.report.dropped] == [
        ("Secret", "the scheduler does not read this kind", 1),
    ]


def test_several_files_are_one_import_and_kinds_come_in_order():
    result = sample("manifests.yaml", "list.json", "node.json")
    assert keys(result) == [
        "Namespace shop",
        "PriorityClass urgent",
        "Node node-1",
        "Node node-2",
        "Node node-9",
        "Deployment default/web",
        "Pod shop/batch-1",
        "Pod shop/web-1",
        "Pod shop/web-2",
    ]
    assert [(file.format, file.objects) for file in result.report.files] == [("YAML", 4), ("JSON", 4), ("JSON", 1)]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, lambda data: b"\xef\xbb\xbf" + data, lambda data: b"\n\n" + data])
@pytest.mark.parametrize("name", ["list.json", "list.yaml"])
def test_compressed_files_are_recognised_by_their_first_bytes(name, pack):
    result = imported(pack((SAMPLES / name).read_bytes()))
    assert result.objects == sample("list.json").objects


def test_a_compressed_file_may_have_several_streams():
    assert keys(imported(gzip.compress(LIST[:100]) + gzip.compress(LIST[100:]) + b"\0\0")) == keys(sample("list.json"))
    assert keys(imported(lzma.compress(LIST[:100]) + lzma.compress(LIST[100:]))) == keys(sample("list.json"))


@pytest.mark.parametrize(
    "text",
    [
        f"{NODE % 'a'}\n{NODE % 'b'}\n",
        f"{NODE % 'a'}{NODE % 'b'}",
        f"[{NODE % 'a'}, {NODE % 'b'}]",
        f'{{"kind":"List","items":[{NODE % "a"}]}}\n{{"kind":"List","items":[{NODE % "b"}]}}',
        f"---\n{NODE % 'a'}\n---\n{NODE % 'b'}\n",
        f"kind: List\nitems:\n  - {NODE % 'a'}\n  -\n    kind: Node\n    metadata: {{name: b}}\n    status: {{capacity: {{cpu: 4}}}}\nmetadata: {{}}\n",
        f"kind: List\nitems: [{NODE % 'a'}, {NODE % 'b'}]\n",
        f"- {NODE % 'a'}\n- {NODE % 'b'}\n",
        f"kind: NodeList\r\nitems:\r\n- {NODE % 'a'}\r\n- metadata:\r\n    name: b\r\n  status:\r\n    capacity:\r\n      cpu: 4\r\n",
    ],
)
def test_objects_may_be_combined_in_many_ways(text):
    result = imported(text)
    assert keys(result) == ["Node a", "Node b"]
    assert result.objects[0].status == result.objects[1].status


def test_an_anchor_may_be_used_inside_a_document():
    text = "kind: Node\nmetadata: {name: a}\nstatus:\n  capacity: &all {cpu: 4}\n  allocatable: *all\n"
    assert str(imported(text).objects[0].status.allocatable["cpu"]) == "4"


def test_the_last_of_two_versions_of_an_object_is_kept():
    result = imported(NODE % "a", (NODE % "a").replace('"4"', '"8"'))
    assert [str(node.status.capacity["cpu"]) for node in result.objects] == ["8"]
    assert [(drop.kind, drop.reason, drop.examples) for drop in result.report.dropped] == [
        ("Node", "duplicate; the last one was kept", ("a",))
    ]


def test_objects_are_defaulted_as_the_api_server_does():
    (pod,) = sample("pod-list.json").objects
    assert str(pod.spec.containers[0].resources.requests["memory"]) == "512Mi"
    assert imported("kind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n").objects[0].key == "default/a"


def test_an_older_api_version_is_skipped_with_a_message_that_names_the_supported_one():
    result = imported(NODE % "a" + '{"apiVersion":"policy/v1beta1","kind":"PodDisruptionBudget","metadata":{"name":"b"}}')
    assert [(drop.kind, drop.reason) for drop in result.report.dropped] == [
        ("PodDisruptionBudget", 'apiVersion: expected "policy/v1" for a PodDisruptionBudget, found "policy/v1beta1"')
    ]


def test_a_dump_without_pods_or_nodes_has_a_warning():
    assert imported(NODE % "a").report.warnings == (
        "There are no pods, so there is nothing to schedule; import the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`.",
    )
    assert imported("kind: Pod\nmetadata: {name: a}\n").report.warnings == (
        "There are no nodes, so no pod can be scheduled; import the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`.",
    )


def test_pods_on_missing_nodes_cause_a_warning():
    pods = "".join(
        f'{{"kind":"Pod","metadata":{{"name":"p-{number}"}},"spec":{{"nodeName":"gone-{number % 4}"}},"status":{{"phase":"Running"}}}}'
        for number in range(5)
    )
    here = '{"kind":"Pod","metadata":{"name":"here"},"spec":{"nodeName":"a"},"status":{"phase":"Running"}}'
    assert imported(NODE % "a" + here + pods).report.warnings == (
        "5 pods are bound to nodes that are not in the files (gone-0, gone-1, gone-2, …); the cache shows them as deleted nodes.",
    )


def test_sources_of_paths_and_of_bytes_are_the_same():
    path = SAMPLES / "list.json"
    assert load([Source.of_path(path)]).objects == load([Source.of_bytes("x", path.read_bytes())]).objects
