"""Analysis requests: why a pod is pending, what would place it, how many copies would fit. Most are about one moment of a session.

An io worker runs them on its own copy of the engine, so no request changes the session. Redis caches each result for equal requests
about the same state; an expired result is computed again. Concurrent equal requests wait for one computation (`single_flight.py`).
"""

from __future__ import annotations

import hashlib
import time
import zlib
from typing import Any, Literal
from uuid import UUID

import msgspec
import redis

from schedviz import __version__
from schedviz.explain.card.formats import CardFormat
from schedviz.explain.card.theme import ThemeName
from schedviz.sessions.errors import HistoryUnavailable, SessionError
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight, stream, wakeups

#: How long a result is cached.
_CACHE_SECONDS = 300
_POLL_SECONDS = 0.25


class AnalysisRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and the moment that it is about if it is about one."""

    #: The state after this event; None for the newest state. Of a request that has no moment, only a part of the key of the cached result.
    at: int | None = None


class WhyRequest(AnalysisRequest, frozen=True, tag="why"):
    """Why a pod (`namespace/name`) has its current placement or is pending."""

    pod: str


class PodCardRequest(AnalysisRequest, frozen=True, tag="podCard"):
    """The card of a pod's explanation, with its smallest change. The result is base64."""

    pod: str
    form: CardFormat
    #: Of an image.
    theme: ThemeName = "light"


class SmallestChangeRequest(AnalysisRequest, frozen=True, tag="change"):
    """The smallest change that would place a pod."""

    pod: str


class PendingPodsRequest(AnalysisRequest, frozen=True, tag="pending"):
    """All pending pods, in groups of equal pods."""


class OverviewRequest(AnalysisRequest, frozen=True, tag="overview"):
    """The reasons for which pods are pending, with their groups of equal pods."""

    #: With the changes that would place them.
    changes: bool = False


class OverviewCardRequest(AnalysisRequest, frozen=True, tag="overviewCard"):
    """The card of the overview. The result is base64."""

    form: CardFormat
    #: Of an image.
    theme: ThemeName = "light"


class WhatIfRequest(AnalysisRequest, frozen=True, tag="whatIf"):
    """How many copies of a pod would fit. `pod` is its JSON object."""

    pod: dict[str, Any]
    copies: int


class ExplainMessageRequest(AnalysisRequest, frozen=True, tag="message"):
    """Explains a pasted scheduler message (`0/5 nodes are available: …`), and finds the nodes that match each of its reasons for a pod."""

    text: str
    #: `namespace/name`; "" for no pod, and then no nodes are returned.
    pod: str = ""


class DescribeRequest(AnalysisRequest, frozen=True, tag="describe"):
    """The requests and allocations of a pod or node, as `kubectl describe` sums them and as the scheduler's cache does."""

    kind: Literal["Pod", "Node"]
    key: str


class DevicesRequest(AnalysisRequest, frozen=True, tag="devices"):
    """The devices with their claims, the claims, and the device classes; only those of a node or of a pod, unless both are ""."""

    node: str = ""
    #: `namespace/name`
    pod: str = ""


class ObjectRequest(AnalysisRequest, frozen=True, tag="object"):
    """An object in the simulated API server, with the fields that the scheduler reads."""

    kind: str
    #: `namespace/name`, or only the name for cluster-scoped objects.
    key: str


class SelectorRequest(AnalysisRequest, frozen=True, tag="selector"):
    """The names of the objects of a kind that match a label selector."""

    kind: str
    #: In the syntax of `kubectl -l`.
    selector: str


class DumpRequest(AnalysisRequest, frozen=True, tag="dump"):
    """What the scheduler prints on SIGUSR2."""

    json: bool = False
    verbosity: int = 2


class LessonPathRequest(AnalysisRequest, frozen=True, tag="path"):
    """The state at each stop of a lesson, played on an engine of its own. It is the same for all sessions, but cached for each."""

    lesson: str
    #: Digest of the lesson's files, so that an edited lesson is a different request.
    version: str = ""


class LessonDraftRequest(AnalysisRequest, frozen=True, tag="lessonDraft"):
    """A lesson draft made from the session's commands, with a stop at each of these moments."""

    name: str
    moments: list[int] = []


class RecordingRequest(AnalysisRequest, frozen=True, tag="recording"):
    """A trace of the commands between two events, verified by running it."""

    after: int | None = None
    until: int | None = None
    #: Include the observed results.
    observed: bool = False


