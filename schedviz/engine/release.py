"""`Release`: the parts of the engine that differ between releases of kube-scheduler, as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from schedviz.engine.cache import Cache
from schedviz.engine.features import Features, Gates
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.runtime.plugin_lists import Registry
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.queue.interface import MakeQueue
from schedviz.kube.kinds import Kind
from schedviz.trace.recorder import Recorder

if TYPE_CHECKING:
    from schedviz.engine.binding import BindingCycle
    from schedviz.engine.event_handlers import Handlers
    from schedviz.engine.schedule_one import SchedulingCycle
    from schedviz.engine.scheduler_state import SchedulerState


class MakeCache(Protocol):
    """Creates an empty cache."""

    def __call__(self, recorder: Recorder, pod_info: type[PodInfo], *, ttl_seconds: float, features: Features) -> Cache: ...


@dataclass(frozen=True)
class Release:
    """One release. The scheduler is built from it; its cycles, queue and plugins never ask for `version`. Reports, whose form depends on
    it, do.
    """

    version: str
    #: The feature gates that a session can set.
    gates: Gates
    #: Creates the registry of in-tree plugins.
    in_tree_registry: Callable[[], Registry]
    #: The class of PodInfos under these feature gates.
    pod_info: Callable[[Features], type[PodInfo]]
    #: The kinds that the scheduler watches if their gates are on, in the order in which it lists them.
    watched_kinds: tuple[Kind, ...]
    make_cache: MakeCache
    make_queue: MakeQueue
    make_handlers: Callable[[SchedulerState], Handlers]
    framework: type[Framework]
    #: The record of a status patch has the values after it, not those in the patch.
    shows_status_after_patch: bool
    #: A refused binding delivers the event of an earlier binding of the pod, which the scheduler took for failed.
    refused_binding_confirms_earlier: bool
    #: The error of an extender is used as a format, which alters each `%` in it.
    formats_extender_errors: bool
    scheduling_cycle: type[SchedulingCycle]
    binding_cycle: type[BindingCycle]

    def kinds_watched_with(self, features: Features) -> tuple[Kind, ...]:
        """The kinds that the scheduler watches with these feature gates, in the order in which it lists them."""
        return tuple(kind for kind in self.watched_kinds if not kind.gate or getattr(features, self.gates[kind.gate].member))
