"""Questions of a room: opening, answering, revealing, and the record. Raised hands: see test_live.py."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from rest_framework.test import APIClient

from schedviz.lessons import LANGUAGES, course
from schedviz.web.rooms import asking, state
from tests.rooms.conftest import ROOMS, Classroom, Person, open_classroom
from tests.web.conftest import make_session


@pytest.fixture
def classroom_with_question(classroom):
    """A room with three participants and an open question."""
    for name in ("Ada", "Bob", "=Eve"):
        classroom.student(name)
    classroom.teacher.request("post", "questions/", {"text": "Where does it go?", "kind": "node"}, expect=201)
    return classroom


def answer(person: Person, value: str, *, question: int = 1, expect: int = 200):
    return person.request("post", "answers/", {"question": question, "value": value}, expect=expect)


def test_only_the_teacher_sees_the_tally_until_it_is_revealed(classroom_with_question):
    ada, bob = classroom_with_question.students["Ada"], classroom_with_question.students["Bob"]
    answer(ada, "node-b")
    answer(bob, " node-b ")

    seen = ada.request("get")["questions"][0]
    assert (seen["tally"], seen["right"], seen["answered"]) == (None, None, 2)
    assert ada.request("get")["you"]["answers"] == {"1": "node-b"}
    assert classroom_with_question.look()["questions"][0]["tally"] == [{"value": "node-b", "count": 2}]

    classroom_with_question.teacher.request("patch", "questions/1/", {"right": "node-a"})
    assert ada.request("get")["questions"][0]["right"] is None
    classroom_with_question.teacher.request("patch", "questions/1/", {"revealed": True})

    seen = ada.request("get")["questions"][0]
    assert (seen["tally"], seen["right"], seen["open"]) == ([{"value": "node-b", "count": 2}], "node-a", False)


def test_an_answer_may_be_changed_until_the_question_is_closed(classroom_with_question):
    ada = classroom_with_question.students["Ada"]
    answer(ada, "node-a")
    answer(ada, "node-b")

    assert classroom_with_question.look()["questions"][0]["tally"] == [{"value": "node-b", "count": 1}]
    classroom_with_question.teacher.request("patch", "questions/1/", {"open": False})
    assert answer(ada, "node-c", expect=409)["code"] == "question_closed"


def test_the_questions_of_a_room_are_limited_in_number_and_length(classroom, monkeypatch):
    def ask(characters: int, expect: int) -> Any:
        options = ["a", "b" * (characters - 11)]
        return classroom.teacher.request("post", "questions/", {"text": "x" * 10, "kind": "choice", "options": options}, expect=expect)

    monkeypatch.setattr(asking, "MAX_QUESTIONS", 3)
    monkeypatch.setattr(asking, "MAX_CHARACTERS", 250)
    ask(100, 201)
    ask(100, 201)
    too_long = ask(51, 409)
    assert (too_long["code"], "would have 251 characters; 250 is the limit" in too_long["detail"]) == ("quota_reached", True)
    ask(50, 201)
    classroom.teacher.request("patch", "questions/3/", {"open": False})
    assert "This room has 3 questions" in ask(12, 409)["detail"]


def test_the_length_of_answers_is_limited(classroom, monkeypatch):
    monkeypatch.setattr(asking, "MAX_ANSWER_CHARACTERS", 250)
    classroom.teacher.request("post", "questions/", {"text": "Why?"}, expect=201)
    ada, bob, eve = (classroom.student(name) for name in ("Ada", "Bob", "Eve"))
    answer(ada, "x" * 100)
    answer(bob, "y" * 150)

    refused = answer(eve, "z" * 31, expect=409)

    assert (refused["code"], "Answer with 30 characters or fewer" in refused["detail"]) == ("quota_reached", True)
    answer(eve, "z" * 30)


def test_a_tally_has_the_most_frequent_answers(classroom, monkeypatch):
    monkeypatch.setattr(state, "TALLY_CHARACTERS", 40)
    classroom.teacher.request("post", "questions/", {"text": "Why?"}, expect=201)
    for name, said in (("Ada", "short"), ("Bob", "x" * 15), ("Eve", "x" * 15), ("Dan", "y" * 15)):
        answer(classroom.student(name), said)
    question = classroom.look()["questions"][0]
    assert question["tally"] == [{"value": "x" * 15, "count": 2}, {"value": "short", "count": 1}]
    assert question["answered"] == 4


def test_tallies_of_the_newest_questions_are_sent(classroom, monkeypatch):
    monkeypatch.setattr(state, "TALLIES_CHARACTERS", 60)
    ada, bob = (classroom.student(name) for name in ("Ada", "Bob"))
    options = ["x" * 10, "y" * 10]
    for number, members in enumerate(({"kind": "choice", "options": options}, {}, {}, {}), 1):
        classroom.teacher.request("post", "questions/", {"text": "Why?", **members}, expect=201)
        answer(ada, "x" * 10, question=number)
        answer(bob, "y" * 10, question=number)
    assert [len(question["tally"]) for question in classroom.look()["questions"]] == [2, 0, 1, 2]
    assert [question["answered"] for question in classroom.look()["questions"]] == [2, 2, 2, 2]


def test_the_participant_list_has_the_answers_to_the_newest_questions(classroom, monkeypatch):
    students = [classroom.student(name) for name in ("Ada", "Bob")]
    for number in (1, 2, 3):
        classroom.teacher.request("post", "questions/", {"text": "Why?"}, expect=201)
        for student in students:
            answer(student, "é" * 100, question=number)
    everything = {str(number): "é" * 100 for number in (1, 2, 3)}
    assert [one["answers"] for one in classroom.look()["participants"]] == [everything] * 2

    monkeypatch.setattr(state, "LIST_BYTES", 5 * 210)

    assert [one["answers"] for one in classroom.look()["participants"]] == [{"2": "é" * 100, "3": "é" * 100}] * 2
    # A participant's own answers, and the numbers of answers, are complete.
    assert students[0].request("get")["you"]["answers"] == everything
    assert [one["answered"] for one in classroom.look()["questions"]] == [2, 2, 2]


def test_reopening_a_question_closes_the_others(classroom_with_question: Classroom) -> None:
    teacher = classroom_with_question.teacher
    teacher.request("post", "questions/", {"text": "And the next?"}, expect=201)
    teacher.request("patch", "questions/1/", {"open": True})

    assert [question["open"] for question in classroom_with_question.look()["questions"]] == [True, False]


def test_no_question_is_opened_after_the_end_of_its_room(classroom_with_question: Classroom) -> None:
    teacher = classroom_with_question.teacher
    teacher.request("post", "end/", {"keep": True})

    assert teacher.request("patch", "questions/1/", {"open": True}, expect=409)["code"] == "room_ended"
    teacher.request("patch", "questions/1/", {"revealed": True})
    question = classroom_with_question.look()["questions"][0]
    assert (question["open"], question["revealed"]) == (False, True)


def test_a_new_question_closes_the_previous_one(classroom_with_question):
    classroom_with_question.teacher.request(
        "post", "questions/", {"text": "And now?", "kind": "choice", "options": ["here", "there"]}, expect=201
    )

    assert [one["open"] for one in classroom_with_question.look()["questions"]] == [False, True]
    answer(classroom_with_question.students["Ada"], "node-a", expect=409)
    answer(classroom_with_question.students["Ada"], "here", question=2)
    answer(classroom_with_question.students["Ada"], "elsewhere", question=2, expect=400)


@pytest.mark.parametrize(
    ("kind", "written", "counted"),
    [("number", "3.0", "3"), ("number", "0.50", "0.5"), ("nodes", "node-b, node-a", "node-a,node-b"), ("text", "a  b", "a b")],
)
def test_answers_are_normalized_before_they_are_counted(classroom, kind, written, counted):
    ada = classroom.student("Ada")
    classroom.teacher.request("post", "questions/", {"text": "?", "kind": kind}, expect=201)

    answer(ada, written)

    assert classroom.look()["questions"][0]["tally"] == [{"value": counted, "count": 1}]


@pytest.mark.parametrize("value", ["three", "nan", "inf"])
def test_an_answer_that_is_not_a_number_is_refused_if_one_is_asked_for(classroom, value):
    ada = classroom.student("Ada")
    classroom.teacher.request("post", "questions/", {"text": "?", "kind": "number"}, expect=201)

    answer(ada, value, expect=400)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": " "},
        {"text": "?", "kind": "choice"},
        {"text": "?", "kind": "choice", "options": ["a", "a"]},
        {"text": "?", "options": ["a"]},
    ],
)
def test_an_incomplete_question_is_refused(classroom, body):
    classroom.teacher.request("post", "questions/", body, expect=400)


def test_the_question_of_a_stop_has_its_kind_and_options(classroom):
    lesson, stop = next(
        (lesson, stop) for lesson in course().lessons for stop in lesson.plan.stops if stop.question and stop.question.options
    )
    taught = open_classroom(classroom.user, make_session(classroom.user, source={"lesson": lesson.name}))

    room = taught.teacher.request("post", "questions/", {"stop": stop.id}, expect=201)

    assert room["lesson"] == lesson.name
    assert room["questions"][0]["kind"] == stop.question.ask
    assert room["questions"][0]["options"] == stop.question.options
    taught.teacher.request("post", "questions/", {"stop": "no-such-stop"}, expect=404)


def test_hands_can_be_raised_by_participants_and_lowered_by_the_teacher(classroom):
    ada = classroom.student("Ada")

    assert ada.request("post", "hand/", {"raised": True})["you"]["hand"]
    (seen,) = classroom.look()["participants"]
    assert seen["hand"]
    assert seen["handAt"]
    classroom.teacher.request("patch", f"participants/{seen['id']}/", {"hand": False})
    assert not ada.request("get")["you"]["hand"]


def record(room) -> list[dict[str, str]]:
    text = room.teacher.request("get", "record/").decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_the_record_has_no_formula_even_if_semicolons_separate_cells(classroom):
    classroom.teacher.request("post", "questions/", {"text": "Why?"}, expect=201)
    answer(classroom.student("x;=1+1;"), "y;=cmd|' /C calc'!A0;")

    text = classroom.teacher.request("get", "record/").decode("utf-8-sig")

    assert '"x;\'=1+1;"' in text
    assert "\"y;'=cmd|' /C calc'!A0;\"" in text


def test_the_record_has_a_row_for_each_question_and_participant(classroom_with_question):
    answer(classroom_with_question.students["Ada"], "node-a")
    answer(classroom_with_question.students["Ada"], "node-b")
    answer(classroom_with_question.students["Bob"], "-3")
    classroom_with_question.teacher.request("patch", "questions/1/", {"revealed": True, "right": "node-b"})

    lines = record(classroom_with_question)

    rows = [(line["participant"], line["answer"], line["is_right"], line["changes"]) for line in lines]
    # A text that a spreadsheet would read as a formula is escaped.
    assert rows == [("Ada", "node-b", "1", "1"), ("Bob", "-3", "0", "0"), ("'=Eve", "", "", "")]
    assert float(lines[0]["seconds"]) >= 0
    assert lines[2]["seconds"] == ""
    assert lines[0]["text"] == "Where does it go?"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_record_has_the_text_of_a_lessons_question_and_options(classroom, language):
    lesson, stop = next(
        (lesson, stop) for lesson in course().lessons for stop in lesson.plan.stops if stop.question and stop.question.options
    )
    taught = open_classroom(classroom.user, make_session(classroom.user, source={"lesson": lesson.name}))
    ada = taught.student("Ada")
    taught.teacher.request("post", "questions/", {"stop": stop.id}, expect=201)
    option = stop.question.options[0]
    answer(ada, option)

    taught.teacher.client.cookies["schedviz_language"] = language
    (line,) = record(taught)

    texts = lesson.texts[language].stops[stop.id]
    assert line["text"].split()[0] in texts.question
    assert line["text"].endswith(("?", "？"))
    assert line["answer"] != option
    assert line["answer"].split()[0] in texts.options[option]


def test_no_personal_data_is_kept_after_the_end(classroom_with_question):
    answer(classroom_with_question.students["Ada"], "node-a")
    classroom_with_question.students["Ada"].request("post", "forks/", {}, expect=201)

    room = classroom_with_question.teacher.request("post", "end/", {})

    assert (room["status"], room["code"], room["link"], room["participants"]) == ("ended", "", "", [])
    # Counts of answers contain no names.
    assert room["questions"][0]["tally"] == [{"value": "node-a", "count": 1}]
    assert classroom_with_question.teacher.request("get", "record/", expect=409)["code"] == "not_kept"
    classroom_with_question.students["Ada"].request("get", expect=404)
    assert classroom_with_question.students["Ada"].status_of(f"sessions/{classroom_with_question.session.pk}/") == 404
    Person(APIClient()).join(classroom_with_question.code, "Kim", expect=404)
    assert [one["id"] for one in classroom_with_question.teacher.request_at("get", "/api/v1/sessions/")["results"]] == [
        str(classroom_with_question.session.pk)
    ]
    classroom_with_question.teacher.request("post", "questions/", {"text": "?"}, expect=409)
    classroom_with_question.teacher.request("get", "qr/", expect=409)


def test_names_are_kept_after_the_end_if_the_teacher_keeps_them(classroom_with_question):
    answer(classroom_with_question.students["Ada"], "node-a")

    room = classroom_with_question.teacher.request("post", "end/", {"keep": True})

    assert room["kept"]
    assert [one["nickname"] for one in room["participants"]] == ["Ada", "Bob", "=Eve"]
    assert record(classroom_with_question)[0]["answer"] == "node-a"
    # The room has ended for them too.
    classroom_with_question.students["Ada"].request("get", expect=404)
    assert classroom_with_question.students["Ada"].status_of(f"sessions/{classroom_with_question.session.pk}/") == 404
    classroom_with_question.teacher.request("delete", expect=204)
    assert classroom_with_question.teacher.request_at("get", ROOMS)["results"] == []


def test_leaving_a_room_deletes_the_participants_data(classroom_with_question):
    ada = classroom_with_question.students["Ada"]
    answer(ada, "node-a")
    ada.request("post", "forks/", {}, expect=201)

    ada.request("post", "leave/", expect=204)

    room = classroom_with_question.look()
    assert [one["nickname"] for one in room["participants"]] == ["Bob", "=Eve"]
    assert room["questions"][0]["tally"] == []
    assert classroom_with_question.teacher.request_at("get", "/api/v1/sessions/")["count"] == 1
