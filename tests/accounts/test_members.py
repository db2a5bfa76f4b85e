"""Members of a session, managed by its owner; a revoked permission ends at once."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.django_db


def test_an_owner_can_add_change_and_remove_members(people, audit):
    owner, stranger = people.client("owner-token"), people.client("stranger-token")
    session = f"/api/v1/sessions/{people.session.pk}/"
    assert stranger.get(session).status_code == 404

    added = owner.post(f"{session}members/", {"user": "stranger"}, format="json")
    assert (added.status_code, added.json()["role"]) == (201, "viewer")
    assert stranger.get(session).json()["role"] == "viewer"

    assert owner.patch(f"{session}members/stranger/", {"role": "editor"}, format="json").json()["role"] == "editor"
    assert stranger.get(session).json()["role"] == "editor"
    assert owner.post(f"{session}members/", {"user": "stranger", "role": "viewer"}, format="json").status_code == 200

    assert owner.delete(f"{session}members/stranger/").status_code == 204
    assert stranger.get(session).status_code == 404
    assert audit() == ["member_added", "member_changed", "member_changed", "member_removed"]


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_a_member_can_leave(people, audit, role):
    member = people.client(f"{role}-token")
    session = f"/api/v1/sessions/{people.session.pk}/"
    other = "editor" if role == "viewer" else "viewer"
    assert member.get(session).json()["member"] == role
    assert people.client("owner-token").get(session).json()["member"] is None

    assert people.client(f"{role}-read-token").delete(f"{session}members/{role}/").status_code == 403
    assert member.delete(f"{session}members/{other}/").status_code == 403
    assert member.delete(f"{session}members/owner/").status_code == 403
    assert people.client("stranger-token").delete(f"{session}members/stranger/").status_code == 404
    assert people.client("link").delete(f"{session}members/viewer/").status_code == 403

    assert member.delete(f"{session}members/{role}/").status_code == 204
    assert member.get(session).status_code == 404
    assert member.delete(f"{session}members/{role}/").status_code == 404
    assert audit() == ["member_left"]


def test_link_visitors_are_not_members(people):
    session = f"/api/v1/sessions/{people.session.pk}/"
    stranger = people.client("stranger")
    people.open_link(stranger, "link")

    assert stranger.get(session).json()["member"] is None
    assert stranger.delete(f"{session}members/stranger/").status_code == 404


def test_the_owner_is_listed_first_and_cannot_be_added_as_a_member(people):
    owner = people.client("owner-token")
    members = f"/api/v1/sessions/{people.session.pk}/members/"

    assert [(one["user"], one["role"]) for one in owner.get(members).json()["results"]] == [
        ("owner", "owner"),
        ("editor", "editor"),
        ("viewer", "viewer"),
    ]
    assert owner.post(members, {"user": "owner"}, format="json").status_code == 400
    assert owner.delete(f"{members}owner/").status_code == 404


def test_without_user_search_known_and_unknown_names_get_the_same_response(people, settings):
    settings.FIND_USERS = False
    owner = people.client("owner-token")
    responses = [
        owner.post(f"/api/v1/sessions/{people.session.pk}/members/", {"user": name}, format="json") for name in ("stranger", "nobody")
    ]

    assert [response.status_code for response in responses] == [403, 403]
    assert responses[0].content == responses[1].content
    assert "SCHEDVIZ_FIND_USERS" in responses[0].json()["detail"]


@pytest.mark.parametrize("body", [{}, {"user": "nobody"}, {"user": "viewer", "role": "owner"}, {"user": 5}, {"user": "viewer", "more": 1}])
def test_an_invalid_query_is_reported(people, body):
    response = people.client("owner-token").post(f"/api/v1/sessions/{people.session.pk}/members/", body, format="json")

    assert response.status_code == 400
    assert response.json()["code"] == "invalid"
