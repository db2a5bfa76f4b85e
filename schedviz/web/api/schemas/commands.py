"""Commands and their outcomes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Raw

from schedviz.web.api.schemas.body import Body


class OutcomeBody(Body, frozen=True):
    """The outcome of a command. `result`: why nothing happened; `error`: what is wrong with the command; `stopped`: why a run ended.

    `breakpoint` and `breakpointEvent`: the breakpoint that stopped it, and the event.
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
    """An accepted command. It is `done` once it has an outcome, and `quarantined` if the engine failed on it, or its workers ended or got
    stuck: it was skipped, or interrupted if it was running.
    """

    seq: int
    key: str
    url: str
    status: Literal["waiting", "done", "quarantined"]
    #: The command as it is stored: objects contain only the fields that the scheduler reads.
    command: Annotated[Raw, Meta(extra_json_schema={"type": "object"})]
    accepted_at: datetime
    applied_at: datetime | None
    outcome: OutcomeBody | None
    duplicate: bool = False


class CommandList(Body, frozen=True):
    """Commands in the order of acceptance; `last` is the newest, `applied` the last one that was applied."""

    results: list[CommandBody]
    last: int
    applied: int
    next: int | None
    previous: int | None


class CommandsTaken(Body, frozen=True):
    """The commands of one request: accepted in this order, or applied."""

    results: list[CommandBody]
