"""`RejectedNodes`: the nodes behind one clause, with what the modules of this package read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Index


class RejectedNodes:
    """The nodes behind one clause. `reason` is the clause's."""

    def __init__(self, simulation: Simulation, dry_run: DryRun, reason: str, index: Index) -> None:
        self.simulation = simulation
        self.dry_run = dry_run
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
