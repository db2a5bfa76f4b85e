"""Questions about a moment of a session that an io worker answers on an engine of its own: why a pod is Pending, what would place it,
how many copies would fit. Nothing that is asked changes the session.

An answer stays in Redis for a while, for whoever asks the same of the same state; one that is gone is made again. Who asks again while it
is being made waits for the same (`single_flight.py`).
"""

from __future__ import annotations

import hashlib
import time
import zlib
from typing import Any, Literal

import msgspec
import redis

from schedviz import __version__
from schedviz.sessions.errors import HistoryUnavailable, SessionError
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight, stream, wakeups

#: How long an answer is kept.
_KEPT_SECONDS = 300
_LOOK_SECONDS = 0.25


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question, and the moment that it is about."""

    #: The event after which the state is meant; None: the newest state.
    at: int | None = None


class Why(Asked, frozen=True, tag="why"):
    """Why a pod (`namespace/name`) is where it is."""

    pod: str


class Change(Asked, frozen=True, tag="change"):
    """The smallest change that places a pod."""

    pod: str


class Pending(Asked, frozen=True, tag="pending"):
    """All pending pods, in groups."""


class WhatIf(Asked, frozen=True, tag="whatIf"):
    """How many copies of a pod fit. `pod` is its JSON object."""

    pod: dict[str, Any]
    copies: int


class Said(Asked, frozen=True, tag="said"):
    """What a pasted text says (`0/5 nodes are available: …`), and of which nodes the same would be said of a pod."""

    text: str
    #: `namespace/name`; "": no pod, so no nodes.
    pod: str = ""


class Describe(Asked, frozen=True, tag="describe"):
    """What a pod or a node asks for and has, as `kubectl describe` adds it up and as the cache does."""

    kind: Literal["Pod", "Node"]
    key: str


class Kept(Asked, frozen=True, tag="kept"):
    """An object of the simulated API server, as it is kept: with what the scheduler reads."""

    kind: str
    #: `namespace/name`, or the name alone.
    key: str


class Selected(Asked, frozen=True, tag="selected"):
    """The objects of a kind whose labels a selector selects, by name."""

    kind: str
    #: As `kubectl -l` takes it.
    selector: str


class Dumped(Asked, frozen=True, tag="dumped"):
    """What the scheduler prints on SIGUSR2."""

    json: bool = False
    verbosity: int = 2


class Path(Asked, frozen=True, tag="path"):
    """What is so at each stop of a lesson, on an engine of its own: the path that the session is on."""

    lesson: str
    #: Of the lesson's files: another is another question.
    version: str = ""


class Drafted(Asked, frozen=True, tag="drafted"):
    """What was done as a lesson that is to be written, with a stop for each of these moments."""

    name: str
    moments: list[int] = []


class Recorded(Asked, frozen=True, tag="recorded"):
    """What was done between two events as a trace, checked by running it."""

    after: int | None = None
    until: int | None = None
    #: With what was observed.
    observed: bool = False


Question = Drafted | Recorded | Why | Change | Pending | WhatIf | Said | Describe | Kept | Selected | Dumped | Path


class AnswerLate(SessionError):  # noqa: N818 -- says what happened.
    """The answer takes longer than the caller waits; it is made all the same, and asking again finds it."""

    code = "answer_late"


class Unanswerable(SessionError):  # noqa: N818 -- says what happened.
    """There is no answer: what is asked about is not there."""

    code = "not_found"


class Unreadable(SessionError):  # noqa: N818 -- says what it is.
    """What was asked cannot be read."""

    code = "invalid"


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a worker made of a question."""

    #: JSON.
    value: msgspec.Raw = msgspec.Raw(b"null")
    #: Why there is none.
    missing: str = ""
    refused: str = ""
    failed: str = ""


def ask(session: Session, question: Question, *, timeout_seconds: float) -> bytes:
    """The answer as JSON. Raises `Unanswerable`, `Unreadable`, `HistoryUnavailable` where the state cannot be made again, `AnswerLate`."""
    place = _place(session, question)
    sent = str(session.pk), msgspec.json.encode(question).decode(), place
    deadline = time.monotonic() + timeout_seconds
    try:
        while True:
            if (found := _look(place)) is not None:
                return _opened(found)
            if single_flight.first_to_ask(place) and not wakeups.enqueue(wakeups.ANSWER, *sent, queue=wakeups.IO_QUEUE):
                single_flight.not_sent(place)
                raise AnswerLate("The workers cannot be reached now; ask again in a moment.")
            if (left := deadline - time.monotonic()) <= 0:
                break
            time.sleep(min(left, _LOOK_SECONDS))
    except redis.RedisError as error:
        raise AnswerLate("Redis is away, so nothing can be asked now; try again in a moment.") from error
    raise AnswerLate(f"The answer takes longer than {timeout_seconds:g} s; it is being made, so ask again in a moment.")


def _place(session: Session, question: Question) -> str:
    """Where the answer is: equal for equal questions about equal states."""
    newest = (session.event, session.applied_seq) if question.at is None else None
    asked = msgspec.json.encode([str(session.pk), newest, __version__, question])
    return f"schedviz:answer:{hashlib.blake2b(asked, digest_size=16).hexdigest()}"


def _look(place: str) -> Answer | None:
    stored: Any = stream.client().get(place)
    return None if stored is None else msgspec.json.decode(zlib.decompress(stored), type=Answer)


def _opened(answer: Answer) -> bytes:
    if answer.missing:
        raise Unanswerable(answer.missing)
    if answer.refused:
        raise Unreadable(answer.refused)
    if answer.failed:
        raise HistoryUnavailable(answer.failed)
    return bytes(answer.value)


def keep(place: str, answer: Answer) -> None:
    """Put an answer where the one who asked looks for it."""
    stream.client().set(place, zlib.compress(msgspec.json.encode(answer), 1), ex=_KEPT_SECONDS)
