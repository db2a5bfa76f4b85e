"""Logins with OpenID Connect: the authorization code flow with PKCE, state and nonce. Disabled unless configured.

Authlib implements the protocol: the code exchange, and the checks of signature, issuer, audience, times and nonce (`oidc_client` adds
some). This module maps the identity to a user.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth import login as log_in
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from schedviz.web.accounts.audit import Action, record
from schedviz.web.accounts.models import Identity
from schedviz.web.accounts.throttles import may_use_oidc
from schedviz.web.auth.login import is_reserved, local_path
from schedviz.web.pages.shell import page
from schedviz.web.pages.views import not_found
from schedviz.web.pages.words import words_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.base import SessionBase

log = structlog.get_logger(__name__)

_NAME = "schedviz"
_NEXT_KEY = "schedviz_oidc_next"
#: The prefix of Authlib's entries in the browser session, followed by the state.
_STATE_KEY = f"_state_{_NAME}_"
#: The maximum number of started logins per browser; older ones are dropped.
_MAX_STARTED_LOGINS = 3
#: The lifetime of a browser session that only holds a started login.
_LOGIN_SECONDS = 600
#: The timeout of requests to the provider.
_TIMEOUT_SECONDS = 10.0


class NotWelcome(Exception):
    """The provider knows the user, but this server does not admit them."""


def is_on() -> bool:
    """Whether a provider is configured."""
    return bool(settings.OIDC_ISSUER)


@require_GET
@never_cache
def start_login(request: HttpRequest) -> HttpResponse:
    """`/oidc/login/`: redirects to the provider."""
    if not is_on():
        return not_found(request)
    following = local_path(request, request.GET.get("next"))
    if not may_use_oidc(request, "login"):
        return _too_many(request, following)
    try:
        redirect_response: HttpResponse = _provider().authorize_redirect(request, request.build_absolute_uri(reverse("oidc-callback")))
    except Exception as error:  # noqa: BLE001 -- any failure of the provider
        log.warning("OpenID Connect: the provider does not respond", error=f"{type(error).__name__}: {error}")
        return _failed(request)
    _remember(request.session, following)
    return redirect_response


@require_GET
@never_cache
def callback(request: HttpRequest) -> HttpResponse:
    """`/oidc/callback/`: the provider's redirect back, with a code or an error."""
    if not is_on():
        return not_found(request)
    if not may_use_oidc(request, "callback"):
        return _too_many(request, "/")
    state = request.GET.get("state", "")
    if f"{_STATE_KEY}{state}" not in request.session:
        # Not requested by this browser, so no login failed.
        return _failed(request)
    following = local_path(request, request.session.pop(_NEXT_KEY, "/"))
    try:
        # Checks signature, issuer, audience, times, nonce; and the state, which is bound to this browser and used once.
        claims = _provider().authorize_access_token(request, leeway=30)["userinfo"]
        user = user_of(dict(claims), request)
    except NotWelcome as error:
        log.info("OpenID Connect: the user is not admitted", error=str(error))
        record(Action.LOGIN_FAILED, request, why="not welcome")
        return page(request, "web/login.html", status=403, message=words_of(request)["oidc_not_welcome"], next=following)
    except Exception as error:  # noqa: BLE001 -- Authlib and joserfc raise many classes for a wrong token
        request.session.pop(f"{_STATE_KEY}{state}", None)
        log.warning("OpenID Connect: refused", error=f"{type(error).__name__}: {error}")
        record(Action.LOGIN_FAILED, request, why="OpenID Connect")
        return _failed(request)
    log_in(request, user)
    return HttpResponseRedirect(following)


def user_of(claims: dict[str, Any], request: HttpRequest) -> User:
    """The user of these claims, created where that is allowed. Logs what this changes. Raises `NotWelcome`.

    Only issuer and subject identify a user. Names and mail addresses can be reassigned to other people.
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
        identity, made = _new_identity(subject, claims)
        if made:
            record(Action.ACCOUNT_MADE, request, user=identity.user, why="OpenID Connect")
    if not identity.user.is_active:
        raise NotWelcome("shut out")
    if _follow_staff_group(identity.user, claims):
        record(Action.STAFF_CHANGED, request, user=identity.user, staff=identity.user.is_staff)
    return identity.user


def _new_identity(subject: str, claims: dict[str, Any]) -> tuple[Identity, bool]:
    """The identity, with a new account, and whether this call created it: of simultaneous logins, one does."""
    preferred = str(claims.get("preferred_username") or str(claims.get("email") or "").partition("@")[0] or "user")
    # Normalized as Django does, which can make it longer.
    normal = unicodedata.normalize("NFKC", preferred)
    name = "".join(letter for letter in normal if letter.isalnum() or letter in "@.+-_")[:140] or "user"
    model = get_user_model()
    for attempt in range(1, 1000):
        # An existing user name is never taken over, because only the identity counts.
        candidate = name if attempt == 1 else f"{name}-{attempt}"
        if is_reserved(candidate):
            continue
        try:
            with transaction.atomic():
                user = model.objects.create_user(candidate)
                return Identity.objects.create(issuer=settings.OIDC_ISSUER, subject=subject, user=user), True
        except IntegrityError:
            if identity := Identity.objects.select_related("user").filter(issuer=settings.OIDC_ISSUER, subject=subject).first():
                return identity, False
    raise NotWelcome("no name is free")


def _follow_staff_group(user: User, claims: dict[str, Any]) -> bool:
    """If a group is configured for staff, each login sets whether the user is in it. Returns whether this changed."""
    if not settings.OIDC_STAFF_GROUP:
        return False
    is_staff = settings.OIDC_STAFF_GROUP in _listed(claims.get(settings.OIDC_GROUPS_CLAIM))
    if user.is_staff == is_staff:
        return False
    user.is_staff = is_staff
    user.save(update_fields=["is_staff"])
    return True


def _listed(claim: Any) -> list[str]:
    return [str(value) for value in claim] if isinstance(claim, list) else []


def _remember(session: SessionBase, following: str) -> None:
    """Store the page after this login, and drop the entries of older logins."""
    begun = sorted((key for key in session.keys() if key.startswith(_STATE_KEY)), key=lambda key: session[key]["exp"])  # noqa: SIM118
    for key in begun[:-_MAX_STARTED_LOGINS]:
        del session[key]
    if set(session.keys()) <= {*begun, _NEXT_KEY}:
        # Reset by the login.
        session.set_expiry(_LOGIN_SECONDS)
    session[_NEXT_KEY] = following


def _failed(request: HttpRequest) -> HttpResponse:
    return page(request, "web/login.html", status=403, message=words_of(request)["oidc_failed"])


def _too_many(request: HttpRequest, following: str) -> HttpResponse:
    return page(request, "web/login.html", status=429, message=words_of(request)["too_many"], next=following)


def _provider() -> Any:
    return _client(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)


@cache
def _client(issuer: str, client_id: str, secret: str) -> Any:
    from authlib.integrations.django_client import OAuth

    from schedviz.web.accounts.oidc_client import ProviderClient

    registry = OAuth()
    return registry.register(
        _NAME,
        client_id=client_id,
        client_secret=secret,
        client_cls=ProviderClient,
        issuer=issuer,
        client_kwargs={"scope": settings.OIDC_SCOPE, "code_challenge_method": "S256", "timeout": _TIMEOUT_SECONDS},
    )
