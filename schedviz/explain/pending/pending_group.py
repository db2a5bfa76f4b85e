"""`PendingGroup`: pending pods with equal scheduling requirements, and what an overview says about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.explain.changes.change import ChangeView
from schedviz.explain.doctor.known_findings import MISSED_POD, unknown_nodes
from schedviz.explain.doctor.object_events import KIND as EVENT
from schedviz.explain.explanation import Clause, Explanation, Outlook, Part, Standing
from schedviz.explain.messages.parsed_message import Message
from schedviz.explain.messages.pinned_node import message_about, pinned_node
from schedviz.explain.messages.real_message import NODES, PODS
from schedviz.explain.queue_place import is_name_only
from schedviz.explain.sentence import plain
from schedviz.kube.core import Pod
from schedviz.trace.phrase import Phrase, counted, phrase, some

#: A name in a reason.
QUOTED_NAME: Final = re.compile(r'"[^"]*"')


class PendingGroup(Part, frozen=True):
    """Pods with equal scheduling requirements: what holds for the first holds for all."""

    #: `namespace/name`; the first was explained.
    pods: tuple[str, ...]
    standing: Standing
    sentence: str
    message: str
    outlook: Outlook
    clauses: tuple[Clause, ...]
    sentence_phrase: Phrase | None = None
    #: Why the pods are pending, in one plain sentence; "" if no reason of the scheduler says it.
    headline: str = ""
    headline_phrase: Phrase | None = None
    #: The numbers behind the main clause; "" if there are none.
    detail: str = ""
    detail_phrase: Phrase | None = None
    #: What an autoscaler said about the first pod, by an Event of the files; "": nothing.
    event: str = ""
    event_phrase: Phrase | None = None
    #: The smallest change with which a dry run places the first pod; empty: none was found, or looked for.
    changes: tuple[ChangeView, ...] = ()
    #: As `effect` of the reason, if the changes of its groups differ; of a group that is too large for every node, what helps instead.
    effect: str = ""
    effect_phrase: Phrase | None = None

    @property
    def is_about_all(self) -> bool:
        """Whether the headline is about all reasons, not about the first one."""
        return bool(self.clauses) and self.headline not in ("", self.clauses[0].headline)


def group_of(explanation: Explanation, pods: Sequence[Pod], *, is_of_clause: bool) -> PendingGroup:
    said = said_message(explanation, pods[0]) if is_of_clause else None
    detail = (
        _detail(explanation)
        or (explanation.cause_phrase if not explanation.nodes else None)
        or _finding(explanation)
        or explanation.group_phrase
        or _event(explanation)
        or _where(explanation)
    )
    event = _autoscaler_event(explanation)
    clause = explanation.main or said_clause(explanation)
    headline = plain(clause) if clause is not None and is_of_clause else None
    headline = said.conclusion_phrase if said is not None else headline
    return PendingGroup(
        pods=tuple(pod.key for pod in pods),
        standing=explanation.standing,
        sentence=explanation.sentence,
        message=explanation.message,
        outlook=explanation.outlook,
        # What the only node of the pod lacks leaves no more to do about the others.
        clauses=said.clauses if said is not None and said.first and pinned_node(pods[0]) else explanation.clauses,
        sentence_phrase=explanation.sentence_phrase,
        headline=headline.text if headline is not None else "",
        headline_phrase=headline,
        detail=detail.text if detail is not None else "",
        detail_phrase=detail,
        event=event.text if event is not None else "",
        event_phrase=event,
    )


def said_message(explanation: Explanation, pod: Pod) -> Message | None:
    """Without nodes, the message of the pod's scheduler, if it has several reasons: the sentence about them is that of a text."""
    if said_clause(explanation) is None or explanation.lacks not in ("", PODS, NODES):
        return None
    message = message_about(explanation.said, pod)
    return message if message is not None and message.conclusion_phrase is not None else None


def said_clause(explanation: Explanation) -> Clause | None:
    """Without the nodes only the scheduler's own message answers: its most likely cause; None if there is none."""
    if (explanation.nodes and explanation.lacks != NODES) or not explanation.said:
        return None
    return next(iter(explanation.clauses), None)


def _detail(explanation: Explanation) -> Phrase | None:
    if explanation.lacks in (PODS, NODES):
        # The headline says it.
        return None
    if explanation.lacks:
        said = next((clause.headline_phrase for clause in explanation.clauses if clause.headline_phrase is not None), explanation.said)
        return phrase("kube-scheduler reported: {message}", message=said)
    if is_name_only(explanation.queue) and explanation.said:
        return phrase("kube-scheduler reported: {message}", message=explanation.said)
    if is_name_only(explanation.queue):
        return phrase("its requests are not in the dump: add the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`")
    if explanation.queue is not None and explanation.queue.gated_by:
        return phrase("gates: {gates}", gates=explanation.queue.gated_by)
    if explanation.standing == "gated" and explanation.queue is not None:
        return Phrase("{reason}", {"reason": explanation.queue.gating_reason})
    if explanation.victims:
        if len(explanation.victims) == 1:
            return phrase("waiting for {victim} on {node} to terminate", node=explanation.node, victim=explanation.victims[0])
        return phrase("waiting for {victims} on {node} to terminate", node=explanation.node, victims=some(explanation.victims))
    if explanation.for_ever:
        return phrase("stays nominated to {node} forever", node=explanation.node)
    if said_clause(explanation) is not None:
        return phrase("kube-scheduler reported: {message}", message=explanation.said)
    if explanation.standing == "pending" and explanation.fits and not explanation.findings and not explanation.group:
        return phrase("fits on {nodes}", nodes=counted(len(explanation.fits), "{count} node", "{count} nodes"))
    clause = explanation.main
    if clause is None:
        return None
    if clause.details:
        return clause.details[0].sentence_phrase
    return Phrase("{reason}", {"reason": clause.reason}) if QUOTED_NAME.search(clause.reason) else None


def _where(explanation: Explanation) -> Phrase | None:
    """The nodes of the main reason, where nothing else is known about it."""
    clause = explanation.main
    return phrase("on {nodes}", nodes=some(clause.nodes)) if clause is not None and clause.nodes else None


def _finding(explanation: Explanation) -> Phrase | None:
    """The first difference that the doctor found: "node worker-4 is in the API server, and the scheduler does not know it"."""
    is_missed = any(finding.kind == MISSED_POD for finding in explanation.findings)
    if len(explanation.fits) > len(unknown_nodes(explanation.findings)) and not is_missed:
        # The pod only waits for its attempt, whatever is wrong with other nodes.
        return None
    return next((finding.sentence_phrase for finding in explanation.findings if finding.differs), None)


def _event(explanation: Explanation) -> Phrase | None:
    """What an Event of the files says about the pod or its claims."""
    return next((finding.sentence_phrase for finding in explanation.findings if finding.kind == EVENT), None)


def _autoscaler_event(explanation: Explanation) -> Phrase | None:
    """What an Event of the pod itself means, which its autoscaler sent; None for a pod that nodes can take now."""
    own = (finding for finding in explanation.findings if finding.kind == EVENT and finding.about == f"Pod {explanation.pod}")
    found = next((finding for finding in own if finding.cause_phrase is not None), None)
    if found is None or explanation.fits or found.cause_phrase is None:
        return None
    return phrase("{cause} ({event})", cause=found.cause_phrase, event=found.sentence_phrase or found.sentence)
