"""A large cluster as `kubectl get nodes,pods -A -o json` (or yaml) prints it: always the same bytes, and without a cluster.

A pod has the fields of a Deployment's pod: probes, environment, volumes, conditions, statuses, and the token volume. That
makes about 9 KB of JSON and 4.3 KB of YAML, nearly all of which the scheduler never reads. This is what makes imports slow.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import ryaml

Format = Literal["json", "yaml"]

#: Number of Deployments in a cluster. Pods of one Deployment have one spec.
DEPLOYMENTS: Final = 250
_ZONES: Final = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
_CREATED_AT: Final = "2024-03-01T08:00:00Z"
_STARTED_AT: Final = "2024-03-01T08:00:07Z"


def kubectl_dump(nodes: int, pods: int, form: Format, *, pending: int = 0) -> Iterator[bytes]:
    """The text in chunks; the last `pending` pods have no node yet."""
    yield _HEAD[form]
    templates = [_Template(_node(), form, first=True), _Template(_node(), form)]
    for index in range(nodes):
        yield templates[index > 0].fill(_names_of_node(index))
    of_deployment = [_Template(_pod(number), form) for number in range(min(DEPLOYMENTS, pods))]
    waiting = [_Template(_pending(_pod(number)), form) for number in range(min(DEPLOYMENTS, pods) if pending else 0)]
    for index in range(pods):
        some = waiting if index >= pods - pending else of_deployment
        yield some[index % len(some)].fill(_names_of_pod(index, nodes))
    yield _TAIL[form]


class _Template:
    """An object as a template: filling it in is a hundred times as fast as encoding an object."""

    def __init__(self, content: dict[str, Any], form: Format, *, first: bool = False) -> None:
        self._text = _PRINT[form](content, first=first)

    def fill(self, names: dict[str, str]) -> bytes:
        text = self._text
        for gap, name in names.items():
            text = text.replace(f"@{gap}@", name)
        return text.encode()


def _as_json(content: dict[str, Any], *, first: bool) -> str:
    lines = json.dumps(content, indent=4, sort_keys=True).splitlines()
    return ("" if first else ",\n") + "\n".join(f"        {line}" for line in lines)


def _as_yaml(content: dict[str, Any], *, first: bool) -> str:
    del first
    text: str = ryaml.dumps(json.loads(json.dumps(content, sort_keys=True)))
    first_line, *others = text.rstrip("\n").split("\n")
    return "\n".join((f"- {first_line}", *(f"  {line}" for line in others), ""))


_PRINT: Final[dict[str, Callable[..., str]]] = {"json": _as_json, "yaml": _as_yaml}
_HEAD: Final[dict[str, bytes]] = {"json": b'{\n    "apiVersion": "v1",\n    "items": [\n', "yaml": b"apiVersion: v1\nitems:\n"}
_TAIL: Final[dict[str, bytes]] = {
    "json": b'\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n',
    "yaml": b'kind: List\nmetadata:\n  resourceVersion: ""\n',
}


def _uid(name: str) -> str:
    digits = hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _names_of_node(index: int) -> dict[str, str]:
    name = f"ip-10-{index >> 8 & 255}-{index & 255}-7.eu-west-1.compute.internal"
    return {
        "name": name,
        "uid": _uid(name),
        "zone": _ZONES[index % 3],
        "ip": f"10.{index >> 8 & 255}.{index & 255}.7",
        "version": f"{index}",
    }


def _names_of_pod(index: int, nodes: int) -> dict[str, str]:
    deployment = index % DEPLOYMENTS
    suffix = hashlib.blake2b(str(index).encode(), digest_size=3).hexdigest()[:5]
    name = f"service-{deployment:03d}-7d9c6b5f4c-{suffix}{index // DEPLOYMENTS:03d}"
    node = _names_of_node(index % nodes)
    return {
        "name": name,
        "uid": _uid(name),
        "node": node["name"],
        "host": node["ip"],
        "ip": f"100.{64 + (index >> 16)}.{index >> 8 & 255}.{index & 255}",
        "version": str(1_000_000 + index),
        # Admission names the token volume differently in each pod, so no two specs have the same bytes.
        "token": suffix,
        "container": hashlib.blake2b(name.encode(), digest_size=32).hexdigest(),
    }


def _node() -> dict[str, Any]:
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "@name@",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m6i.4xlarge",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": "@zone@",
    }
    amounts = {"cpu": "16", "ephemeral-storage": "209702892Ki", "hugepages-2Mi": "0", "memory": "65408328Ki", "pods": "234"}
    spare = {**amounts, "cpu": "15890m", "ephemeral-storage": "192188443724", "memory": "62392648Ki"}
    conditions = [
        _condition(kind, status, reason, f"kubelet has {reason}")
        for kind, status, reason in (
            ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID"),
            ("Ready", "True", "KubeletReady"),
        )
    ]
    images = [
        {
            "names": [f"registry.example.com/platform/image-{number:02d}@sha256:{number:064x}"],
            "sizeBytes": 90_000_000 + number * 1_000_000,
        }
        for number in range(20)
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {"node.alpha.kubernetes.io/ttl": "300", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            "creationTimestamp": _CREATED_AT,
            "labels": labels,
            "name": "@name@",
            "resourceVersion": "@version@",
            "uid": "@uid@",
        },
        "spec": {"podCIDR": "100.64.0.0/24", "providerID": "aws:///@zone@/i-@uid@"},
        "status": {
            "addresses": [{"address": "@ip@", "type": "InternalIP"}, {"address": "@name@", "type": "Hostname"}],
            "allocatable": spare,
            "capacity": amounts,
            "conditions": conditions,
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": images,
            "nodeInfo": {"architecture": "amd64", "kernelVersion": "5.10.210", "kubeletVersion": "v1.27.1", "osImage": "Amazon Linux 2"},
        },
    }


def _condition(kind: str, status: str, reason: str, message: str) -> dict[str, Any]:
    return {
        "lastHeartbeatTime": _STARTED_AT,
        "lastTransitionTime": _STARTED_AT,
        "message": message,
        "reason": reason,
        "status": status,
        "type": kind,
    }


def _pod(deployment: int) -> dict[str, Any]:
    service = f"service-{deployment:03d}"
    labels = {
        "app.kubernetes.io/instance": service,
        "app.kubernetes.io/managed-by": "Helm",
        "app.kubernetes.io/name": service,
        "app.kubernetes.io/version": "4.17.2",
        "pod-template-hash": "7d9c6b5f4c",
        "team": f"team-{deployment % 20:02d}",
    }
    owner = {
        "apiVersion": "apps/v1",
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": "ReplicaSet",
        "name": f"{service}-7d9c6b5f4c",
        "uid": _uid(service),
    }
    spec: dict[str, Any] = {
        "containers": [_container("app", service, deployment)],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "nodeName": "@node@",
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {"fsGroup": 2000, "runAsNonRoot": True, "runAsUser": 1000},
        "serviceAccount": service,
        "serviceAccountName": service,
        "terminationGracePeriodSeconds": 30,
        "tolerations": [
            {"effect": "NoExecute", "key": f"node.kubernetes.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
            for key in ("not-ready", "unreachable")
        ],
        "volumes": [
            {"configMap": {"defaultMode": 420, "name": f"{service}-config"}, "name": "config"},
            _token_volume(),
        ],
    }
    if deployment % 5 == 0:
        spec["topologySpreadConstraints"] = [
            {
                "labelSelector": {"matchLabels": {"app.kubernetes.io/name": service}},
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
            }
        ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"checksum/config": hashlib.sha256(service.encode()).hexdigest(), "prometheus.io/scrape": "true"},
            "creationTimestamp": _CREATED_AT,
            "generateName": f"{service}-7d9c6b5f4c-",
            "labels": labels,
            "name": "@name@",
            "namespace": f"team-{deployment % 20:02d}",
            "ownerReferences": [owner],
            "resourceVersion": "@version@",
            "uid": "@uid@",
        },
        "spec": spec,
        "status": {
            "conditions": [
                {"lastProbeTime": None, "lastTransitionTime": _STARTED_AT, "status": "True", "type": kind}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [_container_status("app", service)],
            "hostIP": "@host@",
            "phase": "Running",
            "podIP": "@ip@",
            "podIPs": [{"ip": "@ip@"}],
            "qosClass": "Burstable",
            "startTime": _CREATED_AT,
        },
    }


def _pending(pod: dict[str, Any]) -> dict[str, Any]:
    del pod["spec"]["nodeName"]
    pod["status"] = {"phase": "Pending", "qosClass": "Burstable"}
    return pod


def _container(name: str, image: str, deployment: int) -> dict[str, Any]:
    probe = {
        "failureThreshold": 3,
        "httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"},
        "periodSeconds": 10,
        "timeoutSeconds": 2,
    }
    environment: list[dict[str, Any]] = [
        {"name": f"{image.upper().replace('-', '_')}_SETTING_{number}", "value": f"value-{number}"} for number in range(2)
    ]
    field = {"apiVersion": "v1", "fieldPath": "metadata.name"}
    environment.append({"name": "POD_NAME", "valueFrom": {"fieldRef": field}})
    return {
        "env": environment,
        "image": f"registry.example.com/platform/{image}:4.17.2",
        "imagePullPolicy": "IfNotPresent",
        "name": name,
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "readinessProbe": probe,
        "resources": {
            "limits": {"memory": f"{256 + deployment % 4 * 128}Mi"},
            "requests": {"cpu": f"{50 + deployment % 8 * 25}m", "memory": f"{128 + deployment % 4 * 64}Mi"},
        },
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {"mountPath": "/etc/config", "name": "config", "readOnly": True},
            {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access-@token@", "readOnly": True},
        ],
    }


def _token_volume() -> dict[str, Any]:
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [{"fieldRef": field, "path": "namespace"}]}},
    ]
    return {"name": "kube-api-access-@token@", "projected": {"defaultMode": 420, "sources": sources}}


def _container_status(name: str, image: str) -> dict[str, Any]:
    return {
        "containerID": "containerd://@container@",
        "image": f"registry.example.com/platform/{image}:4.17.2",
        "imageID": f"registry.example.com/platform/{image}@sha256:{hashlib.sha256(image.encode()).hexdigest()}",
        "lastState": {},
        "name": name,
        "ready": True,
        "restartCount": 0,
        "started": True,
        "state": {"running": {"startedAt": _STARTED_AT}},
    }
