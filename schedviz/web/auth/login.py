"""Logins without a password: the local user of `schedviz up`, its one-time login link, and tokens; and the page after a login."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db.models import Q
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from schedviz.web.auth.authentication import hashed
from schedviz.web.models import LoginLink, Token

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest

LOCAL_USER = "local"
#: The token whose secret `schedviz up` writes to DATA/token.
LOCAL_TOKEN = "schedviz up"  # noqa: S105 - its name, not its secret
LOGIN_LINK_HOURS = 24
#: How long the same browser may use a login link again: a double click or a reload sends the request twice.
LOGIN_LINK_AGAIN_SECONDS = 60
#: The maximum number of characters of the path after a login.
_MAX_PATH_LENGTH = 2048


def local_user() -> User:
    """The only user of a server on a personal machine, created if missing. It has no password."""
    model = get_user_model()
    user, made = model.objects.get_or_create(username=LOCAL_USER)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def is_reserved(name: str) -> bool:
    """Whether no new account may have this name: operators who omit `--user` create tokens of the local user."""
    return get_user_model().normalize_username(name) == LOCAL_USER


def make_login_url(base: str) -> str:
    """A one-time link under `base` (`http://127.0.0.1:8000`) that logs the local user in, valid for a day."""
    secret = secrets.token_urlsafe(24)
    now = timezone.now()
    expires = now + timedelta(hours=LOGIN_LINK_HOURS)
    LoginLink.objects.filter(Q(expires_at__lte=now) | Q(used_at__lte=_used_up(now))).delete()
    LoginLink.objects.create(user=local_user(), digest=hashed(secret), expires_at=expires)
    return f"{base.rstrip('/')}/login/?once={secret}"


def redeem(secret: str, browser: str) -> User | None:
    """The user of a login link. None if the link is unknown, expired, or already used: by another browser, or more than a minute ago.

    `browser` is a secret of the browser that sent the request.
    """
    now, used_by = timezone.now(), hashed(browser)
    link = LoginLink.objects.select_related("user").filter(digest=hashed(secret), expires_at__gt=now).first()
    if link is None or not link.user.is_active:
        return None
    # Of two simultaneous requests, the one whose update changes a row wins.
    this = LoginLink.objects.filter(pk=link.pk)
    if this.filter(used_at=None).update(used_at=now, used_by=used_by):
        return link.user
    return link.user if this.filter(used_by=used_by, used_at__gt=_used_up(now)).exists() else None


def _used_up(now: datetime) -> datetime:
    """A link whose first use was before this moment is no longer valid."""
    return now - timedelta(seconds=LOGIN_LINK_AGAIN_SECONDS)


def make_token(owner: User, name: str, *, scope: str = Token.Scope.WRITE, days: int | None = None) -> str:
    """The secret of a new token, which is stored nowhere else. Replaces a token with the same name and owner."""
    secret = f"schedviz_{secrets.token_urlsafe(32)}"
    expires = timezone.now() + timedelta(days=days) if days is not None else None
    Token.objects.update_or_create(owner=owner, name=name, defaults={"digest": hashed(secret), "scope": scope, "expires_at": expires})
    return secret


def ensure_local_token(secret: str | None) -> str:
    """The secret of the local user's token: the given one (the content of DATA/token) if it is valid, otherwise a new one.

    The caller stores it in DATA/token, readable only by its user.
    """
    user = local_user()
    if secret and Token.objects.filter(owner=user, digest=hashed(secret), scope=Token.Scope.WRITE, expires_at=None).exists():
        return secret
    return make_token(user, LOCAL_TOKEN)


def local_path(request: HttpRequest, path: str | None) -> str:
    """The page after a login: `path` if it is a path of this server, otherwise `/`."""
    if not path or not path.startswith("/") or len(path) > _MAX_PATH_LENGTH:
        return "/"
    is_local = url_has_allowed_host_and_scheme(path, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return path if is_local else "/"
