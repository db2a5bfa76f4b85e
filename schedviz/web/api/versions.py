"""ETags: which version of something an answer is, so that what somebody has already is not sent, nor computed, again (304), and what
changed since they looked is not overwritten (412).
"""

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
from schedviz.sessions.commands.inbox import Seen
from schedviz.sessions.models import Session
from schedviz.web.api.answer_headers import add_header
from schedviz.web.api.errors import ApiError, Unchanged

_HEAD = re.compile(r"e(\d{1,18})-s(\d{1,18})-[0-9a-f]+")
_encoder = msgspec.json.Encoder(enc_hook=str)


def of_head(session: Session) -> str:
    """The version of the newest state: it changes with every event, every accepted command, and every word about the session."""
    rest = (session.status, session.message, session.progress, session.applied_seq, session.chunk, session.name)
    return f'"e{session.event}-s{session.last_seq}-{_digest(rest)}"'


def of_moment(session: Session, at: int | None) -> str:
    """The version of what was so after event `at`: what is past never changes. None, or what is to come: that of the newest state."""
    if at is None or at >= session.event:
        return of_head(session)
    return f'"e{at}-{_digest(None)}"'


def of_content(body: Any) -> str:
    """The version of something small that has no number: a digest of what it is."""
    return f'"{_digest(body)}"'


def answer_as(request: Request, version: str) -> None:
    """Give the answer this version. Raises `Unchanged` where the one who asks has it (`If-None-Match`)."""
    add_header(request, "ETag", version)
    # A browser may keep it, and has to ask each time whether it still holds, and whether it may still be seen.
    add_header(request, "Cache-Control", "private, no-cache")
    if "If-None-Match" in request.headers:
        plain: HttpRequest = request._request  # noqa: SLF001 -- DRF has no other way to what it wraps.
        same = get_conditional_response(plain, etag=version)
        if same is not None and same.status_code == 304:
            raise Unchanged


def versioned(request: Request, body: Any) -> Response:
    """The answer with the version of what it is. Raises `Unchanged`."""
    answer_as(request, of_content(body))
    return Response(body)


def expect_version(request: Request, version: str) -> None:
    """Raises `ApiError` 412 where the one who changes something has seen another version of it (`If-Match`)."""
    seen = request.headers.get("If-Match", "").strip()
    if seen and seen != "*" and version not in [one.strip() for one in seen.split(",")]:
        raise ApiError(412, "changed", "It was changed since you looked at it.", path="If-Match", expected=version, found=seen[:200])


def seen_head(request: Request) -> Seen | None:
    """What somebody who sends a command had seen of the session: `If-Match` with the ETag of `state/` or `view/`. Raises `ApiError` 400."""
    given = request.headers.get("If-Match", "").strip()
    if given in ("", "*"):
        return None
    found = _HEAD.fullmatch(given.strip('"'))
    if found is None:
        raise ApiError(
            400, "invalid", "If-Match: the ETag of state/ or view/ is expected.", path="If-Match", expected="an ETag", found=given[:200]
        )
    return Seen(event=int(found[1]), seq=int(found[2]))


def _digest(value: Any) -> str:
    return hashlib.blake2b(_encoder.encode((__version__, value)), digest_size=8).hexdigest()
