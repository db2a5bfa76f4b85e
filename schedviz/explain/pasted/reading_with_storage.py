"""`with_storage`: a reading with what the volumes, claims and classes of the text say about pods that wait for a volume."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.explanation import Clause
from schedviz.explain.messages.main_reason import is_of_volume
from schedviz.explain.messages.message_edits import without_advice_about_volumes, without_repeats
from schedviz.explain.messages.parsed_message import PROVISIONER, STORAGE_TEXT, Message, ParsedMessage, newest_of_each_source, shown_name
from schedviz.explain.pasted.claim_events import WITHOUT_VOLUME
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.explain.pasted.text_storage import Storage, StorageAnswer, why_claim_unbound, why_not_accessible, why_unbound
from schedviz.kube.claims import claim_keys
from schedviz.trace.phrase import joined, phrase, some

#: Objects that are named.
_MAX_NAMED: Final = 5


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
        others.append(phrase("read, but not needed for the answer: {names}", names=some(unused, _MAX_NAMED)))
    return TextReading.of(messages, answers, joined(others, "{first}. {next}") if others else None)


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
    if any(reason.startswith(WITHOUT_VOLUME) for reason in reasons):
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
    return (
        answer.with_phrases(sentence=found.sentence, advice=found.advice)
        if leads and not answer.sentence
        else answer.with_note(found.sentence)
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
    ).with_phrases(advice=advice)
    return ParsedMessage(claim, "", clause.reason, Message(0, (clause,)))


def _names(storage: Storage) -> list[str]:
    """The kind and the name of each volume, claim and class."""
    return [
        *(f"PersistentVolume {volume.metadata.name}" for volume in storage.volumes),
        *(f"PersistentVolumeClaim {claim.key}" for claim in storage.claims),
        *(f"StorageClass {each.metadata.name}" for each in storage.classes),
    ]
