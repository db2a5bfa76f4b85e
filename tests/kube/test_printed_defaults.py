"""The members that the API server fills in and the scheduler does not read."""

from __future__ import annotations

from typing import Any

from schedviz.kube.printed_defaults import complete_node, complete_pod, without_empty


def completed(spec: dict[str, Any], status: dict[str, Any] | None = None) -> dict[str, Any]:
    pod = {"spec": spec, "status": status or {}}
    complete_pod(pod)
    return pod


def container(**members: Any) -> dict[str, Any]:
    spec: dict[str, Any] = completed({"containers": [{"name": "c", "image": "img:1", **members}]})["spec"]
    found: dict[str, Any] = spec["containers"][0]
    return found


def volume(**members: Any) -> dict[str, Any]:
    found: dict[str, Any] = completed({"volumes": [{"name": "v", **members}]})["spec"]["volumes"][0]
    return found


def test_a_pod_gets_the_defaults_of_its_spec() -> None:
    spec = {"dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "restartPolicy": "Always", "securityContext": {}}
    assert completed({}) == {"spec": spec, "status": {}}


def test_written_members_are_kept() -> None:
    written = {"dnsPolicy": "None", "enableServiceLinks": False, "restartPolicy": "Never", "securityContext": {"runAsUser": 0}}
    assert completed(dict(written))["spec"] == written


def test_all_three_kinds_of_containers_get_defaults() -> None:
    defaults = {"imagePullPolicy": "Always", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    kinds = ("containers", "initContainers", "ephemeralContainers")

    spec = completed({kind: [{"name": "c", "image": "img", "ports": [{"containerPort": 80}]}] for kind in kinds})["spec"]

    for kind in kinds:
        one = {"name": "c", "image": "img", "resources": {}, "ports": [{"containerPort": 80, "protocol": "TCP"}], **defaults}
        assert spec[kind] == [one]


def test_probes_and_handlers_get_defaults() -> None:
    probes = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}

    one = container(
        livenessProbe={"httpGet": {"port": 80}},
        readinessProbe={"grpc": {"port": 81}, "periodSeconds": 5},
        startupProbe={"tcpSocket": {"port": 82}},
        lifecycle={"preStop": {"httpGet": {"port": 83}}},
    )

    assert one["livenessProbe"] == {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, **probes}
    assert one["readinessProbe"] == {"grpc": {"port": 81, "service": ""}, **probes, "periodSeconds": 5}
    assert one["startupProbe"] == {"tcpSocket": {"port": 82}, **probes}
    assert one["lifecycle"] == {"preStop": {"httpGet": {"port": 83, "path": "/", "scheme": "HTTP"}}}


def test_references_to_fields_of_the_pod_get_defaults() -> None:
    env = [
        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    ]

    found = container(env=env)["env"]

    assert found[0]["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}
    assert found[1]["valueFrom"] == {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}


def test_volumes_get_the_defaults_of_their_sources() -> None:
    assert volume() == {"name": "v", "emptyDir": {}}
    assert volume(emptyDir={"sizeLimit": "1024Mi"})["emptyDir"] == {"sizeLimit": "1Gi"}
    assert volume(hostPath={"path": "/x"})["hostPath"] == {"path": "/x", "type": ""}
    for source in ("secret", "configMap", "downwardAPI"):
        assert volume(**{source: {}})[source] == {"defaultMode": 420}
    assert volume(image={"reference": "img"})["image"] == {"reference": "img", "pullPolicy": "Always"}
    assert volume(ephemeral={"volumeClaimTemplate": {"spec": {}}})["ephemeral"] == {
        "volumeClaimTemplate": {"spec": {"volumeMode": "Filesystem"}}
    }
    sources = [{"serviceAccountToken": {"path": "t"}}, {"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "f"}}]}}]
    assert volume(projected={"sources": sources})["projected"] == {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}},
            {"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "f", "apiVersion": "v1"}}]}},
        ],
    }


def test_statuses_show_members_that_go_never_omits() -> None:
    status = completed({}, {"conditions": [{"type": "Ready"}], "containerStatuses": [{"name": "c", "ready": True}]})["status"]

    assert status["conditions"] == [{"type": "Ready", "lastProbeTime": None, "lastTransitionTime": None}]
    assert status["containerStatuses"] == [
        {"name": "c", "ready": True, "restartCount": 0, "image": "", "imageID": "", "state": {}, "lastState": {}}
    ]


def test_a_node_shows_its_empty_members() -> None:
    node: dict[str, Any] = {"status": {"nodeInfo": {"osImage": "Linux"}}}

    complete_node(node)

    assert node["spec"] == {}
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert node["status"]["nodeInfo"]["osImage"] == "Linux"
    assert node["status"]["nodeInfo"]["kubeletVersion"] == ""
    assert len(node["status"]["nodeInfo"]) == 10


def test_members_that_mean_absent_are_left_out() -> None:
    written = {"command": [], "hostPID": False, "automount": False, "initialDelaySeconds": 0, "runAsUser": 0, "x": None, "y": {"z": ""}}
    assert without_empty(written) == {"automount": False, "runAsUser": 0, "y": {}}
