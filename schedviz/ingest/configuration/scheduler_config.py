"""`convert`: converts a scheduler configuration of an older version to an equivalent one of v1, and lists what was dropped.

Reads KubeSchedulerConfiguration v1alpha1 to v1beta3 and Policy v1. Features that the v1 scheduler no longer has are dropped and reported.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from schedviz.ingest.configuration.config_policy import profile_of_policy
from schedviz.ingest.configuration.config_text import parse_config
from schedviz.ingest.errors import UnreadableFile

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"
_GROUPS: Final = ("kubescheduler.config.k8s.io/", "componentconfig/")

_EXTENDER_MEMBERS: Final = (
    *("urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "weight", "bindVerb", "enableHTTPS", "tlsConfig"),
    *("httpTimeout", "nodeCacheCapable", "managedResources", "ignorable"),
)
#: Plugins of older versions whose scoring NodeResourcesFit took over, and its strategy.
_STRATEGIES: Final = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
#: Removed plugins, and why.
_REMOVED_PLUGINS: Final = {
    "NodePreferAvoidPods": "the plugin was removed; a taint with PreferNoSchedule does the same",
    "NodeLabel": "the plugin was removed; node affinity (NodeAffinity's addedAffinity) can do the same",
    "ServiceAffinity": "the plugin was removed; inter-pod affinity can do the same",
    "NodeResourceLimits": "the plugin was removed",
    "SelectorSpread": "the plugin was removed from v1; PodTopologySpread with system defaulting spreads in a similar way",
    "DefaultPodTopologySpread": "the plugin was removed from v1; PodTopologySpread with system defaulting spreads in a similar way",
}
_UNUSED: Final = {
    "healthzBindAddress": "v1 has no such member, and it has no effect here",
    "metricsBindAddress": "v1 has no such member, and it has no effect here",
    "disableContentionProfiling": "v1 has no such member, and it has no effect here",
}


class Converted(msgspec.Struct, frozen=True):
    """A configuration of v1, and what was dropped: `path: why`."""

    config: dict[str, Any]
    dropped: list[str]


def convert(text: str) -> Converted:
    """The configuration in `text` (YAML, JSON, or JSON with comments) as v1. Raises `UnreadableFile`."""
    parsed = parse_config(text)
    if parsed.duplicates:
        raise UnreadableFile(f"{parsed.duplicates[0]}: say it once.")
    return convert_document(parsed.document)


def convert_document(document: Mapping[str, Any]) -> Converted:
    """The same for a parsed configuration. Raises `UnreadableFile`."""
    source = copy.deepcopy({name: member for name, member in document.items() if member is not None})
    kind, version = source.pop("kind", KIND), str(source.pop("apiVersion", API_VERSION))
    if kind != "Policy" and (kind != KIND or not version.startswith(_GROUPS)):
        raise UnreadableFile(f"{kind} of {version} is no configuration of the scheduler: expected {KIND} or Policy.")
    conversion = _Conversion(version.rpartition("/")[2])
    try:
        return conversion.policy(source) if kind == "Policy" else conversion.configuration(source)
    except (AttributeError, TypeError):
        # Old versions are decoded leniently: members are checked where they are used.
        raise UnreadableFile(
            f"this {kind} of {version} has members of the wrong type: a map, a list or a text is not where one belongs."
        ) from None


class _Conversion:
    """The state of one conversion."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.dropped: list[str] = []
        self.config: dict[str, Any] = {"apiVersion": API_VERSION, "kind": KIND}

    def drop(self, path: str, why: str) -> None:
        self.dropped.append(f"{path}: {why}")

    def done(self) -> Converted:
        return Converted(self.config, self.dropped)

    def policy(self, source: dict[str, Any]) -> Converted:
        """A Policy: its predicates and priorities become the plugins of the single profile."""
        profile = profile_of_policy(source, self.drop)
        if profile:
            self.config["profiles"] = [{"schedulerName": "default-scheduler", **profile}]
        extenders = source.pop("extenders", None)
        if extenders:
            self.config["extenders"] = self.extenders(extenders)
        for name in source:
            self.drop(name, "v1 has no such member")
        return self.done()

    def configuration(self, source: dict[str, Any]) -> Converted:
        """A KubeSchedulerConfiguration."""
        if self.version in ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"):
            self.single_profile(source)
            for name in [name for name in source if name in _UNUSED]:
                del source[name]
                self.drop(name, _UNUSED[name])
        members: dict[str, Callable[[Any], Any]] = {"extenders": self.extenders, "leaderElection": self.leader_election}
        for name, member in source.items():
            self.config[name] = members[name](member) if name in members else member
        for index, profile in enumerate(self.config.get("profiles") or ()):
            if isinstance(profile, dict):
                self.profile(profile, f"profiles[{index}]")
        return self.done()

    # Top-level members of older versions.

    def single_profile(self, source: dict[str, Any]) -> None:
        """Members of the whole scheduler that belong to a profile in v1."""
        profile: dict[str, Any] = {}
        if "schedulerName" in source:
            profile["schedulerName"] = source.pop("schedulerName")
        for name in ("plugins", "pluginConfig"):
            if name in source:
                profile[name] = source.pop(name)
        if self.version == "v1alpha1" and "postFilter" in (profile.get("plugins") or ()):
            profile["plugins"].setdefault("preScore", profile["plugins"].pop("postFilter"))  # its former name
        configs: list[dict[str, Any]] = []
        if source.get("hardPodAffinitySymmetricWeight") is not None:
            weight = source.pop("hardPodAffinitySymmetricWeight")
            configs.append({"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": weight}})
        if source.get("bindTimeoutSeconds") is not None:
            configs.append({"name": "VolumeBinding", "args": {"bindTimeoutSeconds": source.pop("bindTimeoutSeconds")}})
        without_preemption = bool(source.pop("disablePreemption", False))
        self.algorithm(source.pop("algorithmSource", None))
        if not (profile or configs or without_preemption):
            return
        profiles = source.setdefault("profiles", [{}]) or [{}]
        for target in profiles:
            target.update({name: value for name, value in profile.items() if name not in target})
            if configs:
                target["pluginConfig"] = [*(target.get("pluginConfig") or []), *copy.deepcopy(configs)]
            if without_preemption:
                post_filter = target.setdefault("plugins", {}).setdefault("postFilter", {})
                post_filter["disabled"] = [*(post_filter.get("disabled") or []), {"name": "DefaultPreemption"}]

    def algorithm(self, source: Any) -> None:
        if not isinstance(source, dict):
            return
        if source.get("provider") not in (None, "DefaultProvider"):
            self.drop("algorithmSource.provider", f"{source['provider']}: v1 has no providers, the default plugins run")
        if source.get("policy") is not None:
            self.drop("algorithmSource.policy", "it refers to another file; convert that Policy")

    def leader_election(self, source: Any) -> Any:
        if not isinstance(source, dict):
            return source
        for old, new in (("lockObjectName", "resourceName"), ("lockObjectNamespace", "resourceNamespace")):
            if old in source:
                source.setdefault(new, source.pop(old))
        if source.get("resourceLock") not in (None, "", "leases"):
            self.drop("leaderElection.resourceLock", f"{source['resourceLock']}: v1 knows leases alone, and it has no effect here")
            source["resourceLock"] = "leases"
        return source

    # Extenders.

    def extenders(self, source: Any) -> Any:
        """Older versions accepted members in any case (`BindVerb`), and an apiVersion."""
        if not isinstance(source, list):
            return source
        return [
            self.extender(extender, f"extenders[{index}]") if isinstance(extender, dict) else extender
            for index, extender in enumerate(source)
        ]

    def extender(self, source: dict[str, Any], path: str) -> dict[str, Any]:
        by_case = {name.lower(): name for name in _EXTENDER_MEMBERS}
        extender: dict[str, Any] = {}
        for name, member in source.items():
            known_name = by_case.get(str(name).lower())
            if known_name is None:
                self.drop(f"{path}.{name}", "an extender has no such member")
            elif known_name == "httpTimeout" and isinstance(member, (int, float)):
                extender[known_name] = f"{int(member)}ns"
            else:
                extender[known_name] = member
        return extender

    # Profiles.

    def profile(self, profile: dict[str, Any], path: str) -> None:
        plugins = profile.get("plugins")
        if isinstance(plugins, dict):
            self.points(plugins, f"{path}.plugins")
            for point, chosen in plugins.items():
                if isinstance(chosen, dict):
                    self.plugin_set(profile, point, chosen, f"{path}.plugins.{point}")
        configs = profile.get("pluginConfig")
        if isinstance(configs, list):
            self.plugin_configs(profile, configs, f"{path}.pluginConfig")

    def points(self, plugins: dict[str, Any], path: str) -> None:
        """Remove extension points that no longer exist."""
        for point, why in (("unreserve", "Reserve plugins unreserve, too"), ("normalizeScore", "Score plugins normalise, too")):
            if plugins.pop(point, None) is not None:
                self.drop(f"{path}.{point}", why)

    def plugin_set(self, profile: dict[str, Any], point: str, chosen: dict[str, Any], path: str) -> None:
        names = {member: [entry.get("name") for entry in chosen.get(member) or ()] for member in ("enabled", "disabled")}
        other = next((name for name in names["enabled"] if name in _STRATEGIES and name != "NodeResourcesLeastAllocated"), None)
        if other and point == "score" and not {"*", "NodeResourcesLeastAllocated"} & set(names["disabled"]):
            self.drop(
                path,
                f"NodeResourcesLeastAllocated: it was enabled together with {other}, but NodeResourcesFit has only one scoring strategy",
            )
        for member in ("enabled", "disabled"):
            entries: list[Any] = []
            for index, entry in enumerate(chosen.get(member) or ()):
                name = entry.get("name") if isinstance(entry, dict) else None
                if name in _REMOVED_PLUGINS:
                    self.drop(f"{path}.{member}[{index}]", f"{name}: {_REMOVED_PLUGINS[name]}")
                elif name in _STRATEGIES and point in ("score", "preScore", "multiPoint"):
                    self.scoring(profile, chosen, member, entry, entries)
                else:
                    entries.append(entry)
            if member in chosen:
                chosen[member] = entries

    def scoring(self, profile: dict[str, Any], chosen: dict[str, Any], member: str, entry: dict[str, Any], entries: list[Any]) -> None:
        """A plugin that scored by resources: NodeResourcesFit replaces it, with a strategy."""
        enabled = {plugin.get("name") for plugin in chosen.get("enabled") or () if isinstance(plugin, dict)}
        if member == "disabled":
            # Its replacement scores with NodeResourcesFit, too.
            if entry["name"] == "NodeResourcesLeastAllocated" and not enabled & {*_STRATEGIES, "NodeResourcesFit"}:
                entries.append({**entry, "name": "NodeResourcesFit"})
            return
        entries.append({**entry, "name": "NodeResourcesFit"})
        configs = profile.setdefault("pluginConfig", [])
        args = next((config for config in configs if config.get("name") == "NodeResourcesFit"), None)
        if args is None:
            args = {"name": "NodeResourcesFit", "args": {}}
            configs.append(args)
        args.setdefault("args", {}).setdefault("scoringStrategy", {})["type"] = _STRATEGIES[entry["name"]]

    def plugin_configs(self, profile: dict[str, Any], configs: list[Any], path: str) -> None:
        kept_configs: list[Any] = []
        for index, config in enumerate(configs):
            name = config.get("name") if isinstance(config, dict) else None
            if name in _REMOVED_PLUGINS:
                self.drop(f"{path}[{index}]", f"{name}: {_REMOVED_PLUGINS[name]}")
            elif name in _STRATEGIES:
                self.strategy_args(configs, config.get("args") or {}, f"{path}[{index}]")
            else:
                args = config.get("args") if isinstance(config, dict) else None
                if isinstance(args, dict) and str(args.get("apiVersion", "")).startswith(_GROUPS):
                    args["apiVersion"] = API_VERSION
                kept_configs.append(config)
        profile["pluginConfig"] = kept_configs

    def strategy_args(self, configs: list[Any], args: dict[str, Any], path: str) -> None:
        """`resources` and `shape` of the old plugins belong to the strategy of NodeResourcesFit."""
        fit = next((config for config in configs if isinstance(config, dict) and config.get("name") == "NodeResourcesFit"), None)
        if fit is None:
            self.drop(path, "its plugin is not enabled")
            return
        strategy = fit.setdefault("args", {}).setdefault("scoringStrategy", {})
        if args.get("resources"):
            strategy["resources"] = args["resources"]
        if args.get("shape"):
            strategy["requestedToCapacityRatio"] = {"shape": args["shape"]}
