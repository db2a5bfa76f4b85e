"""The cookie by which a browser is the same participant again: 128 random bits, signed; of them only the SHA-256 is kept."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.core import signing
from django.http.response import HttpResponseBase

from schedviz.web.authentication import hashed

_SALT: Final = "schedviz.rooms.guest"


def new_secret() -> str:
    return secrets.token_urlsafe(16)


def secret_in(cookie: str) -> str:
    """The secret of a cookie; "" where we did not sign it, or too long ago."""
    try:
        return signing.TimestampSigner(salt=_SALT).unsign(cookie, max_age=settings.ROOM_GUEST_SECONDS)
    except signing.BadSignature:
        return ""


def guest_of(cookies: Mapping[str, str]) -> str:
    """The digest of who has these cookies; "" for who never joined a room."""
    secret = secret_in(cookies.get(settings.ROOM_GUEST_COOKIE, ""))
    return hashed(secret) if secret else ""


def keep(response: HttpResponseBase, secret: str, *, secure: bool) -> None:
    """Give a browser its cookie, or a fresh one of the same secret."""
    response.set_cookie(
        settings.ROOM_GUEST_COOKIE,
        signing.TimestampSigner(salt=_SALT).sign(secret),
        max_age=settings.ROOM_GUEST_SECONDS,
        secure=secure or settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
