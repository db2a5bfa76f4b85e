"""A sentence for each thing that happened to a pod or a node, in the present tense, with upstream's terms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schedviz.trace.events import (
    POP_CAUSES,
    AnyEvent,
    ApiCallChanged,
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
    HintAnswer,
    NodeChange,
    PermitAnswered,
    PodGroupPodTried,
    PodGroupStarted,
    PodNominated,
    PreemptionStageEnded,
    PreemptionStarted,
    PreEnqueueRan,
    QueueMove,
    QueueMoved,
    RequeueConsidered,
    SnapshotUpdated,
    StageEnded,
    WatchDelivered,
    WatchSent,
)
from schedviz.trace.phrase import Phrase, joined, phrase, some
from schedviz.trace.view import RejectionView, StatusView

#: The queues by upstream's names of their fields.
QUEUES = {"activeQ": "activeQ", "backoffQ": "backoffQ", "errorBackoffQ": "errorBackoffQ", "unschedulable": "unschedulablePods"}
#: The number of names that a sentence lists.
_MAX_NAMES = 5


def of_pod(event: AnyEvent, pod: str, *, cycle_pod: str = "") -> Phrase | None:
    """What an event means for a pod (`namespace/name`); None: nothing worth showing. `cycle_pod` is the pod of the running cycle."""
    match event:
        case QueueMoved():
            return _joined([_move(move, event.cause) for move in event.moves if move.pod == pod])
        case RequeueConsidered():
            # Pods that stay are not in the index of histories: each event would add every unschedulable pod to it.
            moved = (decision for decision in event.decisions if decision.queue is not None and pod in decision.pods)
            return _joined([_hint(answer, event.event_label) for decision in moved for answer in decision.hints])
        case PreEnqueueRan() if event.pod == pod and event.rejected is not None:
            return _returned("PreEnqueue", event.rejected)
        case PodGroupStarted() if pod in event.pods:
            others = [other for other in event.pods if other != pod]
            return phrase(
                "the scheduling cycle of pod group {group} began, together with {pods}", group=event.group, pods=some(others, _MAX_NAMES)
            )
        case PodGroupPodTried() if event.pod == pod:
            return _tried(event)
        case CycleStarted() if event.pod == pod:
            return phrase("scheduling cycle {cycle} began, attempt {attempts}", cycle=str(event.cycle), attempts=str(event.attempts))
        case StageEnded() if cycle_pod == pod:
            return stage(event.stage, event.statuses, event.facts, event.rejections)
        case StageEnded() if pod in event.facts.get("victims", ()):
            return phrase(
                "chosen as a victim: {pod} needs its room on {node}", pod=_pod_or_any(cycle_pod), node=str(event.facts.get("nominatedNode"))
            )
        case CycleEnded() if cycle_pod == pod:
            return _cycle_ended(event)
        case BindingStarted() if event.pod == pod:
            began = _waits(phrase("binding cycle began on {node}", node=event.node), event.waiting_for)
            return phrase("{said}; it is held until you release it", said=began) if event.held else began
        case BindingReleased() if event.pod == pod:
            return phrase("its binding cycle was released and now waits for Permit")
        case PermitAnswered() if event.pod == pod:
            return _permit_answered(event)
        case BindingStageEnded() if event.pod == pod:
            return stage(event.stage, event.statuses, event.facts)
        case BindingEnded() if event.pod == pod:
            return _binding_ended(event)
        case CachePod() if event.pod == pod:
            return _cache_pod(event)
        case CacheCall() if event.pod == pod:
            return _because(phrase("{call}: {source} → {target}", call=event.call, source=event.source, target=event.target), event.error)
        case PodNominated() if event.pod == pod:
            return _nominated(event)
        case PreemptionStarted() if pod in event.pods:
            return phrase(
                "its preemption began: {victims} will be evicted from {node}", victims=some(event.victims, _MAX_NAMES), node=event.node
            )
        case PreemptionStageEnded() if pod in (event.victim, event.preemptor):
            return _preemption_stage(event, pod)
        case ApiCallChanged() if event.pod == pod:
            return _api_call(event)
        case EventRecorded() if event.pod == pod:
            return phrase("Kubernetes event {reason}: {note}", reason=event.reason, note=event.note)
        case EventRecorded() if event.related == pod and event.reason == "Preempted":
            return phrase("preempted {pod}", pod=event.pod)
        case ApiWritten() if event.resource == "pods" and event.key == pod:
            return _written(event, preemptor=cycle_pod)
        case WatchSent() | WatchDelivered() if event.resource == "pods" and event.key == pod:
            return _watched(event)
    return None


def of_node(event: AnyEvent, node: str, *, cycle_pod: str = "") -> Phrase | None:
    """What an event means for a node; None: nothing worth showing."""
    subject = _pod_or_any(cycle_pod)
    match event:
        case CacheNode() if event.node == node:
            return _cache_node(event)
        case CachePod() if any(change.node == node for change in event.nodes):
            return _pod_on_node(event, [change for change in event.nodes if change.node == node])
        case SnapshotUpdated() if node in event.removed:
            return phrase("removed from the snapshot")
        case SnapshotUpdated() if node in event.cloned:
            return phrase("cloned into the snapshot, generation {generation}", generation=str(event.generation))
        case StageEnded() if rejections := [rejection for rejection in event.rejections if node in rejection.first]:
            reasons = "; ".join(f"{rejection.plugin}: {', '.join(rejection.reasons)}" for rejection in rejections)
            return phrase("rejected {pod}: {reasons}", pod=subject, reasons=reasons)
        case StageEnded() if event.stage == "NominatedNode" and event.facts.get("node") == node:
            return _evaluated_first(subject, event.facts)
        case StageEnded() if event.stage == "SelectHost" and event.facts.get("node") == node:
            return _won(phrase("selected for {pod}", pod=subject), event.facts)
        case StageEnded() if event.stage == "PostFilter" and event.facts.get("nominatedNode") == node:
            return _with_victims(phrase("nominated for {pod}", pod=subject), event.facts)
        case PodGroupPodTried() if event.node == node:
            return phrase("{pod} was placed on it in the snapshot, as a test of whether its pod group fits", pod=event.pod)
        case CycleEnded() if event.node == node:
            return phrase("{pod} was scheduled to it", pod=subject)
        case BindingStarted() if event.node == node:
            return phrase("binding cycle of {pod} began", pod=event.pod)
        case BindingEnded() if event.node == node:
            return _binding_of_another_ended(event)
        case PodNominated() if event.node == node:
            return phrase("{pod} is nominated to it", pod=event.pod)
        case PreemptionStarted() if event.node == node:
            return phrase("{pod} began to evict {victims} from it", pod=event.preemptor, victims=some(event.victims, _MAX_NAMES))
        case PreemptionStageEnded() if event.node == node and not event.next_stage:
            return _because(phrase("the preemption by {pod} ended", pod=event.preemptor), event.error)
        case ApiWritten() if event.resource == "pods" and event.subresource == "binding" and event.detail == node:
            if event.error:
                return phrase("{pod} could not be bound to it: {error}", pod=event.key, error=event.error)
            return phrase("{pod} was bound to it", pod=event.key)
        case ApiWritten() if event.resource == "nodes" and event.key == node:
            return _written(event)
        case WatchSent() | WatchDelivered() if event.resource == "nodes" and event.key == node:
            return _watched(event)
    return None


def stage(name: str, statuses: Iterable[StatusView], facts: dict[str, Any], rejections: Iterable[RejectionView] = ()) -> Phrase | None:
    """What a stage did for its pod; None for stages whose effect other events show."""
    if rejected := _joined([_rejected(name, rejection, facts) for rejection in rejections]):
        return phrase("{said}; passed {count}", said=rejected, count=str(facts["feasible"])) if facts.get("feasible") else rejected
    if failed := _joined([_returned(name, status) for status in statuses if status.code not in ("Success", "Skip")]):
        waits = facts.get("waitSeconds")
        return failed if waits is None else phrase("{said}, and waits {seconds} s", said=failed, seconds=f"{waits:g}")
    if error := facts.get("error"):
        return phrase("{stage} failed: {error}", stage=name, error=str(error))
    return _passed(name, facts)


def _passed(name: str, facts: dict[str, Any]) -> Phrase | None:
    def fact(key: str) -> str:
        return str(facts.get(key))

    match name:
        case "SkipPodSchedule" if "skipped" in facts:
            return phrase("skipped, the pod is {skipped}", skipped=fact("skipped"))
        case "PreFilter" if "nodes" in facts:
            return phrase("PreFilter restricted the pod to the nodes {nodes}", nodes=some(facts["nodes"], _MAX_NAMES))
        case "NominatedNode":
            return _looked_first(facts)
        case "Filter":
            return phrase(
                "Filter passed {feasible} of the {evaluated} nodes evaluated", feasible=fact("feasible"), evaluated=fact("evaluated")
            )
        case "ExtenderFilter":
            return phrase("extender {extender} passed {feasible} nodes", extender=fact("extender"), feasible=fact("feasible"))
        case "PostFilter" if facts.get("nominatedNode"):
            return _with_victims(phrase("PostFilter nominated {node}", node=fact("nominatedNode")), facts)
        case "Score" if "nodes" in facts:
            return phrase("{plugins} plugins scored {count} nodes", count=fact("nodes"), plugins=str(len(facts.get("plugins", ()))))
        case "SelectHost":
            return _won(phrase("selected {node}", node=fact("node")), facts)
        case "Unreserve" if facts.get("plugins"):
            return phrase("Unreserve: {plugins}", plugins=some(facts["plugins"], _MAX_NAMES))
        case "HandleSchedulingFailure":
            return None if facts.get("requeued", True) else phrase("not put back into the queue")
        case "Bind":
            return phrase("Bind ended: the pod is bound to {node}", node=fact("node"))
    return None


def _looked_first(facts: dict[str, Any]) -> Phrase:
    """NominatedNode for its pod. v1.36 also looks first at a node that an equal pod's cycle left over (`hint`)."""
    node, fits = str(facts.get("node")), facts.get("fits")
    if facts.get("hint"):
        if fits:
            return phrase("Filter first evaluated {node}, the next-best node of an equal pod: it fits", node=node)
        return phrase("Filter first evaluated {node}, the next-best node of an equal pod: it does not fit", node=node)
    if fits:
        return phrase("Filter first evaluated the nominated node {node}: it fits", node=node)
    return phrase("Filter first evaluated the nominated node {node}: it does not fit", node=node)


