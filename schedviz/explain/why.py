"""`why_pending`: everything about one pod and every node in the current state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, get_args

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.clock import EPOCH_SECONDS
from schedviz.engine.dryrun.dry_run import DryRun, UnknownProfileError
from schedviz.explain.details.clause_details import with_details, with_other_shortages
from schedviz.explain.details.pod_requests import with_requests
from schedviz.explain.details.volumes import required_of_node
from schedviz.explain.doctor.counted_nodes import NODE_COUNT
from schedviz.explain.doctor.examine import scheduler_of_engine
from schedviz.explain.doctor.known_findings import KnownFindings
from schedviz.explain.doctor.nominations import FOR_EVER, WITHOUT_PREEMPTION, judge, terminating_victims, why_for_ever
from schedviz.explain.equivalence import equivalence_key
from schedviz.explain.explanation import Clause, Explanation, NodeVerdict, Outlook, QueuePlace, Standing
from schedviz.explain.extenders import message_with, rejected_by_extenders, uncalled_extenders, with_extenders
from schedviz.explain.gates import advice_about_gates
from schedviz.explain.meaning import Named
from schedviz.explain.messages.explained_clause import with_names
from schedviz.explain.messages.main_reason import main_reason, most_likely_first
from schedviz.explain.messages.message import said_clauses
from schedviz.explain.messages.real_message import disagreement, explained_by_name, without_missing
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.pod_group import group_note
from schedviz.explain.provisioning import provisioning
from schedviz.explain.queue_place import is_name_only, message_of_gated, queue_place
from schedviz.explain.reason_tables.whole import ADVICE_ABOUT_OTHER_SCHEDULER
from schedviz.explain.sentence import sentence_of, starting
from schedviz.explain.unbound_claims import with_missing_class
from schedviz.explain.verdicts import clauses, matrix
from schedviz.explain.victims import room
from schedviz.kube.claims import claim_keys
from schedviz.kube.core import Pod, PodCondition
from schedviz.kube.timestamps import format_timestamp
from schedviz.trace.phrase import Phrase, counted, phrase, some

#: From best to worst.
OUTLOOKS: tuple[Outlook, ...] = get_args(Outlook)
NO_FINDINGS: Final = KnownFindings()
#: Second 0 of the virtual clock.
_FIRST_TIMESTAMP: Final = format_timestamp(EPOCH_SECONDS)
#: What to do about scheduling gates.
#: Number of suggestions for a pod name that does not exist.
_SHOWN_OTHERS = 3


class PodUnknownError(LookupError):
    """The session has no such pod."""


def why_pending(simulation: Simulation, pod_key: str, findings: KnownFindings = NO_FINDINGS) -> Explanation:
    """Why the pod `namespace/name` is where it is. `findings` are the doctor's about the files that the session was made from.

    `simulation` belongs to the caller (a replayed copy, or one made from a dump); its snapshot is updated. Raises
    `PodUnknownError`.
    """
    pod = find_pod(simulation, pod_key)
    unknown = findings.is_unknown(pod_key)
    alike = tuple(other for other in _alike(simulation, pod) if findings.is_unknown(other) == unknown)
    return explain_pod(simulation, pod, queue_place(simulation, pod_key), alike, findings, with_preemption=True)


def explain_pod(
    simulation: Simulation,
    pod: Pod,
    place: QueuePlace | None,
    alike: tuple[str, ...],
    findings: KnownFindings = NO_FINDINGS,
    *,
    with_preemption: bool = False,
) -> Explanation:
    """The same for a pod whose place in the queue and whose equals are known. `alike`: `namespace/name` of the equals.

    `with_preemption`: `message` has what preemption says, for which it is tried on every node that it might help.
    """
    known = _known(simulation, pod, place, alike)
    standing = known.standing
    if standing == "scheduled" and _is_starting(simulation, pod):
        sentence = starting(pod)
        return known.with_phrases(sentence=sentence)
    if standing in ("scheduled", "finished", "deleting"):
        return _with_sentence(known, pod)
    try:
        dry_run = DryRun(simulation, pod)
    except UnknownProfileError:
        return _of_other_scheduler(simulation, known, pod)
    explained, message = _tried(simulation, known, dry_run, with_preemption=with_preemption)
    if (differs := disagreement(simulation, explained, message)) is not None:
        explained = without_missing(simulation, explained.with_phrases(disagreement=differs), dry_run)
    if is_name_only(place):
        explained = explained_by_name(explained)
    elif explained.standing == "gated":
        advice = _advice_of_gated(place, pod.namespace)
        explained = explained.with_phrases(advice=advice)
    if not explained.nodes and not explained.said and (required := required_of_node(simulation, pod)):
        cause = phrase("it requires a node with {labels}", labels=some([str(each) for each in required]))
        explained = explained.with_phrases(cause=cause)
    if standing == "nominated":
        explained = _with_nomination(simulation, explained, dry_run)
    explained = _replace(explained, findings=(*explained.findings, *findings.about(explained, claim_keys(pod))))
    counts = next((finding.sentence for finding in explained.findings if finding.kind == NODE_COUNT), "")
    if explained.disagreement and counts:
        # The finding says why.
        nodes = counted(explained.nodes, "{count} node", "{count} nodes")
        differs = (
            phrase("the files contain only {nodes}", nodes=nodes)
            if " only " in counts
            else phrase("the files contain {nodes}", nodes=nodes)
        )
        explained = explained.with_phrases(disagreement=differs)
    return _with_sentence(explained, pod)


def _known(simulation: Simulation, pod: Pod, place: QueuePlace | None, alike: tuple[str, ...]) -> Explanation:
    """What is known about the pod without trying it on the nodes; its `sentence` is empty."""
    condition = _scheduled_condition(pod)
    note = group_note(simulation, pod)
    return Explanation(
        pod=pod.key,
        uid=pod.uid,
        standing=_standing(simulation, pod, place, is_held_by_group=note is not None and note.holds_back),
        sentence="",
        node=pod.spec.node_name or pod.status.nominated_node_name,
        said=condition.message,
        said_since=_said_since(simulation, condition, place),
        queue=place,
        alike=alike,
        group=note.sentence.text if note is not None else "",
        group_phrase=note.sentence if note is not None else None,
        group_holds_back=note is not None and note.holds_back,
        release=simulation.settings.release,
    )


def _tried(simulation: Simulation, known: Explanation, dry_run: DryRun, *, with_preemption: bool) -> tuple[Explanation, str]:
    """The explanation with every node's verdict and their reasons, and the message that a scheduling cycle would give now."""
    rejected = rejected_by_extenders(simulation, dry_run)
    message = message_with(simulation, dry_run, rejected)
    # Before the matrix, for which every plugin evaluates every node.
    whole = message_with(simulation, dry_run, rejected, post_filter=True) if with_preemption else message
    if known.standing == "gated":
        message = whole = message_of_gated(known.queue)
    verdicts = with_extenders(matrix(dry_run), rejected)
    outlooks = Counter(verdict.outlook for verdict in verdicts)
    fits = tuple(verdict.node for verdict in verdicts if verdict.outlook == "now")
    failed = bool(verdicts) and dry_run.error is not None
    main = main_reason(dry_run, verdicts) if not fits else None
    reasons: tuple[Clause, ...] = ()
    # If only the gate holds the pod, what rejects it on the other nodes needs no remedy.
    if known.standing != "gated" or not fits:
        found = said_clauses(message) if failed else _rejections(simulation, known, dry_run, verdicts)
        reasons = with_other_shortages(_with_asides(_about_pod(simulation, dry_run.pod.pod, found), main), main)
    explained = _replace(
        known,
        failed=failed,
        message=whole if known.standing == "gated" or not fits else "",
        outlook=_best(verdicts),
        nodes=len(verdicts),
        fits=fits,
        clauses=reasons,
        main=next((clause for clause in reasons if failed or _key(clause) == main), None),
        plugins=tuple(plugin for plugin, _ in dry_run.each_plugin()),
        outlooks={outlook: outlooks[outlook] for outlook in OUTLOOKS if outlooks[outlook]},
        matrix=verdicts,
        room=() if fits else room(dry_run, verdicts, simulation.clock.now),
        extenders_not_asked=uncalled_extenders(simulation, dry_run),
    )
    return explained, message


