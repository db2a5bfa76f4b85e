"""What REST takes and gives, as structs: bodies are decoded into them and encoded from them, and the OpenAPI schema is made of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from schedviz.explain.shadow import Choice, Judgement, Verdict
from schedviz.sessions.observations import MOST as MOST_SEEN
from schedviz.sessions.observations import Seen
from schedviz.trace.events import AnyEvent
from schedviz.trace.policies import Policies
from schedviz.trace.story import Entry, Life
from schedviz.trace.view import ApiView, BindingView, CycleView, ImageState, NodeTree, PodState, Resources, View

SessionStatus = Literal["importing", "ready", "running", "paused", "failed"]


class Body(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a request or of an answer."""


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

    name: Annotated[str, Meta(min_length=1, max_length=200)]


class NewSession(Body, frozen=True, forbid_unknown_fields=True):
    """Make a session from a generated cluster (`generate`: its shape), from a schedviz-trace/1 object (`trace`) or for a lesson (its
    name); one of the three.

    `settings` are the engine's: {"config": KubeSchedulerConfiguration, "assumedPodTtlSeconds", "tickMillis", "seed", …}.
    `policies` say what is done as in another version; they count instead of those of a trace's header.
    """

    name: Annotated[str, Meta(max_length=200)] = ""
    generate: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    lesson: str | None = None
    settings: dict[str, Any] = {}
    policies: Policies | None = None
    #: Call the extenders of its configuration over HTTP, see docs/extenders.md.
    call_extenders: bool = False


class NewSessionFiles(Body, frozen=True):
    """Make a session from files: what `kubectl get nodes,pods -A -o json` prints, YAML, a schedviz-trace/1 file; plain, .gz or .xz."""

    file: list[Annotated[str, Meta(extra_json_schema={"format": "binary"})]]
    name: Annotated[str, Meta(max_length=200)] = ""
    #: JSON texts of what they are in NewSession.
    settings: str = ""
    policies: str = ""
    #: `true`: as in NewSession.
    call_extenders: str = ""


class NewFork(Body, frozen=True, forbid_unknown_fields=True):
    """Fork a session as it was after the event `at`, or as it is. The same `key` is the same fork."""

    at: Annotated[int, Meta(ge=0)] | None = None
    name: Annotated[str, Meta(max_length=200)] = ""
    key: Annotated[str, Meta(max_length=200)] = ""


class ForkList(Body, frozen=True):
    """What was forked from a session, and you may see; newest first. `next` and `previous` as everywhere."""

    results: list[SessionBody]
    next: str | None
    previous: str | None


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
    """A command that was accepted. It is `done` when it has an outcome, `quarantined` when it was set aside because it broke its engine."""

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


class NodeItemBody(Body, frozen=True):
    """One item of the cache's linked list."""

    name: str
    generation: int
    has_node: bool
    pods: list[str]
    pod_order: list[str]
    pods_with_affinity: list[str]
    pods_with_required_anti_affinity: list[str]
    requested: Resources
    non_zero_requested: Resources
    allocatable: Resources
    used_ports: dict[str, list[str]]
    image_states: dict[str, ImageState]
    pvc_ref_counts: dict[str, int]


class CacheImageBody(Body, frozen=True):
    """An image that the cache knows of."""

    size: int
    nodes: list[str]


class CacheBody(Body, frozen=True):
    """The scheduler's cache; `list` has headNode first, `podStates` is by uid."""

    items: list[NodeItemBody] = msgspec.field(name="list")
    assumed_pods: list[str]
    pod_states: dict[str, PodState]
    node_tree: NodeTree
    image_states: dict[str, CacheImageBody]


class SnapshotBody(Body, frozen=True):
    """The scheduler's snapshot."""

    generation: int
    node_info_list: list[str]
    node_generations: dict[str, int]
    have_pods_with_affinity: list[str]
    have_pods_with_required_anti_affinity: list[str]
    used_pvc_set: list[str] = msgspec.field(name="usedPVCSet")


