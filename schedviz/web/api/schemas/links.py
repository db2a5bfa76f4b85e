"""Share links."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from schedviz.web.api.schemas.body import Body

LinkRole = Literal["viewer", "editor"]


class NewLink(Body, frozen=True, forbid_unknown_fields=True):
    """Make a share link."""

    role: LinkRole = "viewer"


class LinkBody(Body, frozen=True):
    """A share link. `url` is told once, when it is made."""

    id: int
    role: LinkRole
    created_at: datetime
    url: str | None = None


class LinkList(Body, frozen=True):
    """The share links of a session that work, oldest first."""

    results: list[LinkBody]
