"""The parts of a scheduler that a session's policies take from older versions."""

from __future__ import annotations

from dataclasses import replace

from schedviz.engine.cache import Cache
from schedviz.engine.features import Features
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import Generations, PodInfo
from schedviz.engine.legacy.cache import CacheV114
from schedviz.engine.legacy.preemption import PreemptionV118
from schedviz.engine.release import Release
from schedviz.trace.policies import Policies
from schedviz.trace.recorder import Recorder


def with_policies(release: Release, policies: Policies) -> Release:
    """The release, with the parts of older versions that the policies name in place of its own."""
    if policies.cache == "v1.14":
        release = replace(release, make_cache=_make_cache_v1_14)
    if policies.preemption == "v1.18":
        in_tree = release.in_tree_registry
        release = replace(release, in_tree_registry=lambda: {**in_tree(), names.DEFAULT_PREEMPTION: PreemptionV118})
    return release


def _make_cache_v1_14(recorder: Recorder, pod_info: type[PodInfo], *, ttl_seconds: float, features: Features) -> Cache:  # noqa: ARG001
    return CacheV114(recorder, Generations(), ttl_seconds=ttl_seconds, pod_info=pod_info)
