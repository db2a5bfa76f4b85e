"""Error responses of the REST API, all in the form of RFC 9457: see problem_details.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import structlog
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFilesSent
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response

from schedviz.kube.validation_errors import explain_validation_error
from schedviz.sessions.disk import full_disk
from schedviz.sessions.errors import SessionGone
from schedviz.sessions.models import Session
from schedviz.sessions.postgresql import DatabaseReadOnly
from schedviz.sessions.sqlite.base import DatabaseFileGone
from schedviz.web.api.problem_details import MEDIA_TYPE, problem
from schedviz.web.redaction import printable
from schedviz.web.server.waiting_requests import TooManyWait

log = structlog.get_logger(__name__)

_MEDIA_HINT = "Send JSON with Content-Type: application/json, or files as multipart/form-data."
#: The maximum number of characters of an address that a message quotes.
MAX_QUOTED_CHARACTERS = 200


#: Codes of 503 responses to requests that exceed a limit, or whose result comes later.
_REFUSED_BY_LIMITS: Final = {"busy", "answer_late"}


class ApiError(Exception):
    """A request that is refused. `detail` holds the location (`path`), what was expected, what was found and what to do (`hint`)."""

    def __init__(self, status: int, code: str, message: str, *, headers: dict[str, str] | None = None, **detail: Any) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}
        self.detail = {name: value for name, value in detail.items() if value not in (None, "")}


class Unchanged(Exception):
    """The client already has the current version (304)."""


def not_found(what: str = "session") -> ApiError:
    """404: the resource does not exist, or the client must not learn that it exists."""
    return ApiError(404, "not_found", f"No such {what}, or you do not have access to it.")


DATABASE_DOWN = ("database_down", "The database is unavailable. Nothing was changed. Try again.")
_READ_ONLY = "The database is read-only at the moment, as a standby is after a failover. Nothing was changed. Try again."


def not_stored(error: Exception) -> tuple[int, str, str]:
    """Status, code and message for a failed write to the database or to a directory."""
    if full := full_disk(error):
        return 507, "disk_full", f"{full} This request was not stored. Commands that were accepted before continue once there is space."
    if isinstance(error, DatabaseFileGone):
        return 503, "database_gone", error.for_clients
    if isinstance(error, DatabaseReadOnly):
        return 503, DATABASE_DOWN[0], _READ_ONLY
    return 503, *DATABASE_DOWN


def refusal(status: int, code: str, message: str, detail: dict[str, Any] | None = None, *, headers: Mapping[str, str] = {}) -> HttpResponse:
    """An error response from code outside of REST views."""
    body = msgspec.json.encode(problem(status, code, message, detail), enc_hook=str)
    return HttpResponse(body, status=status, content_type=MEDIA_TYPE, headers={**headers, "Content-Length": str(len(body))})


def struct_error(error: msgspec.ValidationError, data: object = None, type_: Any = None, *, inside: str = "$") -> ApiError:
    """400 for an invalid body, with the path, the expected and the found value.

    If the body and its type are given, the message lists the allowed members.
    """
    fault = explain_validation_error(error, data, type_)
    path = f"{inside}.{fault.path}" if fault.path else inside
    return ApiError(400, "invalid", f"{path}: {fault.message}", path=path, expected=fault.expected, found=fault.found)


def error_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """The response to an exception of a view; for an unexpected one, 500."""
    if isinstance(error, Unchanged):
        return Response(status=304)
    api = _as_api_error(error)
    if (api is None or api.status == 409) and _session_is_gone(context):
        # Deleted meanwhile: without its rows, a request about it fails in many ways.
        api = not_found()
    if api is None:
        request = context.get("request")
        log.error("unexpected error", path=getattr(request, "path", ""), exc_info=error)
        api = ApiError(500, "internal", "An internal error occurred and was logged. The request may be tried again.")
    # Imported here because the module of views imports the parsers, which import this module.
    from rest_framework.views import set_rollback

    set_rollback()
    body = problem(api.status, api.code, api.message, api.detail)
    refused = Response(body, status=api.status, headers=api.headers, content_type=MEDIA_TYPE)
    if api.code in _REFUSED_BY_LIMITS:
        # Django would log it as an error of the server, and clients could raise its alert.
        refused._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001 -- As Django's own handlers do.
    return refused


def _as_api_error(error: Exception) -> ApiError | None:
    match error:
        case ApiError():
            return error
        case SessionGone():
            return not_found()
        case msgspec.ValidationError():
            return struct_error(error)
        case TooManyWait():
            return ApiError(503, "busy", f"{error} Try again in a moment.", headers={"Retry-After": "2"})
        case OperationalError() | InterfaceError():
            status, code, message = not_stored(error)
            log.error(message, error=str(error))
            return ApiError(status, code, message, headers={"Retry-After": "2"})
        case DataError():
            # The text of the error quotes the row, which contains what the client sent.
            return ApiError(400, "invalid", "The request has text that the database cannot store, such as the character U+0000.")
        case OSError() if full_disk(error):
            log.error("an upload was not stored", error=str(error))
            return ApiError(*not_stored(error))
        case Http404():
            return not_found("resource")
        case PermissionDenied():
            return ApiError(403, "forbidden", "You may not do this.")
        case RequestDataTooBig():
            return ApiError(413, "too_large", f"{error} (SCHEDVIZ_BODY_BYTES)")
        case TooManyFilesSent():
            maximum = settings.UPLOAD_FILES
            message = f"The request has more than {maximum:,} files (SCHEDVIZ_UPLOAD_FILES). Send them as one archive, such as a .tar.gz."
            return ApiError(413, "too_large", message, expected=f"at most {maximum} files")
        case exceptions.UnsupportedMediaType():
            return ApiError(415, "unsupported_media_type", str(error.detail), hint=_MEDIA_HINT)
        case exceptions.Throttled():
            wait = max(1, int(getattr(error, "wait", None) or 1))
            return ApiError(429, "too_many_requests", f"Too many requests; try again in {wait} s.", headers={"Retry-After": str(wait)})
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            headers = {"WWW-Authenticate": str(getattr(error, "auth_header", "") or "Bearer")}
            return ApiError(401, "unauthenticated", str(error.detail), headers=headers)
        case exceptions.APIException():
            return ApiError(error.status_code, str(error.default_code), str(error.detail))
        case _:
            return None


def _session_is_gone(context: Mapping[str, Any]) -> bool:
    """Whether the address names a session that does not exist any more, or is being deleted."""
    session_id = (context.get("kwargs") or {}).get("session_id")
    return session_id is not None and Session.is_deleted(session_id)


@csrf_exempt
def no_such_address(request: HttpRequest) -> HttpResponse:
    """404 for an address that does not exist, for every method; a hint names a missing trailing slash."""
    address = printable(request.path, MAX_QUOTED_CHARACTERS)
    hint = "GET /api/v1/schema/ lists all addresses."
    if not request.path.endswith("/"):
        hint = f"Addresses end with a slash: {address}/"
    return refusal(404, "not_found", f"There is no {address}.", {"hint": hint})


@csrf_exempt
def only_by_websocket(request: HttpRequest) -> HttpResponse:
    """426 for an HTTP request to a WebSocket address, whether or not the resource exists."""
    message = f"{printable(request.path, MAX_QUOTED_CHARACTERS)} is a WebSocket address, but the request was plain HTTP."
    return refusal(
        426, "upgrade_required", message, {"hint": "Open it as a WebSocket; see docs/wire.md."}, headers={"Upgrade": "websocket"}
    )
