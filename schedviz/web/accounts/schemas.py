"""Request and response bodies of the accounts API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta

from schedviz.web.accounts.invites import MAX_DAYS, MAX_USES
from schedviz.web.api.schemas.body import Body, Title

MemberRole = Literal["viewer", "editor"]


class MemberBody(Body, frozen=True):
    """A user with access to a session."""

    user: str
    role: Literal["owner", "editor", "viewer"]
    #: When access was given; null for the owner.
    since: datetime | None = None


class MemberList(Body, frozen=True):
    """The owner, then the members in the order in which they were added."""

    results: list[MemberBody]


class NewMember(Body, frozen=True, forbid_unknown_fields=True):
    """Add a user with an account as a member."""

    user: Annotated[str, Meta(min_length=1, max_length=150)]
    role: MemberRole = "viewer"


class MemberChange(Body, frozen=True, forbid_unknown_fields=True):
    """Change the role of a member."""

    role: MemberRole


class NewInvite(Body, frozen=True, forbid_unknown_fields=True):
    """An invite to a session."""

    role: MemberRole = "viewer"
    days: Annotated[int, Meta(ge=1, le=MAX_DAYS)] = 7
    #: How many users may accept it.
    uses: Annotated[int, Meta(ge=1, le=MAX_USES)] = 1
    note: Title = ""


class NewAccountInvite(Body, frozen=True, forbid_unknown_fields=True):
    """Create an invite for a new account."""

    days: Annotated[int, Meta(ge=1, le=MAX_DAYS)] = 7
    uses: Annotated[int, Meta(ge=1, le=MAX_USES)] = 1
    note: Title = ""


class InviteBody(Body, frozen=True):
    """An invite that can still be accepted. `url` is only returned when the invite is created."""

    id: int
    role: MemberRole
    uses_left: int
    expires_at: datetime
    created_at: datetime
    note: str = ""
    url: str | None = None


class InviteList(Body, frozen=True):
    """Invites that can still be accepted, oldest first."""

    results: list[InviteBody]


class AuditLine(Body, frozen=True):
    """An audit log entry. For `login_failed`, `user` is the name that was entered; it is "" if there was none."""

    id: int
    at: datetime
    action: str
    user: str
    by_way_of: str
    address: str
    session: str | None
    facts: dict[str, Any]


class AuditList(Body, frozen=True):
    """A page of the audit log, newest first; `next` is the `before` of the next page."""

    results: list[AuditLine]
    next: int | None


#: The structs that REST paths refer to. Nested structs are found from them.
ROOTS = (MemberBody, MemberList, NewMember, MemberChange, NewInvite, NewAccountInvite, InviteBody, InviteList, AuditList)
