"""`thumbnail`: a pod and the nodes that reject it in numbers, small enough to draw on a list of cases."""

from __future__ import annotations

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.adjusted_rows import amount
from schedviz.explain.details.detail import ResourceDetail
from schedviz.explain.explanation import Explanation
from schedviz.explain.why import find_pod
from schedviz.kube.core import Node

_ZONE = "topology.kubernetes.io/zone"


class NodeMark(msgspec.Struct, frozen=True, rename="camel"):
    """One node. Shares of its allocatable amount, in hundredths; both are 0 for a node that has none of the resource."""

    node: str
    zone: str
    used: int
    #: What the pod requests.
    requested: int
    #: The plugin that rejects it first; "" if none does.
    plugin: str


class Thumbnail(msgspec.Struct, frozen=True, rename="camel"):
    """The nodes by zone, and the resource that is drawn: the one that the pod lacks, else cpu."""

    resource: str
    nodes: tuple[NodeMark, ...]


def thumbnail(simulation: Simulation, explanation: Explanation) -> Thumbnail:
    """The thumbnail of an explanation that `simulation` gave."""
    dry_run = DryRun(simulation, find_pod(simulation, explanation.pod))
    details = explanation.main.details if explanation.main is not None else ()
    resource = next((detail.resource for detail in details if isinstance(detail, ResourceDetail)), "cpu")
    rows, requested = dry_run.rows, amount(dry_run.pod, resource)
    allocatable = rows.allocatable(resource).tolist()
    used = (rows.pod_count() if resource == "pods" else rows.requested(resource)).tolist()
    plugins = {verdict.node: verdict.plugin for verdict in explanation.matrix}
    marks = []
    for name, row in dry_run.row_of.items():
        capacity = allocatable[row]
        node = simulation.cluster.find("Node", name)
        zone = node.metadata.labels.get(_ZONE, "") if isinstance(node, Node) else ""
        shares = (_hundredths(used[row], capacity), _hundredths(requested, capacity)) if capacity else (0, 0)
        marks.append(NodeMark(name, zone, *shares, plugins.get(name, "")))
    return Thumbnail(resource, tuple(sorted(marks, key=lambda mark: (mark.zone, mark.node))))


def _hundredths(part: int, total: int) -> int:
    return round(100 * part / total)
