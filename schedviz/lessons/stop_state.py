"""The state at a stop, as computed by the engine."""

from __future__ import annotations

from typing import Any

import msgspec

from schedviz.lessons.lesson import Check, Stop


class CheckedClaim(msgspec.Struct, frozen=True):
    """A claim and its actual value."""

    claim: Check
    found: Any

    @property
    def holds(self) -> bool:
        return bool(self.found == self.claim.equals) and isinstance(self.found, bool) == isinstance(self.claim.equals, bool)


class StopState(msgspec.Struct, frozen=True):
    """The state at a stop. Event numbers are those of a session that follows the path."""

    stop: Stop
    #: The last event on arrival, and after the reveal.
    arrived: int
    revealed: int
    #: Facts by name, formatted for the texts: on arrival, and at the end with `answer`.
    facts: dict[str, str]
    facts_after: dict[str, str]
    answer: Any
    checks: list[CheckedClaim]
