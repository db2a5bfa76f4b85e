"""What is so at a stop, as the engine said it."""

from __future__ import annotations

from typing import Any

import msgspec

from schedviz.lessons.lesson import Check, Stop


class Checked(msgspec.Struct, frozen=True):
    """A claim, and what the engine says."""

    claim: Check
    found: Any

    @property
    def holds(self) -> bool:
        return bool(self.found == self.claim.equals) and isinstance(self.found, bool) == isinstance(self.claim.equals, bool)


class Played(msgspec.Struct, frozen=True):
    """What is so at a stop. The numbers of events are those of a session that is on the path."""

    stop: Stop
    #: The last event when one has arrived, and when it has been revealed.
    arrived: int
    revealed: int
    #: Facts by their names, as the texts show them: on arrival, and at the end with `answer`.
    facts: dict[str, str]
    facts_after: dict[str, str]
    answer: Any
    checks: list[Checked]
