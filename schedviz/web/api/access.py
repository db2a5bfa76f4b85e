"""Access checks of every resource: the session in the address, the permission of the client, the query string and the body."""

from __future__ import annotations

from typing import Any, TypeVar
from uuid import UUID

import msgspec
from rest_framework.request import Request

from schedviz.kube.validation_errors import describe
from schedviz.sessions.models import Session
from schedviz.sessions.queries.rows import RowBy
from schedviz.web.api.errors import ApiError, not_found, struct_error
from schedviz.web.auth.actors import Actor, Role, Verb
from schedviz.web.auth.permissions import actor_of, may, role_of

T = TypeVar("T")


#: Read for nearly every request.
_session_of = RowBy(Session, "id")


def session_for(request: Request, session_id: UUID, verb: Verb) -> Session:
    """The session, if the client has this permission for it. Raises `ApiError`: 404 without access, 403 without the permission."""
    actor = actor_of(request)
    session = _session_of(session_id)
    if session is None or not may(actor, Verb.SEE, session):
        raise not_found()
    if not may(actor, verb, session):
        raise forbidden(actor, verb)
    return session


def actor_for(request: Request, verb: Verb) -> Actor:
    """The client, if it has this permission. For actions that need no session. Raises `ApiError` 401 or 403."""
    actor = actor_of(request)
    if may(actor, verb):
        return actor
    if not actor.has_account:
        raise ApiError(
            401,
            "unauthenticated",
            "This request requires a login or a token.",
            headers={"WWW-Authenticate": 'Bearer realm="schedviz"'},
            hint="Send Authorization: Bearer <token>; create a token with: schedviz token create --name NAME",
        )
    raise forbidden(actor, verb)


def forbidden(actor: Actor, verb: Verb) -> ApiError:
    """A 403 that names the missing permission."""
    if actor.read_only:
        return ApiError(
            403,
            "forbidden",
            "This token has the scope read, which does not allow changes.",
            hint="Create a token with: schedviz token create --scope write --name NAME",
        )
    return ApiError(403, "forbidden", f"You may view this session, but not {verb} it.", hint="Ask its owner.")


def role_for(request: Request, session: Session) -> Role:
    """The client's role in a session that it may see. Raises `ApiError` 404 if it has lost the permission during the request."""
    role = role_of(actor_of(request), session)
    if role is None:
        raise not_found()
    return role


def whole_number(request: Request, name: str, *, default: int, maximum: int | None = None) -> int:
    """A number of 0 or more from the query string, at most `maximum`. Raises `ApiError` 400."""
    value = optional_number(request, name)
    number = default if value is None else value
    return number if maximum is None else min(number, maximum)


def one_of(request: Request, name: str, choices: tuple[str, ...]) -> str:
    """The value of `?name=`, one of the given words; the first if the parameter is missing or empty. Raises `ApiError` 400."""
    value = request.query_params.get(name) or choices[0]
    if value not in choices:
        expected = " or ".join(choices)
        raise ApiError(400, "invalid", f"?{name}={value}: {expected} was expected.", path=f"?{name}", expected=expected, found=value)
    return value


def optional_number(request: Request, name: str) -> int | None:
    """A number of 0 or more from the query string; None if the parameter is missing or empty. Raises `ApiError` 400."""
    raw = request.query_params.get(name)
    if raw is None or raw == "":
        return None
    if not raw.isascii() or not raw.isdigit() or len(raw) > 18:
        raise ApiError(
            400, "invalid", f"?{name}={raw}: a whole number of 0 or more is expected.", path=f"?{name}", expected="int", found=raw
        )
    return int(raw)


def names(request: Request, name: str) -> frozenset[str] | None:
    """A comma-separated list from the query string; None if the parameter is missing or empty."""
    raw = request.query_params.get(name)
    return frozenset(part.strip() for part in raw.split(",") if part.strip()) if raw else None


def body_as(type_: type[T], request: Request) -> T:
    """The body, decoded as this struct. Raises `ApiError` 400."""
    body = json_object(request)
    try:
        return msgspec.convert(body, type_)
    except msgspec.ValidationError as error:
        raise struct_error(error, body, type_) from error


def json_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object. Raises `ApiError` 400."""
    body: Any = request.data
    if not isinstance(body, dict):
        actual = describe(body)
        raise ApiError(400, "invalid", f"$: expected an object, found {actual}", path="$", expected="an object", found=actual)
    return body


def require_staff(request: Request, *, changing: bool = False) -> None:
    """Raises `ApiError` 401 for an anonymous client, and 403 for a user who is not staff or, if `changing`, for a read-only token."""
    actor = actor_for(request, Verb.LIST)
    if not getattr(request.user, "is_staff", False):
        raise ApiError(403, "forbidden", "This requires a staff account on this server.", hint="Ask the administrator of the server.")
    if changing and actor.read_only:
        raise forbidden(actor, Verb.CREATE)
