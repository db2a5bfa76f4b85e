"""Numbers of a trial over time: the series that a page or a report plots. Without the engine, so that a web server can read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from schedviz.experiments.measure_info import Unit

#: The points of one series at most.
MAX_POINTS: Final = 200

#: What `at` counts: `seconds` of virtual time or, where all pods are there from the beginning, `pods` that have had a first attempt.
SeriesAxis = Literal["seconds", "pods"]


class Series(msgspec.Struct, frozen=True, rename="camel"):
    """A number at some points. It stays the same until the next one."""

    #: Ascending.
    at: list[float]
    values: list[float]


class SeriesInfo(msgspec.Struct, frozen=True, rename="camel"):
    """What a plot needs to know about a series."""

    #: Such as `nodesUsed`, or `utilization.cpu`.
    key: str
    #: A sentence for the report.
    title: str
    unit: Unit


#: By the part of the key before the dot, in the order in which they are shown.
TITLES: Final[dict[str, tuple[str, Unit]]] = {
    "utilization": ("Requested share of the allocatable amount of all nodes", "share"),
    "placed": ("Pods of the workload on a node", "pods"),
    "pending": ("Pods that have arrived or are gated, and have no node", "pods"),
    "cost": ("Price per hour of the nodes with a pod, DaemonSets aside", "price"),
    "nodesUsed": ("Nodes with a pod, DaemonSets aside", "nodes"),
}


def infos_of(keys: Sequence[str]) -> list[SeriesInfo]:
    """The series with these keys, each once, in the order in which they are shown."""
    order = list(TITLES)
    found = sorted(dict.fromkeys(keys), key=lambda key: order.index(_name(key)))
    return [SeriesInfo(key, *TITLES[_name(key)]) for key in found]


def evenly_spaced(length: int, most: int) -> list[int]:
    """At most `most` indices (2 or more) of a list of this length: the first, the last, and evenly spaced ones between them."""
    if length <= most:
        return list(range(length))
    return [round(place * (length - 1) / (most - 1)) for place in range(most)]


def thinned(series: Series, most: int) -> Series:
    """The series with at most `most` points, which is 2 or more."""
    if len(series.at) <= most:
        return series
    kept = evenly_spaced(len(series.at), most)
    return Series([series.at[index] for index in kept], [series.values[index] for index in kept])


def _name(key: str) -> str:
    return key.partition(".")[0]
