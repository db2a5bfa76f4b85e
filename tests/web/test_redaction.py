"""Log lines and trace spans of every library contain no secrets of URLs."""

from __future__ import annotations

import logging
import logging.config

import pytest
from django.conf import settings
from django.test import Client
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from schedviz.sessions import tracing
from schedviz.web.redaction import redact, redact_address
from tests.web.conftest import People


@pytest.mark.parametrize(
    ("line", "redacted"),
    [
        ("GET https://host/s/1/?at=3&link=SECRET HTTP/1.1", "GET https://host/s/1/?at=3&link=[redacted] HTTP/1.1"),
        ("/login/?once=SECRET", "/login/?once=[redacted]"),
        ("/oidc/callback/?code=SECRET&state=SECRET&iss=x", "/oidc/callback/?code=[redacted]&state=[redacted]&iss=x"),
        ("/login/?next=/s/1/%3Flink%3DSECRET", "/login/?next=/s/1/%3Flink%3D[redacted]"),
        ("database down at /invite/SECRET/", "database down at /invite/[redacted]/"),
        ("no room at /r/SECRET/", "no room at /r/[redacted]/"),
        ("state=running link=3 why? because", "state=running link=3 why? because"),
    ],
)
def test_only_the_secret_of_a_url_is_redacted(line: str, redacted: str) -> None:
    assert redact(line) == redacted


@pytest.mark.parametrize("query", ["?link=SECRET", "?%6Cink=SECRET", '?x="&link=SECRET', "?a?b&link=SECRET"])
def test_a_url_is_logged_without_its_query(query: str) -> None:
    assert redact_address(f"/s/1/{query}") == "/s/1/?[redacted]"
    assert redact_address("/invite/SECRET/") == "/invite/[redacted]/"


def test_a_traceback_is_redacted_too() -> None:
    formatter = logging.config.DictConfigurator(settings.LOGGING).configure_formatter(dict(settings.LOGGING["formatters"]["structured"]))
    try:
        int("https://host/s/1/?link=SECRET")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "it broke", (), (type(error), error, error.__traceback__))

    line = formatter.format(record)

    assert "ValueError: invalid literal" in line
    assert "SECRET" not in line


@pytest.mark.django_db
def test_a_span_contains_no_secret(people: People, redis: object) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(provider)
    try:
        client = Client()
        for address in (
            f"/embed/{people.session.pk}/queue/?link=SECRET",
            "/login/?once=SECRET",
            "/invite/SECRET/",
            "/r/SECRET/",
            "/no/?link=SECRET",
        ):
            client.get(address)
    finally:
        tracing.use(None)

    written = [span.to_json() for span in exporter.get_finished_spans()]
    assert len(written) == 5
    assert not any("SECRET" in span for span in written)