class CompareRequest(AnalysisRequest, frozen=True, tag="compare"):
    """A comparison of two sessions. `at` is the event of the first."""

    other: UUID
    other_at: int
    #: Of both sessions, so that a new name makes another request.
    versions: tuple[str, str]


AnyAnalysisRequest = (
    LessonDraftRequest
    | RecordingRequest
    | WhyRequest
    | PodCardRequest
    | SmallestChangeRequest
    | PendingPodsRequest
    | OverviewRequest
    | OverviewCardRequest
    | WhatIfRequest
    | ExplainMessageRequest
    | DescribeRequest
    | DevicesRequest
    | ObjectRequest
    | SelectorRequest
    | CompareRequest
    | DumpRequest
    | LessonPathRequest
)


class ResultLate(SessionError):
    """The analysis takes longer than the caller waits. The computation continues, and a repeated request finds the result."""

    code = "answer_late"


class SubjectNotFound(SessionError):
    """There is no result, because the subject of the request does not exist."""

    code = "not_found"


class InvalidRequest(SessionError):
    """The request cannot be parsed."""

    code = "invalid"


class AnalysisFailed(SessionError):
    """The engine raised an error, or the analysis took too long."""

    code = "analysis_failed"


class ResultTooLarge(SessionError):
    """The result has more than `MAX_RESULT_BYTES`."""

    code = "answer_too_large"


class AnalysisResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a request, or the reason why there is none."""

    #: JSON.
    value: msgspec.Raw = msgspec.Raw(b"null")
    #: Why there is no result.
    missing: str = ""
    refused: str = ""
    unavailable: str = ""
    failed: str = ""
    too_large: str = ""


def stored_result(session: Session, request: AnyAnalysisRequest) -> bytes | None:
    """The result as JSON, if it is cached. Raises as `request_result`."""
    try:
        stored = _stored_result(result_key(session, request))
    except redis.RedisError:
        return None
    return None if stored is None else _value_of(stored)


def request_result(session: Session, request: AnyAnalysisRequest, *, timeout_seconds: float, sender: str = "") -> bytes:
    """The result as JSON. Waits until a worker has computed it. `sender`: who asks; by default the owner of the session.

    Raises `SubjectNotFound`, `InvalidRequest`, `ResultLate`, `ResultTooLarge`, `AnalysisFailed`, or `HistoryUnavailable` if the state
    cannot be rebuilt.
    """
    key = result_key(session, request)
    sent = str(session.pk), msgspec.json.encode(request).decode(), key
    deadline = time.monotonic() + timeout_seconds
    try:
        while True:
            if (stored := _stored_result(key)) is not None:
                return _value_of(stored)
            if single_flight.claim_request(key, sender) and not wakeups.enqueue(wakeups.ANALYSE, *sent, queue=wakeups.IO_QUEUE):
                single_flight.release_request(key)
                raise ResultLate("The workers cannot be reached. Try again in a moment.")
            if (remaining := deadline - time.monotonic()) <= 0:
                break
            time.sleep(min(remaining, _POLL_SECONDS))
    except redis.RedisError as error:
        raise ResultLate("The analysis cannot be run now, because Redis is unavailable. Try again in a moment.") from error
    raise ResultLate("The analysis is not done yet. It continues; try again in a moment.")


def result_key(session: Session, request: AnyAnalysisRequest) -> str:
    """The Redis key of the result: the same for equal requests about equal states."""
    newest = (session.event, session.applied_seq) if request.at is None else None
    key_parts = msgspec.json.encode([str(session.pk), newest, __version__, request])
    return f"schedviz:answer:{hashlib.blake2b(key_parts, digest_size=16).hexdigest()}"


def _stored_result(result_key: str) -> AnalysisResult | None:
    stored: Any = stream.client().get(result_key)
    return None if stored is None else msgspec.json.decode(zlib.decompress(stored), type=AnalysisResult)


def _value_of(result: AnalysisResult) -> bytes:
    if result.missing:
        raise SubjectNotFound(result.missing)
    if result.refused:
        raise InvalidRequest(result.refused)
    if result.unavailable:
        raise HistoryUnavailable(result.unavailable)
    if result.failed:
        raise AnalysisFailed(result.failed)
    if result.too_large:
        raise ResultTooLarge(result.too_large)
    return bytes(result.value)


def store_result(result_key: str, result: AnalysisResult) -> None:
    """Store a result where the waiting request looks for it."""
    stream.client().set(result_key, zlib.compress(msgspec.json.encode(result), 1), ex=_CACHE_SECONDS)
