"""Observations over REST."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from tests.web.conftest import People

pytestmark = pytest.mark.usefixtures("redis")


@pytest.fixture
def url(people: People) -> str:
    return f"/api/v1/sessions/{people.session.pk}/observations/"


def batch(n: int, name: str = "n1", **members: object) -> dict[str, object]:
    event = {"type": "ADDED", "version": "v1", "object": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": "u"}}}
    return {"source": "kind", "n": n, "events": [event], **members}


def test_a_reconnecting_observer_gets_the_expected_and_the_known_state(owner_client: APIClient, url: str) -> None:
    before = owner_client.get(url).json()
    assert (before["source"], before["expected"], before["objects"]) == (None, 1, [])

    made = owner_client.post(url, batch(1), format="json")
    again = owner_client.post(url, batch(1), format="json")

    assert (made.status_code, made.json()) == (201, {"n": 1, "expected": 2, "seq": 1, "duplicate": False})
    assert (again.status_code, again.json()) == (200, {"n": 1, "expected": 2, "seq": 1, "duplicate": True})
    owner_client.post(url, batch(2, "n2"), format="json")
    body = owner_client.get(url, {"limit": 1}).json()
    assert (body["source"], body["expected"], body["events"], body["seq"]) == ("kind", 3, 2, 2)
    assert body["objects"] == [{"kind": "Node", "key": "n1", "uid": "u", "version": "v1"}]
    rest = owner_client.get(url, {"after": body["next"]}).json()
    assert ([one["key"] for one in rest["objects"]], rest["next"]) == (["n2"], None)


def test_an_unexpected_number_is_refused_with_the_expected_one(owner_client: APIClient, url: str) -> None:
    refused = owner_client.post(url, batch(7), format="json")

    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "wrong_batch"
    assert refused.json()["error"]["detail"] == {
        "path": "$.n",
        "expected": 1,
        "found": 7,
        "hint": "Send the expected batch; GET returns its number.",
    }
    owner_client.post(url, batch(1), format="json")
    assert owner_client.post(url, batch(2, source="another"), format="json").json()["error"]["code"] == "cannot_follow"


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"n": 0}, "$.n"),
        ({"source": "with space"}, "$.source"),
        ({"events": [{"type": "SEEN", "object": {}}]}, "$.events[0].type"),
        ({"events": [{"type": "ADDED", "object": {"kind": "Secret"}}]}, "$.events[0].object.kind"),
        (
            {"events": [{"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Node", "metadata": {}}}]},
            "$.events[0].object.metadata.name",
        ),
    ],
)
def test_an_invalid_observation_is_reported_with_its_position(
    owner_client: APIClient, url: str, members: dict[str, object], path: str
) -> None:
    refused = owner_client.post(url, {**batch(1), **members}, format="json")

    assert refused.status_code == 400, refused.content
    assert refused.json()["error"]["detail"]["path"] == path
    assert owner_client.get(url).json()["expected"] == 1


def test_an_object_that_is_too_large_for_a_command_is_named_by_its_place(owner_client: APIClient, url: str) -> None:
    taints = [{"key": f"key-{number}", "effect": "NoSchedule"} for number in range(45_000)]
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2", "uid": "u"}, "spec": {"taints": taints}}
    large = batch(1)
    large["events"] = [*batch(1)["events"], {"type": "ADDED", "version": "v1", "object": node}]  # type: ignore[misc]

    refused = owner_client.post(url, large, format="json")

    assert refused.status_code == 400
    assert refused.json()["path"] == "$.events[1].object"
    assert "1,572,864" in refused.json()["detail"]
