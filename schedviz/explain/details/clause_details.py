"""`with_details`: clauses with the numbers behind them, and with their nodes in the order of how near they are to taking the pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.plugins import names
from schedviz.explain.details.detail import AnyDetail, LabelDetail, ResourceDetail
from schedviz.explain.details.devices import device_details
from schedviz.explain.details.headline import headline
from schedviz.explain.details.node_labels import node_affinity_details
from schedviz.explain.details.pod_affinity import pod_affinity_details
from schedviz.explain.details.ports import port_details
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.explain.details.resources import resource_details, shortage
from schedviz.explain.details.spread import spread_details
from schedviz.explain.details.taints import taint_details
from schedviz.explain.details.volumes import volume_affinity_details, volume_zone_details
from schedviz.explain.explanation import Clause, NodeVerdict
from schedviz.explain.reason_tables.volumes import BOUND

#: By the plugin that rejects.
_DETAILS: Final[dict[str, Callable[[RejectedNodes], Iterable[AnyDetail]]]] = {
    names.NODE_RESOURCES_FIT: resource_details,
    names.TAINT_TOLERATION: taint_details,
    names.NODE_AFFINITY: node_affinity_details,
    names.POD_TOPOLOGY_SPREAD: spread_details,
    names.INTER_POD_AFFINITY: pod_affinity_details,
    names.NODE_PORTS: port_details,
    names.DYNAMIC_RESOURCES: device_details,
    names.VOLUME_BINDING: volume_affinity_details,
    names.VOLUME_ZONE: volume_zone_details,
}

#: What to do about a request that no node can meet, whatever runs on it. Others' requests, and another node of the same size, do not help.
_TOO_LARGE: Final = "no node is large enough, even if it is empty: lower the pod's own request, or add a larger node"

#: What to do about such a resource if another one is too large for every node.
_TOO_LARGE_TOO: Final = "lower this request, too, or add a node that is large enough for all of them"
#: What to do about labels that no node has.
_NO_SUCH_LABEL: Final = (
    "ask for labels that nodes have, or add a node with these; label an existing node only if it is true of the node, such as of its disk"
)


def with_details(simulation: Simulation, dry_run: DryRun, verdicts: Sequence[NodeVerdict], clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The same clauses. `verdicts` are those of the dry run's nodes, in order."""
    objections = np.array([len(verdict.objections) for verdict in verdicts], np.int64)
    detailed = [_with_details(simulation, dry_run, verdicts, objections, clause) for clause in clauses]
    if all(clause.advice != _TOO_LARGE for clause in detailed):
        return tuple(detailed)
    return tuple(
        msgspec.structs.replace(clause, advice=_TOO_LARGE_TOO, advice_phrase=None)
        if clause.plugin == names.NODE_RESOURCES_FIT and clause.advice != _TOO_LARGE and clause.details
        else clause
        for clause in detailed
    )


def _with_details(simulation: Simulation, dry_run: DryRun, verdicts: Sequence[NodeVerdict], objections: IntArray, clause: Clause) -> Clause:
    if not clause.nodes:
        return clause
    row_of = dry_run.row_of
    index = np.fromiter((row_of[node] for node in clause.nodes), np.intp, len(clause.nodes))
    rejected = RejectedNodes(simulation, dry_run, verdicts, clause.reason, index)
    keys = [objections[index]]
    if clause.plugin == names.NODE_RESOURCES_FIT:
        keys.insert(0, shortage(rejected))
    # The last key is the most significant; equal nodes stay in the order of the snapshot.
    nodes = tuple(clause.nodes[index] for index in np.lexsort(keys).tolist())
    details = _DETAILS.get(clause.plugin)
    found = () if details is None else tuple(details(rejected))
    clause = msgspec.structs.replace(clause, nodes=nodes, details=found)
    if advice := _advice(found):
        clause = msgspec.structs.replace(clause, advice=advice, advice_phrase=None)
    plain = headline(rejected, clause, found)
    return clause if plain is None else msgspec.structs.replace(clause, headline=plain.text, headline_phrase=plain)


def _advice(found: Sequence[AnyDetail]) -> str:
    """What to do, where the numbers say more than the reason; "": they do not."""
    if any(isinstance(detail, LabelDetail) and detail.volume for detail in found):
        return BOUND
    if any(isinstance(detail, LabelDetail) and not detail.matching for detail in found):
        return _NO_SUCH_LABEL
    return _TOO_LARGE if any(isinstance(detail, ResourceDetail) and 0 < detail.largest < detail.requested for detail in found) else ""