def _rejections(simulation: Simulation, known: Explanation, dry_run: DryRun, verdicts: Sequence[NodeVerdict]) -> tuple[Clause, ...]:
    """The clauses of the verdicts; without nodes, of the pod's own message."""
    return with_details(simulation, dry_run, verdicts, clauses(verdicts)) if verdicts else _said(known, dry_run)


def _about_pod(simulation: Simulation, pod: Pod, reasons: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses with the names of the pod, its nodes, claims and missing StorageClass in their advice."""
    named = [with_names(clause, Named(clause.nodes, pod.key, claim_keys(pod))) for clause in reasons]
    return with_missing_class(simulation, pod, named)


def _of_other_scheduler(simulation: Simulation, known: Explanation, pod: Pod) -> Explanation:
    """The explanation of a pod that asks for a scheduler which this one is not."""
    profiles = " and ".join(sorted(simulation.scheduler.state.profiles))
    scheduler = pod.spec.scheduler_name
    sentence = phrase(
        "{pod} specifies the scheduler {scheduler}, so {profiles} does not try it.", pod=pod.key, scheduler=scheduler, profiles=profiles
    )
    advice = Phrase(ADVICE_ABOUT_OTHER_SCHEDULER, {"scheduler": scheduler.replace("`", "'")})
    return _replace(known, standing="ignored").with_phrases(sentence=sentence, advice=advice)


def _with_asides(clauses: Sequence[Clause], main: tuple[str, str, str] | None) -> tuple[Clause, ...]:
    """The clauses, of which those are marked that concern none of the main reason's nodes."""
    decisive = {node for clause in clauses if _key(clause) == main for node in clause.nodes}
    if not decisive:
        return tuple(clauses)
    return tuple(_replace_clause(clause, is_aside=decisive.isdisjoint(clause.nodes)) for clause in clauses)


def _key(clause: Clause) -> tuple[str, str, str]:
    """What tells it from the other clauses. Nodes that are too small for the pod have the same reason as full ones, and another code."""
    return clause.reason, clause.plugin, clause.code


def _said(known: Explanation, dry_run: DryRun) -> tuple[Clause, ...]:
    """The clauses of the pod's own message. What a pod asks for of which only the name is known is not known either."""
    said = most_likely_first(said_clauses(known.said))
    return said if is_name_only(known.queue) else with_requests(said, dry_run.pod)


def _advice_of_gated(place: QueuePlace | None, namespace: str) -> Phrase | None:
    """What to do about scheduling gates, or about what another PreEnqueue plugin says."""
    if place is None or place.gated_by:
        return advice_about_gates(place.gated_by if place is not None else "", namespace)
    meaning = meaning_of(place.gating_reason)
    return Phrase(meaning.advice, {}) if meaning is not None and meaning.advice else None


def _with_nomination(simulation: Simulation, explained: Explanation, dry_run: DryRun) -> Explanation:
    """Adds the doctor's view of the nomination: victims are terminating, or it will wait forever."""
    info = simulation.scheduler.state.cache.nodes.get(explained.node)
    if info is None:
        return explained
    free = info.allocatable.clone()
    free.add(info.requested, -1)
    known = scheduler_of_engine(simulation)
    finding = judge(dry_run.pod, explained.node, free, info.pods, known)
    if finding.kind == WITHOUT_PREEMPTION:
        cause = provisioning(simulation, dry_run.pod.pod) or finding.cause_phrase
        return _replace(explained, findings=(finding,)).with_phrases(cause=cause)
    if finding.kind == FOR_EVER and explained.queue is not None and explained.queue.is_tried_again and explained.node in explained.fits:
        # The victims are gone, and events have moved the pod already.
        return explained
    if finding.kind != FOR_EVER:
        victims = tuple(terminating_victims(dry_run.pod, info.pods))
        return _replace(explained, cause=finding.cause, advice=finding.advice, findings=(finding,), victims=victims)
    cause, advice = why_for_ever(known)
    return _replace(explained, for_ever=True).with_phrases(cause=cause, advice=advice)


def find_pod(simulation: Simulation, key: str) -> Pod:
    """The pod in the API server. Raises `PodUnknownError` with suggestions."""
    found = simulation.cluster.find("Pod", key)
    if isinstance(found, Pod):
        return found
    others = _meant_by(key, [obj for obj in simulation.stored_objects() if isinstance(obj, Pod)])
    hint = f"; there is {', '.join(others[:_SHOWN_OTHERS])}" if others else ""
    raise PodUnknownError(f'There is no pod "{key}" here{hint}.')


def the_pod(simulation: Simulation, name: str) -> str:
    """`namespace/name` of a pod that may lack its namespace: the one in `default`, else the only one with this name."""
    if "/" in name:
        return name
    key = f"default/{name}"
    others = [obj.key for obj in simulation.stored_objects() if isinstance(obj, Pod) and obj.name == name]
    return others[0] if len(others) == 1 else key


def _meant_by(key: str, pods: Sequence[Pod]) -> list[str]:
    """Pods of this name in other namespaces; otherwise those whose name begins with it, such as the pods of a Deployment."""
    namespace, _, name = key.rpartition("/")
    named = [pod.key for pod in pods if pod.name == name]
    if named:
        return named
    begins = [pod for pod in pods if pod.name.startswith(f"{name}-")]
    # In its own namespace first, and those that wait before those that run.
    return [pod.key for pod in sorted(begins, key=lambda pod: (pod.namespace != namespace, bool(pod.spec.node_name)))]


def _standing(simulation: Simulation, pod: Pod, place: QueuePlace | None, *, is_held_by_group: bool) -> Standing:
    if pod.is_finished:
        return "finished"
    if pod.spec.node_name:
        return "scheduled"
    if pod.metadata.deletion_timestamp is not None:
        return "deleting"
    if any(binding.pod == pod.key for binding in simulation.scheduler.bindings):
        return "waiting"
    if place is not None and place.gating_plugin and not is_held_by_group:
        return "gated"
    return "nominated" if pod.status.nominated_node_name else "pending"


def _is_starting(simulation: Simulation, pod: Pod) -> bool:
    """Whether the files have the pod with a node and without running containers. Those that this session places have no kubelet."""
    bound_at = next((condition.last_transition_time for condition in pod.status.conditions if condition.type == "PodScheduled"), None)
    return pod.status.phase == "Pending" and bound_at is not None and bound_at > simulation.clock.timestamp()


def _said_since(simulation: Simulation, condition: PodCondition, place: QueuePlace | None) -> str:
    """When the pod's condition became false; "" if this session's own scheduler said so: its clock shows an invented date."""
    since = condition.last_transition_time or ""
    is_own = place is not None and place.attempts > 0 and _FIRST_TIMESTAMP <= since <= simulation.clock.timestamp()
    return since if condition.message and not is_own else ""


def _scheduled_condition(pod: Pod) -> PodCondition:
    return next((condition for condition in pod.status.conditions if condition.type == "PodScheduled"), PodCondition())


def _best(verdicts: Sequence[NodeVerdict]) -> Outlook:
    return min({verdict.outlook for verdict in verdicts}, key=OUTLOOKS.index, default="never")


def _alike(simulation: Simulation, pod: Pod) -> tuple[str, ...]:
    if pod.spec.node_name:
        return ()
    key = equivalence_key(pod)
    pods = simulation.scheduler.state.informers.objects()["Pod"].values()
    pending = (other for other in pods if isinstance(other, Pod) and not other.spec.node_name and other.key != pod.key)
    return tuple(other.key for other in pending if equivalence_key(other) == key)


def _with_sentence(explanation: Explanation, pod: Pod) -> Explanation:
    sentence = sentence_of(explanation, pod)
    return explanation.with_phrases(sentence=sentence)


def _replace_clause(clause: Clause, *, is_aside: bool) -> Clause:
    return msgspec.structs.replace(clause, is_aside=is_aside)


def _replace(explanation: Explanation, **members: object) -> Explanation:
    return msgspec.structs.replace(explanation, **members)
