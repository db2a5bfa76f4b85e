"""The settings of a session's engine. They live here, and not in the engine, so that the web server can decode them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from schedviz.trace.controllers import ControllerSettings
from schedviz.trace.policies import Policies
from schedviz.trace.releases import DEFAULT_RELEASE, V1_27

#: How a preemption victim is removed. `bound`: a victim on a node gets a deletionTimestamp, one without a node is deleted at once, as a
#: real API server does. True: every victim gets a deletionTimestamp; sessions of older versions are replayed like that.
GracefulVictims = bool | Literal["bound"]


#: Pods that a simulated controller creates or deletes in one sync. Upstream: pkg/controller/replicaset/replica_set.go BurstReplicas
PODS_PER_SYNC = 500

#: The members of settings that state which version's rules hold for a session, with their values for a session that is made now. Their
#: defaults are those of sessions that older versions made, which are replayed as they ran.
RULES_OF_NEW_SESSIONS: Final[Mapping[str, Any]] = MappingProxyType({"pods_per_sync": PODS_PER_SYNC, "records_preemptions": True})


def graceful_victims(*, asked: bool) -> GracefulVictims:
    """The setting for `gracefulVictims` as a trace, a lesson or a user writes it."""
    return "bound" if asked else False


#: Which of tied nodes is selected: the first in the order of the nodes, a random one, or the one at the top of v1.36's heap.
TieBreak = Literal["first", "random", "heap"]


class SimulationSettings(msgspec.Struct, frozen=True):
    """The settings of a session. Defaults are those of v1.27.1 and of FORMAT.md."""

    #: KubeSchedulerConfiguration v1 as JSON; None: the default one.
    config: dict[str, Any] | None = None
    #: How long an assumed pod lives after its binding finished; 0: it never expires.
    assumed_pod_ttl_seconds: float = 0
    pod_max_in_unschedulable_seconds: float = 300
    #: How far the clock moves before each command and each cycle of a run.
    tick_millis: int = 1
    #: Whether a victim gets a deletionTimestamp instead of being deleted.
    graceful_victims: GracefulVictims = False
    seed: int = 0
    #: v1.27.1: select the first of tied nodes (FORMAT.md, "Frozen choices"); False: select one at random.
    first_of_tied: bool = True
    fake_extenders: list[dict[str, Any]] = []
    #: Simulated controllers; none by default.
    helpers: ControllerSettings = ControllerSettings()
    #: Parts that behave as in other versions; none by default.
    policies: Policies = Policies()
    #: Pods that a simulated controller creates or deletes in one sync; 0: all of them (`RULES_OF_NEW_SESSIONS`).
    pods_per_sync: int = 0
    #: The simulated release of kube-scheduler (`trace.releases`).
    release: str = DEFAULT_RELEASE
    #: Feature gates that differ from the release's defaults, by upstream's name.
    feature_gates: dict[str, bool] = {}
    #: v1.36: an asynchronous preemption deletes its victims only at a `preempt` command; False: right after its scheduling cycle.
    hold_preemption: bool = False
    #: v1.36 with SchedulerAsyncAPICalls: API calls are made only at a `dispatch` command; False: at the end of each cycle.
    hold_dispatch: bool = False
    #: v1.36: asynchronous preemptions and pending API calls have trace events; False: events are numbered without them
    #: (`RULES_OF_NEW_SESSIONS`).
    records_preemptions: bool = False
    #: v1.36: select the first of tied nodes; False: the one at the top of upstream's heap. Stored under an older name.
    first_of_tied_v1_36: bool = msgspec.field(default=False, name="first_of_heap")
    #: v1.36: select one of tied nodes at random, by the seed. Upstream selects by the order in which its parallel filters end.
    random_of_tied: bool = False

    @property
    def tie_break(self) -> TieBreak:
        """Which of tied nodes the release selects. The only reader of the three settings above."""
        if self.release == V1_27:
            return "first" if self.first_of_tied and not self.random_of_tied else "random"
        if self.random_of_tied:
            return "random"
        return "first" if self.first_of_tied_v1_36 else "heap"
