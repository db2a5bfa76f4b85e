"""Lessons in a room: participants get no presenter notes, and no answer before the teacher reveals it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from schedviz.sessions.models import Session
from tests.conftest import Worker, until
from tests.rooms.conftest import Classroom, Person, open_classroom
from tests.sessions.conftest import work_off
from tests.web.api.test_lessons import begin, execute

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = 1


@pytest.fixture
def lesson_room(transactional_db: None, redis: object, io_worker: Worker) -> Classroom:
    """A room of the lesson "the-list", at its first stop."""
    teacher = User.objects.create_user("teacher")
    client = APIClient()
    client.force_login(teacher)
    return open_classroom(teacher, Session.objects.get(pk=begin(client, "the-list")))


def stops(person: Person, session: object) -> list[dict[str, Any]]:
    stops = person.request_at("get", f"/api/v1/sessions/{session}/lesson/")["stops"]
    assert isinstance(stops, list)
    return stops


def play(room: Classroom, *, until_stop: int) -> None:
    for stop in stops(room.teacher, room.session.pk)[: until_stop + 1]:
        execute(room.teacher.client, str(room.session.pk), [*stop["do"], *stop["reveal"]])


def test_participants_do_not_get_presenter_notes(lesson_room: Classroom):
    ada = lesson_room.student("Ada")

    assert any(stop["notes"]["en"] for stop in stops(lesson_room.teacher, lesson_room.session.pk))
    assert not any(stop["notes"][language] for stop in stops(ada, lesson_room.session.pk) for language in ("en", "zh-CN"))


def test_participants_get_an_answer_once_it_is_revealed_and_the_teacher_once_it_is_known(lesson_room: Classroom):
    ada = lesson_room.student("Ada")
    stop = stops(lesson_room.teacher, lesson_room.session.pk)[ASKED]["id"]
    play(lesson_room, until_stop=ASKED)
    lesson_room.teacher.request("post", "questions/", {"stop": stop}, expect=201)

    assert stops(lesson_room.teacher, lesson_room.session.pk)[ASKED]["answer"]["value"] == 4
    assert stops(ada, lesson_room.session.pk)[ASKED]["answer"] is None

    lesson_room.teacher.request("patch", "questions/1/", {"revealed": True})

    assert stops(ada, lesson_room.session.pk)[ASKED]["answer"]["value"] == 4


def test_a_participants_own_fork_shows_the_answer_unless_its_question_is_open(lesson_room: Classroom):
    ada = lesson_room.student("Ada")
    play(lesson_room, until_stop=ASKED)
    fork = ada.request("post", "forks/", {}, expect=201)["id"]
    until(lambda: Session.objects.get(pk=fork).status == Session.Status.READY)
    work_off(Session.objects.get(pk=fork).pk)

    assert stops(ada, fork)[ASKED]["answer"]["value"] == 4
    assert stops(ada, fork)[ASKED]["notes"]["en"] == ""

    lesson_room.teacher.request("post", "questions/", {"stop": stops(ada, fork)[ASKED]["id"]}, expect=201)

    assert stops(ada, fork)[ASKED]["answer"] is None
