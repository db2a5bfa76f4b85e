"""What a scheduling cycle and a binding cycle found out so far, as data that a checkpoint can keep."""

from __future__ import annotations

import msgspec

from schedviz.engine.cache import SnapshotUpdate
from schedviz.engine.extenders.extender import ExtenderFilterRecord, ExtenderScoreRecord
from schedviz.engine.framework.interface import NominatingInfo
from schedviz.engine.framework.runtime import PluginAnswer, PostFilterOutcome
from schedviz.trace.view import ScoredNodeView, StageView


class NominatedNodeEvaluation(msgspec.Struct):
    """The first try on `status.nominatedNodeName`."""

    node: str
    feasible: list[str] = []
    rejected: PluginAnswer | None = None
    error: str = ""


class Ranking(msgspec.Struct, frozen=True):
    """Who has the highest total: positions among the feasible rows. Of those that share it the first few are kept: it may be all."""

    winner: int
    total: int
    tied_nodes: int
    first_tied: list[int]
    #: The best of the others, the first of them; None: there is no other node.
    runner_up: int | None = None
    runner_up_total: int = 0


class CycleResults(msgspec.Struct):
    """Of a scheduling cycle."""

    #: When it began.
    at_seconds: float = 0.0
    attempts: int = 0
    all_nodes: int = 0
    stages: list[StageView] = []
    start_node_index: int = 0
    next_start_node_index: int = 0
    snapshot_update: SnapshotUpdate | None = None
    pre_filter: tuple[PluginAnswer, ...] = ()
    #: The nodes that PreFilter left, sorted; None: all.
    pre_filter_nodes: list[str] | None = None
    skipped_filter_plugins: list[str] = []
    nominated_node: NominatedNodeEvaluation | None = None
    num_feasible_nodes_to_find: int = 0
    #: By extender, in the order in which they were asked; the first try on the nominated node comes first.
    extender_filter: list[ExtenderFilterRecord] = []
    #: How many extenders were asked, or passed over, in the main pass.
    extenders_done: int = 0
    extender_scores: dict[str, ExtenderScoreRecord] | None = None
    rejected_nodes: int = 0
    #: Filter's rejections are in the diagnosis.
    is_diagnosed: bool = False
    feasible_nodes: int = 0
    post_filter: PostFilterOutcome | None = None
    pre_score: tuple[PluginAnswer, ...] = ()
    skipped_score_plugins: list[str] = []
    ranking: Ranking | None = None
    #: The first few of the tied nodes, and who came out on top.
    tied: list[str] = []
    winner: ScoredNodeView | None = None
    runner_up: ScoredNodeView | None = None
    #: The chosen node; "" again once the cycle has failed.
    node: str = ""
    reserve: tuple[PluginAnswer, ...] = ()
    permit: tuple[PluginAnswer, ...] = ()
    unreserve: list[str] = []
    #: scheduled | unschedulable | error | skipped; "" while the cycle runs.
    outcome: str = ""
    message: str = ""
    condition_reason: str = ""
    unschedulable_plugins: list[str] = []
    nominating: NominatingInfo | None = None

    @property
    def evaluated_nodes(self) -> int:
        """How many nodes were found feasible or rejected."""
        return self.feasible_nodes + self.rejected_nodes

    @property
    def tied_nodes(self) -> int:
        """How many nodes share the highest total; 0 where nothing was scored."""
        return 0 if self.winner is None or self.ranking is None else self.ranking.tied_nodes


class BindingResults(msgspec.Struct):
    """Of a binding cycle."""

    stages: list[StageView] = []
    pre_bind: tuple[PluginAnswer, ...] = ()
    bind: tuple[PluginAnswer, ...] = ()
    unreserve: list[str] = []
    forget_error: str = ""
    #: bound | failed; "" while the cycle runs.
    outcome: str = ""
    message: str = ""
    condition_reason: str = ""
    confirmed: bool = False
