"""Who may do what: the one function `may(actor, verb, session)`, asked by REST, WebSockets and pages alike."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec
from django.conf import settings
from django.db.models import Q, QuerySet

from schedviz.sessions.models import Membership, Session, ShareLink
from schedviz.web.accounts import demo
from schedviz.web.authentication import hashed
from schedviz.web.rooms.guests import guest_of
from schedviz.web.rooms.membership import forks_in_rooms, role_of_guest

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest
    from rest_framework.request import Request

#: Where a browser's login session keeps the digests of the share links that were opened in it.
LINKS_KEY = "schedviz_links"


class Verb(StrEnum):
    """What can be done."""

    LIST = "list"
    """See which sessions there are. No session."""
    CREATE = "create"
    """Make a session. No session."""
    SEE = "see"
    """Read a session: its state, cycles, events, commands, frames."""
    COMMAND = "command"
    """Send a command to it."""
    MANAGE = "manage"
    """Delete it, cancel its import, share it."""


class Role(StrEnum):
    """What somebody is to a session."""

    OWNER = "owner"
    EDITOR = "editor"
    VIEWER = "viewer"


ALLOWED: dict[Role, frozenset[Verb]] = {
    Role.OWNER: frozenset({Verb.SEE, Verb.COMMAND, Verb.MANAGE}),
    Role.EDITOR: frozenset({Verb.SEE, Verb.COMMAND}),
    Role.VIEWER: frozenset({Verb.SEE}),
}
#: What a token with scope `read` may do at most.
READING = frozenset({Verb.LIST, Verb.SEE})


class Actor(msgspec.Struct, frozen=True):
    """Somebody who asks: a user, a token of a user, somebody with share links, or nobody that we know."""

    user_id: int | None = None
    #: Through a token with scope `read`, or a share link that came without a cookie.
    read_only: bool = False
    #: Digests of share links.
    links: tuple[str, ...] = ()
    #: The digest of a participant of rooms; "": they never joined one.
    guest: str = ""

    @property
    def is_known(self) -> bool:
        return self.user_id is not None

    @property
    def identity(self) -> str:
        """A key for limits per person; "" for holders of share links and for anonymous clients, who cannot be told apart."""
        if self.user_id is not None:
            return f"user {self.user_id}"
        return f"guest {self.guest}" if self.guest else ""


ANONYMOUS = Actor()


def may(actor: Actor, verb: Verb, session: Session | None = None) -> bool:
    """Whether this actor may do this (to this session)."""
    if actor.read_only and verb not in READING:
        return False
    if verb in (Verb.LIST, Verb.CREATE):
        return actor.is_known
    if session is None:
        return False
    role = role_of(actor, session)
    return role is not None and verb in ALLOWED[role]


def role_of(actor: Actor, session: Session) -> Role | None:
    """What the actor is to the session; None: a stranger, who must not learn that it exists."""
    if actor.user_id is not None and session.owner_id == actor.user_id:
        return Role.OWNER
    roles: set[str] = set()
    if actor.user_id is not None:
        roles.update(Membership.objects.filter(session=session, user_id=actor.user_id).values_list("role", flat=True))
    if actor.links:
        live = ShareLink.objects.filter(session=session, digest__in=actor.links, revoked_at=None)
        roles.update(live.values_list("role", flat=True))
    if actor.guest and (role := role_of_guest(actor.guest, session)) is not None:
        roles.add(role)
    if Membership.Role.EDITOR in roles:
        return Role.EDITOR
    return Role.VIEWER if roles or demo.is_shown(session.pk) else None


def visible_sessions(actor: Actor) -> QuerySet[Session]:
    """The sessions for which `may(actor, SEE, session)` holds, newest first. What belongs to a room is found there: not what participants
    see in it, and not what they forked as long as it lives.
    """
    mine = Q(pk__in=[])
    if actor.user_id is not None:
        mine |= Q(owner_id=actor.user_id) | Q(pk__in=Membership.objects.filter(user_id=actor.user_id).values("session_id"))
    if actor.links:
        mine |= Q(pk__in=ShareLink.objects.filter(digest__in=actor.links, revoked_at=None).values("session_id"))
    if settings.PUBLIC_DEMO:
        mine |= Q(demo__isnull=False)
    return Session.objects.filter(mine).exclude(pk__in=forks_in_rooms()).order_by("-created_at", "-pk")


def actor_of(request: HttpRequest | Request) -> Actor:
    """Who sent a request: by its token or share link where there is one, else by its cookie."""
    from schedviz.web.models import Token

    token = getattr(request, "auth", None)
    if isinstance(token, Token):
        return Actor(user_id=token.owner_id, read_only=token.scope == Token.Scope.READ)
    if isinstance(token, ShareLink):
        return Actor(read_only=True, links=(token.digest,))
    return actor_of_cookie(request.user, links_of(request), guest_of(request.COOKIES))  # type: ignore[arg-type]


def holder_of(secret: str) -> Actor:
    """Who has a share link and nothing else: may look, whatever the link allows those who open it as a page of its own."""
    return Actor(read_only=True, links=(hashed(secret),))


def actor_of_cookie(user: User, links: tuple[str, ...], guest: str = "") -> Actor:
    """Who a browser is."""
    return Actor(user_id=user.pk if user.is_authenticated and user.is_active else None, links=links, guest=guest)


def links_of(request: HttpRequest | Request) -> tuple[str, ...]:
    """Digests of the share links that were opened in this browser."""
    session = getattr(request, "session", None)
    return tuple(session.get(LINKS_KEY, ())) if session is not None else ()


def open_link(request: HttpRequest, secret: str) -> bool:
    """Remember a share link in this browser. False where it is unknown or revoked."""
    digest = hashed(secret)
    if not ShareLink.objects.filter(digest=digest, revoked_at=None).exists():
        return False
    if not request.user.is_authenticated:
        # The session of a login that was only begun is a short one.
        request.session.set_expiry(None)
    request.session[LINKS_KEY] = [*[link for link in links_of(request) if link != digest], digest][-20:]
    return True
