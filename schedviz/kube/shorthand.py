"""Short forms of nodes and pods: `{node: node-a, cpu: 4}` and `{pod: web, cpu: 500m, on: node-a}` stand for the objects of Kubernetes.

node: node-a        pod: web                   of both, written as in the object:
zone: zone-1        namespace: default         labels, annotations (metadata), spec, status
cpu: 4              cpu: 500m  (no request when left out)
memory: 16Gi        memory: 256Mi
pods: 110           on: node-a  (spec.nodeName)
                    priority: 100
                    image: nginx:1.27

Other members are refused.
"""

from __future__ import annotations

from typing import Any

_NODE_MEMBERS = frozenset({"node", "zone", "cpu", "memory", "pods", "labels", "annotations", "spec", "status"})
_POD_MEMBERS = frozenset({"pod", "namespace", "cpu", "memory", "on", "priority", "image", "labels", "annotations", "spec", "status"})
_NODE_DEFAULTS = {"cpu": "4", "memory": "16Gi", "pods": "110"}


class ShorthandError(ValueError):
    """An object that is neither whole nor a valid short form."""


def expanded(node_or_pod: dict[str, Any]) -> dict[str, Any]:
    """The Kubernetes object for a short form; an object with a `kind` is returned unchanged. Raises `ShorthandError`."""
    if "kind" in node_or_pod:
        return node_or_pod
    if "node" in node_or_pod:
        return _node(_known(node_or_pod, _NODE_MEMBERS))
    if "pod" in node_or_pod:
        return _pod(_known(node_or_pod, _POD_MEMBERS))
    raise ShorthandError("an object has a `kind`, or is a short form that begins with `node` or `pod`")


def _known(obj: dict[str, Any], members: frozenset[str]) -> dict[str, Any]:
    for member in obj:
        if member not in members:
            raise ShorthandError(f"`{member}` is not a member of a short form; expected one of {', '.join(sorted(members))}")
    return obj


def _node(node: dict[str, Any]) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": node["node"], **node.get("labels", {})}
    if "zone" in node:
        labels["topology.kubernetes.io/zone"] = node["zone"]
    amounts = {resource: str(node.get(resource, usual)) for resource, usual in _NODE_DEFAULTS.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _metadata(node, node["node"], labels),
        "spec": node.get("spec", {}),
        "status": {"capacity": amounts, "allocatable": amounts, **node.get("status", {})},
    }


def _pod(short_pod: dict[str, Any]) -> dict[str, Any]:
    requests = {resource: str(short_pod[resource]) for resource in ("cpu", "memory") if resource in short_pod}
    container: dict[str, Any] = {"name": "main", "image": short_pod.get("image", "registry.example/app:1")}
    if requests:
        container["resources"] = {"requests": requests}
    spec: dict[str, Any] = {"containers": [container]}
    if "on" in short_pod:
        spec["nodeName"] = short_pod["on"]
    if "priority" in short_pod:
        spec["priority"] = short_pod["priority"]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **_metadata(short_pod, short_pod["pod"], short_pod.get("labels", {})),
            "namespace": short_pod.get("namespace", "default"),
        },
        "spec": {**spec, **short_pod.get("spec", {})},
    }
    return {**pod, "status": short_pod["status"]} if "status" in short_pod else pod


def _metadata(obj: dict[str, Any], name: str, labels: dict[str, str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = labels
    if "annotations" in obj:
        metadata["annotations"] = obj["annotations"]
    return metadata
