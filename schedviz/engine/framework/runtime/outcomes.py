"""The outcome of an extension point: the resulting status, and what each plugin returned, for the record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import PostFilterResult, Scores
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status
from schedviz.engine.framework.verdicts import Index, Verdicts

_NONE: Final = np.zeros(0, np.intp)


class PluginResult(msgspec.Struct, frozen=True):
    """What one plugin returned, before the framework rewrites it."""

    plugin: str
    status: Status
    #: PreFilter: the remaining nodes, sorted; None: all.
    node_names: tuple[str, ...] | None = None
    #: Permit: how long the pod may have to wait, in nanoseconds; None: it need not wait.
    timeout: int | None = None


class PluginRun(msgspec.Struct, frozen=True):
    """The outcome of an extension point whose plugins run in order."""

    status: Status = SUCCESS
    plugin_results: tuple[PluginResult, ...] = msgspec.field(default=(), name="answers")


class PreFilterOutcome(msgspec.Struct, frozen=True):
    """PreFilter's outcome: `node_names` are the remaining nodes, None: all."""

    status: Status = SUCCESS
    plugin_results: tuple[PluginResult, ...] = msgspec.field(default=(), name="answers")
    node_names: frozenset[str] | None = None
    #: v1.36: the plugins that named nodes.
    with_nodes: frozenset[str] = frozenset()


class PostFilterOutcome(msgspec.Struct, frozen=True):
    """PostFilter's outcome. The result is None where upstream's is nil; `results` has that of each plugin, parallel to `plugin_results`."""

    status: Status = SUCCESS
    plugin_results: tuple[PluginResult, ...] = msgspec.field(default=(), name="answers")
    result: PostFilterResult | None = None
    results: tuple[PostFilterResult | None, ...] = ()


class FilterOutcome:
    """Filter's outcome: the feasible rows, and why the others were rejected.

    `verdicts` cover the rows up to the end of the search. The row at which the search stopped because it had found enough is not included.
    """

    __slots__ = ("error", "feasible", "rows", "verdicts")

    def __init__(self, rows: Rows, feasible: Index, verdicts: Verdicts, error: Status | None = None) -> None:
        #: All rows of the search.
        self.rows = rows
        #: Positions in `rows`, in order.
        self.feasible = feasible
        self.verdicts = verdicts
        #: The error that ended the search, if a plugin failed; its row has no verdict.
        self.error = error

    @property
    def rejected(self) -> Index:
        """Positions in `rows` of the rejected rows, in order."""
        return _NONE if self.verdicts.rejects_none else np.flatnonzero(self.verdicts.codes)

    @property
    def evaluated(self) -> int:
        """How many rows are feasible or rejected; nextStartNodeIndex moves by this number."""
        return len(self.verdicts)

    def counts(self) -> list[tuple[Status, int, Index]]:
        """Each distinct rejection in order of its first node: the status, the number of rows, and the rows."""
        codes = self.verdicts.codes
        counts = []
        for code in dict.fromkeys(codes[self.rejected].tolist()):
            rows = np.flatnonzero(codes == code)
            counts.append((self.verdicts.statuses[code], len(rows), rows))
        return counts

    def node_to_status(self) -> NodeToStatusMap:
        """The rejected nodes. Upstream: framework/types.go Diagnosis.NodeToStatusMap"""
        return NodeToStatusMap.of(self.rows, self.verdicts)

    def rejections(self) -> list[Status]:
        """Each status with which a row was rejected, in no particular order."""
        return [self.verdicts.statuses[code] for code in np.unique(self.verdicts.codes).tolist() if code]


class ScoresOfPlugin(msgspec.Struct, frozen=True):
    """One plugin's scores of each row: raw, after NormalizeScore, and weighted."""

    name: str
    weight: int
    raw: Scores
    normalized: Scores
    weighted: Scores


class ScoreOutcome(msgspec.Struct, frozen=True):
    """Score's outcome: the plugins in order, and each row's sum of weighted scores; empty if `status` is an error."""

    status: Status
    plugins: Sequence[ScoresOfPlugin]
    totals: Scores

    def detached(self) -> ScoreOutcome:
        """A copy whose arrays are its own, for a snapshot that changes."""
        plugins = [
            ScoresOfPlugin(plugin.name, plugin.weight, plugin.raw.copy(), plugin.normalized.copy(), plugin.weighted.copy())
            for plugin in self.plugins
        ]
        return ScoreOutcome(self.status, plugins, self.totals.copy())
