"""Converts the predicates and priorities of a Policy (before v1.23) to plugins of a profile. Upstream (v1.22):
framework/plugins/legacy_registry.go
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

_PREDICATES: Final[dict[str, tuple[str, ...]]] = {
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "PodFitsResources": ("NodeResourcesFit",),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "PodFitsPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "MaxEBSVolumeCount": ("EBSLimits",),
    "MaxGCEPDVolumeCount": ("GCEPDLimits",),
    "MaxAzureDiskVolumeCount": ("AzureDiskLimits",),
    "MaxCinderVolumeCount": ("CinderLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "PodToleratesNodeTaints": ("TaintToleration",),
}
#: A Policy could not disable these.
_MANDATORY: Final = ("NodeUnschedulable", "TaintToleration")
_PRIORITIES: Final = {
    "LeastRequestedPriority": "NodeResourcesFit",
    "MostRequestedPriority": "NodeResourcesFit",
    "RequestedToCapacityRatioPriority": "NodeResourcesFit",
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "NodeAffinityPriority": "NodeAffinity",
    "TaintTolerationPriority": "TaintToleration",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "EvenPodsSpreadPriority": "PodTopologySpread",
}
_STRATEGIES: Final = {"MostRequestedPriority": "MostAllocated"}


def profile_of_policy(policy: dict[str, Any], drop: Callable[[str, str], None]) -> dict[str, Any]:
    """The profile that a Policy describes. Converted members are removed from the Policy; `drop` is called for those without a plugin."""
    plugins: dict[str, Any] = {}
    configs: list[dict[str, Any]] = []
    predicates = policy.pop("predicates", None)
    if predicates is not None:
        plugins["filter"] = {"disabled": [{"name": "*"}], "enabled": [{"name": name} for name in _filters(predicates, drop)]}
    priorities = policy.pop("priorities", None)
    if priorities is not None:
        enabled = _scores(priorities, configs, drop)
        plugins["score"] = {"disabled": [{"name": "*"}], "enabled": [{"name": name, "weight": weight} for name, weight in enabled.items()]}
    weight = policy.pop("hardPodAffinitySymmetricWeight", None)
    if weight is not None:
        configs.append({"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": weight}})
    if policy.pop("alwaysCheckAllPredicates", False):
        drop("alwaysCheckAllPredicates", "a node is left at the first plugin that rejects it")
    profile = {"plugins": plugins, "pluginConfig": configs}
    return {name: member for name, member in profile.items() if member}


def _filters(predicates: list[dict[str, Any]], drop: Callable[[str, str], None]) -> list[str]:
    names = dict.fromkeys(_MANDATORY)
    for index, predicate in enumerate(predicates):
        plugins = _PREDICATES.get(predicate.get("name", ""), ())
        names.update(dict.fromkeys(plugins))
        if not plugins:
            drop(f"predicates[{index}]", f"{predicate.get('name')}: no current plugin implements this")
    return list(names)


def _scores(priorities: list[dict[str, Any]], configs: list[dict[str, Any]], drop: Callable[[str, str], None]) -> dict[str, int]:
    weights: dict[str, int] = {}
    for index, priority in enumerate(priorities):
        name, plugin = priority.get("name", ""), _PRIORITIES.get(priority.get("name", ""))
        argument = (priority.get("argument") or {}).get("requestedToCapacityRatioArguments")
        plugin = "NodeResourcesFit" if argument else plugin
        if plugin is None:
            drop(f"priorities[{index}]", f"{name}: no current plugin implements this")
            continue
        if plugin in weights:
            drop(f"priorities[{index}]", f"{name}: {plugin} has only one scoring strategy, and an earlier priority selected another")
            continue
        weights[plugin] = priority.get("weight", 1)
        if name in _STRATEGIES:
            configs.append({"name": plugin, "args": {"scoringStrategy": {"type": _STRATEGIES[name]}}})
        elif argument:
            strategy: dict[str, Any] = {"type": "RequestedToCapacityRatio"}
            strategy["requestedToCapacityRatio"] = {"shape": argument.get("shape", argument.get("utilizationShape", []))}
            if argument.get("resources"):
                strategy["resources"] = argument["resources"]
            configs.append({"name": plugin, "args": {"scoringStrategy": strategy}})
    return weights
