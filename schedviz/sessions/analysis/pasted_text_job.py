"""Explains the scheduler's messages in a pasted text, without a session. Runs in an io worker."""

from __future__ import annotations

import msgspec
from billiard.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.card.build import card_of_message
from schedviz.explain.card.formats import CardFormat, rendered
from schedviz.explain.card.theme import ThemeName
from schedviz.explain.messages.message import parse_message
from schedviz.explain.messages.parsed_message import NotAMessageError, ParsedMessage, newest_of_each_source
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.pasted.pod_groups import PodGroup, pod_groups, pods_alike
from schedviz.explain.pasted.reader import read_text
from schedviz.explain.pasted.text_reading import TextReading, joined_readings
from schedviz.ingest.errors import IngestError
from schedviz.ingest.files.source import Source
from schedviz.ingest.files.whole_text import text_of
from schedviz.ingest.kubectl.tables import command_for, sentences_about_tables, tables
from schedviz.ingest.pasted.contents import contents_of
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import MAX_MESSAGES, MAX_TEXT_LENGTH
from schedviz.ingest.pasted.plain_text import plain
from schedviz.sessions.analysis.analysis_turns import run_text_in_turn, stop_waiting
from schedviz.sessions.redis.worker_calls import is_abandoned, store_result
from schedviz.trace.phrase import Phrase


class PastedText(msgspec.Struct, frozen=True):
    """Texts to explain: with `form`, as a card about the newest messages of one pod; without, all their messages as JSON."""

    text: str = ""
    #: Several texts, in place of `text`.
    texts: tuple[str, ...] = ()
    #: A file to read the text from, perhaps compressed; empty: there is none.
    file: bytes = b""
    #: The pod, `namespace/name`, of messages that name none, and of the card.
    pod: str = ""
    form: CardFormat | None = None
    theme: ThemeName = "light"
    #: Who asks; "": it is unknown.
    sender: str = ""


class PastedTextResult(msgspec.Struct, frozen=True):
    """The messages, or a card; `card` is None if the text has no message."""

    messages: list[ParsedMessage] = []
    #: What to read first about each pod with a message.
    answers: tuple[PodAnswer, ...] = ()
    #: The pods about which the text says the same.
    groups: tuple[PodGroup, ...] = ()
    #: The warnings that are not about scheduling; None: there are none.
    others: Phrase | None = None
    card: bytes | None = None
    #: Why there is no message, and what to send instead; "" if there is one.
    hint: str = ""
    #: The command whose output has a message, if the text is a table with a pending pod.
    command: str = ""
    #: The text of the file; "" if it was sent as text, or cannot be read.
    text: str = ""
    #: Whether a text may have more messages than the first `MAX_MESSAGES`.
    more: bool = False


def explain_text(text: str) -> TextReading:
    """The messages in a text, in order, and what else it says about their pods. A text that is a single reason counts as a message."""
    contents = contents_of(text)
    described = {key: PodInfo(pod) for key, pod in contents.pods.items()}
    reading = read_text(contents.messages, contents.facts, described, seconds_of_age, contents.storage)
    if reading.messages:
        return reading
    try:
        return TextReading((ParsedMessage("", "", " ".join(text.split()), parse_message(text)),), ())
    except NotAMessageError:
        return reading


def with_pod(reading: TextReading, pod: str) -> TextReading:
    """The reading, whose messages are about `pod` if none of them names a pod; "": it stays as it is."""
    if not pod or any(message.pod for message in reading.messages):
        return reading
    return msgspec.structs.replace(
        reading,
        messages=tuple(msgspec.structs.replace(message, pod=pod) for message in reading.messages),
        answers=tuple(msgspec.structs.replace(answer, pod=pod) for answer in reading.answers),
    )


def hint_for(text: str) -> str:
    """What to send instead of a text without a message."""
    warning = sentences_about_tables(plain(text)).strip()
    if warning or next(tables(plain(text)), None) is not None:
        lacks = "kubectl's table output does not show scheduler messages, requests, taints, or affinity."
        return " ".join(filter(None, (lacks, warning or "Send the output of `kubectl describe pod`, or import the objects (-o yaml).")))
    return "The text has no message of the scheduler, such as `0/5 nodes are available: …`. Send the output of `kubectl describe pod`."


def explain_pasted(request: PastedText) -> PastedTextResult:
    """The messages of the text, or a card about the pod of the request, otherwise about its first pod."""
    if request.file:
        try:
            text = text_of(Source.of_bytes("the file", request.file), MAX_TEXT_LENGTH)
        except IngestError as error:
            return PastedTextResult(hint=str(error))
        if request.form is None:
            # The caller decides whether the text becomes a session or is explained.
            return PastedTextResult(text=text)
        request = msgspec.structs.replace(request, text=text)
    texts = request.texts or (request.text,)
    readings = [explain_text(text) for text in texts]
    reading = with_pod(joined_readings(readings), request.pod)
    messages = list(reading.messages)
    if not messages:
        command = next(filter(None, (command_for(plain(text)) for text in texts)), "")
        return PastedTextResult(hint=hint_for("\n".join(texts)), command=command, others=reading.others_phrase)
    groups = pod_groups(reading, seconds_of_age)
    if request.form is None:
        more = any(len(each.messages) >= MAX_MESSAGES for each in readings)
        return PastedTextResult(messages, reading.answers, groups, reading.others_phrase, more=more)
    of_pod = [message for message in messages if message.pod == request.pod]
    first, *autoscaler_messages = newest_of_each_source(of_pod or messages, seconds_of_age)
    message = msgspec.structs.replace(first, pod=first.pod or request.pod)
    card = card_of_message(
        message,
        autoscaler_messages=autoscaler_messages,
        answer=reading.answer_of(first.pod),
        pods=pods_alike(first.pod, groups),
        origin=f"pasted text, {timezone.now():%Y-%m-%d %H:%M} UTC",
    )
    return PastedTextResult(card=rendered(card, request.form, request.theme))


def _explained_in_time(request: PastedText) -> PastedTextResult:
    """As `explain_pasted`; a text that takes longer than the task's limit has a hint that says so."""
    try:
        return explain_pasted(request)
    except SoftTimeLimitExceeded:
        return PastedTextResult(hint="The text takes too long to explain. Send a shorter part of it, such as the output for one pod.")


def run(body: bytes, result_key: str) -> bool:
    """Explain a text (JSON of a string or of `PastedText`), and store the result (JSON) under `result_key`.

    False: it is not the sender's turn. Does nothing if the caller has given up.
    """
    request = msgspec.json.decode(body, type=str | PastedText)
    pasted = PastedText(request) if isinstance(request, str) else request
    if is_abandoned(result_key):
        stop_waiting([pasted.sender])
        return True

    def explain() -> None:
        store_result(result_key, msgspec.json.encode(_explained_in_time(pasted)))

    if pasted.sender:
        return run_text_in_turn(pasted.sender, result_key, explain)
    explain()
    return True
