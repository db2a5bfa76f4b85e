"""Applies a variant's changes to the nodes of a base."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from schedviz.experiments.errors import PlanError
from schedviz.experiments.inputs.base_cluster import unbound
from schedviz.experiments.plans.plan import NodesPatch
from schedviz.kube import quantity
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject

_HOSTNAME: Final = "kubernetes.io/hostname"


def with_nodes(objects: Iterable[KubeObject], patch: NodesPatch, *, path: str) -> list[KubeObject]:
    """The objects with other nodes. Kinds keep their order, and added nodes follow the others. Raises `PlanError`."""
    objects = list(objects)
    if not patch.changes_nodes:
        return objects
    before = [obj for obj in objects if isinstance(obj, Node)]
    nodes = _resized(_without(before, patch, path), patch, path)
    nodes += _added(before, nodes, patch, path)
    nodes = [_with_amounts(node, patch, path) for node in nodes]
    names = {node.name for node in nodes}
    gone = {node.name for node in before} - names
    pods = (obj for obj in objects if isinstance(obj, Pod))
    rest = [obj for obj in objects if not isinstance(obj, Node | Pod)]
    return [*nodes, *rest, *_moved(pods, gone)]


def _moved(pods: Iterable[Pod], gone: set[str]) -> list[Pod]:
    """The pods, of which those on removed nodes are pending, after those that were pending before."""
    stay, moved = [], []
    for pod in pods:
        if pod.spec.node_name not in gone:
            stay.append(pod)
        elif not pod.is_of_daemon_set:
            moved.append(unbound(pod))
    return [*stay, *moved]


def _without(nodes: list[Node], patch: NodesPatch, path: str) -> list[Node]:
    names = {node.name for node in nodes}
    for index, name in enumerate(patch.remove):
        if name not in names:
            raise PlanError.of(f"{path}.nodes.remove[{index}]", f"the base has no node {name!r}")
    removed = set(patch.remove)
    return [node for node in nodes if node.name not in removed]


def _resized(nodes: list[Node], patch: NodesPatch, path: str) -> list[Node]:
    if patch.count is None:
        return nodes
    if not nodes and patch.count:
        raise PlanError.of(f"{path}.nodes.count", "the base has no node to copy")
    taken = {node.name for node in nodes}
    copier = _Copier(taken)
    copies = [copier.copy(nodes[number % len(nodes)]) for number in range(patch.count - len(nodes))]
    return [*nodes[: patch.count], *copies]


def _added(before: list[Node], nodes: list[Node], patch: NodesPatch, path: str) -> list[Node]:
    known = {node.name: node for node in [*nodes, *before]}
    copier = _Copier({node.name for node in nodes})
    added = []
    for index, wanted in enumerate(patch.add):
        if wanted.like not in known:
            raise PlanError.of(f"{path}.nodes.add[{index}].like", f"the base has no node {wanted.like!r}")
        added += [copier.copy(known[wanted.like]) for _ in range(wanted.count)]
    return added


class _Copier:
    """Copies nodes under free names."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        #: By node: the number of its next copy.
        self._numbers: dict[str, int] = {}

    def copy(self, node: Node) -> Node:
        """A copy, whose name is taken from now on."""
        number = self._numbers.get(node.name, 2)
        while (name := f"{node.name}-copy-{number}") in self._taken:
            number += 1
        self._numbers[node.name] = number + 1
        self._taken.add(name)
        labels = dict(node.metadata.labels)
        if _HOSTNAME in labels:
            labels[_HOSTNAME] = name
        metadata = msgspec.structs.replace(node.metadata, name=name, uid=f"uid-{name}", labels=labels)
        return msgspec.structs.replace(node, metadata=metadata)


def _with_amounts(node: Node, patch: NodesPatch, path: str) -> Node:
    if not patch.allocatable:
        return node
    amounts = dict(node.status.allocatable)
    for name, amount in patch.allocatable.items():
        try:
            amounts[name] = quantity.parse(str(amount))
        except quantity.QuantityError as error:
            raise PlanError.of(f"{path}.nodes.allocatable.{name}", str(error)) from None
        if amounts[name].value < 0:
            raise PlanError.of(f"{path}.nodes.allocatable.{name}", f"expected an amount of 0 or more, found {amount}")
    capacity = {**node.status.capacity, **{name: amounts[name] for name in patch.allocatable}}
    return msgspec.structs.replace(node, status=msgspec.structs.replace(node.status, allocatable=amounts, capacity=capacity))
