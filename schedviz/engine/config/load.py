"""`load_configuration`: from JSON to a complete, valid KubeSchedulerConfiguration."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from schedviz.engine.config.default_plugins import merge_plugins
from schedviz.engine.config.errors import ConfigurationError, Problem
from schedviz.engine.config.plugin_args import ARGS_BY_PLUGIN, PluginArgs
from schedviz.engine.config.types import (
    API_VERSION,
    DEFAULT_SCHEDULER_NAME,
    EXTENSION_POINTS,
    KIND,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginConfig,
)
from schedviz.engine.config.validation import validate

Decoded = TypeVar("Decoded")

_GROUP = "kubescheduler.config.k8s.io/"


def load_configuration(data: dict[str, Any] | None) -> KubeSchedulerConfiguration:
    """The configuration that `data` describes, complete and valid; None is the default one.

    `apiVersion` and `kind` may be left out. Raises `ConfigurationError` with every problem of the first step that found one.
    Upstream: apis/config/v1/defaults.go SetDefaults_KubeSchedulerConfiguration, validation.ValidateKubeSchedulerConfiguration
    """
    document = _without_nulls(data or {})
    _check_version(document)
    _default_profiles(document)
    decoded = _convert(document, KubeSchedulerConfiguration, "")
    profiles = tuple(_complete_profile(profile, f"profiles[{index}]") for index, profile in enumerate(decoded.profiles))
    configuration = msgspec.structs.replace(decoded, profiles=profiles)
    problems = validate(configuration)
    if problems:
        raise ConfigurationError(problems)
    return configuration


def _check_version(document: dict[str, Any]) -> None:
    version = document.get("apiVersion", API_VERSION)
    kind = document.get("kind", KIND)
    if kind != KIND:
        raise ConfigurationError([Problem("kind", f"expected {KIND}, got {kind!r}")])
    if version != API_VERSION:
        older = isinstance(version, str) and version.startswith(_GROUP)
        advice = f"convert it to {API_VERSION}" if older else f"expected {API_VERSION}"
        raise ConfigurationError([Problem("apiVersion", f"{version!r} is not supported: {advice}")])


def _default_profiles(document: dict[str, Any]) -> None:
    """One profile when there is none; a single one has the default name. Others must say theirs."""
    if not document.get("profiles"):
        document["profiles"] = [{}]
    profiles = document["profiles"]
    if isinstance(profiles, list) and len(profiles) == 1 and isinstance(profiles[0], dict):
        profiles[0].setdefault("schedulerName", DEFAULT_SCHEDULER_NAME)


def _complete_profile(profile: KubeSchedulerProfile, path: str) -> KubeSchedulerProfile:
    """The profile with the default plugins merged in and the arguments of each plugin decoded, or defaulted."""
    plugins = merge_plugins(profile.plugins)
    configs = [_decode_args(config, f"{path}.pluginConfig[{index}]") for index, config in enumerate(profile.plugin_config)]
    configured = {config.name for config in configs}
    enabled = {plugin.name for point in ("multi_point", *EXTENSION_POINTS) for plugin in getattr(plugins, point).enabled}
    configs.extend(PluginConfig(name, ARGS_BY_PLUGIN[name]()) for name in sorted((enabled - configured) & ARGS_BY_PLUGIN.keys()))
    return msgspec.structs.replace(profile, plugins=plugins, plugin_config=tuple(configs))


def _decode_args(config: PluginConfig, path: str) -> PluginConfig:
    args_type = ARGS_BY_PLUGIN.get(config.name)
    if args_type is None:
        return config
    args = dict(config.args) if isinstance(config.args, dict) else {}
    version, kind = args.pop("apiVersion", API_VERSION), args.pop("kind", f"{config.name}Args")
    if version != API_VERSION:
        raise ConfigurationError([Problem(f"{path}.args.apiVersion", f"{version!r} is not supported: expected {API_VERSION}")])
    if kind != f"{config.name}Args":
        problem = Problem(f"{path}.args.kind", f"args for plugin {config.name} were not of type {config.name}Args, got {kind}")
        raise ConfigurationError([problem])
    decoded: PluginArgs = _convert(args, args_type, f"{path}.args")
    return PluginConfig(config.name, decoded)


def _convert(data: Any, target: type[Decoded], path: str) -> Decoded:
    try:
        return msgspec.convert(data, target)
    except msgspec.ValidationError as error:
        raise ConfigurationError([_problem(str(error), path)]) from None


_LOCATED = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<where>[^`]*)`)?", re.DOTALL)


def _problem(text: str, path: str) -> Problem:
    """msgspec's message as a problem: `... - at `$.profiles[0]`` becomes a path."""
    match = _LOCATED.fullmatch(text)
    what, where = (match["what"], match["where"] or "") if match else (text, "")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    if unknown:
        return Problem(f"{path}{where}.{unknown[1]}".lstrip("."), f"unknown field {unknown[1]!r}")
    return Problem(f"{path}{where}".lstrip("."), what[:1].lower() + what[1:])


def _without_nulls(value: Any) -> Any:
    """The same data without members that are null: for the Go decoder they are absent."""
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
