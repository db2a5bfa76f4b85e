"""`TextReading`: the messages of a text, with what to read first about each pod: whether it has a node, and whether one is on its way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.autoscalers.scale_up import Repeats
from schedviz.explain.autoscalers.verdict import AllRepeats
from schedviz.explain.explanation import Clause, Part
from schedviz.explain.gates import advice_about_gates, held_by
from schedviz.explain.messages.main_reason import is_of_volume
from schedviz.explain.messages.message import Found, parse_messages, said_clauses
from schedviz.explain.messages.message_edits import (
    led_by,
    with_broken_nodes,
    with_place_of_earlier,
    with_taints_as_one,
    with_volumes,
    without_advice,
    without_advice_about_volumes,
    without_advice_of,
    without_any_advice,
    without_repeats,
)
from schedviz.explain.messages.parsed_message import (
    PROVISIONER,
    STORAGE_TEXT,
    Message,
    ParsedMessage,
    newest_first,
    newest_of_each_source,
    shown_name,
)
from schedviz.explain.messages.pinned_node import with_pinned_node
from schedviz.explain.pasted.answering import NO_NETWORK, advice_about_pool, answer_about, is_refused, of_nomination
from schedviz.explain.pasted.claim_events import REASONS, is_of_stateful_set, may_be_of, provisioning_failure
from schedviz.explain.pasted.compared_labels import with_compared_labels
from schedviz.explain.pasted.described_nodes import with_described_nodes
from schedviz.explain.pasted.described_room import with_described_room
from schedviz.explain.pasted.described_taints import with_described_taints
from schedviz.explain.pasted.joined_nodes import Joined, of_joined_nodes, of_lost_nodes
from schedviz.explain.pasted.lacking_capacity import with_lacking_capacity
from schedviz.explain.pasted.pod_answer import Event, PodAnswer
from schedviz.explain.pasted.preempted_pods import PREEMPTED
from schedviz.explain.pasted.refused_pods import with_scheduler_first
from schedviz.explain.pasted.text_storage import Storage, StorageAnswer, why_claim_unbound, why_not_accessible, why_unbound
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER, KARPENTER
from schedviz.explain.reason_tables.kubelet import KUBELET
from schedviz.kube.claims import claim_keys
from schedviz.trace.phrase import Phrase, counted, joined, phrase, some

_NO_REPEATS: Final[AllRepeats] = {}
#: How the kubelet begins the message of an event for several, and one that follows from a failure to attach or mount a volume.
_COMBINED: Final = "(combined from similar events):"
_NOT_MOUNTED: Final = ("Unable to attach or mount volumes", "Unable to mount volumes")
#: Warnings and pods that are named.
_WARNINGS: Final = 5
#: How the reasons begin of a pod whose claim has no volume.
_WITHOUT_VOLUME: Final = ("node(s) didn't find available persistent volumes", "pod has unbound immediate PersistentVolumeClaims")


class TextReading(Part, frozen=True):
    """The messages of a text, and what else it says about their pods."""

    messages: tuple[ParsedMessage, ...]
    #: One for each pod with a message, in their order.
    answers: tuple[PodAnswer, ...]
    #: The warnings that are not about scheduling; "": there are none.
    others: str = ""
    others_phrase: Phrase | None = None

    def answer_of(self, pod: str) -> PodAnswer | None:
        """The answer about a pod with a message; None if nothing comes before its messages."""
        return next((answer for answer in self.answers if answer.pod == pod and (answer.sentence or answer.note)), None)


def joined_readings(readings: Sequence[TextReading]) -> TextReading:
    """The readings of several texts as one."""
    if len(readings) == 1:
        return readings[0]
    others = [reading.others_phrase for reading in readings if reading.others_phrase is not None]
    said = joined(others, "{first}; {next}") if others else None
    return TextReading(
        tuple(message for reading in readings for message in reading.messages),
        tuple(answer for reading in readings for answer in reading.answers),
        said.text if said is not None else "",
        said,
    )


def read_text(
    found: Iterable[Found],
    events: Sequence[Event],
    described: Mapping[str, PodInfo],
    age: Callable[[str], float],
    storage: Storage | None = None,
) -> TextReading:
    """The messages `found` in a text, in order, with its other events. `described` as in `parse_messages`, `age` as in `newest_first`.

    `storage`: the volumes, claims and classes in the text.
    """
    found, events = with_only_pod(list(found), events, [key for key in described if key])
    repeats = {each.message: Repeats(each.times, age(f"{each.span} ago"), each.span) for each in found if each.times > 1}
    messages = [
        with_described_nodes(_with_volumes(each, described.get(each.pod), events), events) for each in parse_messages(found, described)
    ]
    reading = reading_of(messages, events, age, repeats)
    answered = {answer.pod for answer in reading.answers if answer.sentence}
    messages = [with_pinned_node(each, described.get(each.pod), is_answered=each.pod in answered) for each in reading.messages]
    messages = [each if each.pod in answered else with_compared_labels(each, described.get(each.pod), events) for each in messages]
    messages = [each if each.pod in answered else with_described_taints(each, described.get(each.pod), events) for each in messages]
    messages = [each if each.pod in answered else with_lacking_capacity(each, events) for each in messages]
    reading = _with_schedulers_first(msgspec.structs.replace(reading, messages=tuple(messages)), _broken_nodes(events), age, repeats)
    reading = _with_gates(reading, described)
    reading = msgspec.structs.replace(reading, answers=with_described_room(reading.answers, reading.messages, events, age))
    return reading if storage is None else with_storage(reading, storage, described, age)


def _with_volumes(message: ParsedMessage, pod: PodInfo | None, events: Sequence[Event]) -> ParsedMessage:
    """The message whose commands have the names of the pod's volumes, if the scheduler's log in the text says them."""
    claims = claim_keys(pod.pod) if pod is not None else []
    volumes = [
        event.volume
        for event in events
        if event.volume and (event.bound_claim in claims or (not claims and is_of_stateful_set(event.bound_claim, message.pod)))
    ]
    if not volumes or message.writer:
        return message
    return with_volumes(message, list(dict.fromkeys(volumes)), claims)


def with_only_pod(found: Sequence[Found], events: Sequence[Event], pods: Sequence[str]) -> tuple[list[Found], list[Event]]:
    """The messages and events, of which those that name no pod are about the only one of `pods`, unless others are about another pod."""
    named = {each.pod for each in found} - {""}
    if len(pods) != 1 or not named <= {*pods}:
        return [*found], [*events]
    [pod] = pods
    return (
        [each if each.pod else msgspec.structs.replace(cast("Any", each), pod=pod) for each in found],
        [
            msgspec.structs.replace(cast("Any", each), pod=pod) if not each.pod and (each.node or each.nominated_node) else each
            for each in events
        ],
    )


def _with_gates(reading: TextReading, described: Mapping[str, PodInfo]) -> TextReading:
    """The reading, in which pods that scheduling gates hold say which, if their objects are in the text."""
    of_gates = {each.pod for each in reading.messages if any(clause.plugin == names.SCHEDULING_GATES for clause in each.message.clauses)}
    answers = {}
    for answer in reading.answers:
        pod = described.get(answer.pod)
        gates = [gate.name for gate in pod.pod.spec.scheduling_gates] if pod is not None else []
        if gates and answer.pod in of_gates and not answer.sentence:
            said, advice = held_by(gates), advice_about_gates(" ".join(gates), answer.pod.partition("/")[0])
            answers[answer.pod] = msgspec.structs.replace(
                answer, sentence=said.text, sentence_phrase=said, advice=advice.text, advice_phrase=advice
            )
    return msgspec.structs.replace(
        reading,
        messages=tuple(without_any_advice(each) if each.pod in answers else each for each in reading.messages),
        answers=tuple(answers.get(answer.pod, answer) for answer in reading.answers),
    )


def reading_of(
    messages: Sequence[ParsedMessage], events: Sequence[Event], age: Callable[[str], float], repeats: AllRepeats = _NO_REPEATS
) -> TextReading:
    """The same for messages that were parsed. `repeats`: how often an autoscaler repeated its events."""
    messages = [with_broken_nodes(message, _broken_nodes(events)) for message in messages]
    by_pod: dict[str, list[ParsedMessage]] = {}
    for message in messages:
        by_pod.setdefault(message.pod, []).append(message)
    messages = [
        with_place_of_earlier(message, [each for each in by_pod[message.pod] if not each.writer])
        # Messages without a pod that have an age are of the events of one pod.
        if (message.pod or message.at) and not message.writer and len(by_pod[message.pod]) > 1
        else message
        for message in messages
    ]
    by_pod = {pod: [message for message in messages if message.pod == pod] for pod in by_pod}
    claims_of = {pod: _events_about_claims(pod, of_pod, events, is_only=len(by_pod) == 1) for pod, of_pod in by_pod.items()}
    known_claims = {event.claim for of_pod in claims_of.values() for event in of_pod}
    of_claims = _about_claims([event for event in events if event.claim and event.claim not in known_claims], age)
    for message in of_claims:
        by_pod[message.pod] = [message]
    of_pools = () if by_pod else _about_pools(events)
    messages = (*messages, *of_claims, *of_pools)
    newest = {pod: newest_of_each_source(of_pod, age) for pod, of_pod in by_pod.items()}
    on_joined_nodes = {pod: _of_joined(newest[pod], of_pod, age) for pod, of_pod in by_pod.items()}
    answers = tuple(
        answer_about(
            pod, of_pod, events, age, repeats, newest=newest[pod], on_joined_nodes=on_joined_nodes[pod], of_claims=claims_of.get(pod, ())
        )
        for pod, of_pod in by_pod.items()
    )
    over = {answer.pod for answer in answers if answer.is_over}
    of_claim = {answer.pod for answer in answers if answer.is_about_claim}
    answered = {answer.pod for answer in answers if answer.sentence}
    # The answer says what to do first; what else would help is in the clauses.
    messages = [without_advice(message) if message.pod in answered else message for message in messages]
    # Room has been made: neither more nodes nor lower requests are needed.
    waiting = {pod for pod in by_pod if of_nomination(pod, newest[pod][0], events)[0] is not None}
    messages = [without_any_advice(message) if message.pod in waiting else message for message in messages]
    # The reason of the nodes that an autoscaler added comes first: the answer says what to do about it.
    messages = [
        led_by(message, found.clause.reason)
        if message.pod in answered
        and (found := on_joined_nodes[message.pod]) is not None
        and found.clause is not None
        and not message.writer
        and message.text == newest[message.pod][0].text
        else message
        for message in messages
    ]
    messages = _without_vain_advice(messages, {answer.pod for answer in answers if answer.standing == "pending"})
    messages = [with_taints_as_one(without_repeats(message, without_claims=message.pod in of_claim)) for message in messages]
    # What is over is read last.
    messages.sort(key=lambda message: message.pod in over)
    answers = tuple(sorted(answers, key=lambda answer: answer.pod in over))
    known = {message.text for message in messages}
    of_kubelet = [message.text for message in messages if message.writer == KUBELET]
    warnings = [each for each in events if each.reason and each.reason not in REASONS]
    warnings = [each for each in warnings if not _is_said(each, of_kubelet)]
    headlines = {(each.pod, clause.headline) for each in messages if each.writer == KUBELET for clause in each.message.clauses}
    warnings = [each for each in warnings if not _follows(each, headlines)]
    # What an answer says about preemption is not said twice.
    warnings = [each for each in warnings if each.reason != PREEMPTED or each.pod not in by_pod]
    said = _others([each for each in warnings if each.pod not in over and each.message not in known])
    said += _without_message(messages, events)
    others = joined(said, "{first}; {next}") if said else None
    return TextReading(tuple(messages), answers, others.text if others is not None else "", others)


def _broken_nodes(events: Sequence[Event]) -> list[str]:
    return list(dict.fromkeys(event.broken_node for event in events if event.broken_node))


def _with_schedulers_first(reading: TextReading, broken: Sequence[str], age: Callable[[str], float], repeats: AllRepeats) -> TextReading:
    """The reading; where an autoscaler adds no node, the answer begins with the scheduler's reason. `broken`: nodes that are not ready."""
    messages = list(reading.messages)
    answers = []
    for answer in reading.answers:
        of_pod = [message for message in messages if message.pod == answer.pod]
        newest = newest_of_each_source(of_pod, age)
        if is_refused(answer, newest, of_pod, age, repeats):
            number = next(number for number, message in enumerate(messages) if message is newest[0])
            answer, messages[number] = with_scheduler_first(answer, newest[0], broken)  # noqa: PLW2901 -- the same answer, completed.
        answers.append(answer)
    return msgspec.structs.replace(reading, messages=tuple(messages), answers=tuple(answers))


