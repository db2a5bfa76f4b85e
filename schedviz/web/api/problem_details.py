"""Problem responses (RFC 9457): the codes with their titles, and the response body."""

from __future__ import annotations

from typing import Any

import msgspec

#: Codes and titles. A code never changes its meaning; new codes may be added (docs/rest.md).
TITLES: dict[str, str] = {
    "analysis_failed": "The analysis failed",
    "answer_late": "The result is not ready; retry",
    "answer_too_large": "The result is too large",
    "bad_json": "The body is not JSON",
    "busy": "The server is busy",
    "cannot_follow": "The session cannot follow this source",
    "changed": "The resource has changed",
    "conflict": "The status does not allow this",
    "database_down": "The database is unavailable",
    "database_gone": "The database file was removed or replaced",
    "detail_late": "The details are not ready; retry",
    "disk_full": "A disk is full",
    "extenders_not_allowed": "Your sessions may not call extenders",
    "forbidden": "Permission denied",
    "history_unavailable": "The history is no longer stored",
    "in_progress": "The same request is still running",
    "internal": "Internal error",
    "invalid": "Invalid request",
    "invalid_command": "The command cannot be stored",
    "invalid_source": "The files cannot be read",
    "key_reused": "The key was used for another request",
    "lesson_unreadable": "The lesson cannot be read",
    "method_not_allowed": "Method not allowed",
    "nickname_taken": "The nickname is taken",
    "not_acceptable": "No acceptable media type",
    "not_exportable": "The session cannot be exported",
    "not_forkable": "The session cannot be forked yet",
    "not_found": "Not found, or you do not have access",
    "not_kept": "The object is not stored",
    "nothing_to_cancel": "Nothing to cancel",
    "parse_error": "The body cannot be read",
    "question_closed": "The question is closed",
    "quota_reached": "Quota reached",
    "refused": "Connection refused",
    "removed": "You were removed from the room",
    "request_timeout": "The request timed out",
    "room_ended": "The room has ended",
    "room_full": "The room is full",
    "room_refused": "The room does not allow this",
    "session_error": "The session cannot do this",
    "session_failed": "The session has failed",
    "too_large": "Too large",
    "too_many_breakpoints": "Too many breakpoints",
    "too_many_commands": "Too many commands are waiting",
    "too_many_requests": "Too many requests",
    "too_many_streams": "Too many open streams",
    "unauthenticated": "Authentication required",
    "unsupported_media_type": "Unsupported media type",
    "worker_unavailable": "No engine worker is available",
    "upgrade_required": "A WebSocket connection is required",
    "wrong_batch": "Unexpected batch",
    "wrong_code": "Unknown room code",
    "wrong_host": "The server does not serve this host",
}
MEDIA_TYPE = "application/problem+json"


class ProblemBody(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The body of every error response, `application/problem+json` (RFC 9457). `code` is for programs, `detail` for people.

    `path` names the invalid member (`$.spec` in the body, `?limit` in the query string), `expected` and `found` the valid and the actual
    value, `column` (from 1) the position in a text, `hint` the next step. `error` holds the same in an older form.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    path: str | msgspec.UnsetType = msgspec.UNSET
    expected: str | int | msgspec.UnsetType = msgspec.UNSET
    found: str | int | msgspec.UnsetType = msgspec.UNSET
    column: int | msgspec.UnsetType = msgspec.UNSET
    hint: str | msgspec.UnsetType = msgspec.UNSET
    error: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class ProblemLine(msgspec.Struct, frozen=True):
    """A problem code with its title."""

    code: str
    title: str


class ProblemList(msgspec.Struct, frozen=True):
    """All problem codes."""

    results: list[ProblemLine]


def problem(status: int, code: str, message: str, detail: dict[str, Any] | None = None) -> dict[str, Any]:
    """The body of an error response."""
    members = detail or {}
    return {
        "type": f"/api/v1/problems/#{code}",
        "title": TITLES.get(code, code.replace("_", " ").capitalize()),
        "status": status,
        "detail": message,
        "code": code,
        **{name: value for name, value in members.items() if name not in _RESERVED},
        # The form before RFC 9457, kept for the clients of v1.
        "error": {"code": code, "message": message, "detail": members},
    }


_RESERVED = frozenset({"type", "title", "status", "detail", "code", "error"})
