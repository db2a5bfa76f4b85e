"""`with_pinned_node`: the message about a pod that can run on one node only, by its hostname, with what that node says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.details.node_labels import node_requirements
from schedviz.explain.explanation import Clause
from schedviz.explain.meaning import Named
from schedviz.explain.messages.combined_clauses import names_taint, printed_taint
from schedviz.explain.messages.explained_clause import with_names
from schedviz.explain.messages.message import parse_message
from schedviz.explain.messages.parsed_message import Message, NotAMessageError, ParsedMessage
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.resource_names import resource_name
from schedviz.kube.core import Pod
from schedviz.trace.phrase import Phrase, joined, phrase

_HOSTNAME: Final = "kubernetes.io/hostname"
_INSUFFICIENT: Final = "Insufficient "
#: Filters that run before NodeAffinity: a node that they reject may be any.
_BEFORE_AFFINITY: Final = frozenset({names.NODE_UNSCHEDULABLE, names.NODE_NAME, names.TAINT_TOLERATION})


def with_pinned_node(said: ParsedMessage, pod: PodInfo | None, *, is_answered: bool) -> ParsedMessage:
    """The message, concluding with what the only node that the pod may run on lacks, if the counts tell.

    `is_answered`: what to do first was said elsewhere.
    """
    message = said.message
    node = pinned_node(pod.pod) if pod is not None else ""
    if not node or said.writer or not message.conclusion:
        return said
    others = [clause for clause in message.clauses if clause.count and clause.plugin != names.NODE_AFFINITY]
    if len(others) == len(message.clauses) or any(meaning_of(clause.reason) is None for clause in others):
        return said
    reasons = [clause for clause in others if clause.plugin not in _BEFORE_AFFINITY]
    # A node that passed NodeAffinity is the node; one that was rejected earlier is, if no other was and the node exists.
    is_sure = bool(reasons)
    if not is_sure:
        reasons = others
    if not reasons or any(clause.count != 1 for clause in reasons) or (not is_sure and len(reasons) != 1):
        return said
    if sum(clause.count for clause in message.clauses if clause not in reasons) + 1 != message.nodes:
        # Only a shortage of several resources has several reasons for one node.
        return said
    conclusion = _conclusion(node, reasons, is_sure=is_sure)
    first = _advice(node, reasons, said.pod) if not is_answered else None
    return msgspec.structs.replace(
        said,
        message=msgspec.structs.replace(
            message, clauses=(*(_reduced(clause) for clause in reasons), *(_aside(each) for each in message.clauses if each not in reasons))
        ).with_phrases(conclusion=conclusion, first=first),
    )


def message_about(said: str, pod: Pod) -> Message | None:
    """A scheduler's message about the pod, explained as in a text; None if it is none."""
    try:
        message = parse_message(said)
    except NotAMessageError:
        return None
    return with_pinned_node(ParsedMessage(pod.key, "", said, message), PodInfo(pod), is_answered=False).message


def conclusion_of(said: str, pod: Pod) -> Phrase | None:
    """The reasons of a scheduler's message about the pod in one sentence, as for a text; None for fewer than two."""
    message = message_about(said, pod)
    return message.conclusion_phrase if message is not None else None


def pinned_node(pod: Pod) -> str:
    """The only hostname that the pod's node selector or node affinity allows; "" if it allows several."""
    for each in node_requirements(pod) or ():
        if each.key == _HOSTNAME and each.operator in ("in", "=", "==") and len(each.values) == 1:
            return str(next(iter(each.values)))
    return ""


def _conclusion(node: str, reasons: Sequence[Clause], *, is_sure: bool) -> Phrase:
    # A name is the same in every language, and has no capital letter at the beginning of a sentence.
    subject = Phrase("`" + node.replace("{", "{{").replace("}", "}}") + "`") if is_sure else phrase("it")
    headlines = [meaning.headline(1, subject) for clause in reasons if (meaning := meaning_of(clause.reason)) is not None]
    said = joined(headlines, "{first}, and {next}")
    if is_sure:
        return phrase("The pod can run only on `{node}` (`kubernetes.io/hostname`), and {reasons}.", node=node, reasons=said)
    return phrase("The pod can run only on `{node}` (`kubernetes.io/hostname`). If that node exists, {reasons}.", node=node, reasons=said)


def _advice(node: str, reasons: Sequence[Clause], pod: str) -> Phrase | None:
    """What to do about the only reason, or about the first of several shortages."""
    clause = reasons[0]
    if clause.reason.startswith(_INSUFFICIENT):
        resource = clause.reason.removeprefix(_INSUFFICIENT)
        return phrase(
            "free up {resource} on `{node}`, lower the pod's {resource} request, or remove `kubernetes.io/hostname` from its node selector",
            resource=f"`{resource}`" if "/" in resource else resource_name(resource),
            node=node,
        )
    if names_taint(clause):
        return phrase(
            "add a toleration for `{taint}` to the pod, or remove the taint from `{node}`",
            taint=printed_taint(clause),
            node=node,
        )
    named = with_names(clause, Named((node,), pod))
    return named.advice_to_say


def _reduced(clause: Clause) -> Clause:
    """The clause whose advice was said, and is not an aside."""
    return msgspec.structs.replace(clause, is_aside=False).with_phrases(advice=None)


def _aside(clause: Clause) -> Clause:
    """The clause about nodes on which the pod cannot run anyway."""
    return msgspec.structs.replace(clause, causes=(), is_aside=bool(clause.count)).with_phrases(advice=None)