def _evaluated_first(pod: str | Phrase, facts: dict[str, Any]) -> Phrase:
    """NominatedNode for its node."""
    fits = facts.get("fits")
    if facts.get("hint"):
        if fits:
            return phrase("evaluated first for {pod}, as the next-best node of an equal pod: fits", pod=pod)
        return phrase("evaluated first for {pod}, as the next-best node of an equal pod: does not fit", pod=pod)
    if fits:
        return phrase("evaluated first for {pod}, which is nominated to it: fits", pod=pod)
    return phrase("evaluated first for {pod}, which is nominated to it: does not fit", pod=pod)


def _returned(name: str, status: StatusView) -> Phrase:
    sentence = phrase("{stage}: {plugin} returned {code}", stage=name, plugin=status.plugin, code=status.code)
    return _because(sentence, ", ".join(status.reasons))


def _rejected(name: str, rejection: RejectionView, facts: dict[str, Any]) -> Phrase:
    sentence = phrase("{stage}: {plugin} rejected {nodes}", stage=name, plugin=rejection.plugin, nodes=_nodes(rejection.nodes, facts))
    return _because(sentence, ", ".join(rejection.reasons))


def _nodes(count: int, facts: dict[str, Any]) -> Phrase:
    values = {"count": str(count)}
    if "evaluated" in facts:
        values["all"] = str(facts["evaluated"])
        return phrase("{count} of {all} node", **values) if facts["evaluated"] == 1 else phrase("{count} of {all} nodes", **values)
    return phrase("{count} node", **values) if count == 1 else phrase("{count} nodes", **values)


