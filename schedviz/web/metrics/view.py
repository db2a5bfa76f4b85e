"""`GET /metrics`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric

from schedviz.sessions.metrics import process_reports
from schedviz.sessions.metrics.process_reports import Report
from schedviz.web.metrics import scheduler_metrics, service
from schedviz.web.metrics.access import may_read, may_read_names
from schedviz.web.metrics.renamed import with_old_names
from schedviz.web.pages.views import not_found


class _Collected:
    """An adapter: the encoders of prometheus_client expect a registry."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterator[Metric]:
        return iter(self._metrics)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponseBase:
    """All metrics in Prometheus' text format or OpenMetrics; with `?session=ID`, those of one session. 404 without permission."""
    if not may_read(request):
        return not_found(request)
    session_id = request.GET.get("session")
    if session_id is None:
        return _respond(request, [*_service(), *_sessions(with_names=may_read_names(request))])
    try:
        only = UUID(session_id)
    except ValueError:
        return HttpResponse("session: expected the ID of a session.\n", status=400, content_type="text/plain; charset=utf-8")
    if not scheduler_metrics.session_exists(only):
        return HttpResponse("No such session.\n", status=404, content_type="text/plain; charset=utf-8")
    return _respond(request, scheduler_metrics.exported(limit=1, only=only, with_names=may_read_names(request)).metrics)


def _respond(request: HttpRequest, exported: Iterable[Metric]) -> HttpResponse:
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(_Collected(with_old_names(exported))), content_type=content_type)


def _service() -> Iterator[Metric]:
    yield service.build()
    try:
        exported = service.redis_metrics()
        others = process_reports.other_reports(_own().process)
    except service.UNAVAILABLE_ERRORS:
        yield service.is_up("redis", up=False)
        others = []
    else:
        yield service.is_up("redis", up=True)
        yield from exported
    yield from process_reports.merge_reports([_own(), *others])


def _sessions(*, with_names: bool) -> Iterator[Metric]:
    try:
        exported = [*service.database_metrics(), *service.followed_cluster_metrics()]
        schedulers = scheduler_metrics.exported(limit=settings.METRICS_SESSIONS, with_names=with_names)
    except (DatabaseError, InterfaceError):
        yield service.is_up("database", up=False)
        return
    yield service.is_up("database", up=True)
    yield from exported
    yield service.not_exported(schedulers.not_exported)
    yield from schedulers.metrics


def _own() -> Report:
    return process_reports.own_report(settings.ROLE)
