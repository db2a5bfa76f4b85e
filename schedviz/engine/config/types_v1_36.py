"""The members of a KubeSchedulerConfiguration that v1.36 has added to those of v1.27.1.

Messages show the names of the structs, which are upstream's.

Upstream: kube-scheduler/config/v1/types.go
"""

from __future__ import annotations

from schedviz.engine.config import types
from schedviz.engine.config.types import PluginSet


class Plugins(types.Plugins, frozen=True):
    """Plugins by extension point."""

    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()


class KubeSchedulerProfile(types.KubeSchedulerProfile, frozen=True):
    """A profile."""

    plugins: Plugins = Plugins()


class KubeSchedulerConfiguration(types.KubeSchedulerConfiguration, frozen=True):
    """The scheduler's configuration."""

    profiles: tuple[KubeSchedulerProfile, ...] = ()
    #: Has no effect here: there is one scheduler.
    delay_cache_until_active: bool = False
