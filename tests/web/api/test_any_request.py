"""Generated requests from the OpenAPI document: responses match the document, and no request breaks the server.

SCHEDVIZ_TEST_REQUESTS=500 for a long run without workers, SCHEDVIZ_TEST_SECONDS=600 for one against `schedviz up` (see below).
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import requests
import schemathesis
from django.conf import settings as django_settings
from django.core.cache import cache
from schemathesis import Case, GenerationMode

from schedviz.sessions.models import Session
from schedviz.web.api import prefer_wait
from schedviz.web.auth.login import make_token
from schedviz.web.server import request_coalescing
from tests.up.running import Running, starter
from tests.web.api.schema_checks import failures
from tests.web.conftest import Commits, LiveServer, People, make_session

log = logging.getLogger(__name__)
pytestmark = pytest.mark.django_db(transaction=True)

#: How many valid requests of each operation are sent, and how many invalid ones.
REQUESTS = int(os.environ.get("SCHEDVIZ_TEST_REQUESTS", "3"))
#: How many requests all clients together send in the long run.
SECONDS = float(os.environ.get("SCHEDVIZ_TEST_SECONDS", "0"))
#: The name of a private session, which no other user may learn.
SECRET = "takeover-of-initech"
SEED = int(os.environ.get("SCHEDVIZ_TEST_SEED", "1"))


@pytest.fixture
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_coalescing, "WAIT_SECONDS", 0.01)
    monkeypatch.setattr(prefer_wait, "MAX_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(django_settings, "SESSIONS_PER_USER", 50)
    cache.clear()


@pytest.mark.usefixtures("nobody_waits")
def test_no_request_breaks_the_server(web_server: LiveServer, people: People, commits: Commits, caplog: pytest.LogCaptureFixture) -> None:
    commits.chunk(events=5)
    headers = {"Authorization": f"Bearer {make_token(people.owner, 'any request')}"}
    schema = schemathesis.openapi.from_url(f"http://{web_server.netloc}/api/v1/schema/?format=json", headers=headers)
    statuses: dict[int, int] = {}
    results: dict[str, str] = {}

    for each in schema.get_all_operations():
        operation = each.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query):
                continue

            def ask(case: Case) -> None:
                # A new session each time: earlier requests may have deleted it.
                if not Session.objects.filter(pk=people.session.pk).exists():
                    people.session.save(force_insert=True)
                _aim(case, people)
                response = case.call(headers=headers, timeout=60)
                statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
                for kind, told in failures(case, response).items():
                    results[f"{kind} {case.method} {case.path}"] = told
                if response.status_code >= 400 and "json" in response.headers.get("content-type", [""])[0]:
                    assert response.json()["code"], response.text[:500]

            try:
                _many(operation.as_strategy(generation_mode=mode), ask)
            except hypothesis.errors.Unsatisfiable:
                assert mode is GenerationMode.NEGATIVE, "what has no wrong form cannot be asked wrongly"

    assert not results, "\n\n".join(f"{place}: {told}" for place, told in results.items())
    assert set(statuses) >= {200, 201, 400, 404}, "requests were understood, and requests were refused"
    assert not [record for record in caplog.records if "unexpected error" in record.getMessage()]


def _many(strategy: Any, ask: Callable[[Case], None], seed: int = SEED) -> None:
    run = hypothesis.settings(
        max_examples=REQUESTS,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
    )
    hypothesis.seed(seed)(run(hypothesis.given(case=strategy)(ask)))()


def _aim(case: Case, people: People) -> None:
    """Direct a request at the existing session, and request no stream that never ends."""
    if "session_id" in (case.path_parameters or {}):
        deleted = case.method == "DELETE" and str(case.path).endswith("{session_id}/")
        case.path_parameters["session_id"] = str(make_session(people.owner).pk if deleted else people.session.pk)
    if isinstance(case.query, dict):
        case.query.pop("follow", None)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """`schedviz up` with its workers, with room for small clusters."""
    command = [sys.executable, "-m", "schedviz.cli.main", "up", "--port", "0", "--data", str(tmp_path / "data"), "--no-open"]
    room = {"SCHEDVIZ_GENERATE_NODES": "50", "SCHEDVIZ_GENERATE_PODS": "200", "SCHEDVIZ_SESSIONS_PER_USER": "200"}
    for start in starter(tmp_path, lambda _: command):
        yield start(**room)


@pytest.mark.skipif(not SECONDS, reason="SCHEDVIZ_TEST_SECONDS says for how long")
@pytest.mark.parametrize("who", ["owner", "another", "nobody"])
def test_no_request_breaks_a_running_server_or_reveals_a_session(running: Running, tmp_path: Path, who: str) -> None:
    server = running.address()
    owner = {"Authorization": f"Bearer {(tmp_path / 'data/token').read_text().strip()}"}
    asker = {"owner": owner, "another": _another(tmp_path / "data"), "nobody": {}}[who]
    api = f"{server}/api/v1/"
    new = {"generate": {"nodes": 5, "pods": 10}, "name": SECRET}

    def make() -> str:
        made = requests.post(f"{api}sessions/", json=new, headers={**owner, "Prefer": "wait=20"}, timeout=60)
        return str(made.json()["id"]) if made.status_code == 201 else session

    session = ""
    session = make()
    schema = schemathesis.openapi.from_url(f"{api}schema/?format=json", headers=asker)
    results: dict[str, str] = {}
    statuses: dict[int, int] = {}

    def ask(case: Case) -> None:
        if "session_id" in (case.path_parameters or {}):
            deleted = who == "owner" and case.method == "DELETE" and str(case.path).endswith("{session_id}/")
            case.path_parameters["session_id"] = make() if deleted else session
        if isinstance(case.query, dict):
            case.query.pop("follow", None)
        response = case.call(headers=asker, timeout=60)
        statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
        result = failures(case, response)
        if who != "owner" and SECRET in response.text:
            result["Leak"] = f"{case.as_curl_command()}\n{response.text[:1000]}"
        for kind, what in result.items():
            results[f"{kind} {case.method} {case.path}"] = what

    operations = [one.ok() for one in schema.get_all_operations()]
    until = time.monotonic() + SECONDS / 3
    seed = SEED
    while time.monotonic() < until:
        seed += 1
        for operation in operations:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                if time.monotonic() < until:
                    with contextlib.suppress(hypothesis.errors.Unsatisfiable):
                        _many(operation.as_strategy(generation_mode=mode), ask, seed)

    log.info("%s: %d requests to %d operations: %s", who, sum(statuses.values()), len(operations), sorted(statuses.items()))
    assert not results, "\n\n".join(f"{place}: {what}" for place, what in results.items())
    assert "unexpected error" not in running.printed


def _another(data: Path) -> dict[str, str]:
    """The headers of an unrelated user."""
    code = "from django.contrib.auth.models import User; User.objects.create_user('another')"
    environment = {**os.environ, "SCHEDVIZ_DATA": str(data), "DJANGO_SETTINGS_MODULE": "schedviz.settings"}
    for name in ("SCHEDVIZ_DATABASE_URL", "SCHEDVIZ_REDIS_URL"):
        environment.pop(name, None)
    subprocess.run([sys.executable, "-m", "django", "shell", "-c", code], env=environment, check=True, capture_output=True)
    token = [sys.executable, "-m", "schedviz.cli.main", "token", "create", "--user", "another", "--name", "any request"]
    made = subprocess.run(token, env=environment, check=True, capture_output=True, text=True)
    return {"Authorization": f"Bearer {made.stdout.split()[-1]}"}
