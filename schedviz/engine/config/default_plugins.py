"""The plugins that are enabled by default, and how a profile's plugins are merged with them.

Upstream: apis/config/v1/default_plugins.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from schedviz.engine.config.types import Plugin, Plugins, PluginSet
from schedviz.engine.features import Features
from schedviz.trace import releases

_V1_27: Final = Plugins(
    multi_point=PluginSet(
        enabled=(
            Plugin("PrioritySort"),
            Plugin("NodeUnschedulable"),
            Plugin("NodeName"),
            Plugin("TaintToleration", 3),
            Plugin("NodeAffinity", 2),
            Plugin("NodePorts"),
            Plugin("NodeResourcesFit", 1),
            Plugin("VolumeRestrictions"),
            Plugin("EBSLimits"),
            Plugin("GCEPDLimits"),
            Plugin("NodeVolumeLimits"),
            Plugin("AzureDiskLimits"),
            Plugin("VolumeBinding"),
            Plugin("VolumeZone"),
            Plugin("PodTopologySpread", 2),
            Plugin("InterPodAffinity", 2),
            Plugin("DefaultPreemption"),
            Plugin("NodeResourcesBalancedAllocation", 1),
            Plugin("ImageLocality", 1),
            Plugin("DefaultBinder"),
            Plugin("SchedulingGates"),
        )
    )
)


_V1_36: Final = Plugins(
    multi_point=PluginSet(
        enabled=(
            Plugin("SchedulingGates"),
            Plugin("PrioritySort"),
            Plugin("NodeUnschedulable"),
            Plugin("NodeName"),
            Plugin("TaintToleration", 3),
            Plugin("NodeAffinity", 2),
            Plugin("NodePorts"),
            Plugin("NodeResourcesFit", 1),
            Plugin("VolumeRestrictions"),
            Plugin("NodeVolumeLimits"),
            Plugin("VolumeBinding"),
            Plugin("VolumeZone"),
            Plugin("PodTopologySpread", 2),
            Plugin("InterPodAffinity", 2),
            Plugin("DynamicResources", 2),
            Plugin("DefaultPreemption"),
            Plugin("NodeResourcesBalancedAllocation", 1),
            Plugin("ImageLocality", 1),
            Plugin("DefaultBinder"),
            Plugin("NodeDeclaredFeatures"),
            Plugin("GangScheduling"),
            Plugin("TopologyPlacementGenerator"),
            Plugin("PodGroupPodsCount", 1),
        )
    )
)

#: By release, with all plugins that its feature gates can add.
DEFAULT_PLUGINS: Final[Mapping[str, Plugins]] = {releases.V1_27: _V1_27, releases.V1_36: _V1_36}
#: Plugin -> the member of `Features` without which it is not among the defaults.
REQUIRED_FEATURES: Final[Mapping[str, str]] = {
    "NodeDeclaredFeatures": "node_declared_features",
    "GangScheduling": "gang_scheduling",
    "TopologyPlacementGenerator": "topology_aware_workload_scheduling",
    "PodGroupPodsCount": "topology_aware_workload_scheduling",
}


def apply_feature_gates(default: Plugins, features: Features) -> Plugins:
    """The default plugins without those whose gate is off. Upstream: applyFeatureGates"""
    enabled = [
        plugin
        for plugin in default.multi_point.enabled
        if plugin.name not in REQUIRED_FEATURES or getattr(features, REQUIRED_FEATURES[plugin.name])
    ]
    if len(enabled) == len(default.multi_point.enabled):
        return default
    return replace(default, multi_point=replace(default.multi_point, enabled=tuple(enabled)))


def merge_plugins(custom: Plugins, default: Plugins) -> Plugins:
    """The default plugins with a profile's changes, one extension point at a time. Upstream: mergePlugins"""
    kind = type(custom)
    return kind(
        **{
            field.name: _merge_plugin_set(getattr(default, field.name, PluginSet()), getattr(custom, field.name))
            for field in msgspec.structs.fields(kind)
        }
    )


def _merge_plugin_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    """A default plugin that is configured again keeps its position; others are appended. Upstream: mergePluginSet

    The result keeps the disabled plugins, which MultiPoint expansion needs.
    """
    disabled = (*(Plugin(plugin.name) for plugin in custom.disabled), *(Plugin(plugin.name) for plugin in default.disabled))
    disabled_names = {plugin.name for plugin in disabled}
    by_name = {plugin.name: (index, plugin) for index, plugin in enumerate(custom.enabled)}
    enabled: list[Plugin] = []
    replaced: set[int] = set()
    if "*" not in disabled_names:
        for plugin in default.enabled:
            if plugin.name in disabled_names:
                continue
            index, chosen = by_name.get(plugin.name, (-1, plugin))
            replaced.add(index)
            enabled.append(chosen)
    # A custom plugin that is listed twice stays twice, and the framework rejects it.
    enabled.extend(plugin for index, plugin in enumerate(custom.enabled) if index not in replaced)
    return PluginSet(enabled=tuple(enabled), disabled=disabled)
