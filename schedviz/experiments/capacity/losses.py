"""N+1 check: which pods become pending when a node or a zone fails."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from schedviz.experiments.capacity.placing import Placed, place_without
from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.kube.core import Node

_ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


class Loss(msgspec.Struct, frozen=True, rename="camel"):
    """The effect of the failure of a node or a zone."""

    #: The node or the zone.
    name: str
    nodes: list[str]
    #: Pod that becomes pending -> the reason.
    pending: dict[str, str]


def failures(base: BaseCluster, *, zones: bool = False) -> dict[str, list[str]]:
    """The failure domains: each node, or each zone with its nodes."""
    nodes = [obj for obj in base.objects if isinstance(obj, Node)]
    if not zones:
        return {node.name: [node.name] for node in nodes}
    nodes_by_zone: dict[str, list[str]] = {}
    for node in nodes:
        zone = next((node.metadata.labels[label] for label in _ZONE_LABELS if label in node.metadata.labels), "")
        if zone:
            nodes_by_zone.setdefault(zone, []).append(node.name)
    return dict(sorted(nodes_by_zone.items()))


def losses(base: BaseCluster, *, zones: bool = False) -> Iterator[Loss]:
    """The effect of each failure, one after the other. Pods that are pending anyway are not counted."""
    before = place_without(base, ())
    for name, nodes in failures(base, zones=zones).items():
        yield loss_of(base, name, nodes, before=before)


def loss_of(base: BaseCluster, name: str, nodes: list[str], *, before: Placed) -> Loss:
    """The effect of the failure of these nodes."""
    return Loss(name, nodes, place_without(base, nodes).worse_than(before))
