"""Share links."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from schedviz.web.api.schemas.body import Body

LinkRole = Literal["viewer", "editor"]


class NewLink(Body, frozen=True, forbid_unknown_fields=True):
    """Create a share link."""

    role: LinkRole = "viewer"


class LinkBody(Body, frozen=True):
    """A share link. `url` is only returned when the link is created."""

    id: int
    role: LinkRole
    created_at: datetime
    url: str | None = None


class LinkList(Body, frozen=True):
    """The active share links of a session, oldest first."""

    results: list[LinkBody]
