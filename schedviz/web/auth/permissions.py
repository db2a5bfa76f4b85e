"""Permissions: `may(actor, verb, session)`, the one check behind REST, WebSockets and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Q, QuerySet

from schedviz.sessions.models import Membership, Session, ShareLink
from schedviz.web.accounts import demo
from schedviz.web.auth import link_cookie
from schedviz.web.auth.actors import ALLOWED_VERBS, READING, REGISTERED, Actor, Role, Verb
from schedviz.web.auth.authentication import hashed
from schedviz.web.rooms.guests import active_guest, guest_of

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from rest_framework.request import Request

#: The key of a login session under which the digests of opened share links are stored. Browsers without a login have a cookie.
LINKS_KEY = "schedviz_links"


def may(actor: Actor, verb: Verb, session: Session | None = None) -> bool:
    """Whether the actor may do this, to this session where the verb needs one."""
    if actor.read_only and verb not in READING:
        return False
    if verb in (Verb.LIST, Verb.CREATE):
        return actor.has_account
    if session is None:
        return False
    role = role_of(actor, session)
    return role is not None and verb in ALLOWED_VERBS[role]


def role_of(actor: Actor, session: Session) -> Role | None:
    """The actor's role in the session; None without access, and then the client must not learn that the session exists."""
    if actor.user_id is not None and session.owner_id == actor.user_id:
        return Role.OWNER
    roles: set[str] = set()
    if actor.user_id is not None:
        roles.update(Membership.objects.filter(session=session, user_id=actor.user_id).values_list("role", flat=True))
    if actor.links:
        live = ShareLink.objects.filter(session=session, digest__in=actor.links, revoked_at=None)
        roles.update(live.values_list("role", flat=True))
    roles.update(role for grants in REGISTERED if (role := grants.role_of(actor, session)) is not None)
    if Membership.Role.EDITOR in roles:
        return Role.EDITOR
    return Role.VIEWER if roles or demo.is_shown(session.pk) else None


def visible_sessions(actor: Actor) -> QuerySet[Session]:
    """The sessions that the actor may see and that lists show, newest first.

    Sessions that a registered app leaves out are not listed: the forks of a room's participants, until the room ends.
    """
    own_or_shared = Q(pk__in=[])
    if actor.user_id is not None:
        own_or_shared |= Q(owner_id=actor.user_id) | Q(pk__in=Membership.objects.filter(user_id=actor.user_id).values("session_id"))
    if actor.links:
        own_or_shared |= Q(pk__in=ShareLink.objects.filter(digest__in=actor.links, revoked_at=None).values("session_id"))
    if settings.PUBLIC_DEMO:
        own_or_shared |= Q(demo__isnull=False)
    listed = Session.objects.filter(own_or_shared)
    for grants in REGISTERED:
        listed = listed.exclude(pk__in=grants.unlisted_sessions())
    return listed.order_by("-created_at", "-pk")


def actor_of(request: HttpRequest | Request) -> Actor:
    """The client behind a request, by its token or share link if it has one, otherwise by its cookies."""
    from schedviz.web.models import Token

    token = getattr(request, "auth", None)
    if isinstance(token, Token):
        return Actor(user_id=token.owner_id, read_only=token.scope == Token.Scope.READ)
    if isinstance(token, ShareLink):
        return Actor(read_only=True, links=(token.digest,))
    return actor_of_cookie(request.user, links_of(request), guest_of(request.COOKIES))


def user_of(request: HttpRequest | Request) -> User:
    """The user behind a request whose actor has an account."""
    assert request.user.is_authenticated
    return request.user


def holder_of(secret: str) -> Actor:
    """The actor for a share link that came without cookies. It is read-only, even if the link makes its holder an editor."""
    return Actor(read_only=True, links=(hashed(secret),))


def actor_of_cookie(user: User | AnonymousUser, links: tuple[str, ...], guest: str = "") -> Actor:
    """The actor for a browser. Queries the database if it has the cookie of a participant (the digest `guest`)."""
    return Actor(user_id=user.pk if user.is_authenticated and user.is_active else None, links=links, guest=active_guest(guest))


def links_of(request: HttpRequest | Request) -> tuple[str, ...]:
    """Digests of the share links that were opened in this browser."""
    session = getattr(request, "session", None)
    return links_in(session if session is not None else {}, link_cookie.digests_in(request.COOKIES))


def links_in(session: Any, of_cookie: tuple[str, ...]) -> tuple[str, ...]:
    """Digests of the share links in a login session, which older versions made for browsers without a login too, and in the cookie."""
    return tuple(dict.fromkeys((*session.get(LINKS_KEY, ()), *of_cookie)))


def open_link(request: HttpRequest, response: HttpResponseBase, secret: str) -> bool:
    """Add a share link to the login session, or without a login to the cookie. False if the link is unknown or revoked."""
    digest = hashed(secret)
    if not ShareLink.objects.filter(digest=digest, revoked_at=None).exists():
        return False
    links = [*[link for link in links_of(request) if link != digest], digest][-link_cookie.MAX_LINKS :]
    if request.user.is_authenticated:
        request.session[LINKS_KEY] = links
    else:
        link_cookie.set_cookie(response, links, secure=request.is_secure())
    return True
