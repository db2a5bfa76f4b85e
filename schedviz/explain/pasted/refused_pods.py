"""`with_scheduler_first`: the answer about a pod for which an autoscaler adds no node, with the scheduler's reason before it.

The scheduler's reason is the first sentence, and the autoscaler's result the second. What to do is what the autoscaler's result calls for,
which is about the capacity that the scheduler misses, unless the scheduler's reason is one that no new node is needed for: nodes that can
be brought back, or something that the pod refers to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.explain.explanation import Clause
from schedviz.explain.messages.conclusion import STATUS_IS_WHOLE, advised
from schedviz.explain.messages.main_reason import is_of_broken_nodes, is_of_volume, only_cause
from schedviz.explain.messages.parsed_message import Message, ParsedMessage, whole_headline
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.reason_tables.node_groups import ADVICE_ABOUT_VOLUME
from schedviz.trace.phrase import Phrase, as_sentence, phrase

_UNREACHABLE: Final = "node.kubernetes.io/unreachable"
#: What to do about a volume that no reachable node can access.
_RECOVER_FIRST: Final = phrase(
    "Recover the unreachable node first (`kubectl get nodes | grep NotReady`): it may be the one that can access the volume. If it is not, "
    "or if it stays unreachable, add a node group in the volume's zone. A bound volume cannot move to another zone. To see its zone, run "
    "`kubectl get pv NAME -o yaml` and look under nodeAffinity"
)
#: The same if the text names the node.
_RECOVER_NODE_FIRST: Final = phrase(
    "Recover {node} first: it may be the one that can access the volume. If it is not, or if it stays unreachable, add a node group in "
    "the volume's zone. A bound volume cannot move to another zone. To see its zone, run `kubectl get pv NAME -o yaml` and look under "
    "nodeAffinity"
)

#: What all nodes, or none, are called at the beginning of a sentence.
_SUBJECTS: Final = frozenset(
    subject.template
    for subject in (
        phrase("None of the {count} nodes"),
        phrase("All {count} nodes"),
        phrase("Neither node"),
        phrase("Both nodes"),
        phrase("The only node"),
        phrase("None of the {count} worker nodes"),
        phrase("All {count} worker nodes"),
        phrase("Neither worker node"),
        phrase("Both worker nodes"),
        phrase("The only worker node"),
    )
)


def with_scheduler_first(answer: PodAnswer, said: ParsedMessage, broken: Sequence[str] = ()) -> tuple[PodAnswer, ParsedMessage]:
    """The answer and the message without what the answer says; both as they are if the message has no reason of its own.

    `answer`: why an autoscaler adds no node for the pod. `said`: the scheduler's newest message. `broken`: nodes that are not ready.
    """
    message = said.message
    reason = _reason(message)
    if reason is None or answer.sentence_phrase is None:
        return answer, said
    sentence = Phrase("{first} {next}", {"first": reason, "next": answer.sentence_phrase})
    advice = _advice(message, answer.advice_phrase, broken) or answer.advice_phrase
    clauses = tuple(advised(clause, None) if _is_said(clause, advice) else clause for clause in message.clauses)
    message = msgspec.structs.replace(message, clauses=clauses).with_phrases(conclusion=None)
    return answer.with_phrases(sentence=sentence, advice=advice), msgspec.structs.replace(said, message=message)


def _reason(message: Message) -> Phrase | None:
    """Why the scheduler rejects every node, as a sentence; None if the message does not say it, or is cut off."""
    if message.finding_phrase == STATUS_IS_WHOLE:
        return None
    if message.conclusion_phrase is not None:
        return message.conclusion_phrase
    whole = whole_headline(message)
    headline = next((clause.headline_phrase for clause in message.clauses if whole and clause.headline == whole), None)
    subject = headline.values.get("nodes") if headline is not None else None
    if headline is None or not isinstance(subject, Phrase) or as_sentence(subject.template) not in _SUBJECTS:
        return None
    capital = Phrase(as_sentence(subject.template), subject.values)
    return phrase("{reasons}.", reasons=Phrase(headline.template, {**headline.values, "nodes": capital}))


def _advice(message: Message, of_autoscaler: Phrase | None, broken: Sequence[str]) -> Phrase | None:
    """What to do about the scheduler's reason, if no new node is needed for that."""
    if of_autoscaler == ADVICE_ABOUT_VOLUME:
        if not _is_of_unreachable_or_other_place(message):
            return None
        return phrase(_RECOVER_NODE_FIRST.template, node=f"`{broken[0]}`") if len(broken) == 1 else _RECOVER_FIRST
    cause = only_cause(message.clauses, message.nodes)
    if cause is None or not (is_of_broken_nodes(cause) or cause.plugin == names.NODE_UNSCHEDULABLE or not cause.count):
        return None
    return cause.advice_to_say


def _is_of_unreachable_or_other_place(message: Message) -> bool:
    """Whether some nodes are unreachable, and all others cannot access the pod's volume: an unreachable one may be where it is."""
    clauses = [clause for clause in message.clauses if clause.count]
    unreachable = [clause for clause in clauses if _UNREACHABLE in clause.reason]
    others = [clause for clause in clauses if clause not in unreachable]
    return bool(unreachable and others) and all(map(is_of_volume, others))


def _is_said(clause: Clause, advice: Phrase | None) -> bool:
    """Whether the answer's advice says what to do about the clause."""
    if advice is None:
        return False
    if advice.template in (_RECOVER_FIRST.template, _RECOVER_NODE_FIRST.template):
        return _UNREACHABLE in clause.reason or is_of_volume(clause)
    return clause.advice == advice.text
