"""What a simulation is made with, and how a command ended."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from schedviz.trace.controllers import HelperSettings
from schedviz.trace.policies import Policies

#: `bound`: a victim with a node gets a deletionTimestamp, one that no kubelet runs is gone at once, as a real API server has it. True:
#: each gets one, as in sessions that older versions made; they are replayed as they ran.
GracefulVictims = bool | Literal["bound"]


def graceful_victims(*, asked: bool) -> GracefulVictims:
    """What a trace, a lesson or a user means by `gracefulVictims`."""
    return "bound" if asked else False


class SimulationSettings(msgspec.Struct, frozen=True):
    """What a session is made with. Defaults are those of v1.27.1 and of FORMAT.md."""

    #: KubeSchedulerConfiguration v1 as JSON; None: the default one.
    config: dict[str, Any] | None = None
    #: How long an assumed pod lives after its binding finished; 0: for ever.
    assumed_pod_ttl_seconds: float = 0
    pod_max_in_unschedulable_seconds: float = 300
    #: By how much the clock moves before each command and each cycle of a run.
    tick_millis: int = 1
    #: Whether a victim gets a deletionTimestamp instead of being deleted.
    graceful_victims: GracefulVictims = False
    seed: int = 0
    #: Of tied nodes the first is taken (FORMAT.md, "Frozen choices"); False: one is drawn.
    first_of_tied: bool = True
    fake_extenders: list[dict[str, Any]] = []
    #: Parts of Kubernetes around the scheduler; none of them by default.
    helpers: HelperSettings = HelperSettings()
    #: What is done as in other versions; none of it by default.
    policies: Policies = Policies()


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
