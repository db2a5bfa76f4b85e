"""`/api/v1/sessions/{id}/agreement/`: how often a followed cluster's scheduler decided as this one would have."""

from __future__ import annotations

from typing import cast, get_args
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.explain.shadowing.judgement import Choice, Judgement, Verdict
from schedviz.sessions.models import Session, ShadowedPod
from schedviz.sessions.observing import agreement, breakdown, observations
from schedviz.sessions.observing.agreement import VerdictCounts
from schedviz.sessions.observing.breakdown import Breakdown
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import optional_number, session_for, whole_number
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
_VERDICTS = get_args(Verdict)


class Agreement(Resource):
    """The agreement between the real scheduler and this one."""

    @extend_schema(
        operation_id="getAgreement",
        parameters=[
            query(
                "verdict",
                str,
                f"Return only bindings with these verdicts, separated by commas: {', '.join(_VERDICTS)}.",
                pattern=f"^(({'|'.join(_VERDICTS)}|),)*({'|'.join(_VERDICTS)}|)$",
            ),
            query("before", int, "Return bindings before this event; `next` of the previous page."),
            query(
                "limit",
                int,
                f"Maximum number of bindings: {DEFAULT_PAGE_SIZE} by default, at most {MAX_PAGE_SIZE}. 0 returns only the counts.",
                maximum=MAX_PAGE_SIZE,
            ),
        ],
        responses={200: response(schemas.AgreementBody), 304: NOT_MODIFIED, **error_responses(400, 404)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read the agreement rate, the counts, and each binding with its verdict and the reason, newest first."""
        session = session_for(request, session_id, Verb.SEE)
        limit = whole_number(request, "limit", default=DEFAULT_PAGE_SIZE, maximum=MAX_PAGE_SIZE)
        rows = agreement.bindings(session.pk, _verdicts(request), before=optional_number(request, "before"), limit=limit)
        return versions.versioned(request, _body(session, rows, limit=limit))


def _verdicts(request: Request) -> list[str]:
    raw = request.query_params.get("verdict", "")
    verdicts = [part for part in raw.split(",") if part]
    for verdict in verdicts:
        if verdict not in _VERDICTS:
            expected = ", ".join(_VERDICTS)
            raise ApiError(
                400, "invalid", f"?verdict={raw}: {verdict!r} is none of {expected}.", path="?verdict", expected=expected, found=verdict
            )
    return verdicts


def _body(session: Session, rows: list[ShadowedPod], *, limit: int) -> schemas.AgreementBody:
    observer = observations.observer_of(session.pk)
    return schemas.AgreementBody(
        source=session.follows or (observer.source if observer else None),
        detached="fork" in session.source,
        all=_counts(agreement.counts(session.pk)),
        recent=_counts(agreement.recent(session.pk)),
        of=agreement.RECENT_BINDINGS,
        waiting=agreement.waiting(session.pk),
        queue={queue: schemas.InferredPlace(queued.count, queued.pods) for queue, queued in breakdown.inferred_queue(session.pk).items()},
        breakdown=_breakdown(breakdown.breakdown_of(session.pk)) if limit else None,
        bindings=[_binding(row) for row in rows],
        next=rows[-1].bound_event if rows and len(rows) == limit else None,
    )


def _breakdown(report: Breakdown) -> schemas.AgreementBreakdown:
    return schemas.AgreementBreakdown(
        bindings=report.bindings,
        seconds=report.seconds,
        over_time=[schemas.AgreementInterval(interval.begins, _counts(interval.counts)) for interval in report.over_time],
        profiles={name: _counts(counts) for name, counts in report.profiles.items()},
        plugins=report.plugins,
        causes=report.causes,
    )


def _counts(counts: VerdictCounts) -> schemas.AgreementCounts:
    return schemas.AgreementCounts(
        agrees=counts.agrees,
        not_best=counts.not_best,
        infeasible=counts.infeasible,
        undecided=counts.undecided,
        unjudged=counts.unjudged,
        rate=counts.rate,
    )


def _binding(row: ShadowedPod) -> schemas.ShadowedBinding:
    assert row.bound_event is not None
    return schemas.ShadowedBinding(
        pod=row.pod,
        uid=row.uid,
        node=row.node,
        verdict=cast("Verdict", row.verdict),
        event=row.bound_event,
        judgement=msgspec.convert(row.judgement, Judgement),
        arrived_event=row.arrived_event,
        arrival=None if row.arrival is None else msgspec.convert(row.arrival, Choice),
    )
