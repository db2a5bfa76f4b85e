"""`StageReport`: the result of one stage, with statuses of plugins, rejections by plugin and reason, facts, and the next stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from schedviz.engine.extenders.extender import ExtenderFilterRecord
from schedviz.engine.framework.runtime import FilterOutcome, PluginResult
from schedviz.engine.framework.status import Code
from schedviz.trace.view import RejectionView, StatusView

#: How many of the rejected nodes are listed by name.
MAX_NAMED_NODES: Final = 3


class StageReport:
    """The result of one stage. Each stage returns one, and `advance` records it."""

    __slots__ = ("facts", "next_stage", "rejections", "statuses")

    def __init__(
        self,
        next_stage: str,
        statuses: Sequence[StatusView] = (),
        rejections: Sequence[RejectionView] = (),
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.next_stage = next_stage
        self.statuses = list(statuses)
        self.rejections = list(rejections)
        self.facts = facts or {}


def statuses_of(plugin_results: Iterable[PluginResult]) -> list[StatusView]:
    """The statuses that plugins returned, for the view."""
    return [
        StatusView(plugin=plugin_result.plugin, code=plugin_result.status.code.value, reasons=list(plugin_result.status.reasons))
        if plugin_result.status.reasons
        else _without_reasons(plugin_result.plugin, plugin_result.status.code)
        for plugin_result in plugin_results
    ]


@lru_cache(maxsize=1024)
def _without_reasons(plugin: str, code: Code) -> StatusView:
    """A status without reasons. Cached: most statuses are Success or Skip, and a cycle has about twenty."""
    return StatusView(plugin=plugin, code=code.value)


def filter_rejections(outcome: FilterOutcome) -> list[RejectionView]:
    """Rejected nodes, counted by plugin and reasons, in the order of the first node of each."""
    names = outcome.rows.names
    # Equal statuses from several parts of the search are one rejection.
    nodes_of: dict[tuple[str, str, tuple[str, ...]], tuple[int, list[str]]] = {}
    for status, count, rows in outcome.counts():
        key = (status.failed_plugin, status.code.value, tuple(status.reasons))
        counted, first = nodes_of.get(key, (0, []))
        named = [names[row] for row in rows[: MAX_NAMED_NODES - len(first)].tolist()]
        nodes_of[key] = (counted + count, first + named)
    return [
        RejectionView(plugin=plugin, code=code, reasons=list(reasons), nodes=count, first=first)
        for (plugin, code, reasons), (count, first) in nodes_of.items()
    ]


def extender_rejections(record: ExtenderFilterRecord) -> list[RejectionView]:
    """The nodes that an extender rejected."""
    rejections: dict[tuple[str, str], list[str]] = {}
    for code, rejected in ((Code.UNSCHEDULABLE, record.failed), (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, record.unresolvable)):
        for node, reason in rejected.items():
            rejections.setdefault((code.value, reason), []).append(node)
    return [
        RejectionView(plugin=record.extender, code=code, reasons=[reason], nodes=len(nodes), first=nodes[:MAX_NAMED_NODES])
        for (code, reason), nodes in rejections.items()
    ]
