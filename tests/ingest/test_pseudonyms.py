"""Names can be replaced by pseudonyms: no original name remains, the same secret gives the same pseudonyms, and decisions stay the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.ingest.dropped_fields import DroppedFields
from schedviz.ingest.files.source import Source
from schedviz.ingest.load import load
from schedviz.ingest.pseudonyms import Pseudonyms
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.kinds import KINDS
from schedviz.kube.meta import KubeObject
from schedviz.trace.commands import Run
from tests.ingest.sources import SAMPLES

SECRET_WORDS = ("acme", "payroll", "ledger", "rack-7", "berlin")


def node(number: int) -> dict[str, Any]:
    zone = f"berlin-{number % 2}"
    labels = {
        "kubernetes.io/hostname": f"rack-7-{number}",
        "topology.kubernetes.io/zone": zone,
        "acme.example/tier": "ledger",
        "cores": str(number),
    }
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "20", "acme.example/token": "2"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"rack-7-{number}", "labels": labels},
        "spec": {"taints": [{"key": "acme.example/for", "value": "payroll", "effect": "NoSchedule"}] if number == 3 else []},
        "status": {"allocatable": amounts, "capacity": amounts, "images": [{"names": ["acme.example/payroll:1"], "sizeBytes": 10**9}]},
    }


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "ledger", "image": "acme.example/payroll:1", "resources": {"requests": {"cpu": "1", "acme.example/token": "1"}}}]
    metadata = {"name": f"payroll-{name}", "namespace": "acme", "labels": {"app": "payroll"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
        "status": {"phase": "Pending"},
    }


def objects() -> list[KubeObject]:
    selector = {"labelSelector": {"matchLabels": {"app": "payroll"}}, "topologyKey": "topology.kubernetes.io/zone"}
    spread = {**selector, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    bigger = [{"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["1"]}]}]
    large = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": bigger}}}
    by_name = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["rack-7-2"]}]}]
    there = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": by_name}}}
    toleration = {"key": "acme.example/for", "operator": "Equal", "value": "payroll", "effect": "NoSchedule"}
    made = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "acme"}},
        *(node(number) for number in range(4)),
        pod("spread-1", topologySpreadConstraints=[spread]),
        pod("spread-2", topologySpreadConstraints=[spread]),
        pod("large", affinity=large),
        pod("there", affinity=there),
        pod("chosen", nodeSelector={"acme.example/tier": "ledger", "kubernetes.io/hostname": "rack-7-1"}),
        pod("tolerates", tolerations=[toleration], nodeSelector={"kubernetes.io/hostname": "rack-7-3"}),
        pod("apart", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [selector]}}),
        pod("nowhere", nodeSelector={"acme.example/tier": "gone"}),
    ]
    return [default_object(codec.from_dict(obj)) for obj in made]


def placements(loaded: list[KubeObject]) -> dict[str, str]:
    simulation = Simulation(SimulationSettings())
    simulation.load(loaded)
    simulation.start(Run())
    simulation.work()
    return {obj.key: obj.spec.node_name for obj in simulation.stored_objects() if isinstance(obj, Pod)}


def test_the_scheduler_decides_as_before_and_no_name_is_left() -> None:
    pseudonyms = Pseudonyms("a secret")
    renamed = pseudonyms.objects(objects())
    text = b"".join(codec.encode(obj) for obj in renamed).decode()
    for word in SECRET_WORDS:
        assert word not in text
    before, after = placements(objects()), placements(renamed)
    assert after == {
        f"{pseudonyms.name('acme')}/{pseudonyms.name(key.partition('/')[2])}": pseudonyms.name(node) if node else ""
        for key, node in before.items()
    }
    assert Counter(bool(node) for node in before.values()) == {True: 5, False: 3}


def test_the_same_secret_gives_the_same_pseudonyms_and_another_one_different_ones() -> None:
    first, again, other = (Pseudonyms(secret).name("rack-7-1") for secret in ("s", "s", "t"))
    assert first == again != other
    assert Pseudonyms("s").name("kube-system") == "kube-system"


@pytest.mark.parametrize("text", ["cpu", "hugepages-2Mi", "nvidia.com/gpu", "attachable-volumes-aws-ebs"])
def test_standard_resources_keep_their_names(text: str) -> None:
    assert Pseudonyms("s").resource(text) == text
    assert Pseudonyms("s").resource(f"acme.example/{text}").startswith("example.com/")


def test_fields_that_are_not_kept_are_counted_by_their_path() -> None:
    left_out = DroppedFields()
    load([Source.of_path(SAMPLES / "list.json")], on_object=left_out.add)
    counts = dict(left_out.lines())
    assert counts["Pod.spec.containers[].env"] == 3
    assert counts["Node.metadata.managedFields"] == 2
    assert not any("resources" in path or path.endswith("name") for path in counts)


def test_claims_slices_and_groups_agree_on_their_new_names_and_keep_what_expressions_compare() -> None:
    expression = 'device.attributes["gpu.vendor.example"].model == "a100"'
    request = {"name": "ledger-gpu", "firstAvailable": [{"name": "ledger-large", "deviceClassName": "payroll-gpu"}]}
    constraint = {"requests": ["ledger-gpu/ledger-large"], "matchAttribute": "vendor.example/numa"}
    allocated = {"request": "ledger-gpu/ledger-large", "driver": "gpu.vendor.example", "pool": "rack-7-1", "device": "acme-0"}
    device = {
        "name": "acme-0",
        "attributes": {"model": {"string": "a100"}},
        "capacity": {"bandwidth": {"value": "8"}},
        "consumesCounters": [{"counterSet": "acme-set", "counters": {"slots": {"value": "1"}}}],
    }
    api, scheduling = "resource.k8s.io/v1", "scheduling.k8s.io/v1alpha2"
    given = [
        {
            "apiVersion": api,
            "kind": "ResourceClaim",
            "metadata": {"name": "payroll-claim", "namespace": "acme"},
            "spec": {"devices": {"requests": [request], "constraints": [constraint]}},
            "status": {"allocation": {"devices": {"results": [allocated]}}},
        },
        {
            "apiVersion": api,
            "kind": "ResourceSlice",
            "metadata": {"name": "rack-7-1-slice"},
            "spec": {
                "driver": "gpu.vendor.example",
                "pool": {"name": "rack-7-1"},
                "nodeName": "rack-7-1",
                "devices": [device],
                "sharedCounters": [{"name": "acme-set", "counters": {"slots": {"value": "4"}}}],
            },
        },
        {
            "apiVersion": api,
            "kind": "DeviceClass",
            "metadata": {"name": "payroll-gpu"},
            "spec": {"selectors": [{"cel": {"expression": expression}}], "extendedResourceName": "acme.example/gpu"},
        },
        {
            "apiVersion": "resource.k8s.io/v1beta2",
            "kind": "DeviceTaintRule",
            "metadata": {"name": "payroll-rule"},
            "spec": {
                "deviceSelector": {"driver": "gpu.vendor.example", "pool": "rack-7-1", "device": device["name"]},
                "taint": {"key": "acme.example/broken", "effect": "NoSchedule"},
            },
        },
        {"apiVersion": scheduling, "kind": "PodGroup", "metadata": {"name": "payroll-group", "namespace": "acme"}},
        pod(
            "member",
            schedulingGroup={"podGroupName": "payroll-group"},
            resourceClaims=[{"name": "ledger", "resourceClaimName": "payroll-claim"}],
            resources={"limits": {"deviceclass.resource.kubernetes.io/payroll-gpu": "1"}},
        ),
    ]

    claim, slice_, device_class, rule, group, member = map(
        codec.to_dict, Pseudonyms("secret").objects(default_object(codec.from_dict(one)) for one in given)
    )

    assert not [word for word in SECRET_WORDS if word in str([claim, slice_, device_class, rule, group, member])]
    result = claim["status"]["allocation"]["devices"]["results"][0]
    (asked,) = claim["spec"]["devices"]["requests"]
    assert result["request"] == f"{asked['name']}/{asked['firstAvailable'][0]['name']}"
    assert list(claim["spec"]["devices"]["constraints"][0]["requests"]) == [result["request"]]
    published = slice_["spec"]
    assert (result["pool"], result["device"]) == (published["pool"]["name"], published["devices"][0]["name"])
    assert published["nodeName"] == published["pool"]["name"]
    assert published["devices"][0]["consumesCounters"][0]["counterSet"] == published["sharedCounters"][0]["name"]
    assert (published["devices"][0]["attributes"], published["devices"][0]["capacity"]) == (device["attributes"], device["capacity"])
    selector = {"driver": published["driver"], "pool": result["pool"], "device": result["device"]}
    assert rule["spec"]["deviceSelector"] == selector
    assert asked["firstAvailable"][0]["deviceClassName"] == device_class["metadata"]["name"]
    assert device_class["spec"]["selectors"][0]["cel"]["expression"] == expression
    assert member["spec"]["schedulingGroup"]["podGroupName"] == group["metadata"]["name"]
    assert member["spec"]["resourceClaims"][0]["resourceClaimName"] == claim["metadata"]["name"]
    assert list(member["spec"]["resources"]["limits"]) == [f"deviceclass.resource.kubernetes.io/{device_class['metadata']['name']}"]


def renamed(content: dict[str, Any]) -> dict[str, Any]:
    return codec.to_dict(Pseudonyms("secret").objects([default_object(codec.from_dict(content))])[0])


def test_a_claim_still_names_its_class_and_its_node_in_annotations() -> None:
    node_name, class_name = renamed(node(1))["metadata"]["name"], Pseudonyms("secret").name("payroll-fast")
    selected, storage_class = "volume.kubernetes.io/selected-node", "volume.beta.kubernetes.io/storage-class"
    annotations = {selected: "rack-7-1", storage_class: "payroll-fast", "pv.kubernetes.io/bind-completed": "yes"}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "ledger", "namespace": "acme", "annotations": annotations},
    }

    assert renamed(claim)["metadata"]["annotations"] == {**annotations, selected: node_name, storage_class: class_name}


def test_the_volume_limits_of_a_driver_still_apply_to_its_volumes() -> None:
    driver = "ebs.csi.aws.com"
    entry = {"name": driver, "nodeID": "rack-7-1-id", "topologyKeys": [f"topology.{driver}/zone", "acme.example/rack"]}
    csi_node = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "rack-7-1"},
        "spec": {"drivers": [{**entry, "allocatable": {"count": 1}}]},
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "payroll-volume", "labels": {"topology.kubernetes.io/zone": "berlin-0__berlin-1"}},
        "spec": {"csi": {"driver": driver, "volumeHandle": "payroll-handle"}},
    }
    csi_driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": driver}, "spec": {"storageCapacity": True}}

    nodes, volumes, drivers = renamed(csi_node), renamed(volume), renamed(csi_driver)

    (published,) = nodes["spec"]["drivers"]
    assert published["name"] == volumes["spec"]["csi"]["driver"] == drivers["metadata"]["name"] == driver
    assert published["topologyKeys"][0] == f"topology.{driver}/zone"
    assert nodes["metadata"]["name"] == Pseudonyms("secret").name("rack-7-1")
    zones = [Pseudonyms("secret").name(f"berlin-{number}") for number in range(2)]
    assert volumes["metadata"]["labels"] == {"topology.kubernetes.io/zone": "__".join(zones)}
    assert not [word for word in SECRET_WORDS if word in str([nodes, volumes, drivers])]


def test_custom_owners_disrupted_pods_and_pods_to_avoid_are_renamed() -> None:
    owner = {"apiVersion": "acme.example/v1", "kind": "PayrollJob", "name": "payroll", "uid": "1", "controller": True}
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "payroll", "uid": "acme-2", "controller": True}
    owned = pod("owned")
    owned["metadata"]["ownerReferences"] = [owner, {**replica_set, "controller": False}]
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "payroll", "namespace": "acme"},
        "status": {"disruptedPods": {"payroll-owned": "2024-01-01T00:00:00Z"}},
    }
    entry = {"podSignature": {"podController": replica_set}, "reason": "berlin", "message": "of acme"}
    avoiding = node(1)
    avoiding["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/preferAvoidPods": json.dumps({"preferAvoidPods": [entry]})}

    custom, known = renamed(owned)["metadata"]["ownerReferences"]
    (disrupted,) = renamed(budget)["status"]["disruptedPods"]
    (avoided,) = json.loads(renamed(avoiding)["metadata"]["annotations"].popitem()[1])["preferAvoidPods"]

    assert not [word for word in ("acme", "Payroll", "payroll", "berlin") if word in str([custom, known, disrupted, avoided])]
    assert (known["apiVersion"], known["kind"]) == ("apps/v1", "ReplicaSet")
    assert disrupted == renamed(owned)["metadata"]["name"]
    assert avoided["podSignature"]["podController"]["uid"] == known["uid"]


#: Members whose texts are kept: what Kubernetes or a driver defines, times, addresses and names of schedulers.
KEPT_MEMBERS = {
    *("accessModes", "action", "allocationMode", "allocationTimestamp", "apiGroup", "apiVersion", "attacher", "bindingConditions"),
    *("bindingFailureConditions", "capacityKey", "creationTimestamp", "declaredFeatures", "deletionTimestamp", "disruptionMode"),
    *("distinctAttribute", "driver", "effect", "expression", "hostIP", "kind", "lastTransitionTime", "matchAttribute"),
    *("maxUnavailable", "minAvailable", "nodeAffinityPolicy", "nodeTaintsPolicy", "operator", "phase", "preemptionPolicy", "protocol"),
    *("provisioner", "reason", "resource", "resourceVersion", "restartPolicy", "schedulerName", "startTime", "status", "string", "strings"),
    *("timeAdded", "type", "unhealthyPodEvictionPolicy", "version", "versions", "volumeBindingMode", "volumeMode", "whenUnsatisfiable"),
}
#: Maps whose keys are kept: annotations have values instead, and the others are defined by drivers of devices.
KEPT_MAPS = {"annotations", "attributes", "counters", "consumedCapacity"}


def text_members(info: msgspec.inspect.Type, member: str, seen: set[type]) -> Iterator[tuple[str, bool]]:
    """The members of a struct that are texts or lists of texts (False), or maps (True)."""
    match info:
        case msgspec.inspect.StructType() if info.cls not in seen:
            seen.add(info.cls)
            for field in info.fields:
                yield from text_members(field.type, field.encode_name, seen)
        case msgspec.inspect.UnionType():
            for one in info.types:
                yield from text_members(one, member, seen)
        case msgspec.inspect.VarTupleType() | msgspec.inspect.ListType():
            yield from text_members(info.item_type, member, seen)
        case msgspec.inspect.DictType():
            yield member, True
            yield from text_members(info.value_type, "", seen)
        case msgspec.inspect.StrType() if member:
            yield member, False


def test_every_text_of_an_object_is_renamed_or_known_to_be_kept() -> None:
    seen: set[type] = set()
    members = {found for kind in KINDS for found in text_members(msgspec.inspect.type_info(kind.type), "", seen)}
    pseudonyms = Pseudonyms("secret")
    secret, selector = "acme-secret", {"key": "acme.example/key", "operator": "In"}

    def leaks(member: str, *, is_map: bool) -> bool:
        if is_map:
            entry: Any = {"capacityKey": "size"} if member == "nodeAllocatableResourceMappings" else "1"
            return "acme" in str(pseudonyms._walk({secret: entry}, member))
        if member in {"value", "values"}:
            value: Any = {**selector, "values": [secret]} if member == "values" else {**selector, "value": secret}
            return "acme" in str(pseudonyms._walk(value, "matchExpressions"))
        return "acme" in str(pseudonyms._walk({member: secret}, "")) and "acme" in str(pseudonyms._walk({member: [secret]}, ""))

    kept = {member for member, is_map in members if leaks(member, is_map=is_map)}
    assert kept == {member for member, _ in members} & (KEPT_MEMBERS | KEPT_MAPS)
