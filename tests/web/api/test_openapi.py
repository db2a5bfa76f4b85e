"""The descriptions that programs read: OpenAPI of REST, JSON Schema of the WebSocket."""

from __future__ import annotations

import json
import re
import zlib

import jsonschema
import pytest
import yaml
from django.contrib.staticfiles import finders
from django.core.management import call_command
from jsonschema.validators import Draft202012Validator

from schedviz.sessions import frames
from schedviz.trace.events import ClockAdvanced, CycleStarted, QueueMove, QueueMoved
from schedviz.trace.view import CacheView, NodeItem, QueuedPod, QueueView, View
from schedviz.web import wire_schema
from schedviz.web.api import openapi as openapi_view
from schedviz.web.live import messages


@pytest.fixture(scope="module")
def openapi(tmp_path_factory) -> dict:
    path = tmp_path_factory.mktemp("schema") / "schema.json"
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", "--file", str(path))
    return json.loads(path.read_text())


def test_the_openapi_schema_is_valid_and_has_every_address(openapi):
    assert set(openapi["paths"]) == {
        "/api/v1/compare/",
        "/api/v1/compare/report/",
        "/api/v1/problems/",
        "/api/v1/quotas/",
        "/api/v1/sessions/",
        "/api/v1/sessions/{session_id}/",
        "/api/v1/sessions/{session_id}/cancel/",
        "/api/v1/sessions/{session_id}/commands/",
        "/api/v1/sessions/{session_id}/commands/together/",
        "/api/v1/sessions/{session_id}/commands/{seq}/",
        "/api/v1/sessions/{session_id}/state/",
        "/api/v1/sessions/{session_id}/branches/",
        "/api/v1/sessions/{session_id}/view/",
        "/api/v1/sessions/{session_id}/timeline/",
        "/api/v1/sessions/{session_id}/stories/nodes/{name}/",
        "/api/v1/sessions/{session_id}/stories/pods/{namespace}/{name}/",
        "/api/v1/sessions/{session_id}/cycles/",
        "/api/v1/sessions/{session_id}/cycles/{cycle}/",
        "/api/v1/sessions/{session_id}/events/",
        "/api/v1/sessions/{session_id}/breakpoints/",
        "/api/v1/sessions/{session_id}/breakpoints/{number}/",
        "/api/v1/lessons/",
        "/api/v1/lessons/{name}/",
        "/api/v1/lessons/{name}/progress/",
        *(f"/api/v1/rooms/{rest}" for rest in ("", "join/", "{room_id}/")),
        *(f"/api/v1/rooms/{{room_id}}/{rest}/" for rest in ("code", "qr", "show", "end", "record", "hand", "leave", "answers")),
        *(f"/api/v1/rooms/{{room_id}}/{rest}/" for rest in ("questions", "questions/{number}", "forks", "forks/{session_id}")),
        "/api/v1/rooms/{room_id}/participants/{participant_id}/",
        "/api/v1/explain/message/",
        "/api/v1/cases/",
        "/api/v1/samples/",
        "/api/v1/samples/{name}/",
        "/api/v1/sessions/{session_id}/lesson/",
        "/api/v1/sessions/{session_id}/lesson/hints/",
        "/api/v1/sessions/{session_id}/lesson/draft/",
        "/api/v1/sessions/{session_id}/explain/",
        "/api/v1/sessions/{session_id}/overview/",
        "/api/v1/sessions/{session_id}/explain/message/",
        "/api/v1/sessions/{session_id}/describe/nodes/{name}/",
        "/api/v1/sessions/{session_id}/describe/pods/{namespace}/{name}/",
        "/api/v1/sessions/{session_id}/devices/",
        "/api/v1/sessions/{session_id}/explain/{namespace}/{name}/",
        "/api/v1/sessions/{session_id}/explain/{namespace}/{name}/change/",
        "/api/v1/sessions/{session_id}/dump/",
        "/api/v1/sessions/{session_id}/objects/",
        "/api/v1/sessions/{session_id}/objects/selected/",
        "/api/v1/sessions/{session_id}/observations/",
        "/api/v1/sessions/{session_id}/agreement/",
        "/api/v1/sessions/{session_id}/what-if/",
        "/api/v1/sessions/{session_id}/export/",
        "/api/v1/audit/",
        "/api/v1/invites/",
        "/api/v1/invites/{invite_id}/",
        "/api/v1/sessions/{session_id}/members/",
        "/api/v1/sessions/{session_id}/members/{user}/",
        "/api/v1/sessions/{session_id}/invites/",
        "/api/v1/sessions/{session_id}/invites/{invite_id}/",
        "/api/v1/experiments/",
        "/api/v1/experiments/{experiment_id}/",
        "/api/v1/experiments/{experiment_id}/results/",
        "/api/v1/experiments/{experiment_id}/variants/",
        "/api/v1/experiments/{experiment_id}/cancel/",
        "/api/v1/experiments/{experiment_id}/pause/",
        "/api/v1/experiments/{experiment_id}/resume/",
        "/api/v1/experiments/{experiment_id}/trials/{number}/session/",
        "/api/v1/sessions/{session_id}/links/",
        "/api/v1/sessions/{session_id}/links/{link_id}/",
    }


