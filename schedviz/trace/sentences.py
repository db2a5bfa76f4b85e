"""What happened to one pod or one node, in a sentence each: upstream's words, present to whoever reads a story."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schedviz.trace.events import (
    AnyEvent,
    ApiWritten,
    BindingEnded,
    BindingReleased,
    BindingStageEnded,
    BindingStarted,
    CacheCall,
    CacheNode,
    CachePod,
    CycleEnded,
    CycleStarted,
    EventRecorded,
    NodeChange,
    PermitAnswered,
    PodNominated,
    QueueMove,
    QueueMoved,
    SnapshotUpdated,
    StageEnded,
    WatchDelivered,
    WatchSent,
)
from schedviz.trace.view import RejectionView, StatusView

#: Queues by the names of their fields upstream.
QUEUES = {"activeQ": "activeQ", "backoffQ": "backoffQ", "unschedulable": "unschedulablePods"}
#: How many names a sentence lists.
_NAMED = 5


def of_pod(event: AnyEvent, pod: str, *, cycle_pod: str = "") -> str | None:
    """What an event means for a pod (`namespace/name`); None: nothing worth a line. `cycle_pod` is whose cycle was running."""
    match event:
        case QueueMoved():
            return _all_moves(event, pod)
        case CycleStarted() if event.pod == pod:
            return f"scheduling cycle {event.cycle} began, attempt {event.attempts}"
        case StageEnded() if cycle_pod == pod:
            return stage(event.stage, event.statuses, event.facts, event.rejections)
        case StageEnded() if pod in event.facts.get("victims", ()):
            return f"chosen as a victim by {cycle_pod or 'a pod'} on {event.facts.get('nominatedNode')}"
        case CycleEnded() if cycle_pod == pod:
            return _cycle_ended(event)
        case BindingStarted() if event.pod == pod:
            return f"binding cycle began on {event.node}{_waiting(event.waiting_for)}{', held until it is asked for' if event.held else ''}"
        case BindingReleased() if event.pod == pod:
            return "its binding cycle was asked for, and waits at Permit"
        case PermitAnswered() if event.pod == pod:
            return _permit_answered(event)
        case BindingStageEnded() if event.pod == pod:
            return stage(event.stage, event.statuses, event.facts)
        case BindingEnded() if event.pod == pod:
            return _binding_ended(event, "")
        case CachePod() if event.pod == pod:
            return _cache_pod(event)
        case CacheCall() if event.pod == pod:
            return f"{event.call}: {event.source} → {event.target}{_because(event.error)}"
        case PodNominated() if event.pod == pod:
            return _nominated(event)
        case EventRecorded() if event.pod == pod:
            return f"event {event.reason}: {event.note}"
        case EventRecorded() if event.related == pod and event.reason == "Preempted":
            return f"preempted {event.pod}"
        case ApiWritten() if event.resource == "pods" and event.key == pod:
            return _written(event, preemptor=cycle_pod)
        case WatchSent() | WatchDelivered() if event.resource == "pods" and event.key == pod:
            return _watched(event)
    return None


def of_node(event: AnyEvent, node: str, *, cycle_pod: str = "") -> str | None:
    """What an event means for a node; None: nothing worth a line."""
    who = cycle_pod or "a pod"
    match event:
        case CacheNode() if event.node == node:
            return _cache_node(event)
        case CachePod() if any(change.node == node for change in event.nodes):
            return _pod_on_node(event, [change for change in event.nodes if change.node == node])
        case SnapshotUpdated() if node in event.removed:
            return "removed from the snapshot"
        case SnapshotUpdated() if node in event.cloned:
            return f"cloned into the snapshot, generation {event.generation}"
        case StageEnded() if rejections := [each for each in event.rejections if node in each.first]:
            return f"rejected {who}: " + "; ".join(f"{each.plugin}: {', '.join(each.reasons)}" for each in rejections)
        case StageEnded() if event.stage == "NominatedNode" and event.facts.get("node") == node:
            return f"looked at first for {who}, which is nominated to it: {'fits' if event.facts.get('fits') else 'does not fit'}"
        case StageEnded() if event.stage == "SelectHost" and event.facts.get("node") == node:
            return f"selected for {who}{_won_with(event.facts)}"
        case StageEnded() if event.stage == "PostFilter" and event.facts.get("nominatedNode") == node:
            return f"nominated for {who}{_victims(event.facts)}"
        case CycleEnded() if event.node == node:
            return f"{who} was scheduled to it"
        case BindingStarted() if event.node == node:
            return f"binding cycle of {event.pod} began"
        case BindingEnded() if event.node == node:
            return _binding_ended(event, f" of {event.pod}")
        case PodNominated() if event.node == node:
            return f"{event.pod} is nominated to it"
        case ApiWritten() if event.resource == "pods" and event.subresource == "binding" and event.detail == node:
            return f"{event.key} could not be bound to it: {event.error}" if event.error else f"{event.key} was bound to it"
        case ApiWritten() if event.resource == "nodes" and event.key == node:
            return _written(event)
        case WatchSent() | WatchDelivered() if event.resource == "nodes" and event.key == node:
            return _watched(event)
    return None


def stage(name: str, statuses: Iterable[StatusView], facts: dict[str, Any], rejections: Iterable[RejectionView] = ()) -> str | None:
    """What a stage did for its pod. None for one that only kept the machine going: what it did is told by the events beside it."""
    if told := "; ".join(_rejected(name, each, facts) for each in rejections):
        return f"{told}; passed {facts['feasible']}" if facts.get("feasible") else told
    if failed := [each for each in statuses if each.code not in ("Success", "Skip")]:
        return "; ".join(f"{name}: {each.plugin} returned {each.code}{_because(', '.join(each.reasons))}" for each in failed) + (
            f", and waits {facts['waitSeconds']:g} s" if "waitSeconds" in facts else ""
        )
    if error := facts.get("error"):
        return f"{name} failed: {error}"
    match name:
        case "SkipPodSchedule" if "skipped" in facts:
            return f"skipped, the pod is {facts['skipped']}"
        case "PreFilter" if "nodes" in facts:
            return f"PreFilter left {facts['nodes']} nodes"
        case "NominatedNode":
            return f"Filter looked first at the nominated node {facts.get('node')}: {'it fits' if facts.get('fits') else 'it does not fit'}"
        case "Filter":
            return f"Filter passed {facts.get('feasible')} of {facts.get('evaluated')} nodes looked at"
        case "ExtenderFilter":
            return f"extender {facts.get('extender')} passed {facts.get('feasible')} nodes"
        case "PostFilter" if facts.get("nominatedNode"):
            return f"PostFilter nominated {facts['nominatedNode']}{_victims(facts)}"
        case "Score" if "nodes" in facts:
            return f"scored on {facts['nodes']} nodes by {len(facts.get('plugins', ()))} plugins"
        case "SelectHost":
            return f"selected {facts.get('node')}{_won_with(facts)}"
        case "Unreserve" if facts.get("plugins"):
            return f"Unreserve: {_listed(facts['plugins'])}"
        case "HandleSchedulingFailure":
            return None if facts.get("requeued", True) else "not put back into the queue"
        case "Bind":
            return f"Bound to {facts.get('node')}"
    return None


def _rejected(name: str, rejection: RejectionView, facts: dict[str, Any]) -> str:
    of = f" of {facts['evaluated']}" if "evaluated" in facts else ""
    return (
        f"{name} rejected by {rejection.plugin} on {rejection.nodes}{of} {_nodes(rejection.nodes)}{_because(', '.join(rejection.reasons))}"
    )


def _all_moves(event: QueueMoved, pod: str) -> str | None:
    return "; ".join(_move(move, event.cause) for move in event.moves if move.pod == pod) or None


def _move(move: QueueMove, cause: str) -> str:
    source, target = QUEUES.get(move.source or ""), QUEUES.get(move.target or "")
    if cause == "Pop":
        return f"popped from {source}"
    entry = move.entry
    rest = f" because of {cause}"
    if entry is not None and entry.gated:
        rest += ", gated"
    if entry is not None and target == "backoffQ":
        rest += f", backs off until {entry.backoff_expiry_seconds:g} s"
    if target is None:
        return f"removed from {source}{rest}"
    if source is None:
        return f"added to {target}{rest}"
    return f"updated in {target}{rest}" if source == target else f"moved from {source} to {target}{rest}"


def _cycle_ended(event: CycleEnded) -> str:
    match event.outcome:
        case "scheduled":
            return f"scheduling cycle {event.cycle} ended: scheduled to {event.node}"
        case "skipped":
            return f"scheduling cycle {event.cycle} ended: skipped"
    return f"scheduling cycle {event.cycle} ended: {event.outcome}{_because(event.message)}"


def _permit_answered(event: PermitAnswered) -> str:
    if event.action == "reject":
        return f"rejected at Permit by {_listed(event.plugins)}{_because(event.message)}"
    return f"allowed at Permit by {_listed(event.plugins)}{_waiting(event.waiting_for)}"


def _binding_ended(event: BindingEnded, whose: str) -> str:
    match event.outcome:
        case "confirmed":
            return f"binding{whose} confirmed on {event.node}" if not whose else f"binding{whose} confirmed"
        case "lost":
            return f"binding{whose} was never confirmed: the pod has no node"
    return f"binding{whose} failed{_because(event.message)}"


def _cache_pod(event: CachePod) -> str:
    state = event.state
    on = f" on {state.node}" if state else f" from {_listed(change.node for change in event.nodes)}" if event.nodes else ""
    match event.op:
        case "assume":
            return f"assumed{on}"
        case "finishBinding":
            expiry = f", expires at {state.deadline_seconds:g} s" if state and state.deadline_seconds is not None else ""
            return f"binding finished in the cache{expiry}"
        case "forget":
            return f"forgotten by the cache{on}"
        case "add":
            return f"added to the cache{on}"
        case "update":
            return f"updated in the cache{on}"
        case "remove":
            return f"removed from the cache{on}"
    return f"expired in the cache{on}"


def _pod_on_node(event: CachePod, changes: list[NodeChange]) -> str:
    change = changes[-1]
    gone = ", and dropped from the list" if change.dropped else ""
    # A confirmed or updated pod leaves and comes back in one call.
    here = any(added.pod == event.pod for added in change.added)
    match event.op:
        case "assume":
            said = f"{event.pod} was assumed on it"
        case "add":
            said = f"{event.pod} was added in the cache" if here else f"{event.pod} was added on another node"
        case "update":
            said = f"{event.pod} was updated in the cache"
        case "forget":
            said = f"{event.pod} was forgotten by the cache"
        case "expire":
            said = f"{event.pod} expired in the cache"
        case _:
            said = f"{event.pod} was removed from the cache"
    return said + gone


def _cache_node(event: CacheNode) -> str:
    said = {"add": "added to the cache", "update": "updated in the cache", "remove": "removed from the cache"}[event.op]
    if any(change.node == event.node and change.has_node is False and not change.dropped for change in event.nodes):
        said += ", its pods stay"
    if event.tree is not None and event.tree.left is not None and event.tree.joined is not None:
        said += f", moved from zone {_zone(event.tree.left)} to {_zone(event.tree.joined)}"
    return said


def _nominated(event: PodNominated) -> str:
    if event.node is None:
        return "no longer nominated"
    # A failed attempt clears the nomination by filing the pod under no name; upstream's nominator keeps that entry.
    return f"nominated to {event.node}" if event.node else 'nominated nowhere any more (the nominator has it under "")'


def _written(event: ApiWritten, *, preemptor: str = "") -> str:
    who = f" by {event.helper}" if event.helper else " by the scheduler" if event.by_scheduler else ""
    failed = f", refused: {event.error}" if event.error else ""
    if event.subresource == "binding":
        return f"binding to {event.detail} written{who}{failed}"
    if event.verb == "delete":
        evicted = event.by_scheduler and preemptor and preemptor != event.key
        return (f"evicted by {preemptor}" if evicted else f"deleted{who}") + failed
    if event.verb == "create":
        return f"created{who}{failed}"
    what = {"patch": "patched", "update": "updated"}[event.verb]
    return f"{event.subresource or event.resource.removesuffix('s')} {what}{who}{f': {event.detail}' if event.detail else ''}{failed}"


def _watched(event: WatchSent | WatchDelivered) -> str:
    if isinstance(event, WatchSent):
        return f"watch event {event.verb} sent, due at {event.due_seconds:g} s"
    lost = {
        "": "delivered",
        "watch": "lost on the way",
        "disconnected": "lost, the watch is disconnected",
        "handlers": "lost to the handlers",
    }
    unknown = ", its final state is unknown" if event.final_state_unknown else ""
    return f"watch event {event.verb} {lost.get(event.lost, event.lost)}{unknown}"


def _won_with(facts: dict[str, Any]) -> str:
    if "total" not in facts:
        return f", {facts['reason']}" if facts.get("reason") else ""
    tied = facts.get("tied", 1)
    return f" with {facts['total']}" + (f", {tied} nodes tied" if tied > 1 else "")


def _victims(facts: dict[str, Any]) -> str:
    return f", victims {_listed(facts['victims'])}" if facts.get("victims") else ""


def _waiting(plugins: list[str]) -> str:
    return f", waits for {_listed(plugins)}" if plugins else ""


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def _listed(names: Iterable[str]) -> str:
    given = list(names)
    return ", ".join(given[:_NAMED]) + (f" and {len(given) - _NAMED} more" if len(given) > _NAMED else "")


def _nodes(count: int) -> str:
    return "node" if count == 1 else "nodes"


def _zone(name: str) -> str:
    return name.replace(":\0:", "/") or '""'
