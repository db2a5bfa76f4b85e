"""Creates objects from a SIGUSR2 dump alone: nodes with their allocatable resources, and pods with shares of the requests.

A dump has the sum of a node's requests, but not those of single pods. The first pod of a node gets the sum and the others request nothing,
so the node is as full as it was. Only the names of pending pods are known, so they get a scheduling gate that says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from schedviz.engine.cache.debugger.dumper import NAME_ONLY_GATE, Dump, DumpedNode, DumpedPod
from schedviz.engine.framework.resource import Resource
from schedviz.kube import codec
from schedviz.kube.defaults import default_object
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import phrase

WARNING: Final = phrase(
    "The objects were made from a SIGUSR2 dump alone. It contains the sum of the requests "
    "of each node's pods, which was assigned to the first pod "
    "of each node, and no requests of pending pods, so these are gated. For exact results, add "
    "the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
)


def objects_of(dump: Dump) -> Iterator[KubeObject]:
    """Nodes, then pods. A ghost remains without its node."""
    for node in dump.nodes:
        if not node.is_deleted:
            yield _object(_node(node))
    for node in dump.nodes:
        for number, pod in enumerate(node.pods):
            yield _object(_bound(pod, node.name, node.requested if number == 0 else Resource()))
    nominated = {pod.uid: node.name for node in dump.nodes for pod in node.nominated}
    for pod in dump.pending:
        yield _object(_waiting(pod, pod.nominated_node or nominated.get(pod.uid, "")))
    listed = {pod.uid for pod in dump.pending}
    for node in dump.nodes:
        yield from (_object(_waiting(pod, node.name)) for pod in node.nominated if pod.uid not in listed)


def _object(content: dict[str, Any]) -> KubeObject:
    return default_object(codec.from_dict(content))


def _node(node: DumpedNode) -> dict[str, Any]:
    amounts = {**_amounts(node.allocatable), "pods": str(node.allocatable.allowed_pod_number)}
    labels = {"kubernetes.io/hostname": node.name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def _bound(pod: DumpedPod, node: str, requested: Resource) -> dict[str, Any]:
    obj = _pod(pod)
    requests = {name: amount for name, amount in _amounts(requested).items() if amount not in ("0", "0m")}
    obj["spec"] = {"nodeName": node, "containers": [{"name": "sum", "image": "none", "resources": {"requests": requests}}]}
    return obj


def _waiting(pod: DumpedPod, nominated: str) -> dict[str, Any]:
    obj = _pod(pod)
    obj["spec"] = {"schedulingGates": [{"name": NAME_ONLY_GATE}], "containers": [{"name": "unknown", "image": "none"}]}
    if nominated:
        obj["status"]["nominatedNodeName"] = nominated
    return obj


def _pod(pod: DumpedPod) -> dict[str, Any]:
    metadata = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"phase": pod.phase or "Pending"}}


def _amounts(resource: Resource) -> dict[str, str]:
    result = {"cpu": f"{resource.milli_cpu}m", "memory": str(resource.memory), "ephemeral-storage": str(resource.ephemeral_storage)}
    return {**result, **{name: str(amount) for name, amount in resource.scalar.items()}}
