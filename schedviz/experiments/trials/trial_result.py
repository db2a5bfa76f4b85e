"""`TrialResult`: what is kept of a trial. This module does not import the engine, so that a web server can read results."""

from __future__ import annotations

from typing import Literal

import msgspec

from schedviz.experiments.trials.series import Series, SeriesAxis


class TrialResult(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The result of a trial. Equal trials have equal results, whichever process ran them, except for `volatile`."""

    number: int
    #: Column -> number.
    values: dict[str, float] = {}
    #: Why the trial has no values, in one line, and the traceback if there is one; "": it has.
    error: str = ""
    traceback: str = ""
    #: The user's plugin or measure that failed.
    failed_part: str = ""
    #: Pods of the workload with their nodes, sorted by pod. None: unknown, because the result was read from a document of results.
    placements: dict[str, str] | None = {}
    #: At the end.
    cycles: int = 0
    clock_seconds: float = 0.0
    #: Why it ended: "empty" | "cycles" | "seconds" | "repeating".
    ended: str = ""
    #: Resource -> requested share of each node's allocatable amount at the end, the largest first; of many nodes, means of 200 parts.
    node_shares: dict[str, list[float]] = {}
    #: What changed during the trial, by key (`series.SeriesInfo`).
    series: dict[str, Series] = {}
    #: What `at` of the series counts; "": there are none.
    series_axis: SeriesAxis | Literal[""] = ""
    #: Column -> number, of measures that equal trials can differ in.
    volatile: dict[str, float] = {}
