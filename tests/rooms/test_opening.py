"""Opening rooms, listing them, their links."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from schedviz.sessions.models import Session
from schedviz.web.rooms import state
from schedviz.web.rooms.answer_visibility import hidden_answers
from schedviz.web.rooms.models import Participant
from tests.rooms.conftest import ROOMS, Person


def test_a_room_of_a_lesson_creates_its_session(classroom):
    room = classroom.teacher.request_at("post", ROOMS, {"lesson": "the-list", "title": "Monday"}, expect=201)

    assert room["lesson"] == "the-list"
    assert room["title"] == "Monday"
    assert Session.objects.get(pk=room["session"]).source["lesson"] == "the-list"


@pytest.mark.parametrize("body", [{}, {"session": "x", "lesson": "y"}, {"session": "x", "colour": "red"}])
def test_a_room_needs_exactly_one_session_or_lesson(classroom, body):
    classroom.teacher.request_at("post", ROOMS, body, expect=400)


@pytest.mark.parametrize("body", [{"session": "not-an-id"}, {"lesson": "no-such-lesson"}])
def test_a_room_of_a_missing_session_or_lesson_gets_404(classroom, body):
    classroom.teacher.request_at("post", ROOMS, body, expect=404)


def test_rooms_are_listed_newest_first_with_their_number_of_participants(classroom):
    classroom.student("Ada")
    second = classroom.teacher.request_at("post", ROOMS, {"session": str(classroom.session.pk), "title": "again"}, expect=201)

    listed = classroom.teacher.request_at("get", ROOMS)["results"]

    assert [(one["id"], one["title"], one["count"]) for one in listed] == [(second["id"], "again", 0), (classroom.id, "the session", 1)]


def test_the_join_link_uses_the_host_of_the_request_or_the_configured_url(classroom, settings):
    assert classroom.look()["link"] == f"http://testserver/r/{classroom.code}"

    settings.URL = "https://schedviz.example.org/"

    assert classroom.look()["link"] == f"https://schedviz.example.org/r/{classroom.code}"


def test_the_join_link_is_returned_as_a_plain_svg_qr_code(classroom):
    response = classroom.student("Ada").client.get(f"{ROOMS}{classroom.id}/qr/")

    assert response.headers["Content-Type"] == "image/svg+xml"
    root = ET.fromstring(response.content)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox")
    assert {one.tag.rpartition("}")[2] for one in root.iter()} == {"svg", "path"}


def test_a_title_can_be_changed(classroom):
    assert classroom.teacher.request("patch", body={"title": " Tuesday "})["title"] == "Tuesday"
    classroom.teacher.request("patch", body={"title": " "}, expect=400)


def test_opening_a_room_requires_a_login(classroom):
    Person(APIClient()).request_at("post", ROOMS, {"session": str(classroom.session.pk)}, expect=401)


def test_the_open_and_ended_rooms_of_a_teacher_are_limited(classroom, settings):
    settings.ROOMS_PER_USER = 2
    room = classroom.teacher.request_at("post", ROOMS, {"session": str(classroom.session.pk)}, expect=201)
    classroom.teacher.request_at("post", f"{ROOMS}{room['id']}/end/", {}, expect=200)
    refused = classroom.teacher.request_at("post", ROOMS, {"session": str(classroom.session.pk)}, expect=409)
    assert (refused["code"], "SCHEDVIZ_ROOMS_PER_USER allows" in refused["detail"]) == ("quota_reached", True)
    classroom.teacher.request_at("delete", f"{ROOMS}{room['id']}/", expect=204)
    classroom.teacher.request_at("post", ROOMS, {"session": str(classroom.session.pk)}, expect=201)


def test_a_session_has_at_most_20_open_rooms(classroom):
    # The classroom is the first one.
    opened = [classroom.teacher.request_at("post", ROOMS, {"session": str(classroom.session.pk)}, expect=201) for _ in range(19)]
    refused = classroom.teacher.request_at("post", ROOMS, {"session": str(classroom.session.pk)}, expect=409)
    classroom.teacher.request_at("post", f"{ROOMS}{opened[0]['id']}/end/", {}, expect=200)

    assert (refused["code"], refused["detail"]) == (
        "quota_reached",
        "This session has 20 open rooms, which is the limit. End one to open another.",
    )
    classroom.teacher.request_at("post", ROOMS, {"session": str(classroom.session.pk)}, expect=201)


def test_what_is_read_of_the_sessions_of_a_room_is_small(classroom):
    classroom.student("Ada")
    with CaptureQueriesContext(connection) as read:
        state.load(classroom.id)
        hidden_answers(Participant.objects.get().digest, classroom.session)

    texts = [query["sql"] for query in read.captured_queries]
    assert any('"name"' in text for text in texts)
    assert not any(f'"{column}"' in text for text in texts for column in ("settings", "report"))
