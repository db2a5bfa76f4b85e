"""Objects are decoded and encoded; ignored fields leave only a digest."""

import copy

import msgspec
import pytest

from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.errors import DecodeError, UnknownKindError
from schedviz.kube.kinds import BY_NAME, KINDS, kind_of
from schedviz.kube.shapes import strict_type
from schedviz.kube.storage import CSIStorageCapacity, PersistentVolumeClaim

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-1",
        "namespace": "shop",
        "uid": "u-1",
        "labels": {"app": "web"},
        "annotations": {"example.com/note": "hush"},
        "creationTimestamp": "2024-01-01T00:00:00Z",
        "managedFields": [{"manager": "kubectl"}],
    },
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": "web:1",
                "command": ["serve", "--password=hush"],
                "ports": [{"name": "http", "containerPort": 80}],
                "resources": {"requests": {"cpu": "500m", "memory": 1073741824, "example.com/fpga": 1}},
            }
        ],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "s", "secret": {"secretName": "hush"}}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "serviceAccountName": "hush",
    },
    "status": {"phase": "Pending", "podIP": "10.0.0.1"},
}


def changed(path, value):
    """POD with the value at `path` replaced; None removes it."""
    pod = copy.deepcopy(POD)
    *parents, last = path
    inner = pod
    for step in parents:
        inner = inner[step]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return pod


def both_ways(data, **options):
    """Bytes and dicts must give the same result."""
    from_bytes = codec.decode(msgspec.json.encode(data), **options)
    assert codec.from_dict(data, **options) == from_bytes
    return from_bytes


def fault_of(data, *, strict=False):
    with pytest.raises(DecodeError) as from_dict:
        codec.from_dict(data, strict=strict)
    with pytest.raises(DecodeError) as from_bytes:
        codec.decode(msgspec.json.encode(data), strict=strict)
    assert str(from_dict.value) == str(from_bytes.value)
    return str(from_dict.value)


def test_a_pod_has_the_fields_that_the_scheduler_reads():
    pod = both_ways(POD)
    assert isinstance(pod, Pod)
    assert (pod.key, pod.uid, kind_of(pod).resource) == ("shop/web-1", "u-1", "pods")
    assert pod.spec.containers[0].resources.requests["cpu"].milli_value == 500
    assert pod.spec.containers[0].resources.requests["memory"].value == 1 << 30
    assert pod.spec.containers[0].ports[0].container_port == 80
    assert pod.spec.volumes[0].persistent_volume_claim.claim_name == "data"
    assert pod.spec.tolerations[0].operator == "Exists"


def test_unread_fields_are_not_in_the_object():
    for obj in (both_ways(POD), both_ways(POD, strict=True)):
        assert b"hush" not in codec.encode(obj)
        assert b"10.0.0.1" not in codec.encode(obj)


def test_encoding_and_strict_decoding_again_gives_the_same_object():
    pod = both_ways(POD)
    assert codec.decode(codec.encode(pod), strict=True) == pod
    assert codec.to_dict(pod)["apiVersion"] == "v1"
    assert list(codec.to_dict(pod))[:2] == ["apiVersion", "kind"]


def test_an_object_survives_msgpack_with_the_hooks():
    pod = both_ways(POD)
    data = msgspec.msgpack.encode(pod, enc_hook=codec.enc_hook)
    assert msgspec.msgpack.decode(data, type=Pod, dec_hook=codec.dec_hook) == pod


@pytest.mark.parametrize(
    ("path", "value", "member"),
    [
        (("spec", "containers", 0, "command"), ["other"], "unread"),
        (("spec", "serviceAccountName"), "other", "unread"),
        (("spec", "volumes", 1, "secret"), {"secretName": "other"}, "unread"),
        (("spec", "volumes", 1), {"name": "s", "configMap": {"name": "c"}}, "unread"),
        (("status", "podIP"), "10.0.0.2", "unread_status"),
        (("metadata", "finalizers"), ["example.com/x"], "unread_status"),
        (("metadata", "generation"), 2, "unread_status"),
        (("metadata", "managedFields"), None, "unread_status"),
    ],
)
def test_a_change_of_an_unread_field_changes_only_one_digest(path, value, member):
    before, after = both_ways(POD), both_ways(changed(path, value))
    assert getattr(before, member) != getattr(after, member)
    assert msgspec.structs.replace(after, **{member: getattr(before, member)}) == before


def test_a_changed_annotation_changes_the_digest():
    before, after = both_ways(POD), both_ways(changed(("metadata", "annotations"), {"example.com/note": "other"}))
    assert before.metadata.unread_annotations != after.metadata.unread_annotations
    assert before.unread == after.unread


def test_annotations_that_plugins_read_are_kept():
    claim = codec.from_dict(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "annotations": {"volume.kubernetes.io/selected-node": "node-1", "x": "y"}},
        }
    )
    assert claim.metadata.annotations == {"volume.kubernetes.io/selected-node": "node-1"}
    assert claim.metadata.unread_annotations


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "restartPolicy"), "Always"),
        (("spec", "dnsPolicy"), "ClusterFirst"),
        (("spec", "securityContext"), {}),
        (("spec", "enableServiceLinks"), True),
        (("spec", "imagePullSecrets"), []),
        (("spec", "hostname"), ""),
        (("spec", "containers", 0, "terminationMessagePath"), "/dev/termination-log"),
        (("spec", "containers", 0, "terminationMessagePolicy"), "File"),
    ],
)
def test_an_unread_field_with_its_default_value_does_not_change_the_digest(path, value):
    assert both_ways(changed(path, value)) == both_ways(POD)


def test_an_object_without_unread_fields_has_an_empty_digest():
    pod = both_ways({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "ports": [{}]}]}})
    assert (pod.unread, pod.unread_status, pod.metadata.unread_annotations) == ("", "", "")


