"""Objects of dynamic resource allocation and pod groups keep what the scheduler of v1.36 reads."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedviz.kube import codec
from schedviz.kube.defaults import default_object
from schedviz.kube.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from schedviz.kube.errors import DecodeError, UnknownKindError
from schedviz.kube.kinds import BY_NAME, WATCHED_KINDS, WATCHED_KINDS_V1_36
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import VolumeAttachment
from schedviz.kube.workloads import PodGroup

RESOURCE = "resource.k8s.io/v1"
REQUEST = {
    "name": "gpu",
    "firstAvailable": [
        {
            "name": "large",
            "deviceClassName": "gpu",
            "selectors": [{"cel": {"expression": 'device.attributes["gpu.example"].model == "a"'}}],
            "capacity": {"requests": {"memory": "40Gi"}},
        },
        {"name": "small", "deviceClassName": "gpu", "allocationMode": "All", "tolerations": [{"key": "k", "operator": "Exists"}]},
    ],
}
CLAIM: dict[str, Any] = {
    "apiVersion": RESOURCE,
    "kind": "ResourceClaim",
    "metadata": {"name": "c", "namespace": "shop", "finalizers": ["resource.kubernetes.io/delete-protection"]},
    "spec": {
        "devices": {
            "requests": [REQUEST, {"name": "nic", "exactly": {"deviceClassName": "nic", "count": 2, "adminAccess": True}}],
            "constraints": [{"requests": ["gpu", "nic"], "matchAttribute": "example.com/numa"}],
            "config": [{"opaque": {"driver": "gpu.example", "parameters": {"password": "hush"}}}],
        }
    },
    "status": {
        "allocation": {
            "devices": {"results": [{"request": "gpu/large", "driver": "gpu.example", "pool": "n1", "device": "d1", "shareID": "s"}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]},
        },
        "reservedFor": [{"resource": "pods", "name": "web", "uid": "u"}],
        "devices": [
            {"driver": "gpu.example", "pool": "n1", "device": "d1", "conditions": [{"type": "Ready", "status": "True"}], "data": {"a": 1}}
        ],
    },
}
SLICE: dict[str, Any] = {
    "apiVersion": RESOURCE,
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "gpu.example",
        "pool": {"name": "n1", "generation": 2, "resourceSliceCount": 1},
        "nodeName": "n1",
        "sharedCounters": [{"name": "set", "counters": {"slots": {"value": "8"}}}],
        "devices": [
            {
                "name": "d1",
                "attributes": {"model": {"string": "a"}, "numa": {"int": 1}, "fast": {"bool": True}, "fw": {"version": "1.2.3"}},
                "capacity": {"memory": {"value": "80Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}},
                "consumesCounters": [{"counterSet": "set", "counters": {"slots": {"value": "2"}}}],
                "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
                "allowMultipleAllocations": True,
            }
        ],
    },
}
OTHERS: list[dict[str, Any]] = [
    {
        "apiVersion": RESOURCE,
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": "true"}}], "extendedResourceName": "example.com/gpu"},
    },
    {"apiVersion": RESOURCE, "kind": "ResourceClaimTemplate", "metadata": {"name": "t"}, "spec": {"spec": CLAIM["spec"]}},
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": "a"},
        "spec": {"attacher": "csi.example", "nodeName": "n1", "source": {"persistentVolumeName": "v"}},
        "status": {"attached": True},
    },
    {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "shop"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "priority": 5},
        "status": {"conditions": [{"type": "PodGroupScheduled", "status": "False", "reason": "Unschedulable"}]},
    },
    {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "shop"},
        "spec": {"podGroupTemplates": [{"name": "workers", "schedulingPolicy": {"basic": {}}}]},
    },
]


def read(data: dict[str, Any]) -> KubeObject:
    """The object; strictly and leniently the same."""
    obj = codec.decode(msgspec.json.encode(data), strict=True)
    assert codec.from_dict(data) == obj
    return obj


RULE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1beta2",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "broken"},
    "spec": {
        "deviceSelector": {"driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"},
        "taint": {"key": "example.com/broken", "value": "fan", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
    },
}


@pytest.mark.parametrize("data", [CLAIM, SLICE, RULE, *OTHERS], ids=lambda data: str(data["kind"]))
def test_each_kind_is_read_strictly_and_written_as_it_was_read(data: dict[str, Any]) -> None:
    obj = read(data)
    assert codec.from_dict(codec.to_dict(obj), strict=True) == obj
    assert BY_NAME[data["kind"]].is_ignored_by_v1_27


def test_a_claim_keeps_requests_allocation_and_finalizers_but_no_driver_configuration() -> None:
    claim = read(CLAIM)
    assert isinstance(claim, ResourceClaim)
    gpu, nic = claim.spec.devices.requests
    assert nic.exactly is not None
    assert (nic.exactly.count, nic.exactly.admin_access) == (2, True)
    assert [one.name for one in gpu.first_available] == ["large", "small"]
    assert claim.metadata.finalizers == ("resource.kubernetes.io/delete-protection",)
    assert claim.status.allocation is not None
    assert claim.status.allocation.devices.results[0].share_id == "s"
    assert claim.status.devices[0].conditions[0].type == "Ready"
    assert "hush" not in str(codec.to_dict(claim))


def test_a_change_of_what_a_claim_does_not_keep_changes_its_digest() -> None:
    other = {**CLAIM, "spec": {"devices": {**CLAIM["spec"]["devices"], "config": []}}}
    claim = read(CLAIM)
    assert read(other).unread != claim.unread
    assert read(other).unread.partition(".")[2] == claim.unread.partition(".")[2]


def test_a_slice_keeps_attributes_capacities_and_counters() -> None:
    slice_ = read(SLICE)
    assert isinstance(slice_, ResourceSlice)
    (device,) = slice_.spec.devices
    assert device.attributes["model"].string_value == "a"
    assert (device.attributes["numa"].int_value, device.attributes["fast"].bool_value) == (1, True)
    assert device.attributes["fw"].version_value == "1.2.3"
    memory = device.capacity["memory"]
    assert memory.request_policy is not None
    assert memory.request_policy.valid_range is not None
    assert (str(memory.value), str(memory.request_policy.valid_range.step)) == ("80Gi", "1Gi")
    assert str(device.consumes_counters[0].counters["slots"].value) == "2"
    assert slice_.unread == ""


def test_classes_attachments_and_groups_keep_what_is_read() -> None:
    device_class, template, attachment, group, _ = map(read, OTHERS)
    assert isinstance(device_class, DeviceClass)
    assert device_class.spec.extended_resource_name == "example.com/gpu"
    assert isinstance(template, ResourceClaimTemplate)
    assert len(template.spec.spec.devices.requests) == 2
    assert isinstance(attachment, VolumeAttachment)
    assert (attachment.spec.source.persistent_volume_name, attachment.spec.node_name) == ("v", "n1")
    assert isinstance(group, PodGroup)
    assert group.spec.scheduling_policy.gang is not None
    assert (group.spec.scheduling_policy.gang.min_count, group.spec.priority) == (3, 5)


def test_a_taint_rule_keeps_selector_and_taint_and_not_its_status() -> None:
    rule = read(RULE | {"status": {"conditions": [{"type": "EvictionInProgress", "status": "False"}]}})
    assert isinstance(rule, DeviceTaintRule)
    assert rule.spec.device_selector is not None
    assert (rule.spec.device_selector.driver, rule.spec.device_selector.pool, rule.spec.device_selector.device) == (
        "gpu.example.com",
        "n1",
        "gpu-0",
    )
    assert (rule.spec.taint.key, rule.spec.taint.value, rule.spec.taint.effect) == ("example.com/broken", "fan", "NoExecute")
    assert "EvictionInProgress" not in str(codec.to_dict(rule))


def test_a_taint_rule_is_read_in_each_version_that_v1_36_serves() -> None:
    assert read(RULE | {"apiVersion": "resource.k8s.io/v1alpha3"}) == read(RULE)
    with pytest.raises(UnknownKindError, match="apiVersion"):
        codec.from_dict(RULE | {"apiVersion": "resource.k8s.io/v1"})


def test_the_time_of_a_taint_rule_is_checked() -> None:
    taint = RULE["spec"]["taint"] | {"timeAdded": "yesterday"}
    with pytest.raises(DecodeError, match=r"spec\.taint\.timeAdded"):
        codec.from_dict(RULE | {"spec": {"taint": taint}})


def test_requests_are_for_an_exact_count_of_one_by_default() -> None:
    claim = default_object(read(CLAIM))
    assert isinstance(claim, ResourceClaim)
    gpu, nic = claim.spec.devices.requests
    assert nic.exactly is not None
    assert (nic.exactly.allocation_mode, nic.exactly.count) == ("ExactCount", 2)
    assert [(one.allocation_mode, one.count) for one in gpu.first_available] == [("ExactCount", 1), ("All", 0)]
    assert default_object(claim) is claim


def test_the_scheduler_of_v1_27_1_watches_none_of_them() -> None:
    later = {kind.name for kind in WATCHED_KINDS_V1_36} - {kind.name for kind in WATCHED_KINDS}
    assert later == {"VolumeAttachment", "DeviceClass", "DeviceTaintRule", "ResourceSlice", "ResourceClaim", "PodGroup"}
