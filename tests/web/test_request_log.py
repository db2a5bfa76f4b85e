"""Log lines of a request and of a command carry the ids by which they are found again."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.conf import settings as django_settings
from django.test import Client
from rest_framework.test import APIClient

from tests.web.conftest import People

pytestmark = pytest.mark.django_db


class Lines(logging.Handler):
    """The log of a process, as JSON."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        chain = django_settings.LOGGING["formatters"]["structured"]["foreign_pre_chain"]
        render = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()]
        self.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=chain, processors=render))
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    handler, logger = Lines(), logging.getLogger("schedviz")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler.lines
    logger.removeHandler(handler)
    logger.setLevel(level)


def test_a_request_has_an_id_that_the_response_repeats(client: Client, redis: object) -> None:
    first, second = client.get("/healthz"), client.get("/healthz")

    assert first.headers["X-Request-ID"] != second.headers["X-Request-ID"]


def test_the_request_id_of_a_proxy_is_kept(client: Client, redis: object) -> None:
    assert client.get("/healthz", headers={"x-request-id": "from-the-proxy-1"}).headers["X-Request-ID"] == "from-the-proxy-1"


@pytest.mark.parametrize("sent", ["a b", "<script>", "x" * 129, "line\u2028break"])
def test_a_request_id_that_could_corrupt_a_log_is_replaced(client: Client, redis: object, sent: str) -> None:
    assert client.get("/healthz", headers={"x-request-id": sent}).headers["X-Request-ID"] != sent


def test_requests_are_logged_if_the_setting_is_on(client: Client, redis: object, settings: Any, lines: list[dict[str, Any]]) -> None:
    client.get("/healthz")
    assert lines == []
    settings.LOG_REQUESTS = True

    response = client.get("/healthz")

    (line,) = lines
    assert (line["event"], line["method"], line["route"], line["status"]) == ("request", "GET", "healthz", response.status_code)
    assert line["request"] == response.headers["X-Request-ID"]


def test_a_command_is_logged_with_its_session_number_and_request(people: People, redis: object, lines: list[dict[str, Any]]) -> None:
    client: APIClient = people.client("owner-token")
    address = f"/api/v1/sessions/{people.session.pk}/commands/"

    response = client.post(address, {"op": "cycle"}, format="json", headers={"idempotency-key": "one"})

    assert response.status_code == 202, response.content
    (line,) = [line for line in lines if line["event"] == "command accepted"]
    assert (line["session"], line["command"], line["op"]) == (str(people.session.pk), 1, "cycle")
    assert line["request"] == response.headers["X-Request-ID"]


def test_the_logging_context_of_a_request_ends_with_it(people: People, redis: object) -> None:
    people.client("owner").get(f"/api/v1/sessions/{people.session.pk}/")

    assert "session" not in structlog.contextvars.get_contextvars()