def test_null_is_the_same_as_absent():
    pod = changed(("metadata", "creationTimestamp"), None)
    pod["metadata"]["creationTimestamp"] = None
    pod["spec"]["containers"][0]["ports"] = None
    pod["spec"]["nodeName"] = None
    assert both_ways(pod, strict=True).spec.containers[0].ports == ()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("spec", "containers", 0, "resources", "requests", "cpu"),
            "10x",
            'spec.containers[0].resources.requests.cpu: "10x" is not a quantity',
        ),
        (
            ("spec", "containers", 0, "resources", "requests", "cpu"),
            True,
            "spec.containers[0].resources.requests.cpu: true is not a quantity",
        ),
        (
            ("spec", "containers", 0, "resources", "requests", "example.com/fpga"),
            "one",
            'spec.containers[0].resources.requests["example.com/fpga"]: "one" is not a quantity',
        ),
        (("spec", "nodeName"), 5, "spec.nodeName: expected a string, found 5"),
        (("spec", "containers"), {}, "spec.containers: expected a list, found an object"),
        (("spec", "hostNetwork"), "yes", 'spec.hostNetwork: expected true or false, found "yes"'),
        (("spec", "priority"), 1 << 31, "spec.priority: expected a whole number of at most 2147483647, found 2147483648"),
        (("spec", "priority"), 1.5, "spec.priority: expected a whole number, found 1.5"),
        (("spec",), [], "spec: expected an object, found a list"),
        (("metadata", "labels", "app"), 1, "metadata.labels.app: expected a string, found 1"),
        (("metadata", "name"), "", "metadata.name: expected a name, found nothing"),
        (
            ("metadata", "creationTimestamp"),
            "noon",
            'metadata.creationTimestamp: "noon" is not an RFC 3339 time such as 2024-01-01T00:00:00Z',
        ),
        (("kind",), "", "kind: expected the kind of the object, such as Pod, found nothing"),
        (("kind",), 7, "kind: expected the kind of the object, such as Pod, found 7"),
        (("apiVersion",), "v2", 'apiVersion: expected "v1" for a Pod, found "v2"'),
    ],
)
def test_an_error_is_reported_with_its_path(path, value, message):
    assert fault_of(changed(path, value)) == message


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("bogus",), "bogus: unknown field"),
        (("spec", "nodename"), "spec.nodename: unknown field"),
        (("spec", "containers", 0, "comand"), "spec.containers[0].comand: unknown field"),
        (("spec", "containers", 0, "restartPolicies"), "spec.containers[0].restartPolicies: unknown field"),
        (("metadata", "clusterName"), "metadata.clusterName: unknown field"),
    ],
)
def test_strict_decoding_refuses_fields_of_no_release_and_lenient_decoding_drops_them(path, message):
    pod = changed(path, "x")
    assert fault_of(pod, strict=True) == message
    assert both_ways(pod).key == "shop/web-1"


def test_a_kind_that_the_scheduler_does_not_read_has_its_own_error():
    with pytest.raises(UnknownKindError) as caught:
        codec.from_dict({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": "hush"}})
    assert str(caught.value).startswith("kind: the scheduler does not read the kind 'Secret'; it reads CSIDriver, ")
    assert "hush" not in str(caught.value)


def test_data_that_is_not_an_object_is_refused():
    assert fault_of(5) == "expected a Kubernetes object, found 5"
    assert fault_of([]) == "expected a Kubernetes object, found a list"
    with pytest.raises(DecodeError) as caught:
        codec.decode(b'{"kind": "Pod",')
    assert str(caught.value).startswith("not JSON: ")


def test_the_kind_of_a_list_item_may_be_given():
    assert codec.decode(b'{"metadata":{"name":"a"}}', kind="Node").key == "a"


def test_deep_nesting_ends_in_an_error_and_not_in_a_crash():
    with pytest.raises(DecodeError):
        codec.decode(b'{"kind":"Pod","metadata":{"name":"a"},"spec":{"securityContext":' + b"[" * 100_000)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_can_be_read_written_and_read_strictly(kind):
    obj = both_ways({"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "x"}}, strict=True)
    assert isinstance(obj, kind.type)
    assert kind_of(obj) is BY_NAME[kind.name]
    assert codec.decode(codec.encode(obj), strict=True) == obj
    assert strict_type(kind.type)


def test_optional_fields_distinguish_absent_from_empty():
    claim = codec.from_dict(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {"storageClassName": ""}}
    )
    assert isinstance(claim, PersistentVolumeClaim)
    assert claim.spec.storage_class_name == ""
    assert codec.decode(codec.encode(claim)) == claim
    capacity = codec.from_dict(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": {"name": "c"},
            "storageClassName": "fast",
            "capacity": "10Gi",
        }
    )
    assert isinstance(capacity, CSIStorageCapacity)
    assert capacity.capacity.value == 10 << 30
    assert capacity.maximum_volume_size is None


def test_a_wrong_quantity_in_the_list_of_one_member_of_a_map_is_reported() -> None:
    capacity = {"a": {"requestPolicy": {"validValues": []}}, "b": {"requestPolicy": {"validValues": ["1", ""]}}}
    devices = [{"name": "d", "capacity": capacity}]

    with pytest.raises(DecodeError, match=r"is not a quantity"):
        codec.from_dict({"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {"devices": devices}})


def test_an_eviction_of_a_disruption_budget_has_a_time() -> None:
    budget = {"kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "status": {"disruptedPods": {"a": None, "b": "soon"}}}

    with pytest.raises(DecodeError, match=r"status\.disruptedPods\.b"):
        codec.from_dict(budget)
