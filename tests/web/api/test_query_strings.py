"""Unknown query parameters and Accept headers that are not in the OpenAPI document are refused by name."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from schedviz.client import flows
from schedviz.web.api import access
from schedviz.web.api.endpoints import commands, cycles, events, forks, sessions
from schedviz.web.api.openapi import SchemaView
from schedviz.web.api.resource import Resource
from schedviz.web.server import request_coalescing

pytestmark = pytest.mark.django_db


def test_an_unknown_parameter_is_refused_with_the_known_ones(owner_client, people):
    session = f"/api/v1/sessions/{people.session.pk}/"
    for address, name, known in [
        ("/api/v1/sessions/?limt=3", "limt", "limit"),
        (f"{session}?at=3", "at", "no parameter"),
        (f"{session}events/?folow=1", "folow", "follow"),
        (f"{session}state/?event=3", "event", "at"),
    ]:
        response = owner_client.get(address)

        assert response.status_code == 400, address
        assert (response.json()["path"], response.json()["found"]) == (f"?{name}", name)
        assert known in response.json()["expected"]
    assert owner_client.post("/api/v1/sessions/?dry=1", {"generate": {"nodes": 1}}, format="json").json()["path"] == "?dry"


@pytest.mark.parametrize(
    ("address", "most"),
    [
        ("/api/v1/sessions/?limit=1001", 1000),
        ("/api/v1/sessions/?tail=1001", 1000),
        ("{}branches/?limit=1001", 1000),
        ("{}commands/?limit=1001", 1000),
        ("{}cycles/?limit=1001", 1000),
        ("{}events/?limit=5001", 5000),
        ("{}events/?tail=5001", 5000),
        ("{}stories/nodes/n/?limit=1001", 1000),
        ("{}agreement/?limit=1001", 1000),
        ("{}observations/?limit=5001", 5000),
        ("{}timeline/?buckets=2001", 2000),
        ("/api/v1/audit/?limit=1001", 1000),
    ],
)
def test_a_limit_over_the_maximum_is_refused_with_the_maximum(people, address, most):
    client = people.client("staff-token" if "audit" in address else "owner-token")

    response = client.get(address.format(f"/api/v1/sessions/{people.session.pk}/"))

    assert response.status_code == 400
    assert response.json()["expected"] == f"at most {most}"
    assert str(most) in response.json()["detail"]
    within = address.format(f"/api/v1/sessions/{people.session.pk}/").replace(str(most + 1), str(most))
    assert client.get(within).status_code in (200, 404)


@pytest.mark.parametrize("value", ["-1", "1.5", "many", "1e3", "\N{FULLWIDTH DIGIT ONE}", "9" * 19, "1&limit=2"])
def test_a_number_must_be_whole_not_negative_and_given_once(owner_client, people, value):
    assert owner_client.get(f"/api/v1/sessions/?limit={value}").json()["path"] == "?limit"


def test_an_empty_parameter_is_ignored(owner_client, people):
    assert owner_client.get("/api/v1/sessions/?limit=&status=&q=&after=").status_code == 200


def test_an_empty_choice_is_the_default(people):
    request = Request(APIRequestFactory().get("/?format=&nodes=&v="))

    assert access.one_of(request, "format", ("text", "json")) == "text"
    assert access.names(request, "nodes") is None
    assert access.whole_number(request, "v", default=2) == 2


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("*/*", 200),
        ("application/*", 200),
        ("application/json", 200),
        ("application/problem+json", 200),
        ("application/json;q=0.5, text/html", 200),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 200),
        ("", 200),
        ("text/html", 406),
        ("image/png, text/*", 406),
        ("application/json;q=0", 406),
        ("nonsense", 406),
    ],
)
def test_an_accept_header_that_cannot_be_met_gets_406(owner_client, people, accept, status):
    headers = {"Accept": accept} if accept else {}
    response = owner_client.get("/api/v1/sessions/", headers=headers)

    assert response.status_code == status
    if status == 406:
        assert response["Content-Type"] == "application/problem+json"
        assert (response.json()["code"], response.json()["expected"]) == ("not_acceptable", "application/json")


def test_a_path_accepts_the_media_types_of_its_responses(owner_client, people, redis, monkeypatch):
    # No worker runs here, so the wait for it is shortened.
    monkeypatch.setattr(request_coalescing, "WAIT_SECONDS", 0.1)
    session = f"/api/v1/sessions/{people.session.pk}/"
    for address, accepted, other in [
        (f"{session}export/", "application/gzip", "text/html"),
        (f"{session}events/", "application/x-ndjson", "application/gzip"),
        (f"{session}dump/", "text/plain", "image/png"),
        (f"{session}lesson/draft/", "application/zip", "text/plain"),
        ("/api/v1/compare/report/", "text/html", "image/png"),
    ]:
        assert owner_client.get(address, headers={"Accept": accepted}).status_code != 406, address
        assert owner_client.get(address, headers={"Accept": other}).status_code == 406, address


def test_the_page_sizes_of_the_python_client_are_allowed():
    assert min(sessions.PAGING.maximum, forks.PAGING.maximum, cycles.PAGING.maximum, commands.PAGING.maximum) >= flows._PAGE_SIZE
    assert events.PAGING.maximum >= flows._EVENTS_PAGE_SIZE


def test_every_rest_view_is_a_resource():
    def views(patterns: list[Any]) -> list[Any]:
        results = []
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                results += views(pattern.url_patterns)
            elif isinstance(pattern, URLPattern) and hasattr(pattern.callback, "cls"):
                results.append(pattern.callback.cls)
        return results

    for view in views(get_resolver().url_patterns):
        assert issubclass(view, Resource | SchemaView), view
