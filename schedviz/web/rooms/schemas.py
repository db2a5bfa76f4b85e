"""Request, response and WebSocket bodies of rooms. docs/rooms.md documents them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from schedviz.web.api.schemas.body import Body, Title
from schedviz.web.rooms.models import MAX_ANSWER_LENGTH, MAX_NICKNAME_LENGTH

RoomStatus = Literal["open", "locked", "ended"]
QuestionKind = Literal["choice", "number", "node", "nodes", "pod", "text"]
ShortText = Annotated[str, Meta(max_length=200)]
Answered = Annotated[str, Meta(min_length=1, max_length=MAX_ANSWER_LENGTH)]
Number = Annotated[float, Meta(ge=-1e9, le=1e9)]


class Moment(Body, frozen=True, forbid_unknown_fields=True):
    """What the teacher's page shows: a moment of a session (`at`, null: the newest), the selection, and the view options."""

    session: Annotated[str, Meta(max_length=36)]
    at: Annotated[int, Meta(ge=0)] | None = None
    select: Annotated[str, Meta(max_length=600)] = ""
    tab: ShortText = ""
    panel: ShortText = ""
    zoom: Number | None = None
    x: Number | None = None
    y: Number | None = None
    stop: ShortText = ""
    #: Reserved for the page.
    page: Annotated[dict[ShortText, ShortText], Meta(max_length=20)] = msgspec.field(default_factory=dict)


class RoomFork(Body, frozen=True):
    """A fork of a participant: its origin (an event) and its age."""

    session: str
    name: str
    at: int
    created_at: datetime


class Tallied(Body, frozen=True):
    """The number of times an answer was given."""

    value: str
    count: int


class RoomQuestion(Body, frozen=True):
    """A question. `answered`: the number of answers; `tally` and `right` are null while they are hidden from the client. A tally has
    the most frequent answers, as many as have 4,000 characters together.
    """

    n: int
    stop: str
    text: str
    kind: QuestionKind
    options: list[str]
    open: bool
    revealed: bool
    asked_at: datetime
    answered: int
    right: str | None
    tally: list[Tallied] | None


class You(Body, frozen=True):
    """The participant behind the request. `answers` is by the number of the question."""

    id: int
    nickname: str
    hand: bool
    answers: dict[str, str]
    forks: list[RoomFork]


class RoomParticipant(Body, frozen=True):
    """A participant as the teacher sees them: whether they are connected, whether they follow, and since when their hand is raised.

    `answers` are those to the newest questions, as many as have 256 KiB for all participants together.
    """

    id: int
    nickname: str
    here: bool
    following: bool
    hand: bool
    hand_at: datetime | None
    joined_at: datetime
    answers: dict[str, str]
    forks: list[RoomFork]


class Shown(Body, frozen=True):
    """The session that is shown instead of the room's session, and the owner of the fork ("" for the teacher)."""

    session: str
    participant: str


class RoomBody(Body, frozen=True):
    """A room. `you` is null for the teacher, `participants` for participants."""

    id: str
    title: str
    role: Literal["teacher", "participant"]
    status: RoomStatus
    session: str | None
    shown: Shown | None
    lesson: str
    teacher: str
    created_at: datetime
    ended_at: datetime | None
    kept: bool
    code: str
    link: str
    moment: Moment | None
    count: int
    here: int
    questions: list[RoomQuestion]
    you: You | None
    participants: list[RoomParticipant] | None


class RoomLine(Body, frozen=True):
    """A room in a teacher's list."""

    id: str
    title: str
    status: RoomStatus
    session: str | None
    code: str
    count: int
    created_at: datetime
    ended_at: datetime | None
    kept: bool


class RoomList(Body, frozen=True):
    """The rooms that you teach, newest first."""

    results: list[RoomLine]


# --- Requests


class RequestBody(Body, frozen=True, forbid_unknown_fields=True):
    """The body of a request."""


class NewRoom(RequestBody, frozen=True):
    """Open a room for a session of yours, or for a lesson."""

    session: str = ""
    lesson: str = ""
    title: Title = ""


class Joining(RequestBody, frozen=True):
    """Join a room with its code and a nickname."""

    code: Annotated[str, Meta(max_length=40)]
    nickname: Annotated[str, Meta(max_length=4 * MAX_NICKNAME_LENGTH)]


class RoomChange(RequestBody, frozen=True):
    """Change a room."""

    locked: bool | None = None
    title: Title | None = None


class Showing(RequestBody, frozen=True):
    """Show a session; null shows the room's session again."""

    session: str | None


class Ending(RequestBody, frozen=True):
    """End a room; `keep` keeps names, answers and forks."""

    keep: bool = False


class NewQuestion(RequestBody, frozen=True):
    """Ask the question of a stop of the lesson, or one of your own."""

    stop: Annotated[str, Meta(max_length=60)] = ""
    text: Annotated[str, Meta(max_length=500)] = ""
    kind: QuestionKind | None = None
    options: Annotated[list[Answered], Meta(max_length=12)] = msgspec.field(default_factory=list)


class QuestionChange(RequestBody, frozen=True):
    """Change a question."""

    open: bool | None = None
    revealed: bool | None = None
    right: Answered | None = None


class NewAnswer(RequestBody, frozen=True):
    """An answer to a question."""

    question: int
    value: Answered


class Hand(RequestBody, frozen=True):
    """Raise or lower a hand."""

    raised: bool


class ParticipantChange(RequestBody, frozen=True):
    """Change a participant."""

    hand: bool


class NewRoomFork(RequestBody, frozen=True):
    """Fork a session that the room shows, after an event (null: now). The same key returns the same fork."""

    session: str | None = None
    at: Annotated[int, Meta(ge=0)] | None = None
    key: Annotated[str, Meta(max_length=100)] = ""


#: The structs that REST paths refer to.
ROOTS = (
    *(RoomBody, RoomList, NewRoom, Joining, RoomChange, Showing, Ending, NewQuestion, QuestionChange, NewAnswer, Hand),
    *(ParticipantChange, NewRoomFork),
)
