"""ETags: a client that has the current version gets 304 and nothing is computed; a change that is based on an outdated version gets 412."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec
from django.http import HttpRequest
from django.utils.cache import get_conditional_response
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz import __version__
from schedviz.sessions.commands.inbox import ExpectedPosition
from schedviz.sessions.models import Session
from schedviz.web.api.errors import ApiError, Unchanged
from schedviz.web.api.response_headers import add_header

_ETAG_OF_HEAD = re.compile(r"e(\d{1,18})-s(\d{1,18})-[0-9a-f]+")
_encoder = msgspec.json.Encoder(enc_hook=str)


def etag_of_head(session: Session) -> str:
    """The version of the newest state. It changes with every event, every accepted command and every change of the session's status or
    name.
    """
    rest = (session.status, session.message, session.progress, session.applied_seq, session.chunk, session.name)
    return f'"e{session.event}-s{session.last_seq}-{_digest(rest)}"'


def etag_of_moment(session: Session, at: int | None) -> str:
    """The version of the state after event `at`, which never changes; for None or a future event, that of the newest state."""
    if at is None or at >= session.event:
        return etag_of_head(session)
    return f'"e{at}-{_digest(None)}"'


def etag_of_content(body: Any) -> str:
    """The version of a small resource without a number: a digest of its content."""
    return f'"{_digest(body)}"'


def set_etag(request: Request, version: str) -> None:
    """Set the ETag of the response. Raises `Unchanged` if the client has this version (`If-None-Match`)."""
    add_header(request, "ETag", version)
    # A browser may store the response, and must revalidate it each time: access may have been revoked.
    add_header(request, "Cache-Control", "private, no-cache")
    if "If-None-Match" in request.headers:
        plain: HttpRequest = request._request  # noqa: SLF001 -- DRF has no other way to what it wraps.
        same = get_conditional_response(plain, etag=version)
        if same is not None and same.status_code == 304:
            raise Unchanged


def versioned(request: Request, body: Any) -> Response:
    """The response with its ETag. Raises `Unchanged`."""
    set_etag(request, etag_of_content(body))
    return Response(body)


def require_version(request: Request, version: str) -> None:
    """Raises `ApiError` 412 if the client's `If-Match` names another version."""
    seen = request.headers.get("If-Match", "").strip()
    if seen and seen != "*" and version not in [etag.strip() for etag in seen.split(",")]:
        raise ApiError(412, "changed", "It has changed since you read it.", path="If-Match", expected=version, found=seen[:200])


def seen_head(request: Request) -> ExpectedPosition | None:
    """The state that the sender of a command has seen: `If-Match` with the ETag of `state/` or `view/`. Raises `ApiError` 400."""
    etag = request.headers.get("If-Match", "").strip()
    if etag in ("", "*"):
        return None
    match = _ETAG_OF_HEAD.fullmatch(etag.strip('"'))
    if match is None:
        raise ApiError(
            400, "invalid", "If-Match: the ETag of state/ or view/ is expected.", path="If-Match", expected="an ETag", found=etag[:200]
        )
    return ExpectedPosition(event=int(match[1]), seq=int(match[2]))


def _digest(value: Any) -> str:
    return hashlib.blake2b(_encoder.encode((__version__, value)), digest_size=8).hexdigest()
