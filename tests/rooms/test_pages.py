"""The pages of rooms, and their redirects."""

from __future__ import annotations

import pytest
from django.conf import settings
from rest_framework.test import APIClient


@pytest.mark.parametrize("address", ["/r/", "/r/K7MR-2XWD/", "/r/nothing/"])
def test_the_join_page_does_not_reveal_the_code(db, client, address):
    page = client.get(address)

    assert page.status_code == 200
    assert b'data-page="join"' in page.content
    assert settings.CSRF_COOKIE_NAME in client.cookies


def test_the_short_link_leads_to_the_join_page_with_the_code_filled_in(classroom):
    short = classroom.look()["link"].removeprefix("http://testserver")

    page = APIClient().get(short, follow=True)

    assert f'data-code="{classroom.code}"'.encode() in page.content


def test_members_are_redirected_to_the_room(classroom):
    ada = classroom.student("Ada")
    for person in (ada, classroom.teacher):
        assert person.client.get(f"/r/{classroom.code}/").url == f"/rooms/{classroom.id}/"


@pytest.mark.parametrize(("who", "role"), [("teacher", "teacher"), ("student", "participant")])
def test_the_page_of_a_room_has_the_role_of_its_reader(classroom, who, role):
    person = classroom.teacher if who == "teacher" else classroom.student("Ada")

    page = person.client.get(f"/rooms/{classroom.id}/").content.decode()

    assert f'data-room="{classroom.id}"' in page
    assert f'data-role="{role}"' in page
    assert f'data-session="{classroom.session.pk}"' in page


@pytest.mark.parametrize("view", ["presenter", "projector"])
def test_two_views_are_only_for_the_teacher(classroom, view):
    assert f'data-view="{view}"' in classroom.teacher.client.get(f"/rooms/{classroom.id}/{view}/").content.decode()
    assert classroom.student("Ada").client.get(f"/rooms/{classroom.id}/{view}/").url == f"/rooms/{classroom.id}/"


def test_anonymous_clients_are_redirected_to_the_join_page_or_the_login(classroom):
    for room in (classroom.id, "00000000-0000-4000-8000-000000000000"):
        assert APIClient().get(f"/rooms/{room}/").url == "/r/"
    assert APIClient().get("/rooms/").url.startswith("/login/")
    assert b'data-page="rooms"' in classroom.teacher.client.get("/rooms/").content
