"""Breakpoints."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from schedviz.web.api.schemas.body import Body

#: Not restricted further: the breakpoint language has its own parser, which reports the column of an error.
When = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": 500})]


class NewBreakpoint(Body, frozen=True, forbid_unknown_fields=True):
    """Stop runs at a condition: `popped default/web-7`, `cycle > 10 and outcome == "error"`; see docs/breakpoints.md."""

    when: When
    enabled: bool = True


class BreakpointChange(Body, frozen=True, forbid_unknown_fields=True):
    """Change a breakpoint. Members that are left out or null keep their values."""

    when: When | None = None
    enabled: bool | None = None


class BreakpointBody(Body, frozen=True):
    """A breakpoint. `hits`: how many runs it has stopped; `lastEvent`: the event of the last hit."""

    number: int
    url: str
    when: str
    enabled: bool
    hits: int
    last_event: int | None
    created_at: datetime


class BreakpointList(Body, frozen=True):
    """The breakpoints of a session by number. `most` is the maximum number; it keeps its name in v1."""

    results: list[BreakpointBody]
    most: int
