"""Coming in without a password: the local user of `schedviz up`, its one-time login link, and tokens."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from schedviz.web.authentication import hashed
from schedviz.web.models import LoginLink, Token

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LOCAL_USER = "local"
#: The token whose secret `schedviz up` writes to DATA/token.
LOCAL_TOKEN = "schedviz up"  # noqa: S105 - its name, not its secret
LOGIN_LINK_HOURS = 24


def local_user() -> User:
    """The one user of a server on somebody's own machine; made when missing. It has no password."""
    model = get_user_model()
    user, made = model.objects.get_or_create(username=LOCAL_USER)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def make_login_url(base: str) -> str:
    """A link under `base` (`http://127.0.0.1:8000`) that logs the local user in, once, within a day."""
    secret = secrets.token_urlsafe(24)
    expires = timezone.now() + timedelta(hours=LOGIN_LINK_HOURS)
    LoginLink.objects.filter(expires_at__lte=timezone.now()).delete()
    LoginLink.objects.create(user=local_user(), digest=hashed(secret), expires_at=expires)
    return f"{base.rstrip('/')}/login/?once={secret}"


def redeem(secret: str) -> User | None:
    """The user of a login link, which is used up by this. None where it is unknown, used or expired."""
    with transaction.atomic():
        link = LoginLink.objects.select_related("user").filter(digest=hashed(secret)).first()
        # Of two that come at once, the one whose delete counts a row wins.
        if link is None or LoginLink.objects.filter(pk=link.pk).delete()[0] == 0:
            return None
    return link.user if link.expires_at > timezone.now() and link.user.is_active else None


def make_token(owner: User, name: str, *, scope: str = Token.Scope.WRITE, days: int | None = None) -> str:
    """A new token's secret, which is nowhere else. A token of the same name and owner is replaced."""
    secret = f"schedviz_{secrets.token_urlsafe(32)}"
    expires = timezone.now() + timedelta(days=days) if days is not None else None
    Token.objects.update_or_create(owner=owner, name=name, defaults={"digest": hashed(secret), "scope": scope, "expires_at": expires})
    return secret


def ensure_local_token(secret: str | None) -> str:
    """The secret of the local user's token: the given one (the content of DATA/token) while it is valid, else a new one.

    The caller keeps it in DATA/token, readable by its user alone.
    """
    user = local_user()
    if secret and Token.objects.filter(owner=user, digest=hashed(secret), scope=Token.Scope.WRITE, expires_at=None).exists():
        return secret
    return make_token(user, LOCAL_TOKEN)