def _move(move: QueueMove, cause: str) -> Phrase:
    source, target = QUEUES.get(move.source or "", ""), QUEUES.get(move.target or "", "")
    if cause in POP_CAUSES:
        popped = phrase("popped from {queue}", queue=source)
        return popped if source == "activeQ" else phrase("{said} before its backoff had ended, since activeQ was empty", said=popped)
    if not target:
        sentence = phrase("removed from {queue} because of {cause}", queue=source, cause=cause)
    elif not source:
        sentence = phrase("added to {queue} because of {cause}", queue=target, cause=cause)
    elif source == target:
        sentence = phrase("updated in {queue} because of {cause}", queue=target, cause=cause)
    else:
        sentence = phrase("moved from {source} to {target} because of {cause}", source=source, target=target, cause=cause)
    entry = move.entry
    if entry is not None and entry.gated:
        sentence = phrase("{said}; a PreEnqueue plugin gates it", said=sentence)
    if entry is not None and target in ("backoffQ", "errorBackoffQ"):
        sentence = phrase("{said}; its backoff ends at {seconds} s", said=sentence, seconds=f"{entry.backoff_expiry_seconds:g}")
    return sentence


def _hint(answer: HintAnswer, event: str) -> Phrase:
    sentence = phrase("the queueing hint of {plugin} for {event} returned {hint}", plugin=answer.plugin, event=event, hint=answer.hint)
    return _because(sentence, answer.error)


