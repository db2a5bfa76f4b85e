"""Sessions and forks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from schedviz.trace.policies import Policies
from schedviz.trace.releases import RELEASES
from schedviz.web.api.schemas.body import Body, Key, Title

#: A release's name. Its value is checked with the settings, so that an unknown one gets the same message everywhere.
Release = Annotated[str, Meta(extra_json_schema={"enum": list(RELEASES)})]
SessionStatus = Literal["importing", "ready", "running", "paused", "failed"]


class Progress(Body, frozen=True):
    """The progress of a long operation: `done` of `total` (null if unknown) `unit`."""

    phase: str
    done: int
    total: int | None
    unit: str


class HitBody(Body, frozen=True):
    """The breakpoint at which a session stopped: its number, the event, and its condition at that time."""

    breakpoint: int
    event: int
    when: str


class SessionBody(Body, frozen=True):
    """A session. `url` is its API address, `page` its web page, `role` the role of the client."""

    id: str
    url: str
    page: str
    name: str
    status: SessionStatus
    #: Why it failed, which command was quarantined, or why workers cannot load it and when the next attempt is; empty otherwise.
    message: str
    #: That of its import, or of making the fork or the trial; null otherwise.
    progress: Progress | None
    role: Literal["owner", "editor", "viewer"]
    #: Its virtual clock.
    clock_seconds: float
    #: The number of its last event: the newest moment.
    event: int
    #: The number of scheduling cycles that have begun.
    cycle: int
    #: The number of nodes in its cluster now; 0 until the cluster is loaded.
    nodes: int
    #: The number of pods in its cluster now, whatever their state; 0 until the cluster is loaded.
    pods: int
    #: The number of its last stored batch of events.
    chunk: int
    #: The number of the last command that was completed.
    applied_seq: int
    #: The number of the last command that was accepted; until it equals `appliedSeq`, commands are waiting.
    last_seq: int
    created_at: datetime
    #: When its status, position or import last changed.
    updated_at: datetime
    #: When its last command was accepted; null if it has none.
    last_command_at: datetime | None
    #: The user name of its owner; null if it has none.
    owner: str | None
    #: Its size in the database; null unless requested (`?sizes=1` of the list).
    stored_bytes: int | None
    #: Its source: {"files": [...]}, {"files", "experiment", "trial"} of a trial of an experiment, {"generate": {...}}, {"trace": name},
    #: {"lesson", "lessonVersion"} or {"fork": {...}}.
    source: dict[str, Any]
    #: What the import loaded, and what it left out and why (docs/rest.md#the-report-of-an-import); null until it has ended. A fork has that
    #: of its original from the beginning.
    report: dict[str, Any] | None
    forked_from: ForkedFrom | None
    #: The real cluster that it follows; null if it follows none.
    follows: Follows | None
    hit: HitBody | None
    #: The simulated release of kube-scheduler: v1.27.1 or v1.36; docs/releases.md.
    release: str
    #: The feature gates that differ from the release's defaults.
    feature_gates: dict[str, bool]
    #: Whether its owner requested that it calls the extenders of its configuration over HTTP; docs/extenders.md.
    calls_extenders: bool
    #: The client's user name as a member, so that `DELETE members/{member}/` leaves the session; null if the client is not a member.
    member: str | None = None


class Follows(Body, frozen=True):
    """The real cluster that a session follows. `detached`: it is a fork of a following session and continues independently."""

    source: str
    detached: bool


class ForkedFrom(Body, frozen=True):
    """The original session of a fork (`id` is null once it was deleted), and the event after which the fork continues independently."""

    id: str | None
    name: str
    event: int


class SessionList(Body, frozen=True):
    """Sessions in the requested order; `next` is the `after` of the next page, `previous` the `before` of the previous one, null if there
    is none; `count` is the total number.
    """

    results: list[SessionBody]
    next: str | None
    previous: str | None
    count: int


class SessionChange(Body, frozen=True, forbid_unknown_fields=True):
    """The members of a session that can be changed."""

    name: Annotated[Title, Meta(min_length=1)]


class NewSession(Body, frozen=True, forbid_unknown_fields=True):
    """Create a session from a generated cluster (`generate`: its shape), from a schedviz-trace/1 object (`trace`) or for a lesson (its
    name); exactly one of the three.

    `settings` are the engine's: {"config": KubeSchedulerConfiguration, "assumedPodTtlSeconds", "tickMillis", "seed", …}. `policies`
    select the behaviour of other versions, and override those in a trace's header. `release` and `featureGates` select the simulated
    release of kube-scheduler and the feature gates that differ from its defaults; they override those in a trace's header, too.
    """

    name: Title = ""
    generate: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    lesson: str | None = None
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    policies: Policies | None = None
    #: v1.27.1 if it is absent, and a trace's header has none either.
    release: Release | None = None
    feature_gates: dict[str, bool] | None = None
    #: Call the extenders of its configuration over HTTP; see docs/extenders.md.
    call_extenders: bool = False


class NewSessionFiles(Body, frozen=True, forbid_unknown_fields=True):
    """Create a session from files: the output of `kubectl get nodes,pods -A -o json`, YAML, a schedviz-trace/1 file; plain, .gz or .xz."""

    file: list[Annotated[str, Meta(extra_json_schema={"format": "binary"})]]
    name: Title = ""
    #: JSON texts of the members of NewSession.
    settings: str = ""
    policies: str = ""
    #: As in NewSession; "": v1.27.1.
    release: Annotated[str, Meta(extra_json_schema={"enum": ["", *RELEASES]})] = ""
    #: What to simulate if `release` is absent and the files suggest none; "": v1.27.1.
    release_without_version: Annotated[str, Meta(extra_json_schema={"enum": ["", *RELEASES]})] = ""
    #: A JSON text, such as {"SchedulerAsyncPreemption": false}.
    feature_gates: str = ""
    #: `true`, as in NewSession.
    call_extenders: Annotated[str, Meta(extra_json_schema={"enum": ["", "true", "false"]})] = ""


class NewFork(Body, frozen=True, forbid_unknown_fields=True):
    """Fork a session as it was after the event `at`, or as it is now. The same `key` returns the same fork.

    With another `release` or `featureGates`, that scheduler starts with the objects of the moment; see docs/releases.md.
    """

    at: Annotated[int, Meta(ge=0)] | None = None
    name: Title = ""
    key: Key = ""
    #: Absent: the release and the feature gates of the session. With a release and no `featureGates`: that release's defaults.
    release: Release | None = None
    feature_gates: dict[str, bool] | None = None


class ForkList(Body, frozen=True):
    """The forks of a session that you may see, newest first. `next` and `previous` as in other lists."""

    results: list[SessionBody]
    next: str | None
    previous: str | None
