"""The matrix of nodes and plugins, and the clauses of the FitError with their nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.explain.explanation import Clause, NodeVerdict, Objection, Outlook
from schedviz.explain.messages.explained_clause import explained_clause

#: Their verdict on a node can change through events elsewhere: pods in its topology domain, new volumes.
_LOOK_ELSEWHERE: Final = frozenset(
    {names.INTER_POD_AFFINITY, names.POD_TOPOLOGY_SPREAD, names.VOLUME_BINDING, names.VOLUME_RESTRICTIONS, names.VOLUME_ZONE}
)


def matrix(dry_run: DryRun) -> tuple[NodeVerdict, ...]:
    """A verdict for every node, in the snapshot's order."""
    deciding = dry_run.verdicts
    by_plugin = [(plugin, plugin_verdicts) for plugin, plugin_verdicts in dry_run.each_plugin() if plugin_verdicts is not None]
    outlooks = _outlooks(dry_run, deciding, by_plugin)
    # There are few distinct combinations, however many nodes there are: each is formatted once.
    combinations = np.stack([deciding.codes, *(plugin_verdicts.codes for _, plugin_verdicts in by_plugin)], axis=1)
    distinct, which = np.unique(combinations, axis=0, return_inverse=True)
    objections = [_objections(row[1:], by_plugin) for row in distinct.tolist()]
    decisions = [(status.failed_plugin, str(status.code), status.reasons) for status in deciding.statuses]
    rows = zip(dry_run.rows.names, outlooks, deciding.codes.tolist(), which.ravel().tolist(), strict=True)
    verdicts: list[NodeVerdict] = []
    for node, outlook, code, combination in rows:
        plugin, name, reasons = decisions[code]
        verdicts.append(NodeVerdict(node, outlook, plugin, name, reasons, objections[combination]))
    return tuple(verdicts)


def _objections(codes: Sequence[int], by_plugin: Sequence[tuple[str, Verdicts]]) -> tuple[Objection, ...]:
    rejections = (
        (plugin, plugin_verdicts.statuses[code]) for (plugin, plugin_verdicts), code in zip(by_plugin, codes, strict=True) if code
    )
    return tuple(Objection(plugin, str(status.code), status.reasons) for plugin, status in rejections)


def _outlooks(dry_run: DryRun, deciding: Verdicts, by_plugin: Sequence[tuple[str, Verdicts]]) -> list[Outlook]:
    passes = deciding.codes == 0
    if passes.all():
        return ["now"] * len(deciding)
    if not dry_run.pre_filter.status.is_success:
        looks_elsewhere = dry_run.pre_filter.status.failed_plugin in _LOOK_ELSEWHERE
        return ["elsewhere" if looks_elsewhere else "never"] * len(deciding)
    never = dry_run.if_empty(without=_LOOK_ELSEWHERE).codes != 0
    elsewhere = np.zeros(len(deciding), np.bool_)
    for plugin, plugin_verdicts in by_plugin:
        if plugin in _LOOK_ELSEWHERE:
            elsewhere |= plugin_verdicts.codes != 0
    outlook_names = np.select([passes, never, elsewhere], ["now", "never", "elsewhere"], "pods leave")
    outlooks: list[Outlook] = outlook_names.tolist()
    return outlooks


def clauses(verdicts: Sequence[NodeVerdict]) -> tuple[Clause, ...]:
    """The reasons of the deciding verdicts with their nodes, as the FitError counts them."""
    nodes: dict[tuple[str, str, str], list[str]] = {}
    for verdict in verdicts:
        for reason in verdict.reasons:
            nodes.setdefault((reason, verdict.plugin, verdict.code), []).append(verdict.node)
    result = []
    # In the order of the message: upstream sorts "<count> <reason>" as strings.
    counts = Counter({key: len(of) for key, of in nodes.items()})
    for key in sorted(nodes, key=lambda key: f"{counts[key]} {key[0]}"):
        reason, plugin, code = key
        result.append(explained_clause(counts[key], reason, plugin=plugin, code=code, nodes=tuple(nodes[key])))
    return tuple(result)
