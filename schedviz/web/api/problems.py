"""What can go wrong with a request, as RFC 9457 has it: a type for programs, a title, and what is known of this one."""

from __future__ import annotations

from typing import Any

import msgspec

#: Code and title. A code never changes its meaning; new ones may come (docs/rest.md).
TITLES: dict[str, str] = {
    "answer_late": "The answer is being made; ask again",
    "bad_json": "The body is not JSON",
    "busy": "The server is busy",
    "cannot_follow": "The session cannot follow this source",
    "changed": "It is not as you saw it any more",
    "database_down": "The database does not answer",
    "database_gone": "The database file was removed or replaced",
    "detail_late": "The details are being made; ask again",
    "disk_full": "A disk is full",
    "extenders_not_allowed": "Your sessions may not call extenders",
    "forbidden": "You may look, and not do this",
    "history_unavailable": "What was asked for is not stored any more",
    "in_progress": "The same request is being worked on",
    "internal": "A bug of ours",
    "invalid": "Something in the request is wrong",
    "invalid_command": "The command cannot be stored",
    "invalid_source": "The files cannot be read",
    "key_reused": "The key was used for another request",
    "lesson_unreadable": "The lesson cannot be read",
    "method_not_allowed": "The address has no such method",
    "nickname_taken": "Somebody in the room has that name",
    "not_acceptable": "There is no such representation",
    "not_exportable": "No file can tell this session",
    "not_forkable": "There is nothing to fork yet",
    "not_found": "It does not exist, or you may not see it",
    "not_kept": "It is not kept",
    "nothing_to_cancel": "Nothing is going on",
    "parse_error": "The body cannot be read",
    "question_closed": "The question is closed",
    "quota_reached": "A quota is used up",
    "refused": "The connection is refused",
    "removed": "You were removed from the room",
    "request_timeout": "The request stopped arriving",
    "room_ended": "The room has ended",
    "room_full": "The room is full",
    "room_refused": "The room refuses this",
    "session_error": "The session cannot do this",
    "session_failed": "The session has failed",
    "too_large": "Too large",
    "too_many_breakpoints": "No room for one more breakpoint",
    "too_many_commands": "Too many commands wait",
    "too_many_requests": "Too many requests",
    "too_many_streams": "Too many look at it",
    "unauthenticated": "A login or a token is needed",
    "unsupported_media_type": "Another Content-Type is needed",
    "worker_unavailable": "No engine worker is available",
    "wrong_batch": "Another batch is expected",
    "upgrade_required": "A WebSocket is needed",
    "wrong_code": "No room has this code",
    "wrong_host": "The server does not serve this host",
}
MEDIA_TYPE = "application/problem+json"


class ProblemBody(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What every refused request gets, as `application/problem+json` (RFC 9457). `code` is for programs, `detail` for people.

    `path` says where in the request it is wrong (`$.spec` in the body, `?limit` in the query string), `expected` and `found` what should
    be and is there, `column` (from 1) where in a text, `hint` what to do. `error` tells the same in an older form.
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
    """A kind of problem."""

    code: str
    title: str


class ProblemList(msgspec.Struct, frozen=True):
    """All kinds of problems."""

    results: list[ProblemLine]


def problem(status: int, code: str, message: str, detail: dict[str, Any] | None = None) -> dict[str, Any]:
    """The body of a refusal."""
    known = detail or {}
    return {
        "type": f"/api/v1/problems/#{code}",
        "title": TITLES.get(code, code.replace("_", " ").capitalize()),
        "status": status,
        "detail": message,
        "code": code,
        **{name: value for name, value in known.items() if name not in _RESERVED},
        # As it was before it had RFC 9457's form; whoever reads it goes on reading it as long as this is v1.
        "error": {"code": code, "message": message, "detail": known},
    }


_RESERVED = frozenset({"type", "title", "status", "detail", "code", "error"})
