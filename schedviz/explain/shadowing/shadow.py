"""Shadowing a real scheduler: the node that this engine would choose, and whether the real scheduler chose the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
import numpy as np

from schedviz.engine import Simulation
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.extenders.extender import ExtenderScoreRecord
from schedviz.engine.find_nodes import num_feasible_nodes_to_find
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime.outcomes import ScoreOutcome, ScoresOfPlugin
from schedviz.engine.framework.verdicts import Index
from schedviz.engine.select_host import tied_rows, totals
from schedviz.explain.extenders import ExtenderRejection, message_with, rankings, rejected_by_extenders
from schedviz.explain.shadowing.judgement import Choice, Judgement, Share

#: How many of the best nodes are named.
MAX_NAMES: Final = 8
#: Verdicts that need a cause.
DISAGREEMENTS: Final = frozenset(("notBest", "infeasible"))

replace = msgspec.structs.replace


class Ranked:
    """The feasible nodes of a dry run with their totals."""

    def __init__(self, simulation: Simulation, dry_run: DryRun) -> None:
        self.dry_run = dry_run
        self.rejected: dict[str, ExtenderRejection] = rejected_by_extenders(simulation, dry_run)
        self.rows: Rows = dry_run.rows.take(self._candidates())
        self.scored: ScoreOutcome | None = None
        self.extenders: dict[str, ExtenderScoreRecord] = {}
        self.failure = ""
        self.totals = np.ones(len(self.rows), np.int64)
        # As in a cycle: a single feasible node is not scored.
        if len(self.rows) > 1:
            self._score(simulation)

    def _candidates(self) -> Index:
        passing = self.dry_run.verdicts.codes == 0
        names = self.dry_run.rows.names
        # The nominated node is tried before all others. Upstream: schedule_one.go evaluateNominatedNode
        nominated = self.dry_run.pod.pod.status.nominated_node_name
        rows = np.flatnonzero(passing)
        if self.rejected:
            rows = np.array([row for row in rows.tolist() if names[row] not in self.rejected], np.intp)
        if nominated:
            alone = np.array([row for row in rows.tolist() if names[row] == nominated], np.intp)
            return alone if len(alone) else rows
        return rows

    def _score(self, simulation: Simulation) -> None:
        self.scored = self.dry_run.scores(self.rows)
        if self.scored is not None and not self.scored.status.is_success:
            self.failure = str(self.scored.status.as_error())
            return
        self.extenders = rankings(simulation, self.dry_run, self.rows)
        self.totals = totals(self.rows, self.scored, self.extenders)

    @property
    def best(self) -> list[int]:
        """The rows with the highest total."""
        return tied_rows(self.totals) if len(self.rows) else []

    def shares(self, best: int, taken: int) -> tuple[Share, ...]:
        """The differences between the totals of two rows."""
        shares = [Share(plugin.name, int(plugin.weighted[best]), int(plugin.weighted[taken])) for plugin in _plugins(self.scored)]
        names = self.rows.names
        for name, record in self.extenders.items():
            shares.append(Share(name, record.weighted.get(names[best], 0), record.weighted.get(names[taken], 0)))
        return tuple(sorted((share for share in shares if share.best != share.taken), key=lambda share: share.taken - share.best))


def choose(simulation: Simulation, dry_run: DryRun) -> Choice:
    """This scheduler's choice for the pod of a dry run."""
    return _choice(simulation, Ranked(simulation, dry_run))


def judge(simulation: Simulation, dry_run: DryRun, node: str, *, release_differs: Callable[[], bool] = lambda: False) -> Judgement:
    """Whether this scheduler could have chosen the node that a real scheduler chose for the pod of a dry run, and if not, a likely cause.

    `release_differs`: whether the real scheduler is known to be of another release; called for a disagreement.
    """
    ranked = Ranked(simulation, dry_run)
    verdict = _verdict(simulation, ranked, node)
    if verdict.verdict not in DISAGREEMENTS:
        return verdict
    if release_differs():
        return replace(verdict, cause="release")
    if verdict.verdict == "notBest" and _scores_only_some(simulation, ranked):
        return replace(verdict, cause="sampling")
    without = () if simulation.config is not None else _plugins_to_leave_out(ranked, node)
    return replace(verdict, cause="configuration" if without else "unexplained", without=without)


def _verdict(simulation: Simulation, ranked: Ranked, node: str) -> Judgement:
    dry_run = ranked.dry_run
    choice = _choice(simulation, ranked)
    row_of = dry_run.row_of
    if node not in row_of:
        return Judgement("unjudged", choice, reasons=(f'the session knows no node "{node}"',))
    if ranked.failure:
        return Judgement("unjudged", choice, reasons=(ranked.failure,))
    status = dry_run.verdicts[row_of[node]]
    if not status.is_success:
        return Judgement("infeasible", choice, plugin=status.failed_plugin, reasons=status.reasons)
    if node in ranked.rejected:
        by = ranked.rejected[node]
        return Judgement("infeasible", choice, plugin=by.extender, reasons=(by.reason,))
    return _among_feasible(ranked, choice, node)


def _among_feasible(ranked: Ranked, choice: Choice, node: str) -> Judgement:
    rows = [row for row, name in enumerate(ranked.rows.names) if name == node]
    if not rows:
        # The nominated node is feasible, and is tried alone.
        return Judgement("notBest", choice)
    total, best = int(ranked.totals[rows[0]]), ranked.best
    if rows[0] in best:
        return Judgement("agrees", choice, total)
    return Judgement("notBest", choice, total, ranked.shares(best[0], rows[0]))


def _scores_only_some(simulation: Simulation, ranked: Ranked) -> bool:
    """Whether a real scheduler stops filtering before it has seen all nodes. Upstream: schedule_one.go numFeasibleNodesToFind"""
    nodes, percentage = len(ranked.dry_run.rows), ranked.dry_run.framework.percentage_of_nodes_to_score
    if percentage is None:
        percentage = simulation.scheduler.state.percentage_of_nodes_to_score
    return num_feasible_nodes_to_find(percentage, nodes) < nodes


def _plugins_to_leave_out(ranked: Ranked, node: str) -> tuple[str, ...]:
    """Plugins each of whose removal alone would make the node the choice, or feasible."""
    rows = [row for row, name in enumerate(ranked.rows.names) if name == node]
    if rows:
        (own_row,) = rows
        without = [(plugin.name, ranked.totals - plugin.weighted) for plugin in _plugins(ranked.scored)]
        return tuple(name for name, totals in without if totals[own_row] == totals.max())
    row = ranked.dry_run.row_of[node]
    rejecting = [name for name, verdicts in ranked.dry_run.each_plugin() if verdicts is not None and not verdicts[row].is_success]
    return tuple(rejecting) if len(rejecting) == 1 else ()


def _choice(simulation: Simulation, ranked: Ranked) -> Choice:
    dry_run, rows = ranked.dry_run, ranked.rows
    if ranked.failure:
        return Choice(len(dry_run.rows), len(rows), message=ranked.failure)
    if not len(rows):
        return Choice(len(dry_run.rows), 0, message=message_with(simulation, dry_run, ranked.rejected))
    best = ranked.best
    names = tuple(rows.names[row] for row in best[:MAX_NAMES])
    return Choice(len(dry_run.rows), len(rows), names, len(best), int(ranked.totals[best[0]]))


def _plugins(scored: ScoreOutcome | None) -> Sequence[ScoresOfPlugin]:
    return () if scored is None else scored.plugins
