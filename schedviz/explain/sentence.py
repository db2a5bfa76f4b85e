"""The one sentence of an explanation."""

from __future__ import annotations

from schedviz.explain.explanation import Clause, Explanation, QueuePlace
from schedviz.kube.core import Pod

#: Clauses that fit into a sentence.
_TOLD = 3


def sentence_of(explanation: Explanation, pod: Pod) -> str:
    """What somebody on call should read first."""
    name = explanation.pod
    match explanation.standing:
        case "scheduled":
            return f"{name} is scheduled: it is bound to {explanation.node}."
        case "finished":
            return f"{name} has finished ({pod.status.phase}), so the scheduler does not see it."
        case "deleting":
            return f"{name} is being deleted, so the scheduler skips it."
        case "waiting":
            return f"{name} has a node and is in its binding cycle."
        case "gated":
            return f"{name} is held back by its scheduling gates ({_gates(explanation.queue)}); it is not tried until they are removed."
    if explanation.for_ever:
        left = f", and {_no_node(explanation)}" if not explanation.fits else ""
        return f"{name} is nominated to {explanation.node} for ever: nobody has to leave there, and yet it is not bound{left}."
    waits = f"{name} waits for {explanation.node} to become free: it is nominated there" if explanation.standing == "nominated" else ""
    if explanation.fits:
        return (
            f"{waits or name + ' is pending'}, and {_count(len(explanation.fits), 'node')} would take it now{_queued(explanation.queue)}."
        )
    if not explanation.nodes:
        return f"{waits or name + ' is pending'}: there are no nodes."
    return f"{waits or name + ' is pending'}: {_no_node(explanation)}. {_outlook(explanation)}"


def _gates(place: QueuePlace | None) -> str:
    return place.gated_by if place is not None else ""


def _queued(place: QueuePlace | None) -> str:
    if place is None:
        return ""
    if place.queue == "activeQ":
        return f"; it is in activeQ behind {_count(place.ahead or 0, 'pod')}" if place.ahead else "; it is the next in activeQ"
    return f"; it is in {place.queue}"


def _no_node(explanation: Explanation) -> str:
    whole = _count(explanation.nodes, "node")
    if not explanation.clauses:
        return f"none of {whole} fits"
    clauses = sorted(explanation.clauses, key=lambda clause: -clause.count)
    told = ", ".join(_clause(clause) for clause in clauses[:_TOLD])
    more = f", and {_count(len(clauses) - _TOLD, 'reason')} more" if len(clauses) > _TOLD else ""
    return f"none of {whole} fits ({told}{more})"


def _clause(clause: Clause) -> str:
    return f"{clause.count} {clause.reason}"


def _outlook(explanation: Explanation) -> str:
    match explanation.outlook:
        case "never":
            return "Never as things are: even an empty node of this cluster would not take it."
        case "elsewhere":
            return (
                "Not now: something has to change that is not on the nodes themselves, such as a pod to be near, the spread, or a volume."
            )
    if not explanation.room:
        return "Not now: pods would have to leave."
    best = explanation.room[0]
    pods = best.pods[0] if len(best.pods) == 1 else f"{len(best.pods)} pods"
    how = " by preemption" if best.by_preemption else ""
    return f"Not now: it would fit on {best.node} if {pods} left{how}."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
