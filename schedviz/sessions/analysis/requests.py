"""Analysis requests about one moment of a session: why a pod is Pending, what would place it, how many copies would fit.

An io worker answers them on its own copy of the engine, so no request changes the session. Redis keeps an answer for a while, for equal
requests about the same state; an expired answer is computed again. Concurrent equal requests wait for one computation (`single_flight.py`).
"""

from __future__ import annotations

import hashlib
import time
import zlib
from typing import Any, Literal

import msgspec
import redis

from schedviz import __version__
from schedviz.explain.card.formats import CardFormat
from schedviz.explain.card.theme import ThemeName
from schedviz.sessions.errors import HistoryUnavailable, SessionError
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight, stream, wakeups

#: How long an answer is kept.
_KEPT_SECONDS = 300
_LOOK_SECONDS = 0.25


class AnalysisRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request and the moment that it is about."""

    #: The state after this event; None for the newest state.
    at: int | None = None


class Why(AnalysisRequest, frozen=True, tag="why"):
    """Why a pod (`namespace/name`) has its current placement or is Pending."""

    pod: str


class PodCard(AnalysisRequest, frozen=True, tag="podCard"):
    """The card of a pod's explanation, with its smallest change. The answer is base64."""

    pod: str
    form: CardFormat
    #: Of an image.
    theme: ThemeName = "light"


class Change(AnalysisRequest, frozen=True, tag="change"):
    """The smallest change that would place a pod."""

    pod: str


class Pending(AnalysisRequest, frozen=True, tag="pending"):
    """All pending pods, grouped by reason."""


class Overview(AnalysisRequest, frozen=True, tag="overview"):
    """The reasons for which pods are pending, with their groups of equal pods."""

    #: With the changes that would place them.
    changes: bool = False


class OverviewCard(AnalysisRequest, frozen=True, tag="overviewCard"):
    """The card of the overview. The answer is base64."""

    form: CardFormat
    #: Of an image.
    theme: ThemeName = "light"


class WhatIf(AnalysisRequest, frozen=True, tag="whatIf"):
    """How many copies of a pod would fit. `pod` is its JSON object."""

    pod: dict[str, Any]
    copies: int


class ExplainMessage(AnalysisRequest, frozen=True, tag="said"):
    """Explains a pasted scheduler message (`0/5 nodes are available: …`), and finds the nodes that match each of its reasons for a pod."""

    text: str
    #: `namespace/name`; "" for no pod, and then no nodes are returned.
    pod: str = ""


class Describe(AnalysisRequest, frozen=True, tag="describe"):
    """The requests and allocations of a pod or node, as `kubectl describe` sums them and as the scheduler's cache does."""

    kind: Literal["Pod", "Node"]
    key: str


class Devices(AnalysisRequest, frozen=True, tag="devices"):
    """The devices with their claims, the claims, and the device classes; only those of a node or of a pod, unless both are ""."""

    node: str = ""
    #: `namespace/name`
    pod: str = ""


class StoredObject(AnalysisRequest, frozen=True, tag="kept"):
    """An object in the simulated API server, with the fields that the scheduler reads."""

    kind: str
    #: `namespace/name`, or only the name for cluster-scoped objects.
    key: str


class Selected(AnalysisRequest, frozen=True, tag="selected"):
    """The names of the objects of a kind that match a label selector."""

    kind: str
    #: In the syntax of `kubectl -l`.
    selector: str


class Dumped(AnalysisRequest, frozen=True, tag="dumped"):
    """What the scheduler prints on SIGUSR2."""

    json: bool = False
    verbosity: int = 2


class Path(AnalysisRequest, frozen=True, tag="path"):
    """The state at each stop of a lesson, computed on a separate engine that follows the session's branch."""

    lesson: str
    #: Digest of the lesson's files, so that an edited lesson is a different request.
    version: str = ""


class LessonDraft(AnalysisRequest, frozen=True, tag="drafted"):
    """A lesson draft made from the session's commands, with a stop at each of these moments."""

    name: str
    moments: list[int] = []


class Recorded(AnalysisRequest, frozen=True, tag="recorded"):
    """A trace of the commands between two events, verified by running it."""

    after: int | None = None
    until: int | None = None
    #: Include the observed results.
    observed: bool = False


Question = (
    LessonDraft
    | Recorded
    | Why
    | PodCard
    | Change
    | Pending
    | Overview
    | OverviewCard
    | WhatIf
    | ExplainMessage
    | Describe
    | Devices
    | StoredObject
    | Selected
    | Dumped
    | Path
)


class AnswerLate(SessionError):
    """The answer took longer than the caller waits. The computation continues, and a repeated request finds the result."""

    code = "answer_late"


class SubjectNotFound(SessionError):
    """There is no answer, because the subject of the request does not exist."""

    code = "not_found"


class InvalidRequest(SessionError):
    """The request cannot be parsed."""

    code = "invalid"


class AnswerTooLarge(SessionError):
    """The answer has more than `ANSWER_BYTES`."""

    code = "answer_too_large"


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A worker's answer to a request."""

    #: JSON.
    value: msgspec.Raw = msgspec.Raw(b"null")
    #: Why there is no answer.
    missing: str = ""
    refused: str = ""
    failed: str = ""
    too_large: str = ""


def ask(session: Session, question: Question, *, timeout_seconds: float) -> bytes:
    """The answer as JSON.

    Raises `SubjectNotFound`, `InvalidRequest`, `AnswerLate`, `AnswerTooLarge`, or `HistoryUnavailable` if the state cannot be rebuilt.
    """
    answer_key = _answer_key(session, question)
    sent = str(session.pk), msgspec.json.encode(question).decode(), answer_key
    deadline = time.monotonic() + timeout_seconds
    try:
        while True:
            if (stored := _stored_answer(answer_key)) is not None:
                return _opened(stored)
            if single_flight.claim_request(answer_key) and not wakeups.enqueue(wakeups.ANSWER, *sent, queue=wakeups.IO_QUEUE):
                single_flight.release_request(answer_key)
                raise AnswerLate("The workers cannot be reached. Try again in a moment.")
            if (remaining := deadline - time.monotonic()) <= 0:
                break
            time.sleep(min(remaining, _LOOK_SECONDS))
    except redis.RedisError as error:
        raise AnswerLate("Questions cannot be answered now, because Redis does not answer. Try again in a moment.") from error
    raise AnswerLate(f"The answer takes longer than {timeout_seconds:g} s to compute. The computation continues; try again in a moment.")


def _answer_key(session: Session, question: Question) -> str:
    """The Redis key of the answer: the same for equal requests about equal states."""
    newest = (session.event, session.applied_seq) if question.at is None else None
    key_parts = msgspec.json.encode([str(session.pk), newest, __version__, question])
    return f"schedviz:answer:{hashlib.blake2b(key_parts, digest_size=16).hexdigest()}"


def _stored_answer(answer_key: str) -> Answer | None:
    stored: Any = stream.client().get(answer_key)
    return None if stored is None else msgspec.json.decode(zlib.decompress(stored), type=Answer)


def _opened(answer: Answer) -> bytes:
    if answer.missing:
        raise SubjectNotFound(answer.missing)
    if answer.refused:
        raise InvalidRequest(answer.refused)
    if answer.failed:
        raise HistoryUnavailable(answer.failed)
    if answer.too_large:
        raise AnswerTooLarge(answer.too_large)
    return bytes(answer.value)


def store_answer(answer_key: str, answer: Answer) -> None:
    """Store an answer where the waiting request looks for it."""
    stream.client().set(answer_key, zlib.compress(msgspec.json.encode(answer), 1), ex=_KEPT_SECONDS)