class QueuedPodBody(Body, frozen=True):
    """A pod in the queue. `backoffExpirySeconds` is not there in activeQ."""

    pod: str
    priority: int
    attempts: int
    timestamp_seconds: float
    initial_attempt_timestamp_seconds: float
    unschedulable_plugins: list[str]
    gated: bool
    backoff_expiry_seconds: float | msgspec.UnsetType = msgspec.UNSET


class QueueBody(Body, frozen=True):
    """The scheduling queue: activeQ and backoffQ in the order of popping, unschedulable by name."""

    active_q: list[QueuedPodBody] = msgspec.field(name="activeQ")
    backoff_q: list[QueuedPodBody] = msgspec.field(name="backoffQ")
    unschedulable: list[QueuedPodBody]
    nominated: dict[str, list[str]]
    scheduling_cycle: int
    move_request_cycle: int


class StateBody(Body, frozen=True):
    """A session's state, newest or past: `cache`, `snapshot` and `queue` as in a schedviz-trace/1 `observed`, empty while importing."""

    id: str
    status: SessionStatus
    message: str
    progress: Progress | None
    clock_seconds: float
    #: The numbers of the last trace event, scheduling cycle and stored chunk.
    event: int
    cycle: int
    chunk: int
    applied_seq: int
    last_seq: int
    cache: CacheBody
    snapshot: SnapshotBody
    queue: QueueBody
    #: The cycle that runs, else the last one.
    last_cycle: CycleView | None
    #: Binding cycles that run or are held, and bindings that are not confirmed; oldest first.
    bindings: list[BindingView]
    api: ApiView
    next_start_node_index: int


class CycleSummaryBody(CycleView, kw_only=True, omit_defaults=True):
    """A cycle that ended. Its pod was popped with the event `firstEvent`, and `lastEvent` says that it ended: moments to go to."""

    first_event: int
    last_event: int


class CycleList(Body, frozen=True):
    """Summaries of cycles that have ended. `next` is the `after` of the following page, `previous` the `before` of the one before; null
    where there is none."""

    results: list[CycleSummaryBody]
    next: int | None
    previous: int | None


class EventList(Body, frozen=True):
    """Trace events in order. `last` is the newest that is stored; `next` is the `after` of the following page, `previous` the `before` of
    the one before, null where there is none."""

    results: list[AnyEvent]
    last: int
    next: int | None
    previous: int | None


class ViewBody(Body, frozen=True):
    """The view after `event`, as on the wire. `chunk`: the last stored chunk that is wholly in it. Moments from `firstEvent` on can be
    gone to."""

    event: int
    chunk: int
    first_event: int
    view: View


class PodLevels(Body, frozen=True):
    """How many pods are in each queue, and at the API server (`all`)."""

    active_q: int = msgspec.field(name="activeQ")
    backoff_q: int = msgspec.field(name="backoffQ")
    unschedulable: int
    all: int


class TimelineBucket(Body, frozen=True):
    """What happened in the events `firstEvent` to `event`; `clockSeconds`, `pods` and `nodes` are at their end."""

    first_event: int
    event: int
    clock_seconds: float
    #: Scheduling cycles that ended, and of those how many as what.
    cycles: int
    scheduled: int
    unschedulable: int
    errors: int
    #: Pods that the scheduler deleted to make room for others.
    preempted: int
    #: Bindings that were written at the API server.
    bound: int
    #: Pods that entered, left or changed places in the queue; nodes that the cache took, changed or lost.
    pod_moves: int
    node_changes: int
    pods: PodLevels
    nodes: int


class TimelineBody(Body, frozen=True):
    """The past in a few numbers, in the order of events. `from` and `to`: after which event and until which."""

    after: int = msgspec.field(name="from")
    until: int = msgspec.field(name="to")
    #: The first moment that can be gone to.
    first_event: int
    buckets: list[TimelineBucket]


class StoryBody(Body, frozen=True):
    """What happened to a pod (`namespace/name`) or node until event `at`, in order. `lives` are the pods that had this name one after the
    other; `uid` tells whose an entry is. `next` is the `after` of the following page; where the last entries were asked for, `previous` is
    the `before` of the page before."""

    kind: Literal["pods", "nodes"]
    name: str
    at: int
    lives: list[Life]
    results: list[Entry]
    next: int | None
    previous: int | None


