"""The defaults of an API server."""

import pytest

from schedviz.kube import codec
from schedviz.kube.defaults import default_object


def made(kind, api_version="v1", metadata=None, **members):
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", **(metadata or {})}, **members}
    return default_object(codec.from_dict(obj))


def test_requests_default_to_limits_and_are_rounded_up_to_thousandths():
    container = {"name": "c", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "0.0001"}}}
    pod = made("Pod", spec={"containers": [container], "initContainers": [container], "overhead": {"cpu": "1u"}})
    for spec in pod.spec.all_containers:
        assert {name: str(amount) for name, amount in spec.resources.requests.items()} == {"cpu": "1m", "memory": "1Gi"}
    assert str(pod.spec.overhead["cpu"]) == "1m"


def test_ports_are_tcp_and_host_ports_in_the_hosts_network():
    ports = [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP", "hostPort": 5353}]
    bridged = made("Pod", spec={"containers": [{"name": "c", "ports": ports}]}).spec.containers[0].ports
    assert [(port.protocol, port.host_port) for port in bridged] == [("TCP", 0), ("UDP", 5353)]
    host = made("Pod", spec={"hostNetwork": True, "containers": [{"name": "c", "ports": ports}]}).spec.containers[0].ports
    assert [port.host_port for port in host] == [80, 5353]


def test_a_pod_gets_scheduler_grace_period_phase_and_namespace():
    pod = made("Pod")
    assert pod.spec.scheduler_name == "default-scheduler"
    assert pod.spec.termination_grace_period_seconds == 30
    assert pod.status.phase == "Pending"
    assert pod.key == "default/x"


def test_given_values_are_kept_and_the_object_is_not_copied():
    pod = made("Pod", spec={"schedulerName": "mine", "terminationGracePeriodSeconds": 0}, status={"phase": "Running"})
    assert (pod.spec.scheduler_name, pod.spec.termination_grace_period_seconds, pod.status.phase) == ("mine", 0, "Running")
    assert default_object(pod) is pod


def test_allocatable_defaults_to_capacity():
    node = made("Node", metadata={"namespace": "nonsense"}, status={"capacity": {"cpu": "4"}})
    assert str(node.status.allocatable["cpu"]) == "4"
    assert node.key == "x"
    assert str(made("Node", status={"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}).status.allocatable["cpu"]) == "3"


def test_a_namespace_is_labelled_with_its_name():
    assert made("Namespace", metadata={"labels": {"a": "b"}}).metadata.labels == {"a": "b", "kubernetes.io/metadata.name": "x"}


def test_a_replication_controller_selects_the_labels_of_its_template():
    controller = made("ReplicationController", spec={"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}})
    assert controller.spec.selector == {"app": "web"}
    assert controller.metadata.labels == {"app": "web"}


@pytest.mark.parametrize(
    ("kind", "spec", "phase"),
    [
        ("PersistentVolume", {}, "Available"),
        ("PersistentVolume", {"claimRef": {"name": "c", "namespace": "default"}}, "Bound"),
        ("PersistentVolumeClaim", {}, "Pending"),
        ("PersistentVolumeClaim", {"volumeName": "v"}, "Bound"),
    ],
)
def test_volumes_and_claims_get_mode_and_phase(kind, spec, phase):
    obj = made(kind, spec=spec)
    assert (obj.spec.volume_mode, obj.status.phase) == ("Filesystem", phase)


def test_a_storage_class_binds_immediately():
    assert made("StorageClass", "storage.k8s.io/v1", provisioner="p").volume_binding_mode == "Immediate"


@pytest.mark.parametrize("kind", ["Service", "Pod", "Node"])
def test_defaulting_again_changes_nothing(kind):
    once = made(kind)
    assert default_object(once) == once
