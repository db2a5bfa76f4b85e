"""Recognises objects without a kind by their members: files of OpenShift Insights, items of Go lists, pasted fragments.

Only shapes that no other kind has are recognised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from schedviz.ingest.reader import Item

#: The name of a pasted fragment that has none.
UNNAMED: Final = "unnamed"


def with_kind(item: Item) -> Item | None:
    """An item with the kind that its members show; None if they do not. A pod without metadata gets a name."""
    try:
        content = msgspec.json.decode(item.content) if isinstance(item.content, msgspec.Raw) else item.content
    except msgspec.DecodeError:
        # Such as a number with thousands of digits.
        return None
    if not isinstance(content, Mapping):
        return None
    if "containers" in content and "metadata" not in content and "spec" not in content:
        # The specification of a pod alone.
        content = {"spec": content}
    kind = kind_of(content)
    if not kind:
        return None
    if kind == "Pod" and not isinstance(content.get("metadata"), Mapping):
        content = {**content, "metadata": {"name": UNNAMED}}
    return msgspec.structs.replace(item, kind=kind, content=dict(content))


def kind_of(content: Mapping[str, Any]) -> str:
    """The kind of an object by its members; "" if it is not certain."""
    spec, status = _part(content, "spec"), _part(content, "status")
    if isinstance(spec.get("containers"), list):
        return "Pod"
    if "nodeInfo" in status or ("allocatable" in status and "capacity" in status and "conditions" in status):
        return "Node"
    if ("involvedObject" in content or "regarding" in content) and "reason" in content:
        return "Event"
    if "persistentVolumeReclaimPolicy" in spec or ("capacity" in spec and "accessModes" in spec):
        return "PersistentVolume"
    if "accessModes" in spec and "resources" in spec:
        return "PersistentVolumeClaim"
    if "provisioner" in content:
        return "StorageClass"
    if isinstance(spec.get("drivers"), list) and "metadata" in content:
        return "CSINode"
    if "selector" in spec and ("minAvailable" in spec or "maxUnavailable" in spec):
        return "PodDisruptionBudget"
    return ""


def _part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = content.get(name)
    return part if isinstance(part, Mapping) else {}


def is_kubeconfig(content: msgspec.Raw | dict[str, Any]) -> bool:
    """Whether an object of the kind Config is kubectl's: others, such as an operator's, have another apiVersion."""
    parsed = msgspec.json.decode(content) if isinstance(content, msgspec.Raw) else content
    return parsed.get("apiVersion") in (None, "", "v1") or not parsed.keys().isdisjoint({"users", "clusters", "contexts"})
