"""Authentication: a login cookie for browsers, `Authorization: Bearer` for scripts."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

    from schedviz.sessions.models import ShareLink
    from schedviz.sessions.queries.rows import RowBy
    from schedviz.web.models import Token


def hashed(secret: str) -> str:
    """The stored form of the secret of a token, a share link or a login link: SHA-256. Secrets have at least 128 random bits, so no salt is
    needed.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def find_token(secret: str) -> Token | None:
    """The token with this secret, if it is neither expired nor revoked."""
    token = _token_of()(hashed(secret))
    if token is None or (token.expires_at is not None and token.expires_at <= timezone.now()):
        return None
    return token if token.owner.is_active else None


@functools.cache
def _token_of() -> RowBy[Token]:
    """Read together with its owner for each request of a script."""
    from schedviz.sessions.queries.rows import RowBy
    from schedviz.web.models import Token

    return RowBy(Token, "digest", with_related="owner")


def find_link(secret: str) -> ShareLink | None:
    """The share link with this secret, if it is not revoked."""
    from schedviz.sessions.models import ShareLink

    return ShareLink.objects.filter(digest=hashed(secret), revoked_at=None).first()


def bearer_secret(header: bytes) -> str | None:
    """The secret of an `Authorization: Bearer …` header; None for other headers or none."""
    scheme, _, secret = header.decode("latin-1").strip().partition(" ")
    return secret.strip() if scheme.lower() == "bearer" and secret.strip() else None


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`, for scripts; or the secret of a share link, which is read-only."""

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser | AnonymousUser, Token | ShareLink] | None:
        secret = bearer_secret(get_authorization_header(request))
        if secret is None:
            return None
        token = find_token(secret)
        if token is None and (link := find_link(secret)) is not None:
            return AnonymousUser(), link
        if token is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked. Create one with: schedviz token create --name NAME")
        return token.owner, token

    def authenticate_header(self, _request: Request) -> str:
        return 'Bearer realm="schedviz"'


class CookieAuthentication(SessionAuthentication):
    """The login cookie of a browser. Requests that change data also need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, None] | None:
        authenticated = super().authenticate(request)
        session = getattr(request, "session", None)
        admitted = any(name in request.COOKIES for name in (settings.ROOM_GUEST_COOKIE, settings.LINKS_COOKIE))
        if authenticated is None and (admitted or (session is not None and session.get("schedviz_links"))):
            # A client without an account, admitted by a share link or a room: the cookie carries a permission, so it needs CSRF protection
            # too.
            self.enforce_csrf(request)
        return authenticated


class _BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "schedviz.web.auth.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, _auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class _CookieScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "schedviz.web.auth.authentication.CookieAuthentication"
    name = "cookie"

    def get_security_definition(self, _auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
