"""Sessions and forks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from schedviz.trace.policies import Policies
from schedviz.web.api.schemas.body import Body, Key, Title

SessionStatus = Literal["importing", "ready", "running", "paused", "failed"]


class Progress(Body, frozen=True):
    """How far something long has got: `done` of `total` (null: nobody knows yet) `unit`."""

    phase: str
    done: int
    total: int | None
    unit: str


class HitBody(Body, frozen=True):
    """The breakpoint that a session stands at: its number, the event that it stopped at, and what was written then."""

    breakpoint: int
    event: int
    when: str


class SessionBody(Body, frozen=True):
    """A session. `url` is its address here, `page` where people see it, `role` what the one who asks is to it."""

    id: str
    url: str
    page: str
    name: str
    status: SessionStatus
    message: str
    progress: Progress | None
    role: Literal["owner", "editor", "viewer"]
    clock_seconds: float
    event: int
    cycle: int
    #: How many there are in its cluster now; 0 until the import has ended.
    nodes: int
    pods: int
    chunk: int
    applied_seq: int
    last_seq: int
    created_at: datetime
    updated_at: datetime
    #: The name of its owner; null: it has none.
    owner: str | None
    #: What it takes in the database; null where that was not asked for (`?sizes=1` of the list).
    stored_bytes: int | None
    #: What it was made from: {"files": [...]}, {"generate": {...}} or {"trace": name}.
    source: dict[str, Any]
    #: What the import brought in, what was left out and why; null until it has ended.
    report: dict[str, Any] | None
    forked_from: ForkedFrom | None
    #: The real cluster that it shadows; null: none.
    follows: Follows | None
    hit: HitBody | None
    #: The name under which the one who asks is a member, so that `DELETE members/{member}/` leaves the session; null: they are none.
    member: str | None = None


class Follows(Body, frozen=True):
    """The real cluster that a session shadows. `detached`: it was forked from one that does, and goes its own way."""

    source: str
    detached: bool


class ForkedFrom(Body, frozen=True):
    """The session that this one was forked from (`id` is null once that was deleted), and the event after which it goes its own way."""

    id: str | None
    name: str
    event: int


class SessionList(Body, frozen=True):
    """Sessions in the order that was asked for; `next` is the `after` of the following page, `previous` the `before` of the one before,
    null where there is none; `count` how many there are in all."""

    results: list[SessionBody]
    next: str | None
    previous: str | None
    count: int


class SessionChange(Body, frozen=True, forbid_unknown_fields=True):
    """What can be changed of a session by hand."""

    name: Annotated[Title, Meta(min_length=1)]


class NewSession(Body, frozen=True, forbid_unknown_fields=True):
    """Make a session from a generated cluster (`generate`: its shape), from a schedviz-trace/1 object (`trace`) or for a lesson (its
    name); one of the three.

    `settings` are the engine's: {"config": KubeSchedulerConfiguration, "assumedPodTtlSeconds", "tickMillis", "seed", …}.
    `policies` say what is done as in another version; they count instead of those of a trace's header.
    """

    name: Title = ""
    generate: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    lesson: str | None = None
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    policies: Policies | None = None
    #: Call the extenders of its configuration over HTTP, see docs/extenders.md.
    call_extenders: bool = False


class NewSessionFiles(Body, frozen=True, forbid_unknown_fields=True):
    """Make a session from files: what `kubectl get nodes,pods -A -o json` prints, YAML, a schedviz-trace/1 file; plain, .gz or .xz."""

    file: list[Annotated[str, Meta(extra_json_schema={"format": "binary"})]]
    name: Title = ""
    #: JSON texts of what they are in NewSession.
    settings: str = ""
    policies: str = ""
    #: `true`: as in NewSession.
    call_extenders: Annotated[str, Meta(extra_json_schema={"enum": ["", "true", "false"]})] = ""


class NewFork(Body, frozen=True, forbid_unknown_fields=True):
    """Fork a session as it was after the event `at`, or as it is. The same `key` is the same fork."""

    at: Annotated[int, Meta(ge=0)] | None = None
    name: Title = ""
    key: Key = ""


class ForkList(Body, frozen=True):
    """What was forked from a session, and you may see; newest first. `next` and `previous` as everywhere."""

    results: list[SessionBody]
    next: str | None
    previous: str | None
