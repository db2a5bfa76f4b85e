"""Responses as values. Attributes are REST's names in snake_case; `raw` has the complete response."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from schedviz.client.records import Records, records

#: The queues, in the order in which a pod that is scheduled passes through them. Sessions of v1.27.1 have no errorBackoffQ.
_QUEUES = ("activeQ", "backoffQ", "errorBackoffQ", "unschedulable")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command, or of the last of several."""

    #: Executed cycles, and the last event.
    cycles: int
    event: int
    clock_seconds: float
    #: Why a run ended: `empty`, `max`, `paused`, `breakpoint`, `quota`, `repeating`; "" for other commands.
    stopped: str
    #: Why the command had no effect; "" if it had one.
    result: str
    #: The breakpoint that stopped the run.
    breakpoint: int | None
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Outcome:
        """From REST's outcome."""
        return cls(
            raw.get("cycles", 0),
            raw["event"],
            raw["clockSeconds"],
            raw.get("stopped", ""),
            raw.get("result", ""),
            raw.get("breakpoint"),
            raw,
        )


@dataclass(frozen=True)
class State:
    """The cache, the snapshot and the queue after an event."""

    event: int
    cycle: int
    clock_seconds: float
    status: str
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> State:
        """From `state/`."""
        return cls(raw["event"], raw["cycle"], raw["clockSeconds"], raw["status"], raw)

    @property
    def nodes(self) -> Records:
        """The nodes in the order of the cache's list, with requested and allocatable resources (cpu in millicores, memory in bytes)."""
        return Records(
            {
                "node": item["name"],
                "pods": len(item["pods"]),
                "cpu": item["requested"]["milliCPU"],
                "cpuAllocatable": item["allocatable"]["milliCPU"],
                "memory": item["requested"]["memory"],
                "memoryAllocatable": item["allocatable"]["memory"],
                "podsAllocatable": item["allocatable"]["allowedPodNumber"],
                "generation": item["generation"],
            }
            for item in self.raw["cache"]["list"]
        )

    @property
    def pods(self) -> Records:
        """The pods in the cache and in the queue, without the one in the scheduling cycle until it is assumed.

        `state` is `bound` or `assumed` (with its `node`), or the queue: `activeQ`, `backoffQ`, `errorBackoffQ` (v1.36) or `unschedulable`.
        """
        entries = ((name, entry) for name in _QUEUES for entry in self.raw["queue"].get(name, ()))
        return Records(
            [
                *(
                    {
                        "pod": pod_state["pod"],
                        "state": "assumed" if pod_state["assumed"] else "bound",
                        "node": pod_state["node"],
                        "attempts": None,
                        "plugins": [],
                    }
                    for pod_state in self.raw["cache"]["podStates"].values()
                ),
                *(
                    {"pod": one["pod"], "state": name, "node": "", "attempts": one["attempts"], "plugins": one["unschedulablePlugins"]}
                    for name, one in entries
                ),
            ]
        )

    @property
    def queue(self) -> Records:
        """The queued pods in the order of popping, with `queue`, `priority`, `attempts` and the plugins that rejected them."""
        return Records({"queue": name, **row} for name in _QUEUES for row in records(self.raw["queue"].get(name, ())))

    @property
    def in_flight(self) -> Records:
        """v1.36: pods in flight and the cluster events since the oldest was popped, in order: `pod`, or `event` with `old` and `new`."""
        empty = {"pod": "", "event": "", "old": None, "new": None}
        return Records({**empty, **row} for row in records(self.raw["queue"].get("inFlightEvents", ())))

    @property
    def preemptions(self) -> Records:
        """v1.36: asynchronous preemptions that have not ended: `preemptor`, `node`, `victims`, how many were `evicted`, and `nextStage`."""
        return Records({"evicted": 0, **row} for row in records(self.raw.get("preemptions", ())))

    @property
    def pod_group(self) -> Records:
        """v1.36: the pods of the pod group in the last cycle, in the order in which they were tried; empty if it was a pod's own cycle."""
        group = self.raw.get("podGroup") or {"pods": []}
        return Records(
            {
                "pod": pod["pod"],
                "cycle": pod.get("cycle", 0),
                "node": pod.get("node", ""),
                "code": pod.get("code", ""),
                "permit": pod.get("permit", ""),
                "outcome": pod.get("outcome", ""),
                "message": pod.get("message", ""),
            }
            for pod in group.get("pods", [])
        )

    @property
    def pending(self) -> list[str]:
        """The names of the queued pods."""
        return self.queue.column("pod")

    def __rich__(self) -> Any:
        from rich.console import Group

        return Group(f"event {self.event}, cycle {self.cycle}, {self.clock_seconds:g} s, {self.status}", self.nodes, "", self.queue)

    def _repr_html_(self) -> str:
        heading = f"<p>event {self.event}, cycle {self.cycle}, {self.clock_seconds:g} s, {html.escape(self.status)}</p>"
        return f"{heading}{self.nodes._repr_html_()}{self.queue._repr_html_()}"


