"""Why no node fits, as v1.36 reports it: nodes that were not evaluated have a status, too.

Upstream: framework/interface.go NodeToStatus, framework/types.go FitError
"""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from schedviz.engine.framework.fit_error import Diagnosis, FitError, NodeToStatusMap, reasons_histogram
from schedviz.engine.framework.status import Code, Status

#: The status of a node that was not evaluated, unless PreFilter rejected it.
_ABSENT = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)

#: The name under which a rejection by an extender counts as one by a plugin. Upstream: framework/types.go ExtenderName
EXTENDER_NAME = "Extender"


class NodeToStatus(NodeToStatusMap):
    """Node name -> why it was rejected, and the status of all other nodes. Upstream: framework/interface.go NodeToStatus"""

    __slots__ = ("absent_nodes_status",)

    def __init__(self) -> None:
        super().__init__()
        self.absent_nodes_status: Status = _ABSENT

    def status_of(self, node: str) -> Status:
        """Why a node was rejected, or the status of absent nodes. Upstream: NodeToStatus.Get"""
        return self.get(node, self.absent_nodes_status)


class DiagnosisV136(Diagnosis):
    """The diagnosis of a failed attempt; `node_to_status` is a `NodeToStatus`."""

    pending_plugins: set[str] = msgspec.field(default_factory=set)

    @classmethod
    def new(cls) -> Self:
        """An empty diagnosis."""
        return cls(NodeToStatus())

    @property
    def nodes(self) -> NodeToStatus:
        """`node_to_status`, with the status of absent nodes."""
        statuses = self.node_to_status
        assert isinstance(statuses, NodeToStatus)
        return statuses

    def reject_all_nodes(self, status: Status) -> None:
        super().reject_all_nodes(status)
        self.nodes.absent_nodes_status = status

    def add_plugin_status(self, status: Status) -> None:
        """Remember the plugin. Upstream: framework/types.go Diagnosis.AddPluginStatus"""
        if not status.failed_plugin:
            return
        if status.is_rejected:
            self.unschedulable_plugins.add(status.failed_plugin)
        if status.code is Code.PENDING:
            self.pending_plugins.add(status.failed_plugin)


class FitErrorV136(FitError):
    """No node fits a pod."""

    diagnosis_type: ClassVar[type[Diagnosis]] = DiagnosisV136

    @property
    def message(self) -> str:
        """`0/N nodes are available: <PreFilter>.` or `<n reason, n reason>.`, then PostFilter's message as it is.

        Upstream: framework/types.go FitError.Error
        """
        diagnosis, all_nodes = self.diagnosis, self.num_all_nodes
        text = f"0/{all_nodes} nodes are available:"
        if diagnosis.pre_filter_msg:
            text += f" {diagnosis.pre_filter_msg}."
        else:
            statuses = diagnosis.node_to_status
            counts = statuses.counts()
            if isinstance(statuses, NodeToStatus) and len(statuses) < all_nodes:
                counts.append((statuses.absent_nodes_status, all_nodes - len(statuses)))
            reasons = reasons_histogram(counts)
            if reasons:
                text += f" {', '.join(reasons)}."
        return f"{text} {diagnosis.post_filter_msg}" if diagnosis.post_filter_msg else text