def _preemption_stage(event: PreemptionStageEnded, pod: str) -> Phrase | None:
    """A stage of an asynchronous preemption for its preemptor or its victim; None: it changed nothing for the pod."""
    if event.victim == pod:
        sentence = phrase("evicted from {node} for {pod}", node=event.node, pod=event.preemptor)
        return _because(phrase("could not be evicted for {pod}", pod=event.preemptor), event.error) if event.error else sentence
    if event.error:
        return _because(phrase("{stage} of its preemption failed", stage=event.stage), event.error)
    return None if event.next_stage else phrase("its preemption ended: the last victim was evicted from {node}", node=event.node)


def _api_call(event: ApiCallChanged) -> Phrase | None:
    call = event.call
    if event.outcome != "pending" or call is None:
        return phrase("its pending API call became unnecessary") if event.outcome == "unnecessary" else None
    if call.type == "pod_binding":
        return phrase("the binding to {node} waits in the API dispatcher", node=call.node)
    return phrase("a patch of its status waits in the API dispatcher")


def _tried(event: PodGroupPodTried) -> Phrase:
    if not event.node:
        return _because(phrase("tried with pod group {group}: no node", group=event.group), event.message)
    sentence = phrase("tried with pod group {group}: {node}, Permit: {permit}", group=event.group, node=event.node, permit=event.permit)
    return phrase("{said}, once the victims of a preemption are gone", said=sentence) if event.requires_preemption else sentence


def _cycle_ended(event: CycleEnded) -> Phrase:
    cycle = str(event.cycle)
    match event.outcome:
        case "scheduled":
            return phrase("scheduling cycle {cycle} ended: scheduled to {node}", cycle=cycle, node=event.node)
        case "skipped":
            return phrase("scheduling cycle {cycle} ended: skipped", cycle=cycle)
    return _because(phrase("scheduling cycle {cycle} ended: {outcome}", cycle=cycle, outcome=event.outcome), event.message)


