"""Commands and what came of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from schedviz.web.api.schemas.body import Body


class OutcomeBody(Body, frozen=True):
    """How a command ended. `result`: why nothing happened; `error`: what was wrong with the command; `stopped`: why a run ended.

    `breakpoint` and `breakpointEvent`: where a breakpoint stopped it.
    """

    result: str = ""
    error: str = ""
    cycles: int = 0
    event: int = 0
    clock_seconds: float = 0.0
    stopped: str = ""
    breakpoint: int | None = None
    breakpoint_event: int | None = None


class CommandBody(Body, frozen=True):
    """A command that was accepted. It is `done` when it has an outcome, `quarantined` when it broke its engine."""

    seq: int
    key: str
    url: str
    status: Literal["waiting", "done", "quarantined"]
    #: The command as it is stored: objects hold only what the scheduler reads.
    command: dict[str, Any]
    accepted_at: datetime
    applied_at: datetime | None
    outcome: OutcomeBody | None
    duplicate: bool = False


class CommandList(Body, frozen=True):
    """Commands in the order in which they were accepted; `last` is the newest, `applied` the last that is done."""

    results: list[CommandBody]
    last: int
    applied: int
    next: int | None
    previous: int | None


class CommandsTaken(Body, frozen=True):
    """Commands that were sent together: accepted, one after the other, or done."""

    results: list[CommandBody]
