"""A trace connects the request of a command with the worker that applied it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from schedviz.sessions import tracing
from tests.conftest import ROOT, RedisServer
from tests.sessions.conftest import MakeSession, send, work_off


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(provider)
    yield exporter
    tracing.use(None)


def test_the_worker_continues_the_trace_of_the_client(make_session: MakeSession, spans: InMemorySpanExporter) -> None:
    session_id = make_session(pods=3)
    with tracing.request_span("POST", {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}):
        seq = send(session_id, "run")

    work_off(session_id)

    made = {span.name: span for span in spans.get_finished_spans()}
    assert {"POST", "accept", "command run"} <= made.keys()
    assert {format(span.context.trace_id, "032x") for span in made.values()} == {"0af7651916cd43dd8448eb211c80319c"}
    assert made["accept"].parent.span_id == made["POST"].context.span_id
    assert made["command run"].parent.span_id == made["accept"].context.span_id
    attributes = made["command run"].attributes
    assert (attributes["schedviz.session"], attributes["schedviz.command"], attributes["schedviz.cycles"]) == (str(session_id), seq, 3)


def test_a_command_whose_trace_was_lost_starts_a_new_one(
    make_session: MakeSession, spans: InMemorySpanExporter, redis: RedisServer
) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    tracing.stream.client().flushall()

    work_off(session_id)

    (command,) = [span for span in spans.get_finished_spans() if span.name == "command cycle"]
    assert command.parent is None


def test_commands_are_executed_while_redis_is_down(make_session: MakeSession, spans: InMemorySpanExporter, redis: RedisServer) -> None:
    session_id = make_session()
    redis.kill()
    try:
        send(session_id, "cycle")
        session = work_off(session_id)
    finally:
        redis.start()

    assert session.applied_seq == 1


def test_no_exporter_is_imported_if_tracing_is_off() -> None:
    code = (
        "import django, sys; django.setup(); import schedviz.sessions.hosting.worker_loop, schedviz.web.request_log; "
        "print([name for name in sys.modules if name.startswith('opentelemetry.exporter')])"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "schedviz.settings"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
