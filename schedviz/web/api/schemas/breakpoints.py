"""Breakpoints."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from schedviz.web.api.schemas.body import Body

#: The language has its own parser, which says at which column it is wrong.
When = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": 500})]


class NewBreakpoint(Body, frozen=True, forbid_unknown_fields=True):
    """Stop runs where this happens: `popped default/web-7`, `cycle > 10 and outcome == "error"`; see docs/breakpoints.md."""

    when: When
    enabled: bool = True


class BreakpointChange(Body, frozen=True, forbid_unknown_fields=True):
    """Change a breakpoint. What is left out, or null, stays."""

    when: When | None = None
    enabled: bool | None = None


class BreakpointBody(Body, frozen=True):
    """A breakpoint. `hits`: how many runs it has stopped; `lastEvent`: at which event the last of them."""

    number: int
    url: str
    when: str
    enabled: bool
    hits: int
    last_event: int | None
    created_at: datetime


class BreakpointList(Body, frozen=True):
    """The breakpoints of a session by number, and how many there may be at `most`."""

    results: list[BreakpointBody]
    most: int
