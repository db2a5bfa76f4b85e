"""`/api/v1/sessions/{id}/cycles/`: scheduling cycles, as summaries or in full."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.history import reading
from schedviz.sessions.replay import cycle_details
from schedviz.trace.comparing import Summary
from schedviz.trace.view import CycleView
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import names, session_for
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.late_results import late_results
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.paging import Paging, link_pages
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.api.shared_computations import STATES
from schedviz.web.auth.actors import Verb
from schedviz.web.server.request_coalescing import coalesce
from schedviz.web.server.waiting_requests import requester

PAGING: Final = Paging("a cycle", default=100, maximum=1000)
#: Larger pages take up to 0.2 s of the interpreter, and a place among the states of large sessions.
_QUICK_PAGE_SIZE: Final = 200
_SUMMARY_HINT: Final = "?detail=0 returns the stored summary."


class Cycles(Resource):
    """The finished cycles of a session."""

    @extend_schema(
        operation_id="listCycles",
        parameters=PAGING.parameters(),
        responses={200: response(schemas.CycleList), 304: NOT_MODIFIED, **error_responses(400, 404, 503)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """List the summaries of cycles, in order. A page ends after about 4 MiB of summaries."""
        session = session_for(request, session_id, Verb.SEE)
        page = PAGING.page_of(request)
        versions.set_etag(request, versions.etag_of_head(session))
        with STATES.slot() if page.limit > _QUICK_PAGE_SIZE else nullcontext():
            summaries, more = reading.page_of_cycles(session, after=page.after, before=page.before, limit=page.limit, tail=page.tail)
        has_following, has_previous = (page.before is not None, more) if page.tail else (more, page.after > 0)
        following = summaries[-1].cycle.cycle if summaries and has_following else None
        previous = summaries[0].cycle.cycle if summaries and has_previous else None
        link_pages(request, following=following, previous=previous)
        return Response(schemas.CycleList(results=[summary_body(summary) for summary in summaries], next=following, previous=previous))


def summary_body(summary: Summary) -> schemas.CycleSummaryBody:
    """A cycle's summary in its API form."""
    members = {name: getattr(summary.cycle, name) for name in CycleView.__struct_fields__}
    return schemas.CycleSummaryBody(**members, first_event=summary.first_event, last_event=summary.last_event)


class OneCycle(Resource):
    """One scheduling cycle."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="getCycle",
        parameters=[
            query(
                "detail",
                int,
                "0 returns the stored summary (a CycleView) immediately. Otherwise a worker replays the cycle and returns everything.",
                maximum=1,
            ),
            query("nodes", str, "Return only these nodes in lists and tables by node, separated by commas."),
            query("plugins", str, "Return only these plugins in lists and tables by plugin, separated by commas."),
        ],
        responses={
            200: OpenApiResponse(
                response={"type": "object", "additionalProperties": True},
                description="The `cycle` of a schedviz-trace/1 `observed`, with its binding; a CycleSummaryBody with ?detail=0.",
            ),
            304: NOT_MODIFIED,
            **error_responses(400, 404, 409, 507),
        },
    )
    def get(self, request: Request, session_id: UUID, cycle: int) -> Response:
        """Read one cycle: each plugin's verdict on each node, the scores, the chosen node."""
        session = session_for(request, session_id, Verb.SEE)
        summary = reading.cycle_summary(session.pk, cycle)
        if summary is None:
            raise not_found("cycle")
        # A finished cycle does not change, but its binding, which is part of the response, may still be in progress.
        versions.set_etag(
            request, versions.etag_of_head(session) if summary.cycle.outcome == "scheduled" else versions.etag_of_content(summary)
        )
        if request.query_params.get("detail") == "0":
            return Response(summary_body(summary))
        return Response(select(_detail(session.pk, cycle), nodes=names(request, "nodes"), plugins=names(request, "plugins")))


def _detail(session_id: UUID, cycle: int) -> dict[str, Any]:
    try:
        session_id = cycle_details.session_of_cycle(session_id, cycle)
        if (stored := cycle_details.stored_detail(session_id, cycle)) is not None:
            return stored

        def wait(seconds: float) -> dict[str, Any]:
            return cycle_details.cycle_detail(session_id, cycle, timeout_seconds=seconds, sender=requester.get())

        with late_results(cycle_details.DetailLate.code, hint=_SUMMARY_HINT):
            return coalesce(cycle_details.flight_key(session_id, cycle), wait, late=cycle_details.DetailLate)
    except (HistoryUnavailable, cycle_details.DetailTooSlow) as error:
        raise ApiError(409, error.code, str(error), hint=_SUMMARY_HINT) from error
    except cycle_details.DetailNotStored as error:
        raise ApiError(507, error.code, str(error), hint=_SUMMARY_HINT) from error


def select(cycle: dict[str, Any], *, nodes: frozenset[str] | None, plugins: frozenset[str] | None) -> dict[str, Any]:
    """The cycle with only these nodes and plugins in its lists and tables. Members about the whole cycle are kept."""
    chosen = dict(cycle)
    if nodes is not None:
        _filter_list(chosen, "filter", lambda entry: entry["node"] in nodes)
        for name in ("feasible", "tied", "preFilterNodes"):
            _filter_list(chosen, name, lambda node: node in nodes)
        if isinstance(chosen.get("totals"), dict):
            chosen["totals"] = _of(chosen["totals"], nodes)
        for name in ("scores", "extenderScores"):
            if isinstance(chosen.get(name), dict):
                chosen[name] = {key: _score_of(table, nodes) for key, table in chosen[name].items()}
    if plugins is not None:
        for name in ("preFilter", "filter", "preScore", "reserve", "permit"):
            _filter_list(chosen, name, lambda entry: entry["plugin"] in plugins)
        if isinstance(chosen.get("scores"), dict):
            chosen["scores"] = _of(chosen["scores"], plugins)
    return chosen


def _filter_list(cycle: dict[str, Any], member: str, is_kept: Callable[[Any], bool]) -> None:
    """Keep in a list of the cycle, if it has it, only some of its entries."""
    if isinstance(cycle.get(member), list):
        cycle[member] = [entry for entry in cycle[member] if is_kept(entry)]


def _of(table: dict[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key in keys}


def _score_of(table: dict[str, Any], nodes: frozenset[str]) -> dict[str, Any]:
    return {name: _of(value, nodes) if isinstance(value, dict) else value for name, value in table.items()}
