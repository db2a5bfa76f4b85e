"""`TrialResult`: the stored result of a trial. This module does not import the engine, so that a web server can read results."""

from __future__ import annotations

import msgspec


class TrialResult(msgspec.Struct, frozen=True, rename="camel"):
    """The result of a trial. Equal trials have equal results, whichever process ran them, except for `volatile`."""

    number: int
    #: Column -> number.
    values: dict[str, float] = {}
    #: Why the trial has no values, in one line ("" if it has values), and the traceback if there is one.
    error: str = ""
    traceback: str = ""
    #: The user's plugin or measure that failed.
    failed_part: str = ""
    #: Pods of the workload with their nodes, sorted by pod.
    placements: dict[str, str] = {}
    #: The virtual time at the end.
    cycles: int = 0
    clock_seconds: float = 0.0
    #: Why it ended: "empty" | "cycles" | "seconds" | "repeating".
    ended: str = ""
    #: Column -> number, of measures that equal trials can differ in.
    volatile: dict[str, float] = {}
