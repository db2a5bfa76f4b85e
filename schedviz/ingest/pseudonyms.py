"""Replaces every name that a cluster's owner chose by a pseudonym, consistently, so that the scheduler decides as before.

The scheduler compares names and labels for equality, and a few as numbers. Every name is therefore replaced by one keyed hash wherever it
occurs: a node's name, its hostname label and a selector of it still agree. Names of Kubernetes and of vendors are kept (keys such as
`topology.kubernetes.io/zone`, resources such as `nvidia.com/gpu`, `true`, numbers), as are amounts, times and priorities. Drivers of
devices and volumes, and attributes, capacities and conditions of devices, are kept together with the CEL expressions that compare them.
Names of schedulers are kept, because a configuration, which is not changed, has profiles of these names. The order of names is not kept:
where it was decisive (ties between nodes or pods), the result may change.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from schedviz.kube import codec
from schedviz.kube.claims import SELECTED_NODE, STORAGE_CLASS
from schedviz.kube.meta import KubeObject

_WORDS: Final = (
    *(
        "amber",
        "birch",
        "cedar",
        "delta",
        "ember",
        "fjord",
        "grove",
        "heron",
        "islet",
        "jade",
        "kelp",
        "larch",
        "maple",
        "north",
        "opal",
        "pine",
    ),
    *("quartz", "reed", "slate", "tern", "umber", "vale", "wren", "yew", "aspen", "brook", "cliff", "dune", "elm", "fern", "gale", "heath"),
)
#: Namespaces and classes that every cluster has.
_KEPT_NAMES: Final = frozenset(
    {"", "default", "kube-system", "kube-public", "kube-node-lease", "default-scheduler", "system-node-critical", "system-cluster-critical"}
)
#: The domains whose keys and resources are kept.
_KNOWN_OWNERS: Final = re.compile(
    r"(?:[\w.-]+\.)?(?:kubernetes\.io|k8s\.io|nvidia\.com|amd\.com|intel\.com|amazonaws\.com|google\.com|azure\.com|x-k8s\.io|"
    # The drivers to which Kubernetes translates its own kinds of volumes: they compare labels with these keys.
    r"ebs\.csi\.aws\.com|gke\.io|csi\.openstack\.org)(?:/.*)?"
)
_PLAIN_RESOURCES: Final = re.compile(r"cpu|memory|pods|ephemeral-storage|storage|hugepages-\w+|attachable-volumes-[\w.-]+")
_NUMBER: Final = re.compile(r"-?\d+|true|false|")
#: Members with a name.
_NAMES: Final = frozenset(
    {
        *("name", "namespace", "generateName", "uid", "nodeName", "nominatedNodeName", "priorityClassName", "storageClassName"),
        *("volumeName", "claimName", "pdName", "volumeID", "diskName", "diskURI", "volumeHandle", "iqn", "pool", "secretName"),
        *("secretNamespace", "shareName", "volumePath", "targetPortal", "volumeAttributesClassName"),
        *("podGroupName", "resourceClaimName", "resourceClaimTemplateName", "workloadName", "podGroupTemplateName"),
        *("deviceClassName", "device", "counterSet", "persistentVolumeName", "containerName", "requestName", "nodeID", "shareID"),
    }
)
#: Members that are maps by name.
_NAME_MAPS: Final = frozenset({"disruptedPods"})
#: Annotations with a name.
_NAME_ANNOTATIONS: Final = frozenset({SELECTED_NODE, STORAGE_CLASS})
#: The annotation with the controllers whose pods a node had better not get, as JSON.
_AVOIDED_PODS: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"
#: Members with objects that are named after a driver.
_DRIVERS: Final = "drivers"
#: Members with lists of names.
_NAME_LISTS: Final = frozenset({"namespaces", "monitors"})
#: Members with a request of a ResourceClaim (`request` or `request/subrequest`), or a list of them.
_REQUESTS: Final = frozenset({"request", "requests"})
#: Members with the name of a resource.
_RESOURCES: Final = frozenset({"extendedResourceName", "resourceName"})
#: Resources that stand for a DeviceClass.
_DEVICE_CLASS: Final = "deviceclass.resource.kubernetes.io/"
#: What replaces the group of a kind that is not known.
_OTHER_GROUP: Final = {"apiVersion": "example.com/v1", "apiGroup": "example.com"}
#: Members with an image's name, or a list of them.
_IMAGES: Final = frozenset({"image", "names", "reference"})
#: Members with a label's or a taint's key.
_KEYS: Final = frozenset({"key", "topologyKey"})
#: Members with lists of keys of labels, or of finalizers.
_KEY_LISTS: Final = frozenset({"matchLabelKeys", "mismatchLabelKeys", "topologyKeys", "finalizers"})
#: Members that are maps of labels.
_LABEL_MAPS: Final = frozenset({"labels", "nodeSelector", "matchLabels", "selector"})
#: Labels whose values are defined by Kubernetes.
_KEPT_VALUES: Final = frozenset({"kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os"})
#: Labels whose values may list several zones or regions.
_ZONE_LABELS: Final = re.compile(r"(?:topology|failure-domain\.beta)\.kubernetes\.io/(?:zone|region)")
_ZONES_DELIMITER: Final = "__"
_RESOURCE_MAPS: Final = frozenset(
    {"requests", "limits", "capacity", "allocatable", "allocatedResources", "overhead", "nodeAllocatableResourceMappings"}
)
#: Digests of unread fields: useless with other names, and a target for guessing.
_DIGESTS: Final = frozenset({"unread", "unreadStatus", "unreadAnnotations"})
_FREE_TEXT_MEMBERS: Final = frozenset({"message"})


class Pseudonyms:
    """Creates pseudonyms. The same secret gives the same pseudonyms in every import. `count` is the number of replaced names."""

    def __init__(self, secret: str) -> None:
        self._key = hashlib.blake2b(secret.encode(), digest_size=32).digest()
        self._names: dict[str, str] = {}

    @property
    def count(self) -> int:
        """How many different names were replaced."""
        return len(self._names)

    def objects(self, objects: Iterable[KubeObject]) -> list[KubeObject]:
        """The objects with pseudonyms."""
        return [codec.from_dict(self._content(codec.to_dict(obj))) for obj in objects]

    def _content(self, content: dict[str, Any]) -> dict[str, Any]:
        renamed: dict[str, Any] = self._walk(_with_claims(content), "")
        if content["kind"] == "CSIDriver":
            renamed["metadata"]["name"] = content["metadata"]["name"]
        return renamed

    def name(self, text: str) -> str:
        """The pseudonym of a name."""
        if text in _KEPT_NAMES:
            return text
        pseudonym = self._names.get(text)
        if pseudonym is None:
            digest = hashlib.blake2b(text.encode(), key=self._key, digest_size=6).digest()
            pseudonym = f"{_WORDS[digest[0] % len(_WORDS)]}-{digest[1:].hex()}"
            self._names[text] = pseudonym
        return pseudonym

    def key(self, text: str) -> str:
        """A label's or a taint's key, replaced as a whole, because its domain may identify the owner."""
        return text if _KNOWN_OWNERS.fullmatch(text) or not text else self.name(text)

    def value(self, text: str) -> str:
        """A label's value. Numbers and booleans are kept, because some are compared as numbers."""
        return text if _NUMBER.fullmatch(text) else self.name(text)

    def _label_value(self, key: str, text: str) -> str:
        if key in _KEPT_VALUES:
            return text
        if _ZONE_LABELS.fullmatch(key):
            return _ZONES_DELIMITER.join(map(self.value, text.split(_ZONES_DELIMITER)))
        return self.value(text)

    def _annotation(self, key: str, text: str) -> str:
        if key == _AVOIDED_PODS:
            return self._avoided_pods(text)
        return self.name(text) if key in _NAME_ANNOTATIONS else text

    def _avoided_pods(self, text: str) -> str:
        """The annotation with its controllers alone; "" if it is malformed, so that the scheduler does not read it."""
        try:
            signatures = [self._walk(entry["podSignature"], "") for entry in json.loads(text)["preferAvoidPods"]]
        except (ValueError, TypeError, LookupError, RecursionError):
            return ""
        return json.dumps({"preferAvoidPods": [{"podSignature": signature} for signature in signatures]})

    def image(self, text: str) -> str:
        """An image's name. Without a tag it means the tag `latest`, as in ImageLocality."""
        has_tag = text.rfind(":") > text.rfind("/")
        return f"{self.name(text if has_tag else f'{text}:latest')}:tag" if text else text

    def resource(self, text: str) -> str:
        """A resource's name. An extended resource remains one."""
        if text.startswith(_DEVICE_CLASS):
            return f"{_DEVICE_CLASS}{self.name(text.removeprefix(_DEVICE_CLASS))}"
        if _PLAIN_RESOURCES.fullmatch(text) or _KNOWN_OWNERS.fullmatch(text):
            return text
        return f"example.com/{self.name(text)}"

    def request(self, text: str) -> str:
        """A request of a ResourceClaim, or one of its subrequests."""
        return "/".join(self.name(part) for part in text.split("/"))

    def _walk(self, value: Any, member: str) -> Any:
        if isinstance(value, Mapping):
            return self._map(value, member)
        if isinstance(value, (list, tuple)):
            return [self._entry(entry, member) for entry in value]
        return self._text(value, member) if isinstance(value, str) else value

    def _map(self, value: Mapping[str, Any], member: str) -> dict[str, Any]:
        if member in _LABEL_MAPS and all(isinstance(entry, str) for entry in value.values()):
            return {self.key(key): self._label_value(key, entry) for key, entry in value.items()}
        if member == "annotations":
            return {key: self._annotation(key, entry) for key, entry in value.items()}
        if member in _NAME_MAPS:
            return {self.name(key): entry for key, entry in value.items()}
        if "kind" in value and not _is_known_kind(value):
            value = {**value, "kind": self.name(value["kind"]), **{key: group for key, group in _OTHER_GROUP.items() if value.get(key)}}
        if member == "capacity" and any(isinstance(entry, Mapping) for entry in value.values()):
            # Of a device, or of a request for one.
            return dict(value)
        if member in _RESOURCE_MAPS:
            return {self.resource(key): amount for key, amount in value.items()}
        if "key" in value and ("operator" in value or "effect" in value or "values" in value):
            return self._requirement(value, member)
        kept = {"name"} if member == _DRIVERS else set()
        return {key: entry if key in kept else self._walk(entry, key) for key, entry in value.items() if key not in _DIGESTS}

    def _requirement(self, value: Mapping[str, Any], member: str) -> dict[str, Any]:
        """A selector's expression, a toleration or a taint: a key with values."""
        requirement = dict(value)
        if member != "matchFields":
            requirement["key"] = self.key(value["key"])
        if value["key"] in _KEPT_VALUES:
            return requirement
        if isinstance(value.get("values"), (list, tuple)):
            requirement["values"] = [self.value(entry) for entry in value["values"]]
        if isinstance(value.get("value"), str):
            requirement["value"] = self.value(value["value"])
        return requirement

    def _entry(self, entry: Any, member: str) -> Any:
        if isinstance(entry, str):
            if member in _IMAGES:
                return self.image(entry)
            if member in _REQUESTS:
                return self.request(entry)
            if member in _KEY_LISTS:
                return self.key(entry)
            return self.name(entry) if member in _NAME_LISTS else entry
        # Entries of a list of requests are not maps of resources.
        return self._walk(entry, "" if member in _RESOURCE_MAPS else member)

    def _text(self, text: str, member: str) -> str:
        if member in _FREE_TEXT_MEMBERS:
            return ""
        if member in _IMAGES:
            return self.image(text)
        if member in _NAMES:
            return self.name(text)
        if member in _REQUESTS:
            return self.request(text)
        if member in _RESOURCES:
            return self.resource(text)
        return self.key(text) if member in _KEYS else text


def _is_known_kind(reference: Mapping[str, Any]) -> bool:
    """Whether an object, or a reference to one, is of a group of Kubernetes or of a known vendor."""
    group = reference.get("apiGroup") or (reference.get("apiVersion") or "").rpartition("/")[0]
    return "." not in group or _KNOWN_OWNERS.fullmatch(group) is not None


def _with_claims(content: dict[str, Any]) -> dict[str, Any]:
    """A pod with named claims for its generic ephemeral volumes, because the scheduler derives the claims' names from those of pod and
    volume.
    """
    volumes = (content.get("spec") or {}).get("volumes")
    if content["kind"] != "Pod" or not volumes or not any("ephemeral" in volume for volume in volumes):
        return content
    name = content["metadata"]["name"]
    claimed = [
        {"name": volume["name"], "persistentVolumeClaim": {"claimName": f"{name}-{volume['name']}"}} if "ephemeral" in volume else volume
        for volume in volumes
    ]
    return {**content, "spec": {**content["spec"], "volumes": claimed}}
