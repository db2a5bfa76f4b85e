"""`read_text`: reads the messages in a text, with what to read first about each pod.

Parse the messages · answer about each pod · take from the messages what the answers say · add what the objects of the text say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.autoscalers.scale_up import Repeats
from schedviz.explain.autoscalers.verdict import AllRepeats
from schedviz.explain.gates import advice_about_gates, held_by
from schedviz.explain.messages.message import Found, parse_messages
from schedviz.explain.messages.message_edits import (
    led_by,
    with_broken_nodes,
    with_place_of_earlier,
    with_taints_as_one,
    with_volumes,
    without_advice,
    without_advice_of,
    without_any_advice,
    without_repeats,
)
from schedviz.explain.messages.parsed_message import ParsedMessage, newest_first, newest_of_each_source
from schedviz.explain.messages.pinned_node import with_pinned_node
from schedviz.explain.pasted.answering import answer_about, is_refused, nomination_sentences
from schedviz.explain.pasted.claim_events import failed_claims_of, is_of_stateful_set, messages_about_claims
from schedviz.explain.pasted.compared_labels import with_compared_labels
from schedviz.explain.pasted.described_nodes import with_described_nodes
from schedviz.explain.pasted.described_room import with_described_room
from schedviz.explain.pasted.described_taints import with_described_taints
from schedviz.explain.pasted.joined_nodes import Joined, joined_nodes, lost_nodes
from schedviz.explain.pasted.lacking_capacity import with_lacking_capacity
from schedviz.explain.pasted.other_warnings import other_warnings
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.pasted.pod_context import PodContext
from schedviz.explain.pasted.pool_errors import messages_about_pools
from schedviz.explain.pasted.reading_with_storage import with_storage
from schedviz.explain.pasted.refused_pods import with_scheduler_first
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.explain.pasted.text_storage import Storage
from schedviz.explain.reason_tables.autoscalers import KARPENTER
from schedviz.kube.claims import claim_keys
from schedviz.kube.text_facts import BoundClaim, BrokenNode, FailedClaim, NominatedPod, PlacedPod, TextFact


class _ReadPod(NamedTuple):
    """A pod that messages of the text are about."""

    context: PodContext
    #: Why the nodes that an autoscaler added are no use to it.
    joined: Joined | None
    answer: PodAnswer


def read_text(
    found: Sequence[Found],
    facts: Sequence[TextFact],
    described: Mapping[str, PodInfo],
    age: Callable[[str], float],
    storage: Storage | None = None,
) -> TextReading:
    """The messages `found` in a text, in order, with its `facts`. `described` as in `parse_messages`, `age` as in `newest_first`.

    `storage`: the volumes, claims and classes in the text.
    """
    found, facts = with_only_pod(found, facts, [key for key in described if key])
    repeats = {each.message: Repeats(each.times, age(f"{each.span} ago"), each.span) for each in found if each.times > 1}
    broken_nodes = list(dict.fromkeys(fact.node for fact in facts if isinstance(fact, BrokenNode)))

    messages = _parsed(found, described, facts, broken_nodes)
    pods = _answered(messages, facts, age, repeats)
    of_claims = _about_unknown_claims(pods, facts, age)
    pods |= _answered(of_claims, facts, age, repeats)
    of_pools = [] if pods else messages_about_pools(facts)
    messages = [_without_what_is_answered(each, pods.get(each.pod)) for each in (*messages, *of_claims, *of_pools)]

    # What is over is read last.
    over = {pod for pod, read in pods.items() if read.answer.is_over}
    messages.sort(key=lambda message: message.pod in over)
    answers = sorted((read.answer for read in pods.values()), key=lambda answer: answer.pod in over)
    others = other_warnings(messages, facts, over=over)

    answered = {answer.pod for answer in answers if answer.sentence}
    messages = [_with_objects(each, described.get(each.pod), facts, is_answered=each.pod in answered) for each in messages]
    reading = _with_schedulers_first(TextReading.of(messages, answers, others), pods, broken_nodes)
    reading = _with_gates(reading, described)
    reading = msgspec.structs.replace(reading, answers=with_described_room(reading.answers, reading.messages, facts, age))
    return reading if storage is None else with_storage(reading, storage, described, age)


def with_only_pod(found: Sequence[Found], facts: Sequence[TextFact], pods: Sequence[str]) -> tuple[list[Found], list[TextFact]]:
    """The messages and facts, of which those that name no pod are about the only one of `pods`, unless others are about another pod."""
    named = {each.pod for each in found} - {""}
    if len(pods) != 1 or not named <= {*pods}:
        return [*found], [*facts]
    [pod] = pods
    return (
        [each if each.pod else msgspec.structs.replace(cast("Any", each), pod=pod) for each in found],
        [msgspec.structs.replace(fact, pod=pod) if isinstance(fact, PlacedPod | NominatedPod) and not fact.pod else fact for fact in facts],
    )


# --- Parsing


def _parsed(
    found: Sequence[Found], described: Mapping[str, PodInfo], facts: Sequence[TextFact], broken_nodes: Sequence[str]
) -> list[ParsedMessage]:
    """The messages, with the names of volumes and nodes that the text says elsewhere."""
    messages = [
        with_broken_nodes(with_described_nodes(_with_volumes(each, described.get(each.pod), facts), facts), broken_nodes)
        for each in parse_messages(found, described)
    ]
    by_pod = _by_pod(messages)
    return [
        with_place_of_earlier(message, [each for each in by_pod[message.pod] if not each.writer])
        # Messages without a pod that have an age are of the events of one pod.
        if (message.pod or message.at) and not message.writer and len(by_pod[message.pod]) > 1
        else message
        for message in messages
    ]


def _with_volumes(message: ParsedMessage, pod: PodInfo | None, facts: Sequence[TextFact]) -> ParsedMessage:
    """The message whose commands have the names of the pod's volumes, if the scheduler's log in the text says them."""
    claims = claim_keys(pod.pod) if pod is not None else []
    volumes = [
        fact.volume
        for fact in facts
        if isinstance(fact, BoundClaim) and (fact.claim in claims or (not claims and is_of_stateful_set(fact.claim, message.pod)))
    ]
    if not volumes or message.writer:
        return message
    return with_volumes(message, list(dict.fromkeys(volumes)), claims)


def _by_pod(messages: Sequence[ParsedMessage]) -> dict[str, list[ParsedMessage]]:
    by_pod: dict[str, list[ParsedMessage]] = {}
    for message in messages:
        by_pod.setdefault(message.pod, []).append(message)
    return by_pod


# --- Answering


def _answered(
    messages: Sequence[ParsedMessage], facts: Sequence[TextFact], age: Callable[[str], float], repeats: AllRepeats
) -> dict[str, _ReadPod]:
    """The pods of the messages, in their order, with the answer about each."""
    by_pod = _by_pod(messages)
    pods = {}
    for pod, of_pod in by_pod.items():
        failed = failed_claims_of(pod, of_pod, facts, is_only=len(by_pod) == 1)
        context = PodContext(pod, of_pod, newest_of_each_source(of_pod, age), facts, failed, age, repeats)
        joined = _joined_nodes(context)
        pods[pod] = _ReadPod(context, joined, answer_about(context, joined))
    return pods


def _joined_nodes(context: PodContext) -> Joined | None:
    """Why the nodes that an autoscaler added are no use to the pod, if the scheduler's messages show it."""
    of_scheduler = [each for each in newest_first(context.messages, context.age) if not each.writer]
    of_karpenter = [each for each in context.messages if each.writer == KARPENTER]
    found = (
        lost_nodes(each, of_karpenter, of_scheduler, context.age) or joined_nodes(each, of_scheduler, context.age)
        for each in context.newest_of_autoscalers
    )
    return next((each for each in found if each is not None), None)


