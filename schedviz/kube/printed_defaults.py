"""Defaults of pods and nodes that only printing needs: those of fields that the scheduler does not read, in the object's JSON.

`defaults` fills in what the scheduler reads; the functions here complete the JSON that `kubectl get -o json` shows. They change the
dictionaries that they are given. Upstream: pkg/apis/core/v1/defaults.go, zz_generated.defaults.go; staging/src/k8s.io/api/core/v1/types.go
(members without omitempty). Conversion between versions is not done: `serviceAccount` is not set from `serviceAccountName`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from schedviz.kube import quantity
from schedviz.kube.image_names import pull_policy

Json = dict[str, Any]

_DEFAULT_FILE_MODE: Final = 0o644
#: Volume source -> its defaults.
_SOURCE_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "hostPath": {"type": ""},
    "secret": {"defaultMode": _DEFAULT_FILE_MODE},
    "configMap": {"defaultMode": _DEFAULT_FILE_MODE},
    "downwardAPI": {"defaultMode": _DEFAULT_FILE_MODE},
    "projected": {"defaultMode": _DEFAULT_FILE_MODE},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}
_PROBE_DEFAULTS: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_CONTAINER_STATUS_DEFAULTS: Final[Mapping[str, Any]] = {
    "name": "",
    "ready": False,
    "restartCount": 0,
    "image": "",
    "imageID": "",
    "state": {},
    "lastState": {},
}
_NODE_INFO: Final = (
    "architecture",
    "bootID",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "machineID",
    "operatingSystem",
    "osImage",
    "systemUUID",
)
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_CONTAINER_STATUSES: Final = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
#: Booleans that Go leaves out if they are false; others are pointers, which are shown once they are set.
_OMITTED_IF_FALSE: Final = frozenset({"hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly"})
#: Numbers that Go leaves out if they are 0.
_OMITTED_IF_ZERO: Final = frozenset(
    {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold", "hostPort", "observedGeneration"}
)


def without_empty(value: Any) -> Any:
    """A value without the members that Go does not show: null, empty text, empty lists, and false and 0 where they mean "not set"."""
    if isinstance(value, dict):
        return {key: without_empty(member) for key, member in value.items() if not _is_omitted(key, member)}
    if isinstance(value, list):
        return [without_empty(item) for item in value]
    return value


def _is_omitted(key: str, member: Any) -> bool:
    return (
        member is None
        or member in ("", [])
        or (member is False and key in _OMITTED_IF_FALSE)
        or (member == 0 and not isinstance(member, bool) and key in _OMITTED_IF_ZERO)
    )


def complete_pod(pod: Json) -> None:
    """Fill in the defaults of a pod."""
    spec: Json = pod.setdefault("spec", {})
    _fill(spec, {"dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "restartPolicy": "Always"})
    spec.setdefault("securityContext", {})
    for member in _CONTAINERS:
        for container in _items(spec, member):
            _complete_container(container, host_network=bool(spec.get("hostNetwork")) and member != "ephemeralContainers")
    for volume in _items(spec, "volumes"):
        _complete_volume(volume)
    status: Json = pod.setdefault("status", {})
    for condition in _items(status, "conditions"):
        _fill(condition, {"lastProbeTime": None, "lastTransitionTime": None})
    for member in _CONTAINER_STATUSES:
        for item in _items(status, member):
            _fill(item, _CONTAINER_STATUS_DEFAULTS)


def complete_node(node: Json) -> None:
    """Fill in the defaults of a node."""
    node.setdefault("spec", {})
    status: Json = node.setdefault("status", {})
    endpoint = status.setdefault("daemonEndpoints", {}).setdefault("kubeletEndpoint", {})
    endpoint.setdefault("Port", 0)
    _fill(status.setdefault("nodeInfo", {}), dict.fromkeys(_NODE_INFO, ""))
    for condition in _items(status, "conditions"):
        _fill(condition, {"lastHeartbeatTime": None, "lastTransitionTime": None})
    for handler in _items(status, "runtimeHandlers"):
        handler.setdefault("name", "")


def _complete_container(container: Json, *, host_network: bool) -> None:
    container.setdefault("name", "")
    container.setdefault("resources", {})
    container.setdefault("imagePullPolicy", pull_policy(container.get("image", "")))
    _fill(container, {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"})
    for port in _items(container, "ports"):
        port.setdefault("protocol", "TCP")
        if host_network and port.get("containerPort"):
            port.setdefault("hostPort", port["containerPort"])
    for member in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(member)
        if isinstance(probe, dict):
            _fill(probe, _PROBE_DEFAULTS)
            _complete_handler(probe)
    for handler in _objects(container.get("lifecycle")):
        _complete_handler(handler)
    for variable in _items(container, "env"):
        source = variable.get("valueFrom")
        if isinstance(source, dict):
            _complete_field_source(source)
            if isinstance(source.get("fileKeyRef"), dict):
                source["fileKeyRef"].setdefault("optional", False)


def _complete_handler(handler: Json) -> None:
    """A probe or a lifecycle handler. Upstream: SetDefaults_HTTPGetAction"""
    if isinstance(handler.get("httpGet"), dict):
        _fill(handler["httpGet"], {"path": "/", "scheme": "HTTP"})
    if isinstance(handler.get("grpc"), dict):
        handler["grpc"].setdefault("service", "")


def _complete_volume(volume: Json) -> None:
    """Upstream: SetDefaults_Volume and those of the sources."""
    if volume.keys() <= {"name"}:
        volume["emptyDir"] = {}
    for source, defaults in _SOURCE_DEFAULTS.items():
        if isinstance(volume.get(source), dict):
            _fill(volume[source], defaults)
    if isinstance(volume.get("emptyDir"), dict):
        _canonical(volume["emptyDir"], "sizeLimit")
    if isinstance(volume.get("image"), dict):
        volume["image"].setdefault("pullPolicy", pull_policy(volume["image"].get("reference", "")))
    if isinstance(volume.get("downwardAPI"), dict):
        _complete_items(volume["downwardAPI"])
    for projection in _items(volume.get("projected"), "sources"):
        if isinstance(projection.get("downwardAPI"), dict):
            _complete_items(projection["downwardAPI"])
        if isinstance(projection.get("serviceAccountToken"), dict):
            projection["serviceAccountToken"].setdefault("expirationSeconds", 3600)
    template = volume["ephemeral"].get("volumeClaimTemplate") if isinstance(volume.get("ephemeral"), dict) else None
    if isinstance(template, dict) and isinstance(template.get("spec"), dict):
        template["spec"].setdefault("volumeMode", "Filesystem")


def _complete_items(downward: Json) -> None:
    for item in _items(downward, "items"):
        _complete_field_source(item)


def _complete_field_source(source: Json) -> None:
    if isinstance(source.get("fieldRef"), dict):
        source["fieldRef"].setdefault("apiVersion", "v1")
    if isinstance(source.get("resourceFieldRef"), dict):
        source["resourceFieldRef"].setdefault("divisor", "0")
        _canonical(source["resourceFieldRef"], "divisor")


def _canonical(owner: Json, member: str) -> None:
    """Write an amount as the API server does: `1024Mi` becomes `1Gi`."""
    if member in owner:
        try:
            owner[member] = str(quantity.parse(str(owner[member])))
        except quantity.QuantityError:
            return


def _fill(owner: Json, defaults: Mapping[str, Any]) -> None:
    for key, value in defaults.items():
        owner.setdefault(key, dict(value) if isinstance(value, dict) else value)


def _items(owner: Any, member: str) -> Iterator[Json]:
    items = owner.get(member) if isinstance(owner, dict) else None
    return (item for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))


def _objects(owner: Any) -> Iterator[Json]:
    return (member for member in owner.values() if isinstance(member, dict)) if isinstance(owner, dict) else iter(())
