"""What REST of accounts takes and gives."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta

from schedviz.web.accounts.invites import LONGEST_DAYS, MOST_USES
from schedviz.web.api.schemas.body import Body, Title

MemberRole = Literal["viewer", "editor"]


class MemberBody(Body, frozen=True):
    """Somebody who may see a session."""

    user: str
    role: Literal["owner", "editor", "viewer"]
    #: Since when; null for the owner.
    since: datetime | None = None


class MemberList(Body, frozen=True):
    """The owner, then the members, those who came first first."""

    results: list[MemberBody]


class NewMember(Body, frozen=True, forbid_unknown_fields=True):
    """Somebody with an account who is to be a member."""

    user: Annotated[str, Meta(min_length=1, max_length=150)]
    role: MemberRole = "viewer"


class MemberChange(Body, frozen=True, forbid_unknown_fields=True):
    """Another role for a member."""

    role: MemberRole


class NewInvite(Body, frozen=True, forbid_unknown_fields=True):
    """An invite to a session."""

    role: MemberRole = "viewer"
    days: Annotated[int, Meta(ge=1, le=LONGEST_DAYS)] = 7
    #: How many people may accept it.
    uses: Annotated[int, Meta(ge=1, le=MOST_USES)] = 1
    note: Title = ""


class NewAccountInvite(Body, frozen=True, forbid_unknown_fields=True):
    """An invite to make an account."""

    days: Annotated[int, Meta(ge=1, le=LONGEST_DAYS)] = 7
    uses: Annotated[int, Meta(ge=1, le=MOST_USES)] = 1
    note: Title = ""


class InviteBody(Body, frozen=True):
    """An invite that can still be accepted. `url` is told once, when it is made."""

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
    """Who did what. `user` is the name that was tried for `login_failed`, and "" where there was none."""

    id: int
    at: datetime
    action: str
    user: str
    by_way_of: str
    address: str
    session: str | None
    facts: dict[str, Any]


class AuditList(Body, frozen=True):
    """A page of the audit log, the newest first; `next` is the `before` of the page that follows."""

    results: list[AuditLine]
    next: int | None


#: What the paths of REST refer to; structs inside them follow by themselves.
ROOTS = (MemberBody, MemberList, NewMember, MemberChange, NewInvite, NewAccountInvite, InviteBody, InviteList, AuditList)
