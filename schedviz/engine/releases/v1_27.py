"""kube-scheduler v1.27.1."""

from __future__ import annotations

from typing import Final

from schedviz.engine.binding import BindingCycle
from schedviz.engine.cache import Cache
from schedviz.engine.event_handlers import EventHandlers
from schedviz.engine.features import Features
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.types import Generations, PodInfo
from schedviz.engine.queue.v1_27.priority_queue import make_queue
from schedviz.engine.release import Release
from schedviz.engine.releases.v1_27_plugins import in_tree_registry
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.kube.kinds import WATCHED_KINDS
from schedviz.trace import releases
from schedviz.trace.recorder import Recorder


def _make_cache(recorder: Recorder, pod_info: type[PodInfo], *, ttl_seconds: float, features: Features) -> Cache:  # noqa: ARG001
    return Cache(recorder, Generations(), ttl_seconds=ttl_seconds, pod_info=pod_info)


def _pod_info(_features: Features) -> type[PodInfo]:
    return PodInfo


RELEASE: Final = Release(
    version=releases.V1_27,
    gates={},
    in_tree_registry=in_tree_registry,
    pod_info=_pod_info,
    watched_kinds=WATCHED_KINDS,
    make_cache=_make_cache,
    make_queue=make_queue,
    make_handlers=EventHandlers,
    framework=Framework,
    shows_status_after_patch=False,
    refused_binding_confirms_earlier=False,
    formats_extender_errors=True,
    scheduling_cycle=SchedulingCycle,
    binding_cycle=BindingCycle,
)