def test_every_reference_resolves(openapi):
    def references(value):
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for inner in value.values():
                yield from references(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from references(inner)

    for reference in references(openapi):
        place = openapi
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]


@pytest.mark.django_db
def test_responses_match_the_schema(openapi, people, commits, redis, owner_client):
    commits.chunk(events=3)
    base = f"/api/v1/sessions/{people.session.pk}/"
    owner_client.post(f"{base}commands/", {"op": "cycle", "key": "k"}, format="json")

    requests = {
        "/api/v1/sessions/": "/api/v1/sessions/",
        base: "/api/v1/sessions/{session_id}/",
        f"{base}state/": "/api/v1/sessions/{session_id}/state/",
        f"{base}events/": "/api/v1/sessions/{session_id}/events/",
        f"{base}cycles/": "/api/v1/sessions/{session_id}/cycles/",
        f"{base}commands/1/": "/api/v1/sessions/{session_id}/commands/{seq}/",
    }
    for address, path in requests.items():
        schema = openapi["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate(owner_client.get(address).json(), {**schema, "components": openapi["components"]}, Draft202012Validator)

    refused = owner_client.post(f"{base}commands/", {"op": "fly"}, format="json").json()
    jsonschema.validate(refused, {"$ref": "#/components/schemas/ProblemBody", "components": openapi["components"]}, Draft202012Validator)


def test_the_schema_is_served(client, db):
    assert client.get("/api/v1/schema/?format=json").json()["info"]["title"] == "schedviz"
    assert yaml.safe_load(client.get("/api/v1/schema/?format=yaml").content)["info"]["title"] == "schedviz"


def test_the_schema_is_generated_once_and_does_not_depend_on_the_request(client, db, monkeypatch):
    monkeypatch.setattr(openapi_view, "_documents", {})
    first = client.get("/api/v1/schema/?format=json&version=mine&lang=de")
    monkeypatch.setattr(openapi_view.SchemaView, "generator_class", lambda: pytest.fail("made again"))

    again = client.get("/api/v1/schema/?format=json")
    unchanged = client.get("/api/v1/schema/?format=json", headers={"If-None-Match": first["ETag"]})

    assert (again.content, again["Content-Type"], b"mine" in again.content[:500]) == (first.content, first["Content-Type"], False)
    assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_the_swagger_page_loads_nothing_from_other_hosts(client, db):
    page = client.get("/api/v1/docs/")

    assert page["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.content.decode()):
        assert address.startswith("/")
        if address.startswith("/static/") and "/app/" not in address:
            assert finders.find(address.removeprefix("/static/"))


def test_the_wire_schema_in_docs_is_current():
    assert wire_schema.main(["--check"]) == 0, "run make gen"


def test_messages_match_the_wire_schema():
    schema = wire_schema.wire_schema()
    Draft202012Validator.check_schema(schema)
    to_client = {**schema, "oneOf": [{"$ref": "#/$defs/ToClient"}]}
    to_server = {**schema, "oneOf": [{"$ref": "#/$defs/ToServer"}]}
    state = frames.SessionState(
        id="s", name="n", status="ready", message="", progress=None, clock_seconds=0, cycle=0, event=2, chunk=1, applied_seq=0, last_seq=0
    )
    pod = QueuedPod(pod="default/p")
    events = [
        ClockAdvanced(event=1, at=0.5),
        QueueMoved(event=2, at=0.5, cause="PodAdd", moves=[QueueMove(pod="default/p", target="activeQ", entry=pod)]),
        CycleStarted(event=3, at=0.6, pod="default/p"),
    ]
    view = View(event=2, cache=CacheView(list=[NodeItem(name="node1")]), queue=QueueView(active_q=[pod]))
    sent = [
        zlib.decompress(frames.frame(1, events, state)),
        zlib.decompress(frames.view(1, view, state)),
        frames.ack("k", 1),
        frames.outcome(1, {"result": ""}),
        frames.error("bad", "Bad.", key="k", detail={"path": "$"}),
        frames.gap(1, 3),
        frames.status(state),
        frames.heartbeat(1, 3),
        messages.PONG,
    ]
    for data in sent:
        jsonschema.validate(json.loads(data), to_client, Draft202012Validator)

    jsonschema.validate({"type": "command", "key": "k", "command": {"op": "run", "max": 5}}, to_server, Draft202012Validator)
    jsonschema.validate({"type": "resume", "from": 3}, to_server, Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"type": "command", "key": "k", "command": {"op": "fly"}}, to_server, Draft202012Validator)
