"""`refusal_of_groups` and `clauses_of_groups`: why no node group of the cluster autoscaler gives a pod a node, by its event or its log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.explain.autoscalers.node_group_reasons import GroupReason, reasons_of_event, reasons_of_log, short_name
from schedviz.explain.autoscalers.refusal import Refusal
from schedviz.explain.explanation import Clause
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER
from schedviz.explain.reason_tables.node_groups import (
    ADVICE_ABOUT_VOLUME_AND_DEVICE,
    ADVICE_ABOUT_VOLUME_AND_SIZE,
    READ_THE_LOG,
    WITHOUT_REASON,
)
from schedviz.trace.phrase import Phrase, joined, phrase

#: What an event says: `pod didn't trigger scale-up: 1 max node group size reached, …`.
_EVENT: Final = re.compile(r"(?P<whole>pod didn't trigger scale-up(?: \([^()]*+\))?)(?:: ?(?P<groups>.*))?", re.IGNORECASE)
#: What its status ConfigMap says, which is about no pod.
_STATUS: Final = re.compile(r"Node group \S+: ")
#: As `ingest/pasted/autoscaler_logs.py` joins the lines of a log about one pod.
_BETWEEN_LOGGED: Final = re.compile(r" \| ")
#: Reasons in one sentence.
_MAX_LISTED: Final = 4
#: What its log says before it gives up.
NO_OPTIONS: Final = "No expansion options"
#: The node group that its log resizes.
_RESIZED: Final = re.compile(r"\bBest option to resize: (?P<group>\S+)")
_COUNTED: Final = frozenset({"{count} node group", "{count} node groups"})
#: How reasons begin whose subject are the node groups, and what it is called there.
_SUBJECTS: Final = {"{groups": "groups", "{nodes": "nodes"}


def clauses_of_groups(message: str) -> tuple[Clause, ...]:
    """The reasons of a message of the cluster autoscaler, ranked; only the first says what to do. Empty for another text."""
    event = _EVENT.fullmatch(message.strip(" ."))
    reasons = _reasons(message)
    if event is None and not reasons:
        return ()
    clauses = [
        Clause(0, reason.text, CLUSTER_AUTOSCALER, "", ()).with_phrases(headline=reason.said, advice=None if number else reason.advice)
        for number, reason in enumerate(reasons)
    ]
    if event is None:
        return tuple(clauses)
    if not clauses:
        return (_clause_of(message, WITHOUT_REASON, READ_THE_LOG),)
    return (_clause_of(event["whole"], phrase("the cluster autoscaler did not add a node for the pod"), None), *clauses)


def refusal_of_groups(message: str) -> Refusal | None:
    """What a message of the cluster autoscaler means; None for another text, and for an event without a reason."""
    if message == NO_OPTIONS and (without := meaning_of(message)) is not None:
        sentence = phrase(
            "The cluster autoscaler found no node group that it could scale up for the pod; this part of its log gives no reason."
        )
        return Refusal(sentence, Phrase(without.advice))
    reasons = _reasons(message)
    if not reasons:
        return None
    said = _in_one_sentence([reason.said for reason in reasons[:_MAX_LISTED]])
    others = reasons[_MAX_LISTED:]
    note = None
    if others:
        note = phrase(
            "In addition: {reasons}.", reasons=joined([reason.said for reason in others], "{first}; {next}", maximum=_MAX_LISTED * 2)
        )
    if (resized := _RESIZED.search(message)) is not None:
        group = short_name(resized["group"])
        return Refusal(
            phrase(
                "The cluster autoscaler adds nodes to `{group}`, for this pod or for others. Elsewhere: {reasons}.",
                group=group,
                reasons=said,
            ),
            phrase("wait for the new nodes; if the pod stays pending, compare it with the labels and taints of `{group}`", group=group),
            note,
        )
    if _STATUS.match(message):
        return Refusal(phrase("The cluster autoscaler cannot scale up every node group: {reasons}.", reasons=said), reasons[0].advice, note)
    return Refusal(phrase("The cluster autoscaler did not add a node: {reasons}.", reasons=said), reasons[0].advice, note)


def _in_one_sentence(reasons: Sequence[Phrase]) -> Phrase:
    """The reasons as a list: "9 node groups do not match …, 3 have …, and 3 are in backoff …"."""
    first, *others = reasons
    if not others:
        return first
    if _number(first) is not None:
        others = [_counting(reason) for reason in others]
    # What has a subject of its own follows a comma.
    is_short = len(others) == 1 and others[0] is not reasons[1]
    between = "{first} and {next}" if is_short else "{first}, and {next}"
    return Phrase(between, {"first": joined([first, *others[:-1]]), "next": others[-1]})


def _number(reason: Phrase) -> Phrase | None:
    """The subject of a reason that begins with a number of node groups; None: it begins otherwise."""
    subject = reason.values.get(_SUBJECTS.get(reason.template.partition("}")[0], ""))
    return subject if isinstance(subject, Phrase) and subject.template in _COUNTED else None


def _counting(reason: Phrase) -> Phrase:
    """The reason with the mere number of node groups, to follow another one with a number."""
    subject = _number(reason)
    if subject is None:
        return reason
    name = _SUBJECTS[reason.template.partition("}")[0]]
    return Phrase(reason.template, {**reason.values, name: Phrase("{count}", subject.values)})


def _clause_of(text: str, said: Phrase, advice: Phrase | None) -> Clause:
    return Clause(0, text, CLUSTER_AUTOSCALER, "", ()).with_phrases(headline=said, advice=advice)


def _reasons(message: str) -> list[GroupReason]:
    """The reasons, those that the autoscaler has before it looks at the pod first; then those of nodes that come closest to fitting it."""
    event = _EVENT.fullmatch(message.strip(" ."))
    found = reasons_of_event((event["groups"] or "").strip()) if event is not None else reasons_of_log(_BETWEEN_LOGGED.split(message))
    ranked = sorted(found, key=lambda reason: reason.rank)
    return [ranked[0]._replace(advice=_advice_with_volume(ranked)), *ranked[1:]] if ranked else []


def _advice_with_volume(reasons: Sequence[GroupReason]) -> Phrase | None:
    """What to do about the first reason, where a node group needs both the volume's zone and what the pod requests."""
    first = reasons[0]
    lacking = next((reason for reason in reasons if reason.lacks in ("device", "size")), None)
    if lacking is None or not first.lacks or all(reason.lacks != "volume" for reason in reasons):
        return first.advice
    device = lacking.said.values.get("resource")
    return ADVICE_ABOUT_VOLUME_AND_SIZE if device is None else Phrase(ADVICE_ABOUT_VOLUME_AND_DEVICE.template, {"resource": device})
