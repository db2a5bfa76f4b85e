"""`/api/v1/audit/`: the audit log, for staff."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.web.accounts import audit, schemas
from schedviz.web.accounts.models import AuditEntry
from schedviz.web.api.access import optional_number, require_staff, whole_number
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import error_responses, response
from schedviz.web.api.resource import Resource, query

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000


class Audit(Resource):
    """The audit log."""

    @extend_schema(
        operation_id="listAudit",
        parameters=[
            query("before", int, "Return entries before this `id`: the `next` of the previous page."),
            query(
                "limit", int, f"Maximum number of entries: {DEFAULT_PAGE_SIZE} by default, at most {MAX_PAGE_SIZE}.", maximum=MAX_PAGE_SIZE
            ),
            query("action", str, "The action.", choices=tuple(audit.Action)),
            query("user", str, "The name of the user."),
            query("session", str, "The id of the session, which may be deleted."),
        ],
        responses={200: response(schemas.AuditList), **error_responses(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        """List the audit log, newest first."""
        require_staff(request)
        filters = {name: request.query_params.get(name, "").replace("\0", "") for name in ("action", "user")}
        entries = audit.entries(**filters, session=_session(request))
        if (before := optional_number(request, "before")) is not None:
            entries = entries.filter(pk__lt=before)
        limit = max(1, whole_number(request, "limit", default=DEFAULT_PAGE_SIZE, maximum=MAX_PAGE_SIZE))
        page = list(entries[: limit + 1])
        following = page[limit - 1].pk if len(page) > limit else None
        return Response(schemas.AuditList(results=[_line(entry) for entry in page[:limit]], next=following))


def _session(request: Request) -> UUID | None:
    raw = request.query_params.get("session", "")
    try:
        return UUID(raw) if raw else None
    except ValueError as error:
        raise ApiError(400, "invalid", "?session: the id of a session is expected.", path="?session", expected="a UUID") from error


def _line(entry: AuditEntry) -> schemas.AuditLine:
    return schemas.AuditLine(
        id=entry.pk,
        at=entry.at,
        action=entry.action,
        user=entry.user_name,
        by_way_of=entry.by_way_of,
        address=entry.address,
        session=None if entry.session is None else str(entry.session),
        facts=entry.facts,
    )
