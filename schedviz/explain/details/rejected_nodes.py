"""`RejectedNodes`: the nodes behind one clause, with what the modules of this package read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.taint import HARD_TAINT_EFFECTS, tolerations_tolerate_taint
from schedviz.engine.framework.plugins.nodeunschedulable.node_unschedulable import CORDON
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Index, Mask
from schedviz.explain.explanation import NodeVerdict


class RejectedNodes:
    """The nodes behind one clause. `reason` is the clause's; `verdicts` are those of all nodes of the dry run, in order."""

    def __init__(self, simulation: Simulation, dry_run: DryRun, verdicts: Sequence[NodeVerdict], reason: str, index: Index) -> None:
        self.simulation = simulation
        self.dry_run = dry_run
        self.verdicts = verdicts
        self.reason = reason
        self.index = index

    @property
    def pod(self) -> PodInfo:
        """The pod that is explained."""
        return self.dry_run.pod

    @property
    def everywhere(self) -> Rows:
        """All nodes of the cluster."""
        return self.dry_run.rows

    @cached_property
    def rows(self) -> Rows:
        """The rejected nodes."""
        return self.dry_run.rows.take(self.index)

    def nominated_to(self, node_info: NodeInfo) -> Sequence[PodInfo]:
        """The nominated pods that Filter counts on a node."""
        return self.dry_run.framework.relevant_nominated_pods(self.pod, node_info)

    @cached_property
    def may_be_used(self) -> Mask:
        """For each node of the cluster, whether every filter passes but that for resources: it would take a smaller pod."""
        return np.array([_rejecting(verdict) <= {names.NODE_RESOURCES_FIT} for verdict in self.verdicts], np.bool_)

    def is_only_cordoned(self, row: int) -> bool:
        """Whether a node of the cluster would take the pod if it were uncordoned."""
        node = self.everywhere.infos[row].node
        if node is None or not node.spec.unschedulable:
            return False
        tolerations = self.pod.pod.spec.tolerations
        hard = (taint for taint in node.spec.taints if taint.effect in HARD_TAINT_EFFECTS and taint.key != CORDON.key)
        closed = {names.NODE_UNSCHEDULABLE, names.TAINT_TOLERATION}
        return _rejecting(self.verdicts[row]) <= closed and all(tolerations_tolerate_taint(tolerations, taint) for taint in hard)


def _rejecting(verdict: NodeVerdict) -> set[str]:
    """The plugins that reject a node."""
    return {plugin for plugin in (verdict.plugin, *(objection.plugin for objection in verdict.objections)) if plugin}
