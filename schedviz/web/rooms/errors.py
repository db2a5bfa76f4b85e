"""What can be refused in a room: an HTTP status, a code for programs and a sentence for people."""

# The names say what happened and read as sentences where they are caught.
# ruff: noqa: N818

from __future__ import annotations


class RoomRefused(Exception):
    """Something that was asked of a room cannot be done."""

    status = 409
    code = "room_refused"


class WrongCodeGiven(RoomRefused):
    """There is no such code, or not any more."""

    status = 404
    code = "wrong_code"


class TooManyWrongCodes(RoomRefused):
    """An address tried too many codes; `seconds` until it may try again."""

    status = 429
    code = "too_many_requests"

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class NicknameTaken(RoomRefused):
    code = "nickname_taken"


class NicknameUnusable(RoomRefused):
    status = 400
    code = "invalid"


class WasRemoved(RoomRefused):
    status = 403
    code = "removed"


class RoomFull(RoomRefused):
    code = "room_full"


class RoomEnded(RoomRefused):
    code = "room_ended"


class QuestionClosed(RoomRefused):
    code = "question_closed"


class AnswerUnusable(RoomRefused):
    status = 400
    code = "invalid"


class NotKept(RoomRefused):
    code = "not_kept"
