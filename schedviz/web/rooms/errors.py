"""Errors of rooms: an HTTP status, a code for programs and a message for people."""

from __future__ import annotations


class RoomRefused(Exception):
    """A request to a room that is refused."""

    status = 409
    code = "room_refused"


class WrongCodeGiven(RoomRefused):
    """There is no room with this code, or no longer."""

    status = 404
    code = "wrong_code"


class TooManyWrongCodes(RoomRefused):
    """Too many wrong codes came from an address; `seconds` until it may try again."""

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


class LeftRoom(RoomRefused):
    """The participant left, was removed, or the room ended during the request."""

    status = 404
    code = "not_found"


class RoomFull(RoomRefused):
    code = "room_full"


class RoomEnded(RoomRefused):
    code = "room_ended"


class QuestionClosed(RoomRefused):
    code = "question_closed"


class AnswerUnusable(RoomRefused):
    status = 400
    code = "invalid"


class TooManyRooms(RoomRefused):
    """The session has the maximum number of open rooms, or the teacher of rooms."""

    code = "quota_reached"


class TooManyQuestions(RoomRefused):
    """The room has the maximum number of questions, or of characters in them."""

    code = "quota_reached"


class TooManyAnswers(RoomRefused):
    """The answers of the room have the maximum number of characters."""

    code = "quota_reached"


class NotKept(RoomRefused):
    code = "not_kept"