def _about_unknown_claims(pods: Mapping[str, _ReadPod], facts: Sequence[TextFact], age: Callable[[str], float]) -> list[ParsedMessage]:
    """Messages about the claims of which the text has no pod."""
    known = {claim.claim for read in pods.values() for claim in read.context.failed_claims}
    failed = (fact for fact in facts if isinstance(fact, FailedClaim))
    return messages_about_claims([claim for claim in failed if claim.claim and claim.claim not in known], age)


# --- Completing the messages


def _without_what_is_answered(message: ParsedMessage, read: _ReadPod | None) -> ParsedMessage:
    """The message without what the answer about its pod says, or contradicts. `read`: None if there is no answer."""
    if read is None:
        return with_taints_as_one(without_repeats(message))
    context, joined, answer = read
    if answer.sentence:
        # The answer says what to do first; what else would help is in the clauses.
        message = without_advice(message)
    if nomination_sentences(context)[0] is not None:
        # Room has been made: neither more nodes nor lower requests are needed.
        message = without_any_advice(message)
    if answer.sentence and joined is not None and joined.clause is not None and _is_schedulers_newest(message, context):
        # The reason of the nodes that an autoscaler added comes first: the answer says what to do about it.
        message = led_by(message, joined.clause.reason)
    of_autoscalers = context.text_of_autoscalers
    if answer.standing == "pending" and of_autoscalers and not message.writer:
        # Where an autoscaler adds no node, the scheduler's messages do not advise to add one, nor what the autoscaler's reasons do.
        message = without_advice_of(message, of_autoscalers)
    return with_taints_as_one(without_repeats(message, without_claims=answer.is_about_claim))


