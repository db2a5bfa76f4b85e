"""Authentication of WebSockets: a browser by its cookie and Origin or by a share link, a script by `Authorization: Bearer`.

It happens before the socket is accepted. `Sec-WebSocket-Protocol` is the only handshake header that a page can set, so a page without a
cookie sends its share link as a subprotocol, as Kubernetes' API server accepts tokens. Addresses, the alternative, are logged by
proxies.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import msgspec
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.http.cookie import parse_cookie
from django.http.request import split_domain_port, validate_host

from schedviz.sessions.models import Session
from schedviz.sessions.senders import VISITORS, sender_group_of
from schedviz.web.auth import link_cookie
from schedviz.web.auth.actors import Actor, Verb
from schedviz.web.auth.authentication import bearer_secret, find_token
from schedviz.web.auth.cookies import adopt_old
from schedviz.web.auth.permissions import actor_of_cookie, holder_of, links_in, may
from schedviz.web.models import Token
from schedviz.web.rooms.guests import guest_of

#: The subprotocol of the application, and the prefix of the one that carries a share link.
SUBPROTOCOL: Final = "v1.schedviz"
LINK_PROTOCOL: Final = "link.schedviz."


class Refused(Exception):
    """A refused handshake: an HTTP status and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Credentials(msgspec.Struct, frozen=True):
    """The credentials of a handshake. Their permissions may change while the socket is open, so they are checked for each command."""

    token: str | None = None
    cookie: str | None = None
    #: The digest of a participant of rooms.
    guest: str = ""
    #: Digests of the share links in the cookie of a browser without a login.
    links: tuple[str, ...] = ()
    #: The secret of a share link, for a panel on another site, which has no cookie and cannot set headers.
    link: str | None = None


def credentials_of(scope: dict[str, Any]) -> Credentials:
    """The credentials of a handshake. Raises `Refused` for a cookie from a foreign page."""
    if link := _link_in(scope):
        return Credentials(link=link)
    headers = {name: value for name, value in scope["headers"] if name in (b"authorization", b"cookie", b"host", b"origin")}
    if b"authorization" not in headers:
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not _is_own_page(origin, host):
            raise Refused(403, "Open the WebSocket from a page of this server, or send Authorization: Bearer <token>.")
    return sent_credentials(headers)


def sent_credentials(headers: Mapping[bytes, bytes]) -> Credentials:
    """The token or the cookies of a request. Raises `Refused` for an Authorization other than Bearer."""
    if (raw := headers.get(b"authorization")) is not None:
        secret = bearer_secret(raw)
        if secret is None:
            raise Refused(401, "Authorization is expected in the form: Bearer <token>.")
        return Credentials(token=secret)
    # As Django reads it: cookies of other sites of the host, which a browser sends too, may be malformed.
    cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    adopt_old(cookies)
    return cookie_credentials(cookies)


def cookie_credentials(cookies: Mapping[str, str]) -> Credentials:
    """The credentials in the cookies of a browser."""
    return Credentials(cookie=cookies.get(settings.SESSION_COOKIE_NAME), guest=guest_of(cookies), links=link_cookie.digests_in(cookies))


def accepted_protocol(scope: dict[str, Any]) -> dict[str, str]:
    """The `subprotocol` of the acceptance: a browser that offered subprotocols closes a socket for which none is selected."""
    return {"subprotocol": SUBPROTOCOL} if SUBPROTOCOL in scope.get("subprotocols", ()) else {}


def _link_in(scope: dict[str, Any]) -> str:
    """The secret of the share link in a handshake: a subprotocol or, from older pages, `?link=`; "" if there is none."""
    offered = (name.removeprefix(LINK_PROTOCOL) for name in scope.get("subprotocols", ()) if name.startswith(LINK_PROTOCOL))
    return next(offered, "") or parse_qs(scope.get("query_string", b"").decode("latin-1")).get("link", [""])[0]


def _is_own_page(origin: str, host: str) -> bool:
    """Whether a page with this origin may use the login of its user: its host and port are those of the request, and allowed."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    # Exact names, also with DEBUG: otherwise a page on another name that resolves to this address (DNS rebinding) would be accepted.
    return (
        bool(origin)
        and parts.scheme in {"http", "https"}
        and parts.netloc == host
        and validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)
    )


def actor_with(credentials: Credentials) -> Actor:
    """The actor of these credentials now. Queries the database."""
    if credentials.token is not None:
        token = find_token(credentials.token)
        return Actor(user_id=token.owner_id, read_only=token.scope == Token.Scope.READ) if token else Actor()
    if credentials.link is not None:
        return holder_of(credentials.link)
    if credentials.cookie is None:
        return actor_of_cookie(AnonymousUser(), credentials.links, credentials.guest)
    store = import_module(settings.SESSION_ENGINE).SessionStore(credentials.cookie)
    user: Any = get_user(SimpleNamespace(session=store))  # type: ignore[arg-type]
    return actor_of_cookie(user, links_in(store, credentials.links), credentials.guest)


def allowed(credentials: Credentials, verb: Verb, session_id: UUID) -> bool:
    """Whether the owner of these credentials may do this now. Queries the database."""
    return allowed_actor(credentials, verb, session_id) is not None


def allowed_actor(credentials: Credentials, verb: Verb, session_id: UUID) -> Actor | None:
    """The owner of these credentials, if they may do this now. Queries the database."""
    # Runs for every command, so it reads only the columns that decide.
    session = Session.objects.filter(pk=session_id).only("owner_id").first()
    if session is None:
        return None
    actor = actor_with(credentials)
    return actor if may(actor, verb, session) else None


def address_group_of(actor: Actor, network: str) -> str:
    """The clients among whom one without an account counts: those of its address. This includes visitors of the public demo. "" for
    another user with an account, and for a participant of a room, who has limits of their own.
    """
    if not actor.identity:
        return f"address {network}"
    return f"address {network}" if sender_group_of(actor.identity).group == VISITORS else ""
