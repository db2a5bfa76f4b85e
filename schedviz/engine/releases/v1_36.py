"""kube-scheduler v1.36."""

from __future__ import annotations

from typing import Final

from schedviz.engine.binding_v1_36 import BindingCycleV136
from schedviz.engine.cache import Cache
from schedviz.engine.cache.cache_v1_36 import CacheV136
from schedviz.engine.event_handlers_v1_36 import EventHandlersV136
from schedviz.engine.features import V1_36_GATES, Features
from schedviz.engine.framework.pod_info_v1_36 import pod_info_class
from schedviz.engine.framework.runtime.framework_v1_36 import FrameworkV136
from schedviz.engine.framework.types import Generations, PodInfo
from schedviz.engine.queue.v1_36 import PriorityQueue
from schedviz.engine.release import Release
from schedviz.engine.releases.v1_36_plugins import in_tree_registry
from schedviz.engine.schedule_one_v1_36 import SchedulingCycleV136
from schedviz.kube.kinds import WATCHED_KINDS_V1_36
from schedviz.trace import releases
from schedviz.trace.recorder import Recorder


def _make_cache(
    recorder: Recorder,
    pod_info: type[PodInfo],
    *,
    ttl_seconds: float,  # noqa: ARG001 - pods do not expire
    features: Features,
) -> Cache:
    return CacheV136(recorder, Generations(), pod_info=pod_info, tracks_pod_groups=features.generic_workload)


RELEASE: Final = Release(
    version=releases.V1_36,
    gates=V1_36_GATES,
    in_tree_registry=in_tree_registry,
    pod_info=pod_info_class,
    watched_kinds=WATCHED_KINDS_V1_36,
    make_cache=_make_cache,
    make_queue=PriorityQueue,
    make_handlers=EventHandlersV136,
    framework=FrameworkV136,
    shows_status_after_patch=True,
    refused_binding_confirms_earlier=True,
    formats_extender_errors=False,
    scheduling_cycle=SchedulingCycleV136,
    binding_cycle=BindingCycleV136,
)
