"""OpenTelemetry traces from a request to the worker that executes its command. Off, and not imported, unless SCHEDVIZ_TRACES=1.

OpenTelemetry's own variables (OTEL_EXPORTER_OTLP_ENDPOINT, …) set the destination; the extra `schedviz[otel]` is required. One wake-up can
be for many commands, so the trace context of a command is a key in Redis that expires after a few minutes. If the key is lost, the worker's
spans form a separate trace. Nothing waits for the key, and no result depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import redis
from django.core.exceptions import ImproperlyConfigured

from schedviz import __version__
from schedviz.sessions.redis import stream

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

_CONTEXT_TTL_SECONDS = 600
_HEADERS: Final = ("traceparent", "tracestate")

_tracer: Tracer | None = None


def start_exporting(role: str) -> None:
    """Export the spans of this process as the environment says. Raises `ImproperlyConfigured` without the extra `otel`."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ImproperlyConfigured("SCHEDVIZ_TRACES=1 needs OpenTelemetry: pip install 'schedviz[otel]'.") from error
    provider = TracerProvider(resource=Resource.create({"service.name": f"schedviz-{role}", "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    use(provider)


def use(provider: TracerProvider | None) -> None:
    """Use this provider for spans; None disables them."""
    global _tracer  # noqa: PLW0603
    _tracer = None if provider is None else provider.get_tracer("schedviz", __version__)


def is_on() -> bool:
    """Whether spans are recorded."""
    return _tracer is not None


def span(name: str, **attributes: Any) -> AbstractContextManager[Span | None]:
    """A span around the block, as a child of the current span of this thread or task."""
    if _tracer is None:
        return nullcontext()
    return _tracer.start_as_current_span(name, attributes={f"schedviz.{key}": value for key, value in attributes.items()})


@contextmanager
def request_span(name: str, headers: Mapping[str, str], **attributes: Any) -> Iterator[Span | None]:
    """A span around a request, as a child of the span in its headers, if any."""
    if _tracer is None:
        yield None
        return
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind

    sent = {name: value for name in _HEADERS if (value := headers.get(name))}
    with _tracer.start_as_current_span(name, context=extract(sent), kind=SpanKind.SERVER, attributes=attributes) as made:
        yield made


def pass_context_to_worker(session_id: UUID, seq: int) -> None:
    """Store the current trace context for the worker that executes this command."""
    if _tracer is None:
        return
    from opentelemetry.propagate import inject

    carried: dict[str, str] = {}
    inject(carried)
    if "traceparent" in carried:
        try:
            stream.client().set(_key(session_id, seq), carried["traceparent"], ex=_CONTEXT_TTL_SECONDS)
        except redis.RedisError:
            # The worker's spans form a separate trace.
            return


class CommandSpan:
    """The span of one command in a worker, from its beginning to its outcome, across slices."""

    def __init__(self) -> None:
        self._span: Span | None = None

    def start(self, session_id: UUID, seq: int, op: str) -> None:
        """The command begins, or another owner continues it."""
        self.end()
        if _tracer is not None:
            attributes: dict[str, str | int] = {"schedviz.session": str(session_id), "schedviz.command": seq}
            self._span = _tracer.start_span(f"command {op}", context=_received(session_id, seq), attributes=attributes)

    def within(self) -> AbstractContextManager[Any]:
        """Attribute the work in the block to the command."""
        if self._span is None:
            return nullcontext()
        from opentelemetry.trace import use_span

        return use_span(self._span, end_on_exit=False)

    def end(self, outcome: Mapping[str, Any] | None = None) -> None:
        """The command has ended."""
        if self._span is None:
            return
        for name in ("cycles", "stopped", "error"):
            if outcome and outcome.get(name):
                self._span.set_attribute(f"schedviz.{name}", outcome[name])
        self._span.end()
        self._span = None


def _received(session_id: UUID, seq: int) -> Context | None:
    from opentelemetry.propagate import extract

    try:
        carried: Any = stream.client().getdel(_key(session_id, seq))
    except redis.RedisError:
        return None
    return None if carried is None else extract({"traceparent": carried.decode()})


def _key(session_id: UUID, seq: int) -> str:
    return f"schedviz:trace:{session_id}:{seq}"