@dataclass(frozen=True)
class Explanation:
    """Why a pod has its current placement or is Pending."""

    pod: str
    sentence: str
    #: The scheduler's message: `0/5 nodes are available: …`.
    message: str
    #: `pending`, `bound`, …
    standing: str
    #: `never`: not even an empty node would accept it; `notNow`; "": it is not pending.
    outlook: str
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Explanation:
        """From `explain/{ns}/{pod}/`."""
        return cls(raw["pod"], raw["sentence"], raw["message"], raw["standing"], raw.get("outlook", ""), raw)

    @property
    def clauses(self) -> Records:
        """The parts of the message, each with its `plugin`, `reason`, `count` and `nodes`."""
        return records(self.raw["clauses"])

    @property
    def matrix(self) -> Records:
        """One row per node that rejects the pod: the first `plugin` that did, its `reasons`, and whether the rejection is permanent."""
        return records(self.raw["matrix"])

    def __str__(self) -> str:
        return self.sentence

    def __rich__(self) -> Any:
        from rich.console import Group

        return Group(self.sentence, "", self.clauses)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.sentence)}</p>{self.clauses._repr_html_()}"


@dataclass(frozen=True)
class WhatIf:
    """How many copies of a pod would fit, and where."""

    placed: int
    remaining: int
    #: Why the next copy does not fit; "" if all fit.
    message: str
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> WhatIf:
        """From `what-if/`."""
        return cls(raw["placed"], raw["remaining"], raw.get("message", ""), raw)

    @property
    def nodes(self) -> Records:
        """The number of copies on each node."""
        return Records({"node": name, "copies": count} for name, count in self.raw["nodes"].items())

    def _repr_html_(self) -> str:
        return f"<p>{self.placed} fit, {self.remaining} do not. {html.escape(self.message)}</p>{self.nodes._repr_html_()}"


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side."""

    #: Whether the runs are equal and every pod has the same placement.
    same: bool
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Comparison:
        """From `compare/`."""
        return cls(raw["same"], raw)

    @property
    def divergence(self) -> str:
        """Where the runs diverge, in a sentence; "" if they do not."""
        return str((self.raw["divergence"] or {}).get("text", ""))

    @property
    def counts(self) -> dict[str, int]:
        """The number of pods that have the `same` placement, `moved`, `placedOnlyInA`, `placedOnlyInB`, `onlyInA`, `onlyInB`."""
        return {name: value for name, value in self.raw["placements"].items() if isinstance(value, int) and name != "leftOut"}

    @property
    def pods(self) -> Records:
        """The pods with different placements (at most 1000), with their nodes in `a` and `b`."""
        return Records(
            {"pod": placement["pod"], "a": _place(placement["a"]), "b": _place(placement["b"])}
            for placement in self.raw["placements"]["pods"]
        )

    @property
    def utilisation(self) -> Records:
        """The utilization in `a` and `b`: requested relative to allocatable resources."""
        return Records(_shares(self.raw["utilisation"]))

    def __str__(self) -> str:
        if self.same:
            return "They did the same, and every pod is in the same place."
        counted = ", ".join(f"{name} {count}" for name, count in self.counts.items() if count)
        return f"Pods: {counted}. {self.divergence}".rstrip()

    def __rich__(self) -> Any:
        from rich.console import Group

        return Group(str(self), "", self.utilisation, "", self.pods)

    def _repr_html_(self) -> str:
        tables = self.utilisation._repr_html_() + self.pods._repr_html_()
        return f"<p>{html.escape(str(self))}</p>{tables}"


def _place(place: dict[str, Any] | None) -> str:
    return "" if place is None else str(place["node"] or place["state"])


def _shares(use: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in ("cpu", "memory", "pods"):
        a, b = use["a"][resource], use["b"][resource]
        yield {"resource": resource, "a": a["requested"], "ofA": a["allocatable"], "b": b["requested"], "ofB": b["allocatable"]}
