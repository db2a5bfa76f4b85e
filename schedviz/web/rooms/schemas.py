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

    #: The room's session, or the one that is shown.
    session: Annotated[str, Meta(max_length=36)]
    #: An event; null: the newest.
    at: Annotated[int, Meta(ge=0)] | None = None
    #: As in the page's address, such as `pod:default/web-7`.
    select: Annotated[str, Meta(max_length=600)] = ""
    tab: ShortText = ""
    panel: ShortText = ""
    #: Of the panel; null: as the page has it.
    zoom: Number | None = None
    x: Number | None = None
    y: Number | None = None
    #: Of the lesson.
    stop: ShortText = ""
    #: Reserved for the page.
    page: Annotated[dict[ShortText, ShortText], Meta(max_length=20)] = msgspec.field(default_factory=dict)


class RoomFork(Body, frozen=True):
    """A fork of a participant."""

    session: str
    name: str
    #: The event after which it continues independently.
    at: int
    created_at: datetime


class Tallied(Body, frozen=True):
    """The number of times an answer was given."""

    value: str
    count: int


class RoomQuestion(Body, frozen=True):
    """A question of a room."""

    #: Its number in the room, from 1. An answer names it as `question`.
    n: int
    #: The stop of the lesson that it belongs to; "" for a question of the teacher's own.
    stop: str
    #: The text of the teacher's own question; "" for one of the lesson, whose text is in `sessions/{id}/lesson/`.
    text: str
    kind: QuestionKind
    #: For `choice`: the keys of a lesson's options, or the texts of the teacher's own.
    options: list[str]
    #: Whether it accepts answers.
    open: bool
    #: Whether the tally and the right answer are shown to participants.
    revealed: bool
    asked_at: datetime
    #: The number of answers.
    answered: int
    #: The right answer; null if it is not set or hidden from the client.
    right: str | None
    #: The most frequent answers; without options, as many as have 4,000 characters together, and 12,000 with those of newer questions. Null
    #: while it is hidden from the client.
    tally: list[Tallied] | None


class You(Body, frozen=True):
    """The participant behind the request."""

    id: int
    nickname: str
    #: Whether the hand is raised.
    hand: bool
    #: By the number of the question.
    answers: dict[str, str]
    forks: list[RoomFork]


class RoomParticipant(Body, frozen=True):
    """A participant as the teacher sees them."""

    id: int
    nickname: str
    #: Whether they are connected.
    here: bool
    #: Whether they follow the teacher's moment.
    following: bool
    #: Whether their hand is raised.
    hand: bool
    #: When it was raised; null if it is not.
    hand_at: datetime | None
    joined_at: datetime
    #: By the number of the question, to the newest questions: as many as have 256 KiB for all participants together.
    answers: dict[str, str]
    forks: list[RoomFork]


class Shown(Body, frozen=True):
    """The session that is shown instead of the room's session."""

    session: str
    #: The nickname of the participant whose fork it is; "" for another session of the teacher.
    participant: str


class RoomBody(Body, frozen=True):
    """A room."""

    id: str
    title: str
    #: The role of the client.
    role: Literal["teacher", "participant"]
    #: `locked`: nobody can join.
    status: RoomStatus
    #: The room's session; null if it was deleted.
    session: str | None
    #: Null while the room's session is shown.
    shown: Shown | None
    #: The name of the lesson; "" without one.
    lesson: str
    #: The teacher's user name.
    teacher: str
    created_at: datetime
    #: Null until the room has ended.
    ended_at: datetime | None
    #: Whether participants, answers and forks were kept when the room ended.
    kept: bool
    #: The code for joining; "" once the room has ended.
    code: str
    #: The short link; "" once the room has ended.
    link: str
    #: What the teacher's page showed last; null before that.
    moment: Moment | None
    #: The number of participants.
    count: int
    #: The number of participants with an open connection.
    here: int
    #: In the order in which they were asked.
    questions: list[RoomQuestion]
    #: Null for the teacher.
    you: You | None
    #: In the order of joining; null for participants.
    participants: list[RoomParticipant] | None


class RoomLine(Body, frozen=True):
    """A room in a teacher's list."""

    id: str
    title: str
    status: RoomStatus
    #: Null if it was deleted.
    session: str | None
    #: "" once the room has ended.
    code: str
    #: The number of participants.
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

    #: Whether joining is refused.
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

    #: Whether it accepts answers. Opening it closes the other questions.
    open: bool | None = None
    #: Whether its tally and right answer are shown to participants. A revealed question accepts no answers.
    revealed: bool | None = None
    right: Answered | None = None


class NewAnswer(RequestBody, frozen=True):
    """An answer to a question."""

    #: The `n` of the question.
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
