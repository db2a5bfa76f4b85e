"""The results of a scheduling cycle and of a binding cycle so far, as data that a checkpoint can store."""

from __future__ import annotations

import msgspec

from schedviz.engine.cache import SnapshotUpdate
from schedviz.engine.extenders.extender import ExtenderFilterRecord, ExtenderScoreRecord
from schedviz.engine.framework.interface import NominatingInfo
from schedviz.engine.framework.runtime import PluginResult, PostFilterOutcome
from schedviz.engine.framework.status import Status
from schedviz.trace.view import ScoredNodeView, StageView


class NominatedNodeEvaluation(msgspec.Struct):
    """The evaluation of `status.nominatedNodeName`, before the main pass."""

    node: str
    feasible: list[str] = []
    rejected: PluginResult | None = None
    error: str = ""


class Ranking(msgspec.Struct, frozen=True):
    """The node with the highest total, as a position among the feasible rows. Of the tied nodes only the first few are kept."""

    winner: int
    total: int
    tied_nodes: int
    first_tied: list[int]
    #: The best of the other nodes, the first if several are; None: there is no other node.
    runner_up: int | None = None
    runner_up_total: int = 0


class CycleResults(msgspec.Struct):
    """The results of a scheduling cycle."""

    #: When the cycle began.
    at_seconds: float = 0.0
    attempts: int = 0
    all_nodes: int = 0
    stages: list[StageView] = []
    start_node_index: int = 0
    next_start_node_index: int = 0
    snapshot_update: SnapshotUpdate | None = None
    pre_filter: tuple[PluginResult, ...] = ()
    #: The nodes that PreFilter left, sorted; None: all.
    pre_filter_nodes: list[str] | None = None
    skipped_filter_plugins: list[str] = []
    nominated_node: NominatedNodeEvaluation | None = None
    num_feasible_nodes_to_find: int = 0
    #: By extender, in the order of the calls; the evaluation of the nominated node comes first.
    extender_filter: list[ExtenderFilterRecord] = []
    #: How many extenders the main pass has called or skipped.
    extenders_done: int = 0
    extender_scores: dict[str, ExtenderScoreRecord] | None = None
    rejected_nodes: int = 0
    #: Filter's rejections have been added to the diagnosis.
    is_diagnosed: bool = False
    feasible_nodes: int = 0
    post_filter: PostFilterOutcome | None = None
    pre_score: tuple[PluginResult, ...] = ()
    skipped_score_plugins: list[str] = []
    ranking: Ranking | None = None
    #: The first few of the tied nodes, the winner and the runner-up.
    tied: list[str] = []
    winner: ScoredNodeView | None = None
    runner_up: ScoredNodeView | None = None
    #: The selected node; "" again after the cycle has failed.
    node: str = ""
    reserve: tuple[PluginResult, ...] = ()
    permit: tuple[PluginResult, ...] = ()
    unreserve: list[str] = []
    #: scheduled | unschedulable | error | skipped; "" while the cycle runs.
    outcome: str = ""
    message: str = ""
    condition_reason: str = ""
    unschedulable_plugins: list[str] = []
    nominating: NominatingInfo | None = None
    #: v1.36: the plugins that returned Pending, PreFilter's status if it rejected the pod, and whether the pod came from backoffQ.
    pending_plugins: list[str] = []
    pre_filter_status: Status | None = None
    popped_from_backoff_q: bool = False
    #: v1.36, opportunistic batching: the node that the last cycle suggested, whether it was taken, why that cycle's nodes could not be used
    #: or this one's could not be kept, and how many were kept.
    node_hint: str = ""
    is_hint_used: bool = False
    batch_flush: str | None = None
    batch_stored: int = 0
    #: v1.36: an extender returned Nodes, and the feasible rows are new NodeInfos without pods, made of them.
    feasible_rows_lack_pods: bool = msgspec.field(default=False, name="are_rows_without_pods")

    @property
    def evaluated_nodes(self) -> int:
        """How many nodes were found feasible or rejected."""
        return self.feasible_nodes + self.rejected_nodes

    @property
    def tied_nodes(self) -> int:
        """How many nodes share the highest total; 0 if nothing was scored."""
        return 0 if self.winner is None or self.ranking is None else self.ranking.tied_nodes


class BindingResults(msgspec.Struct):
    """The results of a binding cycle."""

    stages: list[StageView] = []
    pre_bind_pre_flight: tuple[PluginResult, ...] = ()
    pre_bind: tuple[PluginResult, ...] = ()
    bind: tuple[PluginResult, ...] = ()
    unreserve: list[str] = []
    forget_error: str = ""
    #: bound | failed; "" while the cycle runs.
    outcome: str = ""
    message: str = ""
    condition_reason: str = ""
    confirmed: bool = False