def with_storage(reading: TextReading, storage: Storage, described: Mapping[str, PodInfo], age: Callable[[str], float]) -> TextReading:
    """The reading, with what the volumes, claims and classes of the text say about pods that wait for a volume."""
    if all(_waits_for_pod(message) for message in reading.messages) and any(why_claim_unbound(storage, claim) for claim in storage.claims):
        # What the claim itself says explains more.
        reading = msgspec.structs.replace(reading, messages=(), answers=())
    used: set[str] = set()
    answers = []
    for answer in reading.answers:
        found = _about_storage(answer, reading.messages, storage, described, age)
        answers.append(answer if found is None else _with_sentence(answer, found, leads=_is_main(answer, reading.messages, age)))
        used.update(found.used if found is not None else ())
        # A claim whose events are explained, or that an answer names, was needed.
        used.add(answer.pod)
        if answer.sentence_phrase is not None and (claim := answer.sentence_phrase.values.get("claim")) is not None:
            used.update((str(claim), f"default/{claim}"))
    told = {answer.pod for answer, before in zip(answers, reading.answers, strict=True) if answer.sentence != before.sentence}
    messages = [without_repeats(without_advice_about_volumes(message)) if message.pod in told else message for message in reading.messages]
    if not messages:
        of_claims = [(claim, why_claim_unbound(storage, claim)) for claim in storage.claims if not claim.spec.volume_name]
        messages += [_about_unbound(claim.key, found) for claim, found in of_claims if found is not None]
        return msgspec.structs.replace(reading, messages=tuple(messages))
    others = [reading.others_phrase] if reading.others_phrase is not None else []
    unused = [name for name in _names(storage) if name.partition(" ")[2] not in used]
    # Rows of the same tables that are about other pods are no news.
    if unused and len(unused) == len(_names(storage)):
        others.append(phrase("read, but not needed for the answer: {names}", names=some(unused, _WARNINGS)))
    said = joined(others, "{first}. {next}") if others else None
    return TextReading(tuple(messages), tuple(answers), said.text if said is not None else "", said)


