"""Signing in with a provider of OpenID Connect: the authorization code flow with PKCE, state and nonce; off unless it is configured.

Authlib speaks the protocol: discovery, the code, the token's signature, issuer, audience, times and nonce. Here is who that makes one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth import login as log_in
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from schedviz.web.accounts.audit import Action, record
from schedviz.web.accounts.models import Identity
from schedviz.web.pages.shell import page
from schedviz.web.pages.views import not_found
from schedviz.web.pages.words import words_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

log = structlog.get_logger(__name__)

_NEXT_KEY = "schedviz_oidc_next"
#: The provider's answer is waited for so long.
_TIMEOUT_SECONDS = 10.0
BACKEND = "django.contrib.auth.backends.ModelBackend"


class NotWelcome(Exception):  # noqa: N818 -- says what is the matter.
    """The provider knows them, and they have no place here."""


def is_on() -> bool:
    """Whether a provider is configured."""
    return bool(settings.OIDC_ISSUER)


@require_GET
@never_cache
def begin(request: HttpRequest) -> HttpResponse:
    """`/oidc/login/`: on to the provider."""
    if not is_on():
        return not_found(request)
    following = request.GET.get("next") or "/"
    if not url_has_allowed_host_and_scheme(following, allowed_hosts={request.get_host()}, require_https=request.is_secure()):
        following = "/"
    request.session[_NEXT_KEY] = following
    try:
        answer: HttpResponse = _provider().authorize_redirect(request, request.build_absolute_uri(reverse("oidc-callback")))
    except Exception as error:  # noqa: BLE001 -- whatever keeps the provider from answering
        return _refused(request, error)
    return answer


@require_GET
@never_cache
def callback(request: HttpRequest) -> HttpResponse:
    """`/oidc/callback/`: back from the provider, with a code, or with a refusal."""
    if not is_on():
        return not_found(request)
    following = request.session.pop(_NEXT_KEY, "/")
    try:
        # Signature, issuer, audience, times, nonce; and the state, which belongs to this browser and is used up by this.
        claims = _provider().authorize_access_token(request, leeway=30)["userinfo"]
        user = user_of(dict(claims))
    except NotWelcome as error:
        log.info("OpenID Connect: not welcome", error=str(error))
        record(Action.LOGIN_FAILED, request, why="not welcome")
        return page(request, "web/login.html", status=403, message=words_of(request)["oidc_not_welcome"], next=following)
    except Exception as error:  # noqa: BLE001 -- a wrong token raises whatever Authlib and joserfc have for it
        return _refused(request, error)
    log_in(request, user, backend=BACKEND)
    return redirect(following)


def user_of(claims: dict[str, Any]) -> User:
    """The user that claims are about, made where that is allowed. Raises `NotWelcome`.

    The issuer and the subject decide, never a name or an address of mail: those can be given to somebody else.
    """
    subject = str(claims.get("sub") or "")
    if not subject or len(subject) > 255:
        raise NotWelcome("no subject")
    if settings.OIDC_GROUP and settings.OIDC_GROUP not in _listed(claims.get(settings.OIDC_GROUPS_CLAIM)):
        raise NotWelcome(f"not in {settings.OIDC_GROUP}")
    identity = Identity.objects.select_related("user").filter(issuer=settings.OIDC_ISSUER, subject=subject).first()
    if identity is None:
        if not settings.OIDC_MAKES_ACCOUNTS:
            raise NotWelcome("has no account")
        identity = _new_identity(subject, claims)
    if not identity.user.is_active:
        raise NotWelcome("shut out")
    _follow_staff_group(identity.user, claims)
    return identity.user


def _new_identity(subject: str, claims: dict[str, Any]) -> Identity:
    wanted = str(claims.get("preferred_username") or str(claims.get("email") or "").partition("@")[0] or "user")
    name = "".join(letter for letter in wanted if letter.isalnum() or letter in "@.+-_")[:140] or "user"
    model = get_user_model()
    for attempt in range(1, 1000):
        # A name that somebody has is never taken over: the identity is what counts.
        candidate = name if attempt == 1 else f"{name}-{attempt}"
        try:
            with transaction.atomic():
                user = model.objects.create_user(candidate)
                return Identity.objects.create(issuer=settings.OIDC_ISSUER, subject=subject, user=user)
        except IntegrityError:
            if found := Identity.objects.select_related("user").filter(issuer=settings.OIDC_ISSUER, subject=subject).first():
                return found
    raise NotWelcome("no name is free")


def _follow_staff_group(user: User, claims: dict[str, Any]) -> None:
    """Where a group is named for staff, the provider says at each login who is in it."""
    if not settings.OIDC_STAFF_GROUP:
        return
    is_staff = settings.OIDC_STAFF_GROUP in _listed(claims.get(settings.OIDC_GROUPS_CLAIM))
    if user.is_staff != is_staff:
        user.is_staff = is_staff
        user.save(update_fields=["is_staff"])


def _listed(claim: Any) -> list[str]:
    return [str(one) for one in claim] if isinstance(claim, list) else []


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    log.warning("OpenID Connect: refused", error=f"{type(error).__name__}: {error}")
    record(Action.LOGIN_FAILED, request, why="OpenID Connect")
    return page(request, "web/login.html", status=403, message=words_of(request)["oidc_failed"])


def _provider() -> Any:
    return _client(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)


@cache
def _client(issuer: str, client_id: str, secret: str) -> Any:
    from authlib.integrations.django_client import OAuth

    registry = OAuth()
    return registry.register(
        "schedviz",
        client_id=client_id,
        client_secret=secret,
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": settings.OIDC_SCOPE, "code_challenge_method": "S256", "timeout": _TIMEOUT_SECONDS},
    )
