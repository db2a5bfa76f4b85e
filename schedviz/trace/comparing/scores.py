"""Score differences of one pod between two cycles."""

from __future__ import annotations

from typing import Any

from schedviz.trace.comparing.result import ScorePair, Scores, TotalPair
from schedviz.trace.comparing.side import Side, Summary

#: node -> plugin -> weighted score.
_Table = dict[str, dict[str, int]]


def compare_scores(a: Side, b: Side, cycles: tuple[Summary, Summary], *, maximum: int) -> Scores | None:
    """The scores that differ, those of the selected nodes first; None if the pods differ, or nothing was scored."""
    in_a, in_b = cycles
    if in_a.cycle.pod != in_b.cycle.pod:
        return None
    details = a.detail(in_a.cycle.cycle), b.detail(in_b.cycle.cycle)
    complete = details[0] is not None and details[1] is not None
    tables = (_of_detail(details[0]), _of_detail(details[1])) if complete else (_of_summary(in_a), _of_summary(in_b))
    if not tables[0] and not tables[1]:
        return None
    chosen = (in_a.cycle.node, in_b.cycle.node)
    # A score that one side does not know is not a difference.
    nodes = tables[0].keys() | tables[1].keys()
    ordered = sorted(nodes, key=lambda node: (node not in chosen, node))
    totals = [TotalPair(node, _total(tables[0].get(node)), _total(tables[1].get(node))) for node in ordered]
    plugins = [
        ScorePair(plugin, node, tables[0].get(node, {}).get(plugin), tables[1].get(node, {}).get(plugin))
        for node in ordered
        for plugin in sorted(tables[0].get(node, {}).keys() | tables[1].get(node, {}).keys())
    ]
    return Scores(
        pod=in_a.cycle.pod,
        complete=complete,
        totals=[total for total in totals if total.a != total.b][:maximum],
        plugins=[plugin for plugin in plugins if plugin.a != plugin.b][:maximum],
    )


def _total(row: dict[str, int] | None) -> int | None:
    return None if row is None else sum(row.values())


def _of_summary(summary: Summary) -> _Table:
    scored = (summary.cycle.winner, summary.cycle.runner_up)
    return {
        node_scores.node: {score.plugin: score.weighted for score in node_scores.scores}
        for node_scores in scored
        if node_scores is not None
    }


def _of_detail(detail: dict[str, Any] | None) -> _Table:
    table: _Table = {}
    for plugin, score in ((detail or {}).get("scores") or {}).items():
        for node, weighted in score["weighted"].items():
            table.setdefault(node, {})[plugin] = weighted
    return table
