"""Where a scheduler takes what its session's policies ask for."""

from __future__ import annotations

from schedviz.engine.cache import Cache
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.runtime.plugin_lists import Registry
from schedviz.engine.framework.types import Generations
from schedviz.engine.legacy.cache import CacheV114
from schedviz.engine.legacy.preemption import PreemptionV118
from schedviz.trace.policies import Policies
from schedviz.trace.recorder import Recorder


def cache_for(policies: Policies, recorder: Recorder, *, ttl_seconds: float) -> Cache:
    """The cache of a version. `ttl_seconds` counts where the policies do not say when assumed pods expire."""
    kind = CacheV114 if policies.cache == "v1.14" else Cache
    return kind(recorder, Generations(), ttl_seconds=policies.ttl_seconds(ttl_seconds))


def with_policies(registry: Registry, policies: Policies) -> Registry:
    """The plugins, some of them as they were in another version."""
    return {**registry, names.DEFAULT_PREEMPTION: PreemptionV118} if policies.preemption == "v1.18" else registry