class QuotaBody(Body, frozen=True):
    """A limit. `own`: for your sessions together, else for all of the server. `limit` null: there is none. `used`: only of your own."""

    kind: Literal["sessions", "nodes", "pods", "cycles", "bytes"]
    setting: str
    limit: int | None
    used: int | None
    own: bool


class QuotaList(Body, frozen=True):
    """Your quotas, then those of the server."""

    results: list[QuotaBody]


class NewBreakpoint(Body, frozen=True, forbid_unknown_fields=True):
    """Stop runs where this happens: `popped default/web-7`, `cycle > 10 and outcome == "error"`; see docs/breakpoints.md."""

    when: str
    enabled: bool = True


class BreakpointChange(Body, frozen=True, forbid_unknown_fields=True):
    """Change a breakpoint. What is left out, or null, stays."""

    when: str | None = None
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


LinkRole = Literal["viewer", "editor"]


class MessageBody(Body, frozen=True, forbid_unknown_fields=True):
    """A text with `0/N nodes are available: …` in it, as an event, a log or `kubectl describe` has it."""

    text: Annotated[str, Meta(min_length=1, max_length=20_000)]
    #: `namespace/name`: the pod of which it was said.
    pod: Annotated[str, Meta(max_length=512)] = ""


class WhatIfBody(Body, frozen=True, forbid_unknown_fields=True):
    """Copies of a pod that are tried on the newest state."""

    #: A Pod as `kubectl get pod -o json` prints it, or as one would write it.
    pod: dict[str, Any]
    copies: Annotated[int, Meta(ge=1, le=10_000)] = 1


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


class SampleLine(Body, frozen=True):
    """A case that ships with schedviz."""

    name: str
    description: str


class SampleList(Body, frozen=True):
    """All of them."""

    results: list[SampleLine]


class NewObservations(Body, frozen=True, forbid_unknown_fields=True):
    """Batch `n` (1, 2, 3, …) of what `source` saw of a real cluster, in order."""

    source: Annotated[str, Meta(min_length=1, max_length=100, pattern="^[!-~]+$")]
    n: Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]
    events: Annotated[list[Seen], Meta(max_length=MOST_SEEN)]


class ObservationsTaken(Body, frozen=True):
    """The batch is stored. `expected`: the number of the next one; `seq`: the last command made of what was pushed."""

    n: int
    expected: int
    seq: int
    duplicate: bool


class ObservedObject(Body, frozen=True):
    """An object as the observer saw it last: `key` is `namespace/name` or a name, `version` is the observer's own word for its content."""

    kind: str
    key: str
    uid: str
    version: str


class AgreementCounts(Body, frozen=True):
    """How many real bindings came to which verdict; `rate` is the share that agrees of those that could be judged, null where none was."""

    agrees: int
    not_best: int
    infeasible: int
    unjudged: int
    rate: float | None


class ShadowedBinding(Body, frozen=True):
    """A real binding and what this scheduler makes of it. `event`: the moment before; `arrival`: what it would have chosen when the pod
    came, after `arrivedEvent` (null: it was there before)."""

    pod: str
    uid: str
    node: str
    verdict: Verdict
    event: int
    judgement: Judgement
    arrived_event: int | None
    arrival: Choice | None


class AgreementBody(Body, frozen=True):
    """How often the cluster's scheduler did what this one would have done: since the session began to follow, and of the newest `of`
    bindings. `waiting` pods have not been bound. `next` is the `before` of the following page of bindings."""

    source: str | None
    detached: bool
    all: AgreementCounts
    recent: AgreementCounts
    of: int
    waiting: int
    bindings: list[ShadowedBinding]
    next: int | None


class ObserverBody(Body, frozen=True):
    """Whom a session follows (`source` null: nobody), which batch is `expected`, and a page of the objects that were seen last."""

    source: str | None
    expected: int
    events: int
    seq: int
    pushed_at: datetime | None
    objects: list[ObservedObject]
    next: int | None


class NamesBody(Body, frozen=True):
    """Objects by what they are called: `namespace/name`, or the name alone where the kind has no namespaces."""

    names: list[str]
