"""The one-sentence summary of an explanation."""

from __future__ import annotations

from schedviz.engine.failure import NO_NODES_AVAILABLE
from schedviz.explain.details.headline import is_about_all_nodes
from schedviz.explain.doctor.known_findings import MISSED_POD, unknown_nodes
from schedviz.explain.doctor.nominations import WITHOUT_PREEMPTION
from schedviz.explain.explanation import Clause, Explanation, QueuePlace
from schedviz.explain.meaning import Named
from schedviz.explain.messages.pinned_node import conclusion_of
from schedviz.explain.messages.real_message import NODES, what_to_add
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.no_node import no_node, no_node_sentence
from schedviz.explain.queue_place import is_name_only
from schedviz.kube.core import Pod
from schedviz.trace.phrase import Phrase, as_sentence, counted, phrase, some

#: Clauses per sentence.
_LISTED_CLAUSES = 3


def sentence_of(explanation: Explanation, pod: Pod) -> Phrase:
    """The first sentence for an operator on call."""
    name = explanation.pod
    match explanation.standing:
        case "scheduled":
            return phrase("{pod} is scheduled: it is bound to {node}.", pod=name, node=explanation.node)
        case "finished":
            return phrase("{pod} has finished ({phase}), so the scheduler ignores it.", pod=name, phase=pod.status.phase)
        case "deleting":
            return phrase("{pod} is being deleted; the scheduler skips it.", pod=name)
        case "waiting":
            return phrase("A node was chosen for {pod}, and its binding is in progress.", pod=name)
        case "gated" if is_name_only(explanation.queue):
            return phrase(
                (
                    "{pod} is pending, and only its name is known: a SIGUSR2 dump does not contain the requests of pending pods. "
                    "To explain it, add the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
                ),
                pod=name,
            )
        case "gated" if explanation.queue is not None and not explanation.queue.gated_by and not explanation.lacks:
            return _gated(name, explanation.queue)
        case "gated" if not explanation.lacks:
            return phrase(
                "{pod} is held back by scheduling gates ({gates}): the scheduler does not try it until they are removed.",
                pod=name,
                gates=_gates(explanation.queue),
            )
    if explanation.for_ever:
        return _for_ever(explanation)
    if any(finding.kind == MISSED_POD for finding in explanation.findings):
        return _unknown(explanation)
    if explanation.lacks == NODES and (conclusion := conclusion_of(explanation.said, pod)) is not None:
        return phrase(
            "{pod} is pending. {conclusion} This is from the scheduler's message: the files do not contain all nodes, so scheduling "
            "was not simulated.",
            pod=name,
            conclusion=conclusion,
        )
    if explanation.lacks:
        return _untried(explanation)
    if explanation.group_holds_back:
        return phrase("{pod} is pending. {group}", pod=explanation.pod, group=explanation.group_phrase or "")
    pending = _pending(explanation, pod)
    if explanation.group_phrase is not None:
        pending = phrase("{sentence} {group}", sentence=pending, group=explanation.group_phrase)
    if nodes := unknown_nodes(explanation.findings):
        return phrase("{sentence} It also fits on {nodes}, which its scheduler does not know.", sentence=pending, nodes=some(nodes))
    return pending


def starting(pod: Pod) -> Phrase:
    """The sentence about a pod whose scheduling has ended, and whose containers do not run yet."""
    return phrase(
        ("{pod} is scheduled to {node}, but its containers have not started: `kubectl describe pod{name}` shows the kubelet's events."),
        pod=pod.key,
        node=pod.spec.node_name,
        name=Named(pod=pod.key).values["pod"],
    )


def answer_of(explanation: Explanation) -> str:
    """The sentence without the pod's name, for what has the name as its title: the numbers that answer, if the sentence has any."""
    sentence = explanation.sentence_phrase
    values = sentence.values if sentence is not None else {}
    parts = [part.text for name in ("detail", "fits", "outlook") if isinstance(part := values.get(name), Phrase)]
    if "detail" not in values or "fits" not in values:
        return explanation.sentence
    return f"{as_sentence(parts[0])}. {' '.join(parts[1:])}"


