"""The result of a comparison, for REST and reports. `a` and `b` are always the two runs; null: missing."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a comparison."""


class SideShown(Part, frozen=True):
    """One of the two runs, at the compared moment."""

    #: A session's id; "" for a file.
    session: str
    name: str
    event: int
    clock_seconds: float
    #: Scheduling cycles that began.
    cycles: int
    pods: int
    nodes: int


class Difference(Part, frozen=True):
    """A member that differs."""

    path: str
    a: Any
    b: Any


PlaceState = Literal["bound", "assumed", "activeQ", "backoffQ", "unschedulable", "gated"]


class Place(Part, frozen=True):
    """The place of a pod: a node (`bound`, or `assumed`), or a queue (`gated`: a plugin gates it)."""

    state: PlaceState
    node: str = ""


class PodPlaces(Part, frozen=True):
    """A pod (`namespace/name`) whose place differs."""

    pod: str
    a: Place | None
    b: Place | None


class Placements(Part, frozen=True):
    """The placements. The counts add up to all pods of both runs; `pods` lists those that are not `same`, up to the limit."""

    #: On the same node in both, or pending in both.
    same: int
    #: On different nodes.
    moved: int
    #: On a node in one run, pending in the other.
    placed_only_in_a: int
    placed_only_in_b: int
    #: The other run does not have them.
    only_in_a: int
    only_in_b: int
    pods: list[PodPlaces]
    left_out: int
    #: Of `same`, those that are pending in both.
    pending_in_both: int = 0


class EventShown(Part, frozen=True):
    """A trace event and its number; the event has the format of docs/wire.md."""

    event: int
    cycle: int
    body: dict[str, Any]


class FirstEvent(Part, frozen=True):
    """The first events that differ; null if a run has ended. Numbers, times and generations are ignored."""

    a: EventShown | None
    b: EventShown | None
    what: list[Difference]


class CycleShown(Part, frozen=True):
    """A scheduling cycle, and the events between which it ran."""

    cycle: int
    pod: str
    outcome: str
    node: str
    message: str
    first_event: int
    last_event: int


class FirstCycle(Part, frozen=True):
    """The first cycles that differ; null if a run has no more cycles."""

    a: CycleShown | None
    b: CycleShown | None
    what: list[Difference]


class Divergence(Part, frozen=True):
    """Where two runs diverge; `text` is a sentence.

    `event` is null if more events are equal than are compared; then `cycle` has the position.
    """

    text: str
    event: FirstEvent | None
    cycle: FirstCycle | None


class ScorePair(Part, frozen=True):
    """The weighted scores of one plugin for one node, which are summed up."""

    plugin: str
    node: str
    a: int | None
    b: int | None


class TotalPair(Part, frozen=True):
    """The total of one node."""

    node: str
    a: int | None
    b: int | None


class Scores(Part, frozen=True):
    """The scores that differ in the first cycle that differs, if both runs tried the same pod. Not `complete`: only the scores of each
    run's two best nodes are known.
    """

    pod: str
    complete: bool
    totals: list[TotalPair]
    plugins: list[ScorePair]


class Amount(Part, frozen=True):
    """Requested out of allocatable: milli-cpus, bytes, or pods."""

    requested: int
    allocatable: int


class Use(Part, frozen=True):
    """The utilisation of a node, or of all nodes together."""

    cpu: Amount
    memory: Amount
    pods: Amount


class NodeUse(Part, frozen=True):
    """A node in both."""

    node: str
    a: Use | None
    b: Use | None


class Utilisation(Part, frozen=True):
    """The utilisation of the cluster and of each node, the largest differences first."""

    a: Use
    b: Use
    #: Nodes without a pod.
    empty_a: int
    empty_b: int
    nodes: list[NodeUse]
    left_out: int


class Reason(Part, frozen=True):
    """The scheduler's last message about pending pods (upstream's FitError), and the pods."""

    reason: str
    a: list[str]
    b: list[str]
    count_a: int
    count_b: int


class Comparison(Part, frozen=True):
    """The comparison of two runs. `same`: they did the same, and their final states do not differ."""

    same: bool
    a: SideShown
    b: SideShown
    #: The runs have the same history up to this event, because one is a fork of the other or both of a third; 0: no shared event.
    shared_event: int
    #: Both are the same session, or descend from one by forks. Forks to another release share no events.
    shared_origin: bool
    #: Members of the settings (configuration, policies, seed) that differ.
    settings: list[Difference]
    placements: Placements
    divergence: Divergence | None
    scores: Scores | None
    utilisation: Utilisation
    pending: list[Reason]
