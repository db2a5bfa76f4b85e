"""Objects in few words: `{node: node-a, cpu: 4}` and `{pod: web, cpu: 500m, on: node-a}` stand for the objects of Kubernetes.

node: node-a        pod: web                   any other member of the object is written as it is:
zone: zone-1        namespace: default         labels, annotations (metadata), spec, status
cpu: 4              cpu: 500m  (no request when left out)
memory: 16Gi        memory: 256Mi
pods: 110           on: node-a  (spec.nodeName)
                    priority: 100
"""

from __future__ import annotations

from typing import Any

NODE_WORDS = frozenset({"node", "zone", "cpu", "memory", "pods", "labels", "annotations", "spec", "status"})
POD_WORDS = frozenset({"pod", "namespace", "cpu", "memory", "on", "priority", "image", "labels", "annotations", "spec", "status"})
_NODE_DEFAULTS = {"cpu": "4", "memory": "16Gi", "pods": "110"}


class ShorthandError(ValueError):
    """A short object with an unknown field."""


def whole(written: dict[str, Any]) -> dict[str, Any]:
    """The Kubernetes object for a short form; an object with a `kind` is returned unchanged. Raises `ShorthandError`."""
    if "kind" in written:
        return written
    if "node" in written:
        return _node(_known(written, NODE_WORDS))
    if "pod" in written:
        return _pod(_known(written, POD_WORDS))
    raise ShorthandError("an object begins with `kind`, `node` or `pod`")


def _known(written: dict[str, Any], words: frozenset[str]) -> dict[str, Any]:
    for word in written:
        if word not in words:
            raise ShorthandError(f"`{word}` is no word of a short object; expected one of {', '.join(sorted(words))}")
    return written


def _node(written: dict[str, Any]) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": written["node"], **written.get("labels", {})}
    if "zone" in written:
        labels["topology.kubernetes.io/zone"] = written["zone"]
    amounts = {resource: str(written.get(resource, usual)) for resource, usual in _NODE_DEFAULTS.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _metadata(written, written["node"], labels),
        "spec": written.get("spec", {}),
        "status": {"capacity": amounts, "allocatable": amounts, **written.get("status", {})},
    }


def _pod(written: dict[str, Any]) -> dict[str, Any]:
    requests = {resource: str(written[resource]) for resource in ("cpu", "memory") if resource in written}
    container: dict[str, Any] = {"name": "main", "image": written.get("image", "registry.example/app:1")}
    if requests:
        container["resources"] = {"requests": requests}
    spec: dict[str, Any] = {"containers": [container]}
    if "on" in written:
        spec["nodeName"] = written["on"]
    if "priority" in written:
        spec["priority"] = written["priority"]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**_metadata(written, written["pod"], written.get("labels", {})), "namespace": written.get("namespace", "default")},
        "spec": {**spec, **written.get("spec", {})},
    }
    return {**pod, "status": written["status"]} if "status" in written else pod


def _metadata(written: dict[str, Any], name: str, labels: dict[str, str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = labels
    if "annotations" in written:
        metadata["annotations"] = written["annotations"]
    return metadata