def _untried(explanation: Explanation) -> Phrase:
    """What the pod's own scheduler wrote, because objects that the pod needs are not in the files."""
    reason = next((clause.headline_phrase for clause in explanation.clauses), None)
    untried = phrase(
        "The files contain no {kind} objects, so scheduling was not simulated. Add the output of `{command}`.",
        kind=explanation.lacks,
        command=what_to_add(explanation.lacks),
    )
    if reason is None:
        return phrase(
            "{pod} is pending. kube-scheduler reported: {said} {untried}", pod=explanation.pod, said=explanation.said, untried=untried
        )
    return phrase("{pod} is pending: {reason}. {untried}", pod=explanation.pod, reason=reason, untried=untried)


def _gated(name: str, place: QueuePlace) -> Phrase:
    meaning = meaning_of(place.gating_reason)
    return phrase(
        "{pod} is pending. The scheduler does not try it: {plugin} holds it because {why}.",
        pod=name,
        plugin=place.gating_plugin,
        why=meaning.phrase if meaning is not None else place.gating_reason,
    )


def _unknown(explanation: Explanation) -> Phrase:
    nodes = counted(len(explanation.fits), "{count} node", "{count} nodes")
    return phrase(
        (
            "{pod} is pending, but its scheduler does not know it: it is neither in the scheduler's cache nor in its "
            "queue, so it is not tried. It fits on {nodes}."
        ),
        pod=explanation.pod,
        nodes=nodes,
    )


def _for_ever(explanation: Explanation) -> Phrase:
    name, node = explanation.pod, explanation.node
    if explanation.fits:
        return phrase(
            "{pod} stays nominated to {node} forever: no pod is terminating there, but the pod is not bound.", pod=name, node=node
        )
    return phrase(
        "{pod} stays nominated to {node} forever, although no pod is terminating there: {why}.",
        pod=name,
        node=node,
        why=_no_node(explanation),
    )


def _pending(explanation: Explanation, pod: Pod) -> Phrase:
    if (nominated := _nominated(explanation)) is not None:
        return nominated
    name = explanation.pod
    state = phrase("{pod} is pending", pod=name)
    if explanation.standing == "nominated":
        state = phrase("{pod} is nominated to {node} and is pending until there is room there", pod=name, node=explanation.node)
    if explanation.fits:
        return _fitting(state, explanation)
    return _rejected(state, explanation) if explanation.nodes else _without_nodes(state, explanation, pod)


def _nominated(explanation: Explanation) -> Phrase | None:
    """Of a pod that waits for its victims, or whose nomination has no preemption; None: of another one."""
    name, node = explanation.pod, explanation.node
    if explanation.victims:
        return phrase(
            "{pod} is nominated to {node} and is waiting for the pods evicted there to terminate: {victims}.",
            pod=name,
            node=node,
            victims=some(explanation.victims),
        )
    if any(finding.kind == WITHOUT_PREEMPTION for finding in explanation.findings):
        why = explanation.cause_phrase or ""
        return phrase("{pod} is nominated to {node} without a preemption: {why}.", pod=name, node=node, why=why)
    return None


def _fitting(state: Phrase, explanation: Explanation) -> Phrase:
    """Of a pod that fits on nodes."""
    known = len(explanation.fits) - len(unknown_nodes(explanation.findings))
    if known <= 0:
        return phrase("{state}: it fits on no node that its scheduler knows.", state=state)
    # The real queue is another one, if a dump of it was compared.
    queued = "" if explanation.findings else _queued(explanation.queue)
    if explanation.node in explanation.fits:
        return phrase("{pod} is nominated to {node}, where it fits now{queued}.", pod=explanation.pod, node=explanation.node, queued=queued)
    nodes = counted(known, "{count} node", "{count} nodes")
    return phrase("{state}, but fits on {nodes} now{queued}.", state=state, nodes=nodes, queued=queued)


def _without_nodes(state: Phrase, explanation: Explanation, pod: Pod) -> Phrase:
    """Of a pod of a cluster without nodes: what the scheduler wrote, if it is known."""
    said = explanation.said
    if said == NO_NODES_AVAILABLE:
        return phrase("{state}: {answer}.", state=state, answer=phrase("there are no nodes to schedule it on"))
    if said and (conclusion := conclusion_of(said, pod)) is not None:
        return phrase("{state}. {conclusion} No nodes are loaded, so scheduling was not simulated.", state=state, conclusion=conclusion)
    if explanation.clauses and (detail := explanation.clauses[0].headline_phrase) is not None:
        return phrase(
            "{state}: {detail}. No nodes are loaded, so scheduling was not simulated. kube-scheduler reported: {said}",
            state=state,
            detail=detail,
            said=said,
        )
    if said:
        return phrase(
            "{state}. No nodes are loaded, so scheduling was not simulated. kube-scheduler reported: {said}", state=state, said=said
        )
    untried = phrase("{state}: there are no nodes to schedule it on.", state=state)
    if explanation.cause_phrase is None:
        return untried
    return phrase("{sentence} To run, {cause}.", sentence=untried, cause=explanation.cause_phrase)