def _permit_answered(event: PermitAnswered) -> Phrase:
    plugins = some(event.plugins, _MAX_NAMES)
    if event.action == "reject":
        return _because(phrase("rejected at Permit by {plugins}", plugins=plugins), event.message)
    return _waits(phrase("allowed at Permit by {plugins}", plugins=plugins), event.waiting_for)


def _binding_ended(event: BindingEnded) -> Phrase:
    match event.outcome:
        case "confirmed":
            return phrase("binding confirmed on {node}", node=event.node)
        case "lost":
            return phrase("binding was never confirmed: the pod has no node")
    return _because(phrase("binding failed"), event.message)


def _binding_of_another_ended(event: BindingEnded) -> Phrase:
    match event.outcome:
        case "confirmed":
            return phrase("binding of {pod} confirmed", pod=event.pod)
        case "lost":
            return phrase("binding of {pod} was never confirmed: the pod has no node", pod=event.pod)
    return _because(phrase("binding of {pod} failed", pod=event.pod), event.message)


def _cache_pod(event: CachePod) -> Phrase:
    state = event.state
    match event.op:
        case "assume":
            sentence = phrase("assumed")
        case "finishBinding":
            sentence = phrase("binding noted in the cache (FinishBinding)")
            if state is None or state.deadline_seconds is None:
                return sentence
            return phrase("{said}; without a confirmation it expires at {seconds} s", said=sentence, seconds=f"{state.deadline_seconds:g}")
        case "forget":
            sentence = phrase("removed from the cache again (ForgetPod)")
        case "add":
            sentence = phrase("added to the cache")
        case "update":
            sentence = phrase("updated in the cache")
        case "remove":
            sentence = phrase("removed from the cache")
        case _:
            sentence = phrase("expired in the cache: its binding was not confirmed in time")
    if state:
        return phrase("{said} on {node}", said=sentence, node=state.node)
    return (
        phrase("{said} from {nodes}", said=sentence, nodes=some([change.node for change in event.nodes], _MAX_NAMES))
        if event.nodes
        else sentence
    )


def _pod_on_node(event: CachePod, changes: list[NodeChange]) -> Phrase:
    # A confirmed or updated pod is removed and added in one call.
    is_added = any(added.pod == event.pod for added in changes[-1].added)
    match event.op:
        case "assume":
            sentence = phrase("{pod} was assumed on it", pod=event.pod)
        case "add" if is_added:
            sentence = phrase("{pod} was added in the cache", pod=event.pod)
        case "add":
            sentence = phrase("{pod} was added on another node", pod=event.pod)
        case "update":
            sentence = phrase("{pod} was updated in the cache", pod=event.pod)
        case "forget":
            sentence = phrase("{pod} was removed from the cache again (ForgetPod)", pod=event.pod)
        case "expire":
            sentence = phrase("{pod} expired in the cache: its binding was not confirmed in time", pod=event.pod)
        case _:
            sentence = phrase("{pod} was removed from the cache", pod=event.pod)
    return phrase("{said}, and the node's NodeInfo left the list", said=sentence) if changes[-1].dropped else sentence


def _cache_node(event: CacheNode) -> Phrase:
    match event.op:
        case "add":
            sentence = phrase("added to the cache")
        case "update":
            sentence = phrase("updated in the cache")
        case _:
            sentence = phrase("removed from the cache")
    if any(change.node == event.node and change.has_node is False and not change.dropped for change in event.nodes):
        sentence = phrase("{said}; its pods stay in the cache", said=sentence)
    tree = event.tree
    if tree is None or tree.left is None or tree.joined is None:
        return sentence
    return phrase("{said}, moved from zone {left} to {joined}", said=sentence, left=_zone(tree.left), joined=_zone(tree.joined))


