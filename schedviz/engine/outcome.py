"""How a command ended."""

from __future__ import annotations

import msgspec


class Outcome(msgspec.Struct, frozen=True, rename="camel"):
    """How a command ended."""

    #: Why nothing happened; "" when something did (FORMAT.md, `observed.result`).
    result: str = ""
    #: What was wrong with the command: a sentence that says where.
    error: str = ""
    #: How many scheduling cycles ended.
    cycles: int = 0
    #: The number of the last event.
    event: int = 0
    clock_seconds: float = 0.0
    #: Why a run ended: "empty" (nothing is left to schedule) | "max" | "paused".
    stopped: str = ""
