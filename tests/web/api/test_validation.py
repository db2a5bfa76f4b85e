"""Configurations of new sessions are validated by an engine worker: responses, and modules that a web server never loads."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from websockets.sync.client import connect

from schedviz.sessions.models import Session
from schedviz.web.auth.login import make_token
from tests.conftest import REDIS_SOCKET, ROOT, SCRATCH, Worker, test_database_url, until
from tests.web.auth.permission_table import PAGES, ROWS
from tests.web.auth.test_permissions import address_of, addresses
from tests.web.conftest import People

CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
NO_SUCH_PLUGIN = CONFIG | {"profiles": [{"plugins": {"score": {"enabled": [{"name": "Nope"}]}}}]}
REFUSED = [
    ({"config": CONFIG | {"percentageOfNodesToScore": 300}}, "config.percentageOfNodesToScore", "Invalid value: 300"),
    ({"config": CONFIG | {"profilez": []}}, "config.profilez", 'strict decoding error: unknown field "profilez"'),
    ({"config": NO_SUCH_PLUGIN}, "config.profiles", 'ScorePlugin "Nope" does not exist'),
    ({"fakeExtenders": [{"filter": 3}]}, "fakeExtenders", "Expected `object`"),
]
#: The server under test, with one more address: it lists the modules that its process has loaded.
SERVER = """
import json, sys
from schedviz.asgi import application

async def with_modules(scope, receive, send):
    if scope["type"] != "http" or scope["path"] != "/loaded-modules":
        return await application(scope, receive, send)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(sorted(sys.modules)).encode()})

import uvicorn
from schedviz.web.server.head_limit import HeadLimit
uvicorn.run(with_modules, fd=int(sys.argv[1]), http=HeadLimit, ws="websockets-sansio", lifespan="off", log_config=None)
"""

pytestmark = pytest.mark.usefixtures("redis", "transactional_db")


@pytest.mark.parametrize(("members", "path", "message"), REFUSED)
def test_a_configuration_of_a_trace_is_refused_at_once(owner_client, people, engine_worker, members, path, message):
    trace = {"format": "schedviz-trace/1", "steps": [], **members}

    response = owner_client.post("/api/v1/sessions/", {"trace": trace}, format="json")

    assert response.status_code == 400, response.content
    assert response.json()["path"].startswith(f"$.trace.{path}")
    assert message in response.json()["detail"]
    assert list(Session.objects.all()) == [people.session]


@pytest.mark.parametrize(("members", "path", "message"), REFUSED)
def test_a_configuration_among_the_settings_is_refused_at_once(owner_client, people, engine_worker, members, path, message):
    response = owner_client.post("/api/v1/sessions/", {"generate": {}, "settings": members}, format="json")

    assert response.status_code == 400, response.content
    assert response.json()["path"].startswith(f"$.settings.{path}")
    assert message in response.json()["detail"]
    assert list(Session.objects.all()) == [people.session]


def test_a_valid_configuration_makes_a_session(owner_client, people, engine_worker):
    response = owner_client.post("/api/v1/sessions/", {"generate": {}, "settings": {"config": CONFIG}}, format="json")

    assert response.status_code == 201, response.content
    assert Session.objects.get(pk=response.json()["id"]).settings == {"config": CONFIG}


@pytest.mark.parametrize("place", ["beside", "settings", "trace", "upload"])
@pytest.mark.parametrize(
    ("members", "path", "message", "expected", "found"),
    [
        (
            {"release": "v1.31"},
            "release",
            "there is no release 'v1.31'; this version of schedviz simulates v1.27.1 and v1.36",
            "v1.27.1 or v1.36",
            "v1.31",
        ),
        (
            {"release": "v1.36", "featureGates": {"SchedulerQueueingHints": False}},
            "featureGates.SchedulerQueueingHints",
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
            "true",
            "false",
        ),
        (
            {"release": "v1.36", "featureGates": {"Nope": True}},
            "featureGates.Nope",
            "unrecognized feature gate: Nope; there are ClearingNominatedNodeNameAfterBinding, ",
            "ClearingNominatedNodeNameAfterBinding, ",
            "Nope",
        ),
        (
            {"release": "v1.36", "featureGates": {"DRANodeAllocatableResources": True}},
            "featureGates.DRANodeAllocatableResources",
            "cannot set feature gate DRANodeAllocatableResources to true: devices that take a node's allocatable resources are not simulated",
            "false",
            "true",
        ),
        (
            {"featureGates": {"SchedulerAsyncPreemption": True}},
            "featureGates.SchedulerAsyncPreemption",
            "unrecognized feature gate: SchedulerAsyncPreemption; the release has no feature gates",
            "no feature gate",
            "SchedulerAsyncPreemption",
        ),
    ],
)
def test_an_unknown_release_or_feature_gate_is_refused_with_the_known_ones(
    owner_client, people, engine_worker, place, members, path, message, expected, found
):
    prefix, body = {
        "beside": ("$.", {"generate": {}, **members}),
        "settings": ("$.settings.", {"generate": {}, "settings": members}),
        "trace": ("$.trace.", {"trace": {"format": "schedviz-trace/1", "steps": [], **members}}),
        "upload": ("", {name: value if isinstance(value, str) else json.dumps(value) for name, value in members.items()}),
    }[place]
    if place == "upload":
        body["file"] = SimpleUploadedFile("nodes.json", b"{}")

    response = owner_client.post("/api/v1/sessions/", body, format="multipart" if place == "upload" else "json")

    assert response.status_code == 400, response.content
    problem = response.json()
    assert problem["path"] == f"{prefix}{path}"
    assert message in problem["detail"]
    assert problem["expected"].startswith(expected)
    assert problem["found"] == found
    assert list(Session.objects.all()) == [people.session]


def test_a_session_shows_its_release_and_feature_gates(owner_client, engine_worker):
    gates = {"SchedulerAsyncPreemption": False}
    upload = {"file": SimpleUploadedFile("nodes.json", b"{}"), "release": "v1.36", "featureGates": json.dumps(gates)}

    made = owner_client.post("/api/v1/sessions/", {"generate": {}, "release": "v1.36", "featureGates": gates}, format="json").json()
    sent = owner_client.post("/api/v1/sessions/", upload, format="multipart").json()
    plain = owner_client.post("/api/v1/sessions/", {"generate": {}}, format="json").json()

    assert [(one["release"], one["featureGates"]) for one in (made, sent, plain)] == [("v1.36", gates), ("v1.36", gates), ("v1.27.1", {})]


@pytest.fixture
def netloc(people: People) -> Iterator[str]:
    """A web server process of its own, on the database and the Redis of the tests."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "schedviz.settings",
        "SCHEDVIZ_DATABASE_URL": test_database_url(),
        "SCHEDVIZ_REDIS_URL": f"unix://{REDIS_SOCKET}",
        "SCHEDVIZ_DATA": str(SCRATCH),
    }
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-c", SERVER, str(listener.fileno())]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[listener.fileno()])
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        process.terminate()
        process.wait(30)


