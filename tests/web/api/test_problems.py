"""Refusals are problem details (RFC 9457), and every kind of them is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import schedviz
from schedviz.web.api.problem_details import TITLES

pytestmark = pytest.mark.django_db
SOURCE = Path(schedviz.__file__).parent


def test_a_problem_has_type_title_status_detail_and_path(owner_client, people):
    response = owner_client.get(f"/api/v1/sessions/{people.session.pk}/events/?limit=many")

    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    older = body.pop("error")
    assert body == {
        "type": "/api/v1/problems/#invalid",
        "title": "Invalid request",
        "status": 400,
        "detail": "?limit: a whole number of 0 or more is expected, found many.",
        "code": "invalid",
        "path": "?limit",
        "expected": "int",
        "found": "many",
    }
    assert (older["code"], older["message"], older["detail"]["path"]) == ("invalid", body["detail"], "?limit")


def test_an_unknown_path_is_a_problem_too(client):
    response = client.get("/api/v1/nothing")

    assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")
    assert response.json()["hint"] == "Addresses end with a slash: /api/v1/nothing/"


def test_every_code_in_the_sources_has_a_title(client):
    files = [*(SOURCE / "web").rglob("*.py"), *(SOURCE / "sessions").rglob("*.py")]
    results = {
        code
        for file in files
        for code in re.findall(r'(?:ApiError\(\s*\d+,|refusal\(\d+,|^    code = )\s*"(\w+)"', file.read_text(), re.MULTILINE)
    }

    # No request meets these.
    assert results - {"backup", "fenced", "redis_away", "replay_diverged", "upload_key_awaited", "upload_lost"} <= set(TITLES)
    assert [line["code"] for line in client.get("/api/v1/problems/").json()["results"]] == list(TITLES)
