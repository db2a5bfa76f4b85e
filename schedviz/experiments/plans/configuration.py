"""Applies a variant's differences to a KubeSchedulerConfiguration, as JSON. The engine validates the result."""

from __future__ import annotations

import copy
from typing import Any

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan import Patch

_MULTI_POINT = "multiPoint"
_Json = dict[str, Any]


def merged(target: Any, patch: Any) -> Any:
    """The target with a JSON merge patch (RFC 7396) applied: null removes a member, and a list replaces a list."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def with_patch(config: _Json | None, patch: Patch, *, path: str) -> _Json | None:
    """The configuration with a patch; None: the release's default one. Raises `PlanError` if the configuration is malformed."""
    changed = merged(config or {}, patch.config)
    if patch.percentage_of_nodes_to_score is not None:
        changed["percentageOfNodesToScore"] = patch.percentage_of_nodes_to_score
    if patch.weights or patch.plugins or patch.plugin_args:
        try:
            changed["profiles"] = [_profile(profile, patch) for profile in changed.get("profiles") or [{}]]
        except (TypeError, AttributeError, KeyError) as error:
            message = f"the configuration is not a valid KubeSchedulerConfiguration and cannot be changed ({error})"
            raise PlanError.of(f"{path}.config", message) from None
    return changed or None


def _profile(profile: _Json, patch: Patch) -> _Json:
    profile = copy.deepcopy(profile)
    plugins = profile.setdefault("plugins", {})
    for name, is_enabled in patch.plugins.items():
        (_enable if is_enabled else _disable)(plugins, name)
    for name, weight in patch.weights.items():
        _weigh(plugins, name, weight)
    if not plugins:
        del profile["plugins"]
    for name, args in patch.plugin_args.items():
        configs = profile.setdefault("pluginConfig", [])
        entry = next((entry for entry in configs if entry["name"] == name), None)
        if entry is None:
            configs.append({"name": name, "args": merged({}, args)})
        else:
            entry["args"] = merged(entry.get("args"), args)
    return profile


def _enable(plugins: _Json, name: str) -> None:
    for point in plugins.values():
        point["disabled"] = [entry for entry in point.get("disabled", ()) if entry["name"] != name]
    enabled = plugins.setdefault(_MULTI_POINT, {}).setdefault("enabled", [])
    if all(entry["name"] != name for entry in enabled):
        enabled.append({"name": name})


def _disable(plugins: _Json, name: str) -> None:
    for point in plugins.values():
        point["enabled"] = [entry for entry in point.get("enabled", ()) if entry["name"] != name]
    disabled = plugins.setdefault(_MULTI_POINT, {}).setdefault("disabled", [])
    if all(entry["name"] != name for entry in disabled):
        disabled.append({"name": name})


def _weigh(plugins: _Json, name: str, weight: int) -> None:
    """Set the weight wherever the plugin is listed; a plugin that is only among the defaults is listed under multiPoint, which replaces
    its default entry in place. Upstream: apis/config/v1/default_plugins.go mergePluginSet
    """
    listed = [entry for point in ("score", _MULTI_POINT) for entry in plugins.get(point, {}).get("enabled", ()) if entry["name"] == name]
    if not listed:
        entry = {"name": name}
        plugins.setdefault(_MULTI_POINT, {}).setdefault("enabled", []).append(entry)
        listed = [entry]
    for entry in listed:
        entry["weight"] = weight