def _waits_for_pod(message: ParsedMessage) -> bool:
    return message.writer == PROVISIONER and message.text.startswith("waiting for ")


def _about_storage(
    answer: PodAnswer,
    messages: Sequence[ParsedMessage],
    storage: Storage,
    described: Mapping[str, PodInfo],
    age: Callable[[str], float],
) -> StorageAnswer | None:
    """What the text's volumes say about a pod whose newest message is about them."""
    newest = newest_of_each_source([message for message in messages if message.pod == answer.pod], age)[0]
    if answer.standing != "pending" or newest.writer or answer.is_about_claim:
        return None
    reasons = [clause.reason for clause in newest.message.clauses]
    pod = described.get(answer.pod)
    keys = claim_keys(pod.pod) if pod is not None else []
    if any(reason.startswith(_WITHOUT_VOLUME) for reason in reasons):
        return why_unbound(storage, answer.pod, keys)
    if not any(map(is_of_volume, newest.message.clauses)):
        return None
    return why_not_accessible(storage, answer.pod, keys, selected=_selected(newest.message), nodes=newest.message.nodes)


def _selected(message: Message) -> int:
    """How many nodes match the pod's node selector, if all of them cannot access its volume; 0: other reasons apply, too."""
    volume = sum(clause.count for clause in message.clauses if is_of_volume(clause))
    others = sum(clause.count for clause in message.clauses if clause.plugin == names.NODE_AFFINITY)
    return volume if others and volume + others == message.nodes == sum(clause.count for clause in message.clauses) else 0


