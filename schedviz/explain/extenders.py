"""The declared answers of extenders: which nodes they reject after all Filter plugins, and how they rank them. None is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.config.types import Extender as ExtenderConfig
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.extenders.extender import Declared, ExtenderScoreRecord
from schedviz.engine.failure import NO_NODES_AVAILABLE
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import Code, Status
from schedviz.explain.explanation import NodeVerdict, Objection


class ExtenderRejection(NamedTuple):
    """A node that an extender's filter rejects."""

    extender: str
    reason: str
    #: Whether it says that preemption would not help.
    unresolvable: bool


def rejected_by_extenders(simulation: Simulation, dry_run: DryRun) -> dict[str, ExtenderRejection]:
    """Nodes that pass every plugin but are rejected by a declared extender, evaluated in the order of a cycle."""
    if not dry_run.pre_filter.status.is_success:
        return {}
    declared = {extender.url for extender in declared_extenders(simulation)}
    feasible = dry_run.verdicts.codes == 0
    result: dict[str, ExtenderRejection] = {}
    for extender in simulation.extenders:
        if extender.name not in declared or not extender.is_interested(dry_run.pod) or not feasible.any():
            continue
        record = extender.filter(dry_run.pod, dry_run.rows.take(feasible.nonzero()[0]))
        if record.error:
            continue
        for node, why in record.failed.items():
            result[node] = ExtenderRejection(extender.name, why, unresolvable=False)
        for node, why in record.unresolvable.items():
            result[node] = ExtenderRejection(extender.name, why, unresolvable=True)
        for row in feasible.nonzero()[0].tolist():
            feasible[row] = dry_run.rows.names[row] not in result
    return result


def rankings(simulation: Simulation, dry_run: DryRun, rows: Rows) -> dict[str, ExtenderScoreRecord]:
    """The scores of declared extenders for feasible rows, by extender name."""
    declared = {extender.url for extender in declared_extenders(simulation)}
    interested = (extender for extender in simulation.extenders if extender.name in declared and extender.is_interested(dry_run.pod))
    return {extender.name: extender.prioritize(dry_run.pod, rows) for extender in interested}


def feasible_nodes(simulation: Simulation, dry_run: DryRun) -> list[str]:
    """Nodes that pass every plugin and every declared extender."""
    rejected = rejected_by_extenders(simulation, dry_run)
    names = dry_run.rows.names
    return [names[row] for row in (dry_run.verdicts.codes == 0).nonzero()[0].tolist() if names[row] not in rejected]


def with_extenders(verdicts: Sequence[NodeVerdict], rejected: dict[str, ExtenderRejection]) -> tuple[NodeVerdict, ...]:
    """The verdicts, with those of extenders on nodes that pass every plugin."""
    if not rejected:
        return tuple(verdicts)
    return tuple(_rejected(verdict, rejected[verdict.node]) if verdict.node in rejected else verdict for verdict in verdicts)


def _rejected(verdict: NodeVerdict, by: ExtenderRejection) -> NodeVerdict:
    code = str(_code(by))
    objection = Objection(by.extender, code, (by.reason,))
    return NodeVerdict(verdict.node, "elsewhere", by.extender, code, (by.reason,), (*verdict.objections, objection))


def _code(by: ExtenderRejection) -> Code:
    return Code.UNSCHEDULABLE_AND_UNRESOLVABLE if by.unresolvable else Code.UNSCHEDULABLE


def message_with(simulation: Simulation, dry_run: DryRun, rejected: dict[str, ExtenderRejection], *, post_filter: bool = False) -> str:
    """The scheduler's message if no node fits, with the extenders' part; or the error that ends the attempt.

    `post_filter`: with what preemption and the other PostFilter plugins say, as in the pod's condition. See `DryRun.post_filter` for when.
    """
    if not len(dry_run.rows):
        return NO_NODES_AVAILABLE
    if (failed := dry_run.error) is not None:
        return str(failed)
    error = dry_run.fit_error
    error.diagnosis.node_to_status.update({node: Status(_code(by), (by.reason,)) for node, by in rejected.items()})
    if post_filter:
        declared = {extender.url for extender in declared_extenders(simulation)}
        outcome = dry_run.post_filter(error, [extender for extender in simulation.extenders if extender.name in declared])
        error.diagnosis.post_filter_msg = "" if outcome is None else outcome.status.message
    return error.message


def declared_extenders(simulation: Simulation) -> list[Declared]:
    """Extenders whose answers the settings declare."""
    return [msgspec.convert(declared, Declared) for declared in simulation.settings.fake_extenders]


def known_extenders(simulation: Simulation) -> tuple[ExtenderConfig, ...]:
    """All extenders in a session's configuration."""
    configured = simulation.configuration.extenders
    named = {extender.url_prefix for extender in configured}
    declared = (declared.configuration() for declared in declared_extenders(simulation))
    return (*configured, *(extender for extender in declared if extender.url_prefix not in named))


def uncalled_extenders(simulation: Simulation, dry_run: DryRun) -> tuple[str, ...]:
    """Extenders with a filter that would be called over HTTP, which an explanation does not do."""
    declared = {extender.url for extender in declared_extenders(simulation)}
    filtering = {extender.url_prefix for extender in simulation.configuration.extenders if extender.filter_verb}
    return tuple(
        extender.name for extender in simulation.extenders if extender.name in filtering - declared and extender.is_interested(dry_run.pod)
    )