def _nominated(event: PodNominated) -> Phrase:
    # A failed attempt clears the nomination by adding the pod under no name; upstream's nominator keeps that entry.
    return phrase("nominated to {node}", node=event.node) if event.node else phrase("no longer nominated")


def _written(event: ApiWritten, *, preemptor: str = "") -> Phrase:
    sentence = _what_was_written(event, preemptor)
    return phrase("{said}, refused: {error}", said=sentence, error=event.error) if event.error else sentence


def _what_was_written(event: ApiWritten, preemptor: str) -> Phrase:
    if event.subresource == "binding":
        return _by(phrase("binding to {node} written", node=event.detail), event)
    match event.verb:
        case "delete" if event.by_scheduler and preemptor and preemptor != event.key:
            return phrase("evicted by {pod}", pod=preemptor)
        case "delete":
            return _by(phrase("deleted"), event)
        case "create":
            return _by(phrase("created"), event)
        case "patch":
            sentence = phrase("{part} patched", part=event.subresource or event.resource.removesuffix("s"))
        case _:
            sentence = phrase("{part} updated", part=event.subresource or event.resource.removesuffix("s"))
    return _because(_by(sentence, event), event.detail)


def _by(sentence: Phrase, event: ApiWritten) -> Phrase:
    if event.helper:
        return phrase("{said} by {helper}", said=sentence, helper=event.helper)
    return phrase("{said} by the scheduler", said=sentence) if event.by_scheduler else sentence


def _watched(event: WatchSent | WatchDelivered) -> Phrase:
    verb = str(event.verb)
    if isinstance(event, WatchSent):
        return phrase("the watch event ({verb}) was sent and arrives at {seconds} s", verb=verb, seconds=f"{event.due_seconds:g}")
    match event.lost:
        case "":
            sentence = phrase("the watch event ({verb}) reached the scheduler", verb=verb)
        case "watch":
            sentence = phrase("the watch event ({verb}) was lost before it reached the scheduler", verb=verb)
        case "disconnected":
            sentence = phrase("the watch event ({verb}) was lost, because the watch is disconnected", verb=verb)
        case "handlers":
            sentence = phrase("the watch event ({verb}) reached the informer's store, but not the event handlers", verb=verb)
        case _:
            sentence = phrase("watch event {verb} {lost}", verb=verb, lost=event.lost)
    return phrase("{said}; the object's final state is unknown", said=sentence) if event.final_state_unknown else sentence


def _won(sentence: Phrase, facts: dict[str, Any]) -> Phrase:
    if facts.get("reason") == "only one":
        return phrase("{said}, the only feasible node", said=sentence)
    if "total" not in facts:
        return phrase("{said}, {reason}", said=sentence, reason=str(facts["reason"])) if facts.get("reason") else sentence
    tied = facts.get("tied", 1)
    sentence = phrase("{said} with a total of {total}", said=sentence, total=str(facts["total"]))
    return phrase("{said}; {count} nodes have this total", said=sentence, count=str(tied)) if tied > 1 else sentence


def _with_victims(sentence: Phrase, facts: dict[str, Any]) -> Phrase:
    victims = facts.get("victims")
    return phrase("{said}, victims {names}", said=sentence, names=some(victims, _MAX_NAMES)) if victims else sentence


def _waits(sentence: Phrase, plugins: list[str]) -> Phrase:
    return phrase("{said}, waits for {plugins}", said=sentence, plugins=some(plugins, _MAX_NAMES)) if plugins else sentence


def _because(sentence: Phrase, reason: str) -> Phrase:
    return phrase("{said}: {reason}", said=sentence, reason=reason) if reason else sentence


def _joined(parts: list[Phrase]) -> Phrase | None:
    return joined(parts, "{first}; {next}") if parts else None


def _pod_or_any(pod: str) -> str | Phrase:
    return pod or phrase("a pod")


def _zone(name: str) -> str:
    return name.replace(":\0:", "/") or '""'