def request(netloc: str, method: str, path: str, token: str = "", body: object = None) -> tuple[int, bytes]:
    """The status of a response, and its body unless it is an endless stream."""
    connection = http.client.HTTPConnection(netloc, timeout=60)
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    is_endless = response.getheader("Content-Type", "").startswith("text/event-stream")
    answered = response.status, b"" if is_endless else response.read()
    connection.close()
    return answered


def test_a_web_server_loads_neither_the_engine_nor_numpy(people, netloc, engine_worker: Worker, io_worker: Worker):
    token = make_token(people.owner, "a script")
    until(lambda: request(netloc, "GET", "/loaded-modules")[0] == 200)
    # The session that the other requests name is deleted last.
    for row in sorted(ROWS, key=lambda row: row.method == "delete"):
        status, _ = request(netloc, row.method.upper(), address_of(row, people.session.pk), token, row.body)
        assert status != 500, row
    for route in PAGES | {route for route, view in addresses() if view is None}:
        path = re.sub(r"[\^$(].*", "", re.sub(r"<uuid:\w+>", str(people.session.pk), re.sub(r"<str:\w+>", "queue", route)))
        assert request(netloc, "GET", f"/{path}", token)[0] != 500, route
    made = [
        request(netloc, "POST", "/api/v1/sessions/", token, body)[0]
        for body in (
            {"generate": {"nodes": 2}, "settings": {"config": NO_SUCH_PLUGIN}},
            {"generate": {"nodes": 2}, "settings": {"config": CONFIG}},
            {"trace": {"format": "schedviz-trace/1", "config": CONFIG, "steps": []}},
        )
    ]
    session = Session.objects.exclude(pk=people.session.pk).latest("created_at")
    until(lambda: json.loads(request(netloc, "GET", f"/api/v1/sessions/{session.pk}/", token)[1])["status"] != "importing")
    with connect(f"ws://{netloc}/ws/v1/sessions/{session.pk}/", additional_headers={"Authorization": f"Bearer {token}"}) as viewer:
        viewer.recv(timeout=30)
        viewer.send(json.dumps({"type": "command", "key": "k", "command": {"op": "run"}}))
        viewer.recv(timeout=30)

    loaded = json.loads(request(netloc, "GET", "/loaded-modules")[1])

    assert made == [400, 201, 201]
    assert [name for name in loaded if name.split(".")[0] in {"numpy", "pandas"} or name.startswith("schedviz.engine")] == []
