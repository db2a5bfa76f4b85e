"""`rooms/{room}/questions/` and `answers/`: asking, answering and revealing."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.web.api.access import body_as
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.openapi import error_responses, ref, response
from schedviz.web.rooms import asking, lesson, schemas
from schedviz.web.rooms.api.access import RoomResource, member_access, room_body, taught_room
from schedviz.web.rooms.membership import RoomMembership
from schedviz.web.rooms.models import Question


class RoomQuestions(RoomResource):
    """The questions of a room."""

    @extend_schema(
        operation_id="askInRoom",
        request={"application/json": ref(schemas.NewQuestion)},
        responses={201: response(schemas.RoomBody), **error_responses(400, 403, 404, 409)},
    )
    def post(self, request: Request, room_id: UUID) -> Response:
        """Ask the question of a stop of the lesson, or one of your own. Closes the previous question."""
        room = taught_room(request, room_id)
        new = body_as(schemas.NewQuestion, request)
        if new.stop:
            session = room.shown or room.session
            question = lesson.question_of(session, new.stop)
            if question is None:
                raise ApiError(404, "not_found", f"$.stop: the lesson has no question at a stop {new.stop!r}.", path="$.stop")
            asking.ask(room, kind=question.ask, options=question.options, session=session, stop=new.stop)
        else:
            _validate_question(new)
            asking.ask(room, kind=new.kind or "text", text=new.text.strip(), options=new.options)
        return Response(room_body(request, room_id, RoomMembership(room_id, None)), status=201)


class OneRoomQuestion(RoomResource):
    """One question of a room."""

    @extend_schema(
        operation_id="changeRoomQuestion",
        request={"application/json": ref(schemas.QuestionChange)},
        responses={200: response(schemas.RoomBody), **error_responses(400, 403, 404, 409)},
    )
    def patch(self, request: Request, room_id: UUID, number: int) -> Response:
        """Close a question, or open it again, which closes the others; set its right answer; reveal its tally."""
        room = taught_room(request, room_id)
        change = body_as(schemas.QuestionChange, request)
        question = Question.objects.select_related("session").filter(room=room, number=number).first()
        if question is None:
            raise not_found("question")
        right = change.right
        if change.revealed and right is None and not question.right and question.stop:
            right = lesson.right_answer(question.session, question.stop)
        asking.change(question, is_open=change.open, revealed=change.revealed, right=right)
        return Response(room_body(request, room_id, RoomMembership(room_id, None)))


class RoomAnswers(RoomResource):
    """The answers of a participant."""

    @extend_schema(
        operation_id="answerInRoom",
        request={"application/json": ref(schemas.NewAnswer)},
        responses={200: response(schemas.RoomBody), **error_responses(400, 403, 404, 409)},
    )
    def post(self, request: Request, room_id: UUID) -> Response:
        """Answer the open question; the last answer counts."""
        access = member_access(request, room_id)
        new_answer = body_as(schemas.NewAnswer, request)
        asking.store_answer(access.participant, new_answer.question, new_answer.value)
        return Response(room_body(request, room_id, access.membership))


def _validate_question(new: schemas.NewQuestion) -> None:
    if not new.text.strip() or "\0" in new.text:
        raise ApiError(
            400, "invalid", "$.text: expected the text of the question, or a stop of the lesson.", path="$.text", expected="a text"
        )
    options = [option.strip() for option in new.options]
    if new.kind == "choice" and (len(options) < 2 or len(set(options)) < len(options) or not all(options)):
        raise ApiError(400, "invalid", "$.options: expected two to twelve different options.", path="$.options", expected="two to twelve")
    if new.kind != "choice" and options:
        raise ApiError(400, "invalid", '$.options: only questions of the kind "choice" have options.', path="$.options")
