"""What a comparison finds, as REST gives it and reports show it. `a` and `b` are always the two runs; null: not there."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a comparison."""


class SideShown(Part, frozen=True):
    """One of the two: the moment that is compared."""

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


class Place(Part, frozen=True):
    """Where a pod is: on a node (`bound`, or `assumed` to be), or in a queue (`gated`: and held back there)."""

    state: Literal["bound", "assumed", "activeQ", "backoffQ", "unschedulable", "gated"]
    node: str = ""


class PodPlaces(Part, frozen=True):
    """A pod (`namespace/name`) that is not in the same place in both."""

    pod: str
    a: Place | None
    b: Place | None


class Placements(Part, frozen=True):
    """Where pods are. The counts add up to all pods of both; `pods` are those that are not `same`, at most so many as the limit says."""

    #: On the same node in both, or waiting in both.
    same: int
    #: On different nodes.
    moved: int
    #: On a node in the one, waiting in the other.
    placed_only_in_a: int
    placed_only_in_b: int
    #: The other does not know them.
    only_in_a: int
    only_in_b: int
    pods: list[PodPlaces]
    left_out: int


class EventShown(Part, frozen=True):
    """A trace event and its number; the event as in docs/wire.md."""

    event: int
    cycle: int
    body: dict[str, Any]


class FirstEvent(Part, frozen=True):
    """The first events that differ; null where a run has ended. Numbers, times and generations do not count."""

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
    """The first cycles that differ; null where a run has no further one."""

    a: CycleShown | None
    b: CycleShown | None
    what: list[Difference]


class Divergence(Part, frozen=True):
    """Where two runs part, and `text` in a sentence.

    `event` is null where more events are alike than are compared one by one; then `cycle` says where.
    """

    text: str
    event: FirstEvent | None
    cycle: FirstCycle | None


class ScorePair(Part, frozen=True):
    """What one plugin gave one node: weighted scores, which are added up."""

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
    """The scores that differ in the first cycle that does, where both tried the same pod. Not `complete`: only of the two best nodes of
    each are scores known here."""

    pod: str
    complete: bool
    totals: list[TotalPair]
    plugins: list[ScorePair]


class Amount(Part, frozen=True):
    """Requested of allocatable: milli-cpus, bytes, or pods."""

    requested: int
    allocatable: int


class Use(Part, frozen=True):
    """How full a node is, or all of them together."""

    cpu: Amount
    memory: Amount
    pods: Amount


class NodeUse(Part, frozen=True):
    """A node in both."""

    node: str
    a: Use | None
    b: Use | None


class Utilisation(Part, frozen=True):
    """How full the cluster is, and each node: those that differ first, the one that differs most at the head."""

    a: Use
    b: Use
    #: Nodes without a pod.
    empty_a: int
    empty_b: int
    nodes: list[NodeUse]
    left_out: int


class Reason(Part, frozen=True):
    """Why pods wait, as the scheduler said when it last tried them (upstream's FitError), and which pods."""

    reason: str
    a: list[str]
    b: list[str]
    count_a: int
    count_b: int


class Comparison(Part, frozen=True):
    """Two runs. `same`: they did the same and nothing about their ends differs."""

    same: bool
    a: SideShown
    b: SideShown
    #: Up to this event they have the same history, because one was forked from the other or both from a third; 0: none.
    shared_event: int
    #: Members of the settings (configuration, policies, seed) that differ.
    settings: list[Difference]
    placements: Placements
    divergence: Divergence | None
    scores: Scores | None
    utilisation: Utilisation
    pending: list[Reason]
