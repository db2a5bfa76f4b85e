"""FORMAT.md's `observed` records of cycles and bindings, made from the results of the cycles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schedviz.engine.binding import FAILED, BindingCycle
from schedviz.engine.cache import SnapshotUpdate
from schedviz.engine.extenders.extender import ExtenderFilterRecord, ExtenderScoreRecord
from schedviz.engine.framework.interface import NominatingInfo
from schedviz.engine.framework.preemption.record import Candidate
from schedviz.engine.framework.runtime import FilterOutcome, PluginResult, PostFilterOutcome, ScoreOutcome
from schedviz.engine.framework.status import Status
from schedviz.engine.framework.types import NANOS_PER_SECOND
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.select_host import tied_rows
from schedviz.trace.events import AnyEvent, ApiWritten, EventRecorded, WatchDelivered


def empty_cycle_record(next_start_node_index: int) -> dict[str, Any]:
    """The record of a cycle without a pod."""
    return {"outcome": "empty", "startNodeIndex": next_start_node_index, "nextStartNodeIndex": next_start_node_index}


def cycle_record(cycle: SchedulingCycle) -> dict[str, Any]:
    """The full record of a scheduling cycle that has ended, without its binding."""
    results = cycle.results
    names = None if cycle.feasible is None else list(cycle.feasible.names)
    return {
        "pod": cycle.pod.key,
        "profile": cycle.framework.profile_name if results.outcome else "",
        "attempts": results.attempts,
        "outcome": results.outcome,
        "node": results.node,
        "message": results.message,
        "conditionReason": results.condition_reason,
        "evaluatedNodes": results.evaluated_nodes,
        "feasibleNodes": results.feasible_nodes,
        "numFeasibleNodesToFind": results.num_feasible_nodes_to_find,
        "startNodeIndex": results.start_node_index,
        "nextStartNodeIndex": results.next_start_node_index,
        "snapshotUpdate": None if results.snapshot_update is None else snapshot_update_record(results.snapshot_update),
        "preFilter": status_records(results.pre_filter),
        "preFilterNodes": None if cycle.filtered is None else results.pre_filter_nodes,
        "skippedFilterPlugins": results.skipped_filter_plugins,
        "nominatedNodeEvaluation": nominated_node_record(cycle),
        "filter": [] if cycle.filtered is None else _filter(cycle.filtered),
        "extenderFilter": [_extender_filter(record) for record in results.extender_filter],
        "feasible": names or [],
        "preScore": status_records(results.pre_score),
        "skippedScorePlugins": results.skipped_score_plugins,
        "scores": None if cycle.scored is None or names is None else _scores(cycle.scored, names),
        "extenderScores": None if results.extender_scores is None else _extender_scores(results.extender_scores),
        "totals": _totals(cycle, names),
        "tied": [] if results.ranking is None or names is None else [names[row] for row in tied_rows(cycle.totals())],
        "postFilter": None if results.post_filter is None else post_filter_record(results.post_filter),
        "reserve": status_records(results.reserve),
        "permit": status_records(results.permit),
        "unreserve": results.unreserve,
        "unschedulablePlugins": results.unschedulable_plugins,
        "nominating": _nominating(results.nominating),
    }


def binding_record(binding: BindingCycle) -> dict[str, Any]:
    """The record of a binding cycle that has no stage left to run."""
    results = binding.results
    record = {
        "pod": binding.pod,
        "node": binding.node,
        "outcome": results.outcome,
        "message": results.message,
        "conditionReason": results.condition_reason,
        "preBind": status_records(results.pre_bind),
        "bind": status_records(results.bind),
        "unreserve": results.unreserve,
        "confirmed": results.confirmed,
    }
    if results.forget_error:
        record["forgetError"] = results.forget_error
    return record


def placement_record(cycle: SchedulingCycle) -> dict[str, Any]:
    """The short record of a scheduling cycle (FORMAT.md, "Placement level")."""
    results = cycle.results
    ranked = results.ranking
    record: dict[str, Any] = {
        "pod": cycle.pod.key,
        "outcome": results.outcome,
        "node": results.node,
        "message": results.message,
        "evaluatedNodes": results.evaluated_nodes,
        "feasibleNodes": results.feasible_nodes,
        "tied": 0 if ranked is None else ranked.tied_nodes,
        "total": None if ranked is None else ranked.total,
    }
    if results.popped_from_backoff_q:
        record["poppedFrom"] = "backoffQ"
    if results.nominating is not None and results.nominating.nominated_node_name:
        record["nominatedNodeName"] = results.nominating.nominated_node_name
    preemption = None if results.post_filter is None or results.post_filter.result is None else results.post_filter.result.record
    if preemption is not None and preemption.victims:
        record["victims"] = list(preemption.victims)
    return record


def note_binding_of_placement(record: dict[str, Any], binding: BindingCycle) -> None:
    """Add the result of the binding to a short record."""
    if binding.results.outcome == FAILED:
        record["bindError"] = binding.results.message


def snapshot_update_record(update: SnapshotUpdate) -> dict[str, Any]:
    """The record of an UpdateSnapshot."""
    record: dict[str, Any] = {
        "visited": update.visited,
        "cloned": update.cloned,
        "updateAllLists": update.update_all_lists,
        "updateNodesHavePodsWithAffinity": update.update_nodes_have_pods_with_affinity,
        "updateNodesHavePodsWithRequiredAntiAffinity": update.update_nodes_have_pods_with_required_anti_affinity,
        "updateUsedPVCSet": update.update_used_pvc_set,
    }
    if update.error:
        record["error"] = update.error
    return record


def deliveries(events: Iterable[AnyEvent]) -> dict[str, list[Any]]:
    """FORMAT.md's `apiWrites`, `informerEvents` and `events`, from trace events."""
    writes: list[Any] = []
    informers: list[Any] = []
    recorded: list[Any] = []
    for event in events:
        match event:
            case ApiWritten() if event.by_scheduler:
                writes.append(_members(event, ("verb", "resource", "key", "subresource", "detail", "error")))
            case WatchDelivered():
                lost = {"": "", "handlers": "STORE-ONLY "}.get(event.lost, "LOST ")
                informers.append(f"{lost}{event.verb} {event.resource} {event.key}")
            case EventRecorded():
                recorded.append(_members(event, ("type", "reason", "action", "note", "pod", "related", "component")))
    return {"apiWrites": writes, "informerEvents": informers, "events": recorded}


