"""Requests that nobody would write, made from the OpenAPI document: none of them breaks the server. SCHEDVIZ_TEST_REQUESTS=500 for a long run."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.conf import settings as django_settings
from django.core.cache import cache
from schemathesis import Case, GenerationMode

from schedviz.sessions.models import Session
from schedviz.web.api import compare, cycles, explain, waiting
from schedviz.web.login import make_token
from tests.web.conftest import Commits, LiveServer, People, make_session

pytestmark = pytest.mark.django_db(transaction=True)

#: Of each operation, as the schema allows them, and as many as it forbids.
REQUESTS = int(os.environ.get("SCHEDVIZ_TEST_REQUESTS", "3"))
SEED = int(os.environ.get("SCHEDVIZ_TEST_SEED", "1"))
#: No worker is there to answer these.
LATE = {"answer_late", "detail_late"}


@pytest.fixture
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "WAIT_SECONDS", 0.01)
    monkeypatch.setattr(cycles, "DETAIL_SECONDS", 0.01)
    monkeypatch.setattr(compare, "DETAIL_SECONDS", 0.01)
    monkeypatch.setattr(waiting, "LONGEST_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(django_settings, "SESSIONS_PER_USER", 50)
    cache.clear()


@pytest.mark.usefixtures("nobody_waits")
def test_no_request_breaks_the_server(web_server: LiveServer, people: People, commits: Commits, caplog: pytest.LogCaptureFixture) -> None:
    commits.chunk(events=5)
    headers = {"Authorization": f"Bearer {make_token(people.owner, 'any request')}"}
    schema = schemathesis.openapi.from_url(f"http://{web_server.netloc}/api/v1/schema/?format=json", headers=headers)
    statuses: dict[int, int] = {}

    for found in schema.get_all_operations():
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query):
                continue

            def ask(case: Case) -> None:
                # Each by itself: what was asked before may have deleted it.
                if not Session.objects.filter(pk=people.session.pk).exists():
                    people.session.save(force_insert=True)
                _aim(case, people)
                response = case.call(headers=headers, timeout=60)
                statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
                assert response.status_code < 500 or _is_late(response), f"{case.as_curl_command()}\n{response.text[:2000]}"
                if response.status_code >= 400 and "json" in response.headers.get("content-type", [""])[0]:
                    assert response.json()["code"], response.text[:500]

            try:
                _many(operation.as_strategy(generation_mode=mode), ask)
            except hypothesis.errors.Unsatisfiable:
                assert mode is GenerationMode.NEGATIVE, "what has no wrong form cannot be asked wrongly"

    assert set(statuses) >= {200, 201, 400, 404}, "requests were understood, and requests were refused"
    assert not [record for record in caplog.records if "unexpected error" in record.getMessage()]


def _many(strategy: Any, ask: Callable[[Case], None]) -> None:
    run = hypothesis.settings(
        max_examples=REQUESTS,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
    )
    hypothesis.seed(SEED)(run(hypothesis.given(case=strategy)(ask)))()


def _aim(case: Case, people: People) -> None:
    """At the session that is there; a stream that never ends is none of these requests' business."""
    if "session_id" in (case.path_parameters or {}):
        deleted = case.method == "DELETE" and str(case.path).endswith("{session_id}/")
        case.path_parameters["session_id"] = str(make_session(people.owner).pk if deleted else people.session.pk)
    if isinstance(case.query, dict):
        case.query.pop("follow", None)


def _is_late(response: Any) -> bool:
    return response.status_code == 503 and response.json().get("code") in LATE
