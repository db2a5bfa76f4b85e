"""`PreemptionRecord`: what a preemption evaluated, for display."""

from __future__ import annotations

import msgspec


class Reprieve(msgspec.Struct, frozen=True):
    """A pod of lower priority that was removed in a dry run, and whether it can stay together with the preemptor."""

    pod: str
    stays: bool
    #: Evicting the pod would violate a disruption budget; such pods are reprieved first.
    violates_budget: bool = False


class Candidate(msgspec.Struct, frozen=True):
    """A node on which preemption would help, and the victims."""

    node: str
    victims: tuple[str, ...]
    num_pdb_violations: int = 0
    #: In the order of reprieve.
    reprieves: tuple[Reprieve, ...] = ()


class PreemptionRecord(msgspec.Struct, frozen=True):
    """What a PostFilter plugin evaluated, for the record."""

    candidates: tuple[Candidate, ...] = ()
    #: The candidates that extenders left, which are all if no extender supports preemption; None: there are no extenders.
    after_extenders: tuple[Candidate, ...] | None = None
    chosen: str = ""
    victims: tuple[str, ...] = ()
    #: What decided (an element of `preemption.importance.RULES`); "": there was nothing to pick.
    rule: str = ""