def _is_main(answer: PodAnswer, messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> bool:
    """Whether the newest message about the pod has the volume as its first reason, or names nothing else to act on."""
    newest = newest_of_each_source([message for message in messages if message.pod == answer.pod], age)[0]
    return newest.message.clauses[0].plugin in (names.VOLUME_BINDING, names.VOLUME_ZONE)


def _with_sentence(answer: PodAnswer, found: StorageAnswer, *, leads: bool) -> PodAnswer:
    """The answer with what the text says about volumes: as its sentence, or beside an autoscaler's or other reasons (not `leads`)."""
    if answer.sentence or not leads:
        note = found.sentence if answer.note_phrase is None else joined([answer.note_phrase, found.sentence], "{first} {next}")
        return msgspec.structs.replace(answer, note=note.text, note_phrase=note)
    return msgspec.structs.replace(
        answer,
        sentence=found.sentence.text,
        sentence_phrase=found.sentence,
        advice=found.advice.text,
        advice_phrase=found.advice,
    )


def _about_unbound(claim: str, found: StorageAnswer) -> ParsedMessage:
    """What a text without messages says about a claim that has no volume, as a message about the claim."""
    sentence, advice = found.sentence, found.advice
    clause = Clause(
        0,
        f"persistentvolumeclaim {shown_name(claim)}: Pending",
        STORAGE_TEXT,
        "",
        (),
        headline=sentence.text.removesuffix("."),
        headline_phrase=sentence,
        advice=advice.text,
        advice_phrase=advice,
    )
    return ParsedMessage(claim, "", clause.reason, Message(0, (clause,)))


def _names(storage: Storage) -> list[str]:
    """The kind and the name of each volume, claim and class."""
    return [
        *(f"PersistentVolume {volume.metadata.name}" for volume in storage.volumes),
        *(f"PersistentVolumeClaim {claim.key}" for claim in storage.claims),
        *(f"StorageClass {each.metadata.name}" for each in storage.classes),
    ]


def _without_vain_advice(messages: Sequence[ParsedMessage], pending: Collection[str]) -> list[ParsedMessage]:
    """The messages; where an autoscaler adds no node, the scheduler's do not advise to add one, nor what the autoscaler's reasons do."""
    refused: dict[str, str] = {}
    for message in messages:
        if message.pod in pending and message.writer in (CLUSTER_AUTOSCALER, KARPENTER):
            refused[message.pod] = f"{refused.get(message.pod, '')} {message.text}"
    return [
        without_advice_of(message, refused[message.pod]) if message.pod in refused and not message.writer else message
        for message in messages
    ]


def _of_joined(newest: Sequence[ParsedMessage], messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> Joined | None:
    """Why the nodes that an autoscaler added are no use to the pod, if the scheduler's messages show it."""
    of_scheduler = [each for each in newest_first(messages, age) if not each.writer]
    of_autoscalers = [each for each in newest if each.writer in (CLUSTER_AUTOSCALER, KARPENTER)]
    others = [each for each in messages if each.writer == KARPENTER]
    found = (of_lost_nodes(each, others, of_scheduler, age) or of_joined_nodes(each, of_scheduler, age) for each in of_autoscalers)
    return next((each for each in found if each is not None), None)


def _about_pools(events: Sequence[Event]) -> list[ParsedMessage]:
    """The errors about NodePools of a log that names no pod, as messages."""
    messages = []
    for event in [event for event in events if event.pool]:
        said = phrase("Karpenter cannot use NodePool `{pool}`: {error}", pool=event.pool, error=event.message)
        advice = advice_about_pool(event)
        clause = Clause(
            0, event.message, KARPENTER, "", (), headline=said.text, headline_phrase=said, advice=advice.text, advice_phrase=advice
        )
        messages.append(ParsedMessage(f"nodepool/{event.pool}", event.at, event.message, Message(0, (clause,))))
    return messages


def _about_claims(events: Sequence[Event], age: Callable[[str], float]) -> list[ParsedMessage]:
    """The newest failure of each claim of which the text has no pod, as a message about the claim."""
    newest: dict[str, Event] = {}
    for event in sorted(events, key=lambda event: age(event.at)):
        newest.setdefault(event.claim, event)
    return [_about_claim(event) for event in newest.values()]


def _about_claim(event: Event) -> ParsedMessage:
    cause, advice = provisioning_failure(event.message)
    why = phrase("the claim has no volume, so pods that use it stay pending: {cause}", cause=cause)
    clause = Clause(0, event.message, PROVISIONER, "", (), headline=why.text, headline_phrase=why, advice=advice.text, advice_phrase=advice)
    return ParsedMessage(event.claim, event.at, event.message, Message(0, (clause,)))


def _events_about_claims(pod: str, messages: Sequence[ParsedMessage], events: Sequence[Event], *, is_only: bool) -> list[Event]:
    """The events about claims of a pod. `is_only`: the text has messages about no other pod, so that the only claim is one of this pod."""
    about = [event for event in events if event.reason in REASONS]
    named = [event for event in about if event.claim and may_be_of(event.claim, pod)]
    waits = any(clause.reason.startswith(_WITHOUT_VOLUME) for message in messages for clause in message.message.clauses)
    claims = {event.claim for event in about} - {"", pod}
    # What a text names without its namespace may be in any.
    namespaces = {key.partition("/")[0] for key in (*claims, pod)} - {"", "default"}
    if named or not is_only or not waits or len(claims) > 1 or len(namespaces) > 1:
        return named
    return about


def _without_message(messages: Sequence[ParsedMessage], events: Sequence[Event]) -> list[Phrase]:
    """The pods that a table lists as Pending, and about which the text has no message, although it has some."""
    about = {message.pod for message in messages}
    if not about or "" in about:
        return []
    # A table without the column NAMESPACE may be of any.
    names_of_messages = {pod.partition("/")[2] for pod in about}
    left = list(
        dict.fromkeys(
            shown_name(event.pod)
            for event in events
            if event.is_pending
            and event.pod not in about
            and not (event.pod.startswith("default/") and event.pod.partition("/")[2] in names_of_messages)
        )
    )
    if len(left) == 1:
        return [phrase("pod `{pod}` is pending, too, but the text contains no message about it", pod=left[0])]
    if not left:
        return []
    return [
        phrase(
            "{count} other pods are pending, too, but the text contains no message about them: {named}",
            count=len(left),
            named=some(left, _WARNINGS),
        )
    ]


def _is_said(event: Event, texts: Sequence[str]) -> bool:
    """Whether a message is that of an event, of which one may be cut."""
    message = event.message.lstrip(". ")
    return any(text.startswith(message) or message.startswith(text) for text in texts)


def _follows(event: Event, headlines: Collection[tuple[str, str]]) -> bool:
    """Whether a warning says what a message of the kubelet about its pod says, too, or only that volumes are not mounted."""
    pods = {pod for pod, _ in headlines}
    of_pod = event.pod if event.pod in pods else next(iter(pods), "") if not event.pod and len(pods) == 1 else None
    if of_pod is None:
        return False
    text = event.message.removeprefix(_COMBINED).lstrip()
    return text.startswith(_NOT_MOUNTED) or any((of_pod, clause.headline) in headlines for clause in said_clauses(text))


def _others(warnings: Iterable[Event]) -> list[Phrase]:
    warnings = [event for event in warnings if event.reason != NO_NETWORK]
    evicted = list(dict.fromkeys(shown_name(event.pod) for event in warnings if event.reason == PREEMPTED))
    others = {(shown_name(event.pod), event.reason): event for event in warnings if event.reason != PREEMPTED}
    said: list[Phrase] = []
    if evicted:
        pods = counted(len(evicted), "{count} other pod was preempted", "{count} other pods were preempted")
        said.append(phrase("{pods} by pods of higher priority: {named}", pods=pods, named=some(evicted, _WARNINGS)))
    if len(others) == 1:
        [((pod, reason), event)] = others.items()
        values = {"pod": pod, "reason": reason, "message": event.message}
        said.append(
            phrase("pod `{pod}` has another warning, {reason}: {message}", **values)
            if pod
            else phrase("there is another warning, {reason}: {message}", **values)
        )
    elif others:
        named = [f"{pod} {reason}".strip() for pod, reason in others]
        said.append(phrase("there are {count} other warnings: {named}", count=len(named), named=some(named, _WARNINGS)))
    return said
