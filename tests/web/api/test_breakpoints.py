"""Breakpoints over REST."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from tests.web.conftest import People


@pytest.fixture
def url(people: People) -> str:
    return f"/api/v1/sessions/{people.session.pk}/breakpoints/"


def test_a_breakpoint_is_set_changed_and_deleted(owner_client: APIClient, url: str) -> None:
    made = owner_client.post(url, {"when": "popped default/web-7"}, format="json")

    assert made.status_code == 201
    assert made.headers["Location"] == made.json()["url"]
    number = made.json()["number"]
    assert owner_client.get(url).json()["results"] == [made.json()]
    changed = owner_client.patch(f"{url}{number}/", {"enabled": False}, format="json").json()
    assert changed == {**made.json(), "enabled": False}
    assert owner_client.get(f"{url}{number}/").json() == changed
    assert owner_client.delete(f"{url}{number}/").status_code == 204
    assert owner_client.delete(f"{url}{number}/").status_code == 404
    assert owner_client.patch(f"{url}{number}/", {}, format="json").status_code == 404


def test_a_syntax_error_is_reported_with_its_column(owner_client: APIClient, url: str) -> None:
    response = owner_client.post(url, {"when": "cycle > and"}, format="json")

    assert response.status_code == 400
    error = response.json()["error"]
    assert error["message"].startswith("$.when: column 9: expected ")
    assert (error["detail"]["path"], error["detail"]["column"], error["detail"]["found"]) == ("$.when", 9, "and")


@pytest.mark.parametrize("body", [{"when": 3}, {}, {"when": "x" * 501}, {"when": "cycle > 1", "color": "red"}, {"when": ""}])
def test_an_invalid_breakpoint_is_refused(owner_client: APIClient, url: str, body: dict[str, object]) -> None:
    assert owner_client.post(url, body, format="json").status_code == 400


def test_more_breakpoints_than_the_limit_are_refused(owner_client: APIClient, url: str) -> None:
    for number in range(20):
        assert owner_client.post(url, {"when": f"cycle == {number}"}, format="json").status_code == 201

    response = owner_client.post(url, {"when": "cycle == 20"}, format="json")

    assert response.status_code == 409
    assert "at most 20" in response.json()["error"]["message"]


def test_viewers_cannot_set_breakpoints(people: People, url: str) -> None:
    viewer = people.client("viewer")

    assert viewer.get(url).status_code == 200
    assert viewer.post(url, {"when": "cycle > 1"}, format="json").status_code == 403
    assert people.client("stranger").get(url).status_code == 404