def _members(event: AnyEvent, names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(event, name))}


def status_record(plugin: str, status: Status) -> dict[str, Any]:
    """What a plugin returned."""
    return {"plugin": plugin, "code": status.code.value, "reasons": list(status.reasons)}


def status_records(plugin_results: Iterable[PluginResult]) -> list[dict[str, Any]]:
    """What plugins returned, in order."""
    records = []
    for plugin_result in plugin_results:
        record = status_record(plugin_result.plugin, plugin_result.status)
        if plugin_result.node_names is not None:
            record["nodeNames"] = list(plugin_result.node_names)
        if plugin_result.timeout is not None:
            record["timeoutSeconds"] = plugin_result.timeout // NANOS_PER_SECOND
        records.append(record)
    return records


def nominated_node_record(cycle: SchedulingCycle) -> dict[str, Any] | None:
    evaluation = cycle.results.nominated_node
    if evaluation is None:
        return None
    rejected = evaluation.rejected
    record: dict[str, Any] = {
        "node": evaluation.node,
        "feasible": evaluation.feasible,
        "rejected": None if rejected is None else {"node": evaluation.node, **status_record(rejected.plugin, rejected.status)},
    }
    if evaluation.error:
        record["error"] = evaluation.error
    return record


def _filter(outcome: FilterOutcome) -> list[dict[str, Any]]:
    names, codes, statuses = outcome.rows.names, outcome.verdicts.codes, outcome.verdicts.statuses
    rejections = [
        {"node": names[row], **status_record(statuses[codes[row]].failed_plugin, statuses[codes[row]])} for row in outcome.rejected.tolist()
    ]
    if outcome.error is not None:
        rejections.append({"node": names[len(codes)], **status_record(outcome.error.failed_plugin, outcome.error)})
    return rejections


def _scores(outcome: ScoreOutcome, names: list[str]) -> dict[str, Any]:
    return {
        plugin.name: {
            "weight": plugin.weight,
            "raw": dict(zip(names, plugin.raw.tolist(), strict=True)),
            "normalized": dict(zip(names, plugin.normalized.tolist(), strict=True)),
            "weighted": dict(zip(names, plugin.weighted.tolist(), strict=True)),
        }
        for plugin in outcome.plugins
    }


def _totals(cycle: SchedulingCycle, names: list[str] | None) -> dict[str, int] | None:
    if names is None or cycle.results.ranking is None:
        return None
    return dict(zip(names, cycle.totals().tolist(), strict=True))


def _extender_filter(record: ExtenderFilterRecord) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "extender": record.extender,
        "feasible": record.feasible,
        "failed": record.failed,
        "unresolvable": record.unresolvable,
    }
    if record.error:
        plain |= {"error": record.error, "ignored": record.ignored}
    return plain


def _extender_scores(records: dict[str, ExtenderScoreRecord]) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    for name, record in records.items():
        scores[name] = {"weight": record.weight, "raw": record.raw, "weighted": record.weighted}
        if record.error:
            scores[name]["error"] = record.error
    return scores


def post_filter_record(outcome: PostFilterOutcome) -> dict[str, Any] | None:
    if not outcome.plugin_results:
        return None
    plugin_result = outcome.plugin_results[-1]
    result = outcome.results[-1] if outcome.results else None
    nominating = None if result is None else result.nominating_info
    record: dict[str, Any] = {
        **status_record(plugin_result.plugin, plugin_result.status),
        "nominatedNode": None if nominating is None else nominating.nominated_node_name,
        "candidates": [],
        "chosen": "",
        "victims": [],
    }
    if result is not None:
        preemption = result.record
        record["candidates"] = [_candidate(candidate) for candidate in preemption.candidates]
        record["chosen"] = preemption.chosen
        record["victims"] = list(preemption.victims)
        if preemption.after_extenders is not None:
            record["afterExtenders"] = [candidate.node for candidate in preemption.after_extenders]
    return record


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {"node": candidate.node, "victims": list(candidate.victims), "numPDBViolations": candidate.num_pdb_violations}


def reprieves(cycle: SchedulingCycle) -> dict[str, list[dict[str, Any]]]:
    """For each candidate of preemption, the pods in the order of reprieve, and whether each can stay. Not part of FORMAT.md."""
    outcome = cycle.results.post_filter
    results = () if outcome is None else outcome.results
    candidates = results[-1].record.candidates if results and results[-1] is not None else ()
    return {
        candidate.node: [
            {"pod": reprieve.pod, "stays": reprieve.stays, **({"violatesBudget": True} if reprieve.violates_budget else {})}
            for reprieve in candidate.reprieves
        ]
        for candidate in candidates
    }


def _nominating(info: NominatingInfo | None) -> dict[str, Any] | None:
    return None if info is None else {"mode": info.mode.value, "nominatedNodeName": info.nominated_node_name}
