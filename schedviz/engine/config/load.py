"""`load_configuration`: from JSON to a complete, valid KubeSchedulerConfiguration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import msgspec

from schedviz.engine.config.default_plugins import DEFAULT_PLUGINS, merge_plugins
from schedviz.engine.config.errors import ConfigurationError, Problem
from schedviz.engine.config.plugin_args import ARGS_BY_PLUGIN, NodeResourcesFitArgs, PluginArgs
from schedviz.engine.config.strict import Strict, strict_error
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
from schedviz.engine.config.validation_plugin_args import validate_args
from schedviz.trace.releases import DEFAULT_RELEASE

Decoded = TypeVar("Decoded")

_GROUP: Final = "kubescheduler.config.k8s.io"
#: API versions and fields for which kube-scheduler v1.27.1 logs a deprecation warning.
_DEPRECATED: Final = {
    "v1beta2": "KubeSchedulerConfiguration v1beta2 is deprecated in v1.25, will be removed in v1.28",
    "v1beta3": "KubeSchedulerConfiguration v1beta3 is deprecated in v1.26, will be removed in v1.29",
}
_SCHEME: Final = "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:31"
_TO_CONVERT: Final = "`schedviz config FILE --convert` writes it as v1"


def load_configuration(
    data: dict[str, Any] | None, *, duplicates: Sequence[str] = (), release: str = DEFAULT_RELEASE
) -> KubeSchedulerConfiguration:
    """The complete, valid configuration that `data` describes; None: the default one.

    `apiVersion` and `kind` are optional. `duplicates` are errors of the text's parser: members that occur twice. Raises
    `ConfigurationError` with every problem of the first step that found one. Upstream: apis/config/v1/defaults.go
    SetDefaults_KubeSchedulerConfiguration, validation.ValidateKubeSchedulerConfiguration
    """
    document = _without_nulls(data or {})
    _check_version(document)
    _check_strictly(document, duplicates)
    _default_profiles(document)
    decoded = _convert(document, KubeSchedulerConfiguration, "")
    profiles = tuple(_complete_profile(profile, f"profiles[{index}]", release) for index, profile in enumerate(decoded.profiles))
    contention = decoded.enable_profiling if decoded.enable_contention_profiling is None else decoded.enable_contention_profiling
    configuration = msgspec.structs.replace(decoded, profiles=profiles, enable_contention_profiling=contention)
    problems = validate(configuration) or _transport_problems(configuration) or _fit_problems(configuration)
    if problems:
        raise ConfigurationError(problems)
    return configuration


def _check_version(document: dict[str, Any]) -> None:
    """Upstream: apimachinery pkg/runtime/error.go NewNotRegisteredErrForKind"""
    version, kind = document.get("apiVersion", API_VERSION), document.get("kind", KIND)
    if version == API_VERSION and kind == KIND:
        return
    path = "kind" if version == API_VERSION else "apiVersion"
    if not isinstance(version, str) or not isinstance(kind, str):
        sentence = "couldn't get version/kind; json parse error: json: cannot unmarshal into Go struct field .apiVersion of type string"
        raise ConfigurationError([Problem(path, sentence, sentence)])
    name = version.removeprefix(f"{_GROUP}/")
    if kind == KIND and name in _DEPRECATED and name != version:
        sentence = f"{_DEPRECATED[name]}; schedviz reads {API_VERSION} alone: {_TO_CONVERT}"
    else:
        sentence = f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"'
        if kind == "Policy" or (kind == KIND and name != version):
            sentence = f"{sentence}; {_TO_CONVERT}"
    raise ConfigurationError([Problem(path, sentence, sentence)])


def _check_strictly(document: dict[str, Any], duplicates: Sequence[str]) -> None:
    """Reject what upstream's strict decoder rejects: the document first, then the arguments of plugins.

    Upstream: apimachinery pkg/runtime/serializer/versioning, kube-scheduler/config/v1/types.go DecodeNestedObjects
    """
    outer = Strict()
    outer.look(document, KubeSchedulerConfiguration)
    if outer.wrong is not None:
        raise ConfigurationError([outer.wrong])
    faults = [(_path_of(fault), fault) for fault in duplicates] + [(path, f'unknown field "{path}"') for path in outer.unknown]
    for number, profile in enumerate(document.get("profiles", ())):
        for index, config in enumerate(profile.get("pluginConfig", ())):
            path = f"profiles[{number}].pluginConfig[{index}]"
            unknown = _check_args(config.get("name", ""), config.get("args"), path)
            if unknown:
                inside = strict_error([f'unknown field "{field}"' for field in unknown])
                nested = strict_error([f"decoding args for plugin {config['name']}: {inside}"])
                faults.append((f"{path}.args.{unknown[0]}", f"decoding .{path}: {nested}"))
    if faults:
        path, sentence = faults[0][0], strict_error([sentence for _, sentence in faults])
        raise ConfigurationError([Problem(path, sentence, sentence)])


def _check_args(name: str, args: Any, path: str) -> list[str]:
    """Unknown fields in the arguments of one plugin. Upstream: PluginConfig.decodeNestedObjects"""
    args_type = ARGS_BY_PLUGIN.get(name)
    if args_type is None or args is None:
        return []
    where = f"{path}.args"
    decoding = f"decoding .{path}: "
    if not isinstance(args, dict):
        sentence = f"{decoding}decoding args for plugin {name}: couldn't get version/kind; json parse error: json: cannot unmarshal"
        raise ConfigurationError([Problem(where, "expected an object", sentence)])
    version, kind = args.get("apiVersion", API_VERSION), args.get("kind", f"{name}Args")
    known = {known_name + "Args" for known_name in ARGS_BY_PLUGIN}
    if version != API_VERSION or kind not in known:
        sentence = (
            f'{decoding}decoding args for plugin {name}: no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"'
        )
        raise ConfigurationError([Problem(f"{where}.{'apiVersion' if version != API_VERSION else 'kind'}", sentence, sentence)])
    if kind != f"{name}Args":
        sentence = f"{decoding}args for plugin {name} were not of type {name}Args.{_GROUP}, got {kind}.{_GROUP}"
        raise ConfigurationError([Problem(f"{where}.kind", sentence, sentence)])
    strict = Strict()
    strict.look({key: value for key, value in args.items() if key not in ("apiVersion", "kind")}, args_type)
    if strict.wrong is not None:
        sentence = f"{decoding}decoding args for plugin {name}: {strict.wrong}"
        raise ConfigurationError([Problem(f"{where}.{strict.wrong.path}", sentence, sentence)])
    return strict.unknown


def _path_of(fault: str) -> str:
    """The path in `duplicate field "a.b"`."""
    return fault.split('"')[1] if '"' in fault else ""


def _transport_problems(configuration: KubeSchedulerConfiguration) -> list[Problem]:
    """An extender whose certificate is not verified cannot have a root certificate. Upstream: client-go transport.go TLSConfigFor"""
    for index, extender in enumerate(configuration.extenders):
        tls = extender.tls_config
        if tls is not None and tls.insecure and (tls.ca_file or tls.ca_data):
            message = "specifying a root certificates file with the insecure flag is not allowed"
            return [Problem(f"extenders[{index}].tlsConfig", message, f"couldn't build extenders: {message}")]
    return []


def _fit_problems(configuration: KubeSchedulerConfiguration) -> list[Problem]:
    """NodeResourcesFit validates its arguments when it is created, with other messages. Upstream: noderesources/fit.go NewFit"""
    for index, profile in enumerate(configuration.profiles):
        args = profile.args("NodeResourcesFit")
        points = ("multi_point", *EXTENSION_POINTS)
        enabled = {plugin.name for point in points for plugin in getattr(profile.plugins, point).enabled}
        if not isinstance(args, NodeResourcesFitArgs) or "NodeResourcesFit" not in enabled:
            continue
        problems = list(validate_args("", args))
        if problems:
            number = next(place for place, config in enumerate(profile.plugin_config) if config.name == "NodeResourcesFit")
            plain = [Problem(problem.path.removeprefix("."), problem.message) for problem in problems]
            sentence = (
                f"initializing profiles: creating profile for scheduler name {profile.scheduler_name}: initializing plugin "
                f'"NodeResourcesFit": {ConfigurationError(plain)}'
            )
            path = f"profiles[{index}].pluginConfig[{number}].args{problems[0].path}"
            return [Problem(path, problems[0].message, sentence)]
    return []


def _default_profiles(document: dict[str, Any]) -> None:
    """One profile if there is none. A single profile gets the default name; several must have names."""
    if not document.get("profiles"):
        document["profiles"] = [{}]
    profiles = document["profiles"]
    if isinstance(profiles, list) and len(profiles) == 1 and isinstance(profiles[0], dict):
        profiles[0].setdefault("schedulerName", DEFAULT_SCHEDULER_NAME)


def _complete_profile(profile: KubeSchedulerProfile, path: str, release: str) -> KubeSchedulerProfile:
    """The profile with the default plugins merged in and the arguments of each plugin decoded, or set to defaults."""
    plugins = merge_plugins(profile.plugins, DEFAULT_PLUGINS[release])
    configs = [_decode_args(config, f"{path}.pluginConfig[{index}]") for index, config in enumerate(profile.plugin_config)]
    configured = {config.name for config in configs}
    enabled = {plugin.name for point in ("multi_point", *EXTENSION_POINTS) for plugin in getattr(plugins, point).enabled}
    configs.extend(PluginConfig(name, ARGS_BY_PLUGIN[name]()) for name in sorted((enabled - configured) & ARGS_BY_PLUGIN.keys()))
    return msgspec.structs.replace(profile, plugins=plugins, plugin_config=tuple(configs))


def _decode_args(config: PluginConfig, path: str) -> PluginConfig:
    args_type = ARGS_BY_PLUGIN.get(config.name)
    if args_type is None:
        return config
    args = {key: value for key, value in (config.args or {}).items() if key not in ("apiVersion", "kind")}
    decoded: PluginArgs = _convert(args, args_type, f"{path}.args")
    return PluginConfig(config.name, decoded)


def _convert(data: Any, target: type[Decoded], path: str) -> Decoded:
    try:
        return msgspec.convert(data, target)
    except msgspec.ValidationError as error:
        # Upstream's errors were found before; this one is specific to schedviz's decoder.
        raise ConfigurationError([Problem(path, str(error))]) from None


def _without_nulls(value: Any) -> Any:
    """The same data without null members: Go's decoder treats them as absent."""
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
