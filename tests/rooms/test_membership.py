"""Permissions in a room and its sessions: the teacher, participants, everyone else."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from schedviz.sessions.forks.requests import Forked
from schedviz.sessions.models import Session
from schedviz.web.auth.login import make_token
from schedviz.web.rooms import forks, state
from schedviz.web.rooms.models import Participant, RoomFork
from tests.rooms.conftest import Person
from tests.web.conftest import make_session


@pytest.fixture
def ada(classroom) -> Person:
    return classroom.student("Ada")


@pytest.fixture
def fork(classroom, ada) -> Session:
    return Session.objects.get(pk=ada.request("post", "forks/", {}, expect=201)["id"])


def test_a_participant_has_read_only_access_to_the_rooms_session(classroom, ada):
    address = f"sessions/{classroom.session.pk}/"

    assert ada.client.get(f"/api/v1/{address}").json()["role"] == "viewer"
    assert ada.status_of(f"{address}state/") == 200
    ada.request_at("post", f"/api/v1/{address}commands/", {"op": "pause"}, expect=403)
    ada.request_at("delete", f"/api/v1/{address}", expect=403)
    assert ada.client.get(f"/s/{classroom.session.pk}/").status_code == 200


def test_a_participant_has_no_access_to_the_rest_of_the_server(classroom, ada):
    other = make_session(classroom.user, "another one")

    assert ada.status_of(f"sessions/{other.pk}/") == 404
    assert ada.status_of("sessions/") == 401
    assert ada.status_of("rooms/") == 401
    assert ada.status_of("quotas/") == 401
    ada.request_at("post", "/api/v1/sessions/", {"generate": {"nodes": 2}}, expect=401)


def test_a_participant_controls_their_own_fork_and_it_counts_as_the_teachers(classroom, ada, fork):
    assert fork.owner == classroom.user
    assert not fork.calls_extenders
    assert ada.client.get(f"/api/v1/sessions/{fork.pk}/").json()["role"] == "editor"
    ada.request_at("patch", f"/api/v1/sessions/{fork.pk}/", {"name": "mine"}, expect=403)
    assert classroom.teacher.status_of(f"sessions/{fork.pk}/") == 200


def test_a_fork_is_private_until_it_is_shown(classroom, fork):
    bob = classroom.student("Bob")
    assert bob.status_of(f"sessions/{fork.pk}/") == 404

    shown = classroom.teacher.request("post", "show/", {"session": str(fork.pk)})["shown"]

    assert shown == {"session": str(fork.pk), "participant": "Ada"}
    assert bob.client.get(f"/api/v1/sessions/{fork.pk}/").json()["role"] == "viewer"
    assert bob.status_of(f"sessions/{classroom.session.pk}/") == 200
    classroom.teacher.request("post", "show/", {"session": None})
    assert bob.status_of(f"sessions/{fork.pk}/") == 404


def test_forks_are_not_listed_among_the_teachers_sessions_while_the_room_is_open(classroom, fork):
    def listed() -> list[str]:
        return [one["id"] for one in classroom.teacher.request_at("get", "/api/v1/sessions/")["results"]]

    assert listed() == [str(classroom.session.pk)]
    classroom.teacher.request("post", "end/", {"keep": True})
    assert set(listed()) == {str(classroom.session.pk), str(fork.pk)}


def test_a_participant_cannot_act_as_the_teacher(classroom, ada):
    you = ada.request("get")["you"]["id"]
    for method, rest, body in (
        ("patch", "", {"locked": True}),
        ("delete", "", None),
        ("post", "code/", None),
        ("post", "show/", {"session": None}),
        ("post", "end/", {}),
        ("get", "record/", None),
        ("post", "questions/", {"text": "why?"}),
        ("delete", f"participants/{you}/", None),
    ):
        ada.request(method, rest, body, expect=403)


def test_the_teacher_cannot_act_as_a_participant(classroom):
    for rest, body in (("hand/", {"raised": True}), ("leave/", None), ("forks/", {})):
        classroom.teacher.request("post", rest, body, expect=403)


def test_a_client_without_access_cannot_tell_a_room_from_a_missing_one(classroom):
    stranger = Person(APIClient(), classroom.id)
    nowhere = Person(APIClient(), "00000000-0000-4000-8000-000000000000")
    for method, rest in (("get", ""), ("get", "qr/"), ("post", "hand/"), ("delete", "")):
        assert stranger.request(method, rest, expect=404)["detail"] == nowhere.request(method, rest, expect=404)["detail"]


def test_a_read_only_token_can_read_a_room_but_not_change_it(classroom):
    reader = Person(APIClient(), classroom.id)
    reader.client.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(classroom.user, 'reading', scope='read')}")

    assert reader.request("get")["role"] == "teacher"
    reader.request("post", "end/", {}, expect=403)
    reader.request_at("post", "/api/v1/rooms/", {"session": str(classroom.session.pk)}, expect=403)


def test_forks_and_rooms_count_as_created_sessions(classroom, ada, settings):
    settings.NEW_SESSIONS_PER_MINUTE = 2

    forks = [ada.client.post(f"/api/v1/rooms/{classroom.id}/forks/", {}, format="json").status_code for _ in range(3)]
    body = {"session": str(classroom.session.pk)}
    rooms = [classroom.teacher.client.post("/api/v1/rooms/", body, format="json").status_code for _ in range(3)]

    assert forks == rooms == [201, 201, 429]


@pytest.mark.parametrize("end", ["leave", "removed", "ended"])
def test_the_cookie_of_a_former_participant_gets_the_anonymous_limits(classroom, ada, settings, end):
    settings.STRANGER_REQUESTS_PER_MINUTE = 1234
    before = ada.client.get("/api/v1/problems/")["RateLimit-Limit"]

    if end == "leave":
        ada.request("post", "leave/", {}, expect=204)
    elif end == "removed":
        classroom.teacher.request("delete", f"participants/{classroom.look()['participants'][0]['id']}/", expect=204)
    else:
        classroom.teacher.request("post", "end/", {"keep": True})

    assert before == str(settings.REQUESTS_PER_MINUTE)
    assert ada.client.get("/api/v1/problems/")["RateLimit-Limit"] == "1234"


def test_opening_a_room_requires_permission_to_share_the_session(classroom, django_user_model):
    client = APIClient()
    client.force_login(django_user_model.objects.create_user("somebody"))

    response = client.post("/api/v1/rooms/", {"session": str(classroom.session.pk)}, format="json")

    assert response.status_code == 404


def test_a_teacher_can_show_only_sessions_they_may_share(classroom, django_user_model):
    foreign = make_session(django_user_model.objects.create_user("somebody"))

    classroom.teacher.request("post", "show/", {"session": str(foreign.pk)}, expect=404)


def test_the_forks_of_a_participant_are_limited_and_the_oldest_is_replaced(classroom, ada, settings):
    settings.ROOM_FORKS = 2

    def fork_again() -> str:
        return ada.request("post", "forks/", {"session": str(classroom.session.pk)}, expect=201)["id"]

    made = [fork_again(), fork_again()]
    classroom.teacher.request("post", "show/", {"session": made[0]})

    made += [fork_again(), fork_again()]

    # The first is being shown.
    assert [one["session"] for one in ada.request("get")["you"]["forks"]] == [made[0], *made[2:]]
    assert not Session.objects.filter(pk=made[1]).exists()


def test_the_same_idempotency_key_returns_the_same_fork_to_the_same_participant_only(classroom, ada):
    bob = classroom.student("Bob")
    first = ada.request("post", "forks/", {"key": "k"}, expect=201)["id"]

    assert ada.request("post", "forks/", {"key": "k"})["id"] == first
    assert bob.request("post", "forks/", {"key": "k"}, expect=201)["id"] != first


def test_a_fork_is_deleted_if_its_participant_leaves_before_the_response(classroom, ada, monkeypatch):
    real = forks.fork

    def gone_after(*args: Any, **options: Any) -> Forked:
        made = real(*args, **options)
        ada.request("post", "leave/", expect=204)
        return made

    monkeypatch.setattr(forks, "fork", gone_after)
    ada.request("post", "forks/", {}, expect=404)
    assert Session.objects.get() == classroom.session


@pytest.mark.parametrize("how", ["leaves", "is removed", "the room ends"])
def test_no_fork_is_created_for_a_participant_who_has_just_left(classroom, ada, monkeypatch, how):
    real = forks.fork

    def gone_before(*args: Any, **options: Any) -> Forked:
        match how:
            case "leaves":
                ada.request("post", "leave/", expect=204)
            case "is removed":
                classroom.teacher.request("delete", f"participants/{Participant.objects.get().pk}/", expect=204)
            case _:
                classroom.teacher.request("post", "end/", {"keep": True})
        return real(*args, **options)

    monkeypatch.setattr(forks, "fork", gone_before)
    assert ada.request("post", "forks/", {}, expect=404)["code"] == "not_found"
    assert not RoomFork.objects.exists()
    assert Session.objects.get() == classroom.session


def test_a_participant_can_fork_only_what_the_room_shows(classroom, ada, fork):
    bob = classroom.student("Bob")

    bob.request("post", "forks/", {"session": str(fork.pk)}, expect=404)
    assert ada.request("post", "forks/", {"session": str(classroom.session.pk), "at": 2}, expect=201)["forkedFrom"]["event"] == 2
    ada.request("post", "forks/", {"at": 999}, expect=404)


def test_forks_count_towards_the_teachers_quota(classroom, ada, settings):
    settings.SESSIONS_PER_USER = 1

    problem = ada.request("post", "forks/", {}, expect=409)

    assert problem["code"] == "quota_reached"
    assert "a quota of the teacher is used up: SCHEDVIZ_SESSIONS_PER_USER allows 1 sessions. Ask the teacher" in problem["detail"]


def test_a_participant_can_delete_their_own_fork_and_the_teacher_any(classroom, ada, fork):
    bob = classroom.student("Bob")
    own = bob.request("post", "forks/", {}, expect=201)["id"]

    bob.request("delete", f"forks/{fork.pk}/", expect=404)
    bob.request("delete", f"forks/{own}/", expect=204)
    classroom.teacher.request("delete", f"forks/{fork.pk}/", expect=204)

    assert not RoomFork.objects.exists()
    assert Session.objects.get() == classroom.session


def test_the_state_of_a_room_does_not_read_the_settings_and_reports_of_forks(classroom, fork):
    with CaptureQueriesContext(connection) as queries:
        state.load(fork.room_fork.room_id)

    of_forks = [query["sql"] for query in queries if 'FROM "rooms_roomfork"' in query["sql"]]
    assert of_forks
    assert not [sql for sql in of_forks if '"report"' in sql or '"settings"' in sql]
