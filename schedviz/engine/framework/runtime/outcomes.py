"""What an extension point comes to: the status that counts, and what each plugin answered on the way (for whoever watches)."""

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


class PluginAnswer(msgspec.Struct, frozen=True):
    """What one plugin answered, before the framework put it in its own words."""

    plugin: str
    status: Status
    #: PreFilter: the nodes that it left, sorted; None: all.
    node_names: tuple[str, ...] | None = None


class PluginRun(msgspec.Struct, frozen=True):
    """An extension point at which plugins are asked one after the other."""

    status: Status = SUCCESS
    answers: tuple[PluginAnswer, ...] = ()


class PreFilterOutcome(msgspec.Struct, frozen=True):
    """PreFilter's: `node_names` are the nodes that are left, None: all."""

    status: Status = SUCCESS
    answers: tuple[PluginAnswer, ...] = ()
    node_names: frozenset[str] | None = None


class PostFilterOutcome(msgspec.Struct, frozen=True):
    """PostFilter's: the result is None where upstream's is nil. `answers` have each plugin's own result beside them in `results`."""

    status: Status = SUCCESS
    answers: tuple[PluginAnswer, ...] = ()
    result: PostFilterResult | None = None
    results: tuple[PostFilterResult | None, ...] = ()


class FilterOutcome:
    """Filter's: which rows are feasible, and why the others are not.

    `verdicts` speak of the first rows alone, up to where the search stopped. A row at which it stopped because enough had been
    found is not among them.
    """

    __slots__ = ("error", "feasible", "rows", "verdicts")

    def __init__(self, rows: Rows, feasible: Index, verdicts: Verdicts, error: Status | None = None) -> None:
        #: All rows that could have been looked at.
        self.rows = rows
        #: Positions in `rows`, in order.
        self.feasible = feasible
        self.verdicts = verdicts
        #: What ended the search, where a plugin failed; its row has no verdict.
        self.error = error

    @property
    def rejected(self) -> Index:
        """Positions in `rows` of those that were turned away, in order."""
        return _NONE if self.verdicts.rejects_nobody else np.flatnonzero(self.verdicts.codes)

    @property
    def evaluated(self) -> int:
        """How many rows are feasible or rejected: by so many nextStartNodeIndex moves on."""
        return len(self.verdicts)

    def counts(self) -> list[tuple[Status, int, Index]]:
        """Each distinct rejection in order of its first node: the status, how many rows have it, and which."""
        codes = self.verdicts.codes
        found = []
        for code in dict.fromkeys(codes[self.rejected].tolist()):
            rows = np.flatnonzero(codes == code)
            found.append((self.verdicts.statuses[code], len(rows), rows))
        return found

    def node_to_status(self) -> NodeToStatusMap:
        """The rejected nodes by name. Upstream: framework/types.go Diagnosis.NodeToStatusMap"""
        rejected = self.rejected
        statuses, names = self.verdicts.statuses, self.rows.names
        codes = self.verdicts.codes[rejected].tolist()
        return {names[row]: statuses[code] for row, code in zip(rejected.tolist(), codes, strict=True)}

    def unschedulable_plugins(self) -> set[str]:
        """The plugins that rejected a row."""
        return {self.verdicts.statuses[code].failed_plugin for code in np.unique(self.verdicts.codes).tolist() if code}


class ScoresOfPlugin(msgspec.Struct, frozen=True):
    """What one plugin gave to each row: as it said, after NormalizeScore, and times its weight."""

    name: str
    weight: int
    raw: Scores
    normalized: Scores
    weighted: Scores


class ScoreOutcome(msgspec.Struct, frozen=True):
    """Score's: the plugins in order, and the sum of their weighted scores for each row. Empty when `status` is an error."""

    status: Status
    plugins: Sequence[ScoresOfPlugin]
    totals: Scores