def _rejected(state: Phrase, explanation: Explanation) -> Phrase:
    """Of a pod that fits on none of the nodes."""
    if explanation.failed:
        return phrase("{state}: every scheduling attempt fails with an error: {error}.", state=state, error=_error(explanation))
    if explanation.main is not None and (detail := plain(explanation.main)) is not None:
        return _with_detail(state, detail, explanation)
    return phrase("{state}: {why}. {outlook}", state=state, why=_no_node(explanation), outlook=_outlook(explanation))


def plain(clause: Clause) -> Phrase | None:
    """A clause in one plain sentence, otherwise the numbers behind it, or its meaning with its nodes; None if nothing is known."""
    if clause.headline_phrase is not None:
        return clause.headline_phrase
    if clause.details:
        return clause.details[0].sentence_phrase
    if clause.meaning_phrase is None or not clause.nodes:
        return None
    return phrase("{meaning}: {nodes}", meaning=clause.meaning_phrase, nodes=some(clause.nodes))


def _with_detail(state: Phrase, detail: Phrase, explanation: Explanation) -> Phrase:
    """What is behind the nearest nodes' reason answers; the message and the clauses list the other reasons."""
    by_preemption = explanation.outlook == "pods leave" and bool(explanation.room) and explanation.room[0].by_preemption
    if is_about_all_nodes(detail) or explanation.nodes == 1:
        if by_preemption:
            return phrase("{state}: {answer}. {outlook}", state=state, answer=detail, outlook=_outlook(explanation))
        return phrase("{state}: {answer}.", state=state, answer=detail)
    fits = phrase("{sentence}.", sentence=no_node_sentence(explanation.nodes))
    # Whether pods should be removed without preemption is for the verified changes to say, the cheapest first.
    if by_preemption:
        return phrase("{state}: {detail}. {fits} {outlook}", state=state, detail=detail, fits=fits, outlook=_outlook(explanation))
    return phrase("{state}: {detail}. {fits}", state=state, detail=detail, fits=fits)


def _error(explanation: Explanation) -> Phrase | str:
    """What the error means, if that is known."""
    clause = explanation.main
    return explanation.message if clause is None or clause.meaning_phrase is None else clause.meaning_phrase


def _gates(place: QueuePlace | None) -> str:
    return place.gated_by if place is not None else ""


def _queued(place: QueuePlace | None) -> str | Phrase:
    if place is None:
        return ""
    if place.ahead is None:
        return phrase("; it is in {queue}", queue=place.queue)
    if not place.ahead:
        return phrase("; it is next in the scheduling queue")
    return phrase("; it is in the scheduling queue behind {pods}", pods=counted(place.ahead, "{count} pod", "{count} pods"))


def _no_node(explanation: Explanation) -> Phrase:
    whole = no_node(explanation.nodes)
    if not explanation.clauses:
        return whole
    clauses = sorted(explanation.clauses, key=lambda clause: -clause.count)
    listed = ", ".join(_clause(clause) for clause in clauses[:_LISTED_CLAUSES])
    left = len(clauses) - _LISTED_CLAUSES
    more = counted(left, ", and {count} more reason", ", and {count} more reasons") if left > 0 else ""
    return phrase("{whole} ({clauses}{more})", whole=whole, clauses=listed, more=more)


def _clause(clause: Clause) -> str:
    return f"{clause.count} × {clause.reason}"


def _outlook(explanation: Explanation) -> Phrase:
    match explanation.outlook:
        case "never":
            return phrase("It would not fit even on an empty node: change the pod, or add a suitable node.")
        case "elsewhere":
            return phrase(
                "More room would not help: something else has to change, such as a pod required by affinity, the topology "
                "spread, or a volume."
            )
    if not explanation.room:
        return phrase("Other pods have to leave first.")
    best = explanation.room[0]
    pods = best.pods[0] if len(best.pods) == 1 else counted(len(best.pods), "{count} pod", "{count} pods")
    if best.by_preemption:
        return phrase("It would fit on {node} if preemption evicted {pods}.", node=best.node, pods=pods)
    return phrase("It would fit on {node} without {pods}.", node=best.node, pods=pods)