def _is_schedulers_newest(message: ParsedMessage, context: PodContext) -> bool:
    return not message.writer and message.text == context.newest[0].text


def _with_objects(message: ParsedMessage, pod: PodInfo | None, facts: Sequence[TextFact], *, is_answered: bool) -> ParsedMessage:
    """The message with what the objects of the text say about its reasons. `pod`: its pod, if the text describes it."""
    message = with_pinned_node(message, pod, is_answered=is_answered)
    if is_answered:
        return message
    message = with_compared_labels(message, pod, facts)
    message = with_described_taints(message, pod, facts)
    return with_lacking_capacity(message, facts)


def _with_schedulers_first(reading: TextReading, pods: Mapping[str, _ReadPod], broken_nodes: Sequence[str]) -> TextReading:
    """The reading; where an autoscaler adds no node, the answer begins with the scheduler's reason."""
    messages = list(reading.messages)
    answers = []
    for answer in reading.answers:
        context = pods[answer.pod].context
        if is_refused(answer, context):
            number = next(n for n, each in enumerate(messages) if each.pod == answer.pod and _is_schedulers_newest(each, context))
            answer, messages[number] = with_scheduler_first(answer, messages[number], broken_nodes)  # noqa: PLW2901 -- the same answer, completed.
        answers.append(answer)
    return msgspec.structs.replace(reading, messages=tuple(messages), answers=tuple(answers))


def _with_gates(reading: TextReading, described: Mapping[str, PodInfo]) -> TextReading:
    """The reading, in which pods that scheduling gates hold say which, if their objects are in the text."""
    of_gates = {each.pod for each in reading.messages if any(clause.plugin == names.SCHEDULING_GATES for clause in each.message.clauses)}
    answers = {}
    for answer in reading.answers:
        pod = described.get(answer.pod)
        gates = [gate.name for gate in pod.pod.spec.scheduling_gates] if pod is not None else []
        if gates and answer.pod in of_gates and not answer.sentence:
            advice = advice_about_gates(" ".join(gates), answer.pod.partition("/")[0])
            answers[answer.pod] = answer.with_phrases(sentence=held_by(gates), advice=advice)
    return msgspec.structs.replace(
        reading,
        messages=tuple(without_any_advice(each) if each.pod in answers else each for each in reading.messages),
        answers=tuple(answers.get(answer.pod, answer) for answer in reading.answers),
    )
