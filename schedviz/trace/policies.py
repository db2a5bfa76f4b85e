"""Policies: parts of a session's scheduler that behave as in other versions than v1.27.1. All are off by default.

They are set when a session is created, over REST or in the header of a trace file, and never change.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

#: v1.14's priorities that can be enabled by name.
PRIORITIES_V1_14: Final = (
    "BalancedResourceAllocation",
    "EqualPriority",
    "ImageLocalityPriority",
    "InterPodAffinityPriority",
    "LeastRequestedPriority",
    "MostRequestedPriority",
    "NodeAffinityPriority",
    "NodePreferAvoidPodsPriority",
    "SelectorSpreadPriority",
    "TaintTolerationPriority",
)

#: The default time after which assumed pods expire: never in v1.27.1 (0), after 30 s in v1.14.
DEFAULT_TTL_SECONDS: Final = {"v1.27": 0.0, "v1.14": 30.0}


class PriorityPolicy(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """One priority with its weight. With `scores` it is not one of v1.14's: it gives these scores, by node, and 0 to all other nodes."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    weight: Annotated[int, Meta(ge=1, le=10_000_000)] = 1
    scores: dict[str, Annotated[int, Meta(ge=0, le=10)]] | None = None

    def __post_init__(self) -> None:
        if self.scores is None and self.name not in PRIORITIES_V1_14:
            priorities = ", ".join(PRIORITIES_V1_14)
            raise ValueError(f"there is no priority {self.name}; there are {priorities}, and any name together with scores")
        if self.scores is not None and self.name in PRIORITIES_V1_14:
            raise ValueError(f"{self.name} computes its scores; a priority with scores of its own needs another name")


class Policies(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Behaviour of other versions."""

    #: How long an assumed pod lives after its binding finished (v1.14: 30 s, later 15 min); 0: it never expires; None: the default of the
    #: cache's version.
    assumed_pod_ttl_seconds: Annotated[float, Meta(ge=0, le=31_536_000)] | None = msgspec.field(default=None, name="assumedPodTTLSeconds")
    #: v1.14: the cache with its states and errors.
    cache: Literal["v1.27", "v1.14"] = "v1.27"
    #: Priorities that run in addition to Score, without effect; "v1.14": its default ones.
    priorities: Literal["v1.14"] | Annotated[list[PriorityPolicy], Meta(max_length=50)] | None = None
    #: v1.18: a node without victims is a candidate.
    preemption: Literal["v1.27", "v1.18"] = "v1.27"

    def __post_init__(self) -> None:
        if isinstance(self.priorities, list):
            names = [priority.name for priority in self.priorities]
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"priority {name} is listed twice")

    def ttl_seconds(self, ttl: float = 0.0) -> float:
        """How long an assumed pod lives. `ttl` is the value of a trace or of the settings; it applies if the policies set none."""
        if self.assumed_pod_ttl_seconds is not None:
            return self.assumed_pod_ttl_seconds
        return ttl or DEFAULT_TTL_SECONDS[self.cache]
