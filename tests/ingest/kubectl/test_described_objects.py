"""The output of `kubectl describe` becomes objects where it has what the scheduler needs."""

from __future__ import annotations

import pytest

from schedviz.ingest.errors import UnreadableFile
from schedviz.ingest.load import Import, load
from schedviz.kube.core import Node, Pod
from tests.ingest.sources import source

NODE = """Name:               worker-1
Roles:              <none>
Labels:             disk=ssd
                    kubernetes.io/hostname=worker-1
Annotations:        node.alpha.kubernetes.io/ttl: 0
Taints:             gpu=true:NoSchedule
                    spot:NoExecute
Unschedulable:      true
Capacity:
  cpu:     8
  pods:    110
Allocatable:
  cpu:             3900m
  memory:          15Gi
  nvidia.com/gpu:  1
  pods:            110
System Info:
  Machine ID:       1
  Kubelet Version:  v1.27.3
Non-terminated Pods:          (2 in total)
  Namespace    Name       CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------    ----       ------------  ----------  ---------------  -------------  ---
  kube-system  coredns-1  100m (2%)     0 (0%)      70Mi (0%)        170Mi (1%)     5d
  shop         web-1      2 (51%)       2 (51%)     1Gi (6%)         1Gi (6%)       1h
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
Events:              <none>
"""
POD = """

Name:             web-2
Namespace:        shop
Priority:         100
Service Account:  default
Node:             <none>
Labels:           app=web
Status:           Pending
IP:
Containers:
  main:
    Image:      registry.example/web
    Port:       80/TCP
    Host Port:  8080/TCP
    Limits:
      cpu:     3
    Requests:
      cpu:        3
      memory:     1Gi
    Environment:  <none>
    Mounts:
      /data from data (rw)
Volumes:
  data:
    Type:       PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)
    ClaimName:  web-data
    ReadOnly:   false
QoS Class:       Burstable
Node-Selectors:  disk=ssd
Tolerations:     gpu=true:NoSchedule
                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
Events:
  Type     Reason            Age  From               Message
  ----     ------            ---  ----               -------
  Warning  FailedScheduling  5m   default-scheduler  0/1 nodes are available: 1 Insufficient cpu.
"""


def read(text: str) -> Import:
    return load([source(text, "described.txt")])


def test_a_described_node_is_a_node_with_its_pods() -> None:
    [node] = [obj for obj in read(NODE).objects if isinstance(obj, Node)]

    assert node.name == "worker-1"
    assert node.metadata.labels == {"disk": "ssd", "kubernetes.io/hostname": "worker-1"}
    assert [(taint.key, taint.value, taint.effect) for taint in node.spec.taints] == [
        ("gpu", "true", "NoSchedule"),
        ("spot", "", "NoExecute"),
    ]
    assert node.spec.unschedulable
    assert {name: str(amount) for name, amount in node.status.allocatable.items()} == {
        "cpu": "3900m",
        "memory": "15Gi",
        "nvidia.com/gpu": "1",
        "pods": "110",
    }


def test_the_pods_of_its_table_have_their_requests() -> None:
    pods = {obj.key: obj for obj in read(NODE).objects if isinstance(obj, Pod)}

    assert pods.keys() == {"kube-system/coredns-1", "shop/web-1"}
    assert pods["shop/web-1"].spec.node_name == "worker-1"
    assert str(pods["shop/web-1"].spec.containers[0].resources.requests["cpu"]) == "2"


def test_a_described_pod_has_requests_selector_tolerations_ports_claims_and_its_message() -> None:
    [pod] = [obj for obj in read(NODE + POD).objects if isinstance(obj, Pod) and obj.name == "web-2"]

    [container] = pod.spec.containers
    assert {name: str(amount) for name, amount in container.resources.requests.items()} == {"cpu": "3", "memory": "1Gi"}
    assert [port.host_port for port in container.ports] == [8080]
    assert pod.spec.node_selector == {"disk": "ssd"}
    assert [(toleration.key, toleration.operator, toleration.effect) for toleration in pod.spec.tolerations][:2] == [
        ("gpu", "Equal", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "Exists", "NoExecute"),
    ]
    [volume] = pod.spec.volumes
    assert volume.persistent_volume_claim is not None
    assert volume.persistent_volume_claim.claim_name == "web-data"
    assert pod.spec.priority == 100
    assert pod.status.conditions[0].message == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_pod_that_is_described_and_in_the_table_is_one_pod() -> None:
    result = read(NODE + POD.replace("web-2", "web-1").replace("Node:             <none>", "Node:             worker-1/10.0.0.1"))

    assert [obj.key for obj in result.objects if isinstance(obj, Pod)] == ["kube-system/coredns-1", "shop/web-1"]


def test_the_limit_of_descriptions_is_named() -> None:
    assert any("omits affinity, topology spread constraints, and" in warning for warning in read(NODE).report.warnings)


def test_a_described_pod_without_nodes_stays_a_message() -> None:
    with pytest.raises(UnreadableFile, match=r"contains? messages of the scheduler, but no Kubernetes objects.*explain -f FILE"):
        read(POD.lstrip())


ALLOCATED = """Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests     Limits
  --------           --------     ------
  cpu                2100m (53%)  0 (0%)
  memory             1094Mi (7%)  0 (0%)
  nvidia.com/gpu     1            1
  hugepages-2Mi      0 (0%)       0 (0%)
"""
WITH_TOTAL = NODE.replace(NODE[NODE.index("Allocated resources:") : NODE.index("Events:")], ALLOCATED)


def test_what_the_listed_pods_request_of_devices_is_the_total_of_their_node() -> None:
    objects = read(WITH_TOTAL).objects
    pods = {obj.key: obj for obj in objects if isinstance(obj, Pod)}
    other = pods["default/other-pods-on-worker-1"]
    assert pods.keys() == {"kube-system/coredns-1", "shop/web-1", other.key}
    assert {name: str(amount) for name, amount in other.spec.containers[0].resources.requests.items()} == {"nvidia.com/gpu": "1"}
    # It stands for pods that are counted already.
    [node] = [obj for obj in objects if isinstance(obj, Node)]
    assert str(node.status.allocatable["pods"]) == "111"


def test_without_the_list_of_pods_one_pod_has_all_that_the_described_ones_have_not() -> None:
    node = WITH_TOTAL[: WITH_TOTAL.index("Non-terminated Pods:")] + ALLOCATED
    on_node = POD.replace("Node:             <none>", "Node:             worker-1/10.0.0.1").replace("cpu:        3", "cpu:        600m")
    pods = {obj.key: obj for obj in read(node + on_node).objects if isinstance(obj, Pod)}
    requests = pods["default/other-pods-on-worker-1"].spec.containers[0].resources.requests
    assert {name: str(amount) for name, amount in requests.items()} == {"cpu": "1500m", "memory": "70Mi", "nvidia.com/gpu": "1"}
