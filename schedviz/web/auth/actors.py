"""`Actor`, the client behind a request, and its possible roles in a session.

An app that grants roles of its own, such as rooms, registers here; `permissions` calls every registered app. The app can therefore import
`Actor` without being imported by `permissions`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol
from uuid import UUID

import msgspec
from django.db.models import Model, QuerySet

from schedviz.sessions.models import Session


class Verb(StrEnum):
    """An action that needs permission."""

    LIST = "list"
    """List sessions. Needs no session."""
    CREATE = "create"
    """Create a session. Needs no session."""
    SEE = "see"
    """Read a session: its state, cycles, events, commands and frames."""
    COMMAND = "command"
    """Send a command to a session."""
    MANAGE = "manage"
    """Delete a session, cancel its import, share it."""


class Role(StrEnum):
    """The role of an actor in a session."""

    OWNER = "owner"
    EDITOR = "editor"
    VIEWER = "viewer"


ALLOWED_VERBS: dict[Role, frozenset[Verb]] = {
    Role.OWNER: frozenset({Verb.SEE, Verb.COMMAND, Verb.MANAGE}),
    Role.EDITOR: frozenset({Verb.SEE, Verb.COMMAND}),
    Role.VIEWER: frozenset({Verb.SEE}),
}
#: What a token with scope `read` allows at most.
READING = frozenset({Verb.LIST, Verb.SEE})


class Actor(msgspec.Struct, frozen=True):
    """The client behind a request: a user, a user's token, a holder of share links, a participant of rooms, or an anonymous client."""

    user_id: int | None = None
    #: The request came with a token of scope `read`, or with a share link and no cookie.
    read_only: bool = False
    #: Digests of share links.
    links: tuple[str, ...] = ()
    #: The digest of the participant cookie; "" for a client that never joined a room.
    guest: str = ""

    @property
    def has_account(self) -> bool:
        """Whether the client has an account."""
        return self.user_id is not None

    @property
    def identity(self) -> str:
        """A key for limits per person; "" for holders of share links and for anonymous clients, which cannot be told apart."""
        if self.user_id is not None:
            return f"user {self.user_id}"
        return f"guest {self.guest}" if self.guest else ""


class Grants(Protocol):
    """The permissions that an app adds to those of sessions. A module can be one."""

    def role_of(self, actor: Actor, session: Session) -> Role | None:
        """The role that the app gives the actor in the session."""

    def unlisted_sessions(self) -> QuerySet[Model, UUID]:
        """The ids of sessions that lists leave out."""


#: The registered apps. Filled once, when Django has loaded the apps.
REGISTERED: list[Grants] = []


def register(grants: Grants) -> None:
    """Register the grants of an app, for `permissions`. Called by the app's `ready()`."""
    if grants not in REGISTERED:
        REGISTERED.append(grants)
