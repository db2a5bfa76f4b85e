"""`load_configuration`: from JSON to a complete, valid KubeSchedulerConfiguration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

import msgspec

from schedviz.engine.config.default_plugins import apply_feature_gates, merge_plugins
from schedviz.engine.config.errors import ConfigurationError, Problem
from schedviz.engine.config.plugin_args import STORAGE_CAPACITY_SHAPE, Args, DynamicResourcesArgs, NodeResourcesFitArgs, VolumeBindingArgs
from schedviz.engine.config.rules import RULES, Rules
from schedviz.engine.config.strict import StrictCheck, strict_error
from schedviz.engine.config.types import (
    API_VERSION,
    DEFAULT_SCHEDULER_NAME,
    EXTENSION_POINTS,
    KIND,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginConfig,
)
from schedviz.engine.config.validation import Validation
from schedviz.engine.config.validation_plugin_args import ArgsValidation
from schedviz.engine.features import Features, features_of
from schedviz.trace.releases import DEFAULT_RELEASE

Decoded = TypeVar("Decoded")

_GROUP: Final = "kubescheduler.config.k8s.io"
_HOW_TO_CONVERT: Final = "`schedviz config FILE --convert` writes it as v1"


def load_configuration(
    data: dict[str, Any] | None,
    *,
    duplicates: Sequence[str] = (),
    release: str = DEFAULT_RELEASE,
    features: Features | None = None,
) -> KubeSchedulerConfiguration:
    """The complete, valid configuration that `data` describes for a release and its features; None: the defaults of both.

    `apiVersion` and `kind` are optional. `duplicates` are errors of the text's parser: members that occur twice. Raises
    `ConfigurationError` with every problem of the first step that found one. Upstream: apis/config/v1/defaults.go
    SetDefaults_KubeSchedulerConfiguration, validation.ValidateKubeSchedulerConfiguration
    """
    rules = RULES[release]
    return _Loading(rules, features_of(rules.gates, {}) if features is None else features).load(_without_nulls(data or {}), duplicates)


class _Loading(msgspec.Struct, frozen=True):
    """Loads configurations of one release."""

    rules: Rules
    features: Features

    def load(self, document: dict[str, Any], duplicates: Sequence[str]) -> KubeSchedulerConfiguration:
        """The configuration that the document describes."""
        self._validate_version(document)
        self._validate_strictly(document, duplicates)
        if problems := list(_too_large_integers(document, "")):
            raise ConfigurationError(problems)
        _default_profiles(document)
        decoded = _convert(document, self.rules.configuration, "")
        profiles = tuple(self._complete_profile(profile, f"profiles[{index}]") for index, profile in enumerate(decoded.profiles))
        contention = decoded.enable_profiling if decoded.enable_contention_profiling is None else decoded.enable_contention_profiling
        configuration = msgspec.structs.replace(decoded, profiles=profiles, enable_contention_profiling=contention)
        validation = Validation(self.rules, self.features, document.get("apiVersion", self.rules.default_version))
        problems = validation.validate(configuration) or _transport_problems(configuration) or _fit_problems(configuration, validation.args)
        if problems:
            raise ConfigurationError(problems)
        return configuration

    def _validate_version(self, document: dict[str, Any]) -> None:
        """Reject other versions and kinds. Upstream: apimachinery pkg/runtime/error.go NewNotRegisteredErrForKind"""
        version, kind = document.get("apiVersion", API_VERSION), document.get("kind", KIND)
        if version == API_VERSION and kind == KIND:
            return
        path = "kind" if version == API_VERSION else "apiVersion"
        if not isinstance(version, str) or not isinstance(kind, str):
            sentence = "couldn't get version/kind; json parse error: json: cannot unmarshal into Go struct field .apiVersion of type string"
            raise ConfigurationError([Problem(path, sentence, sentence)])
        name = version.removeprefix(f"{_GROUP}/")
        if kind == KIND and name in self.rules.deprecated and name != version:
            sentence = f"{self.rules.deprecated[name]}; schedviz reads {API_VERSION} alone: {_HOW_TO_CONVERT}"
        else:
            sentence = f'no kind "{kind}" is registered for version "{version}" in scheme "{self.rules.scheme}"'
            if kind == "Policy" or (kind == KIND and name != version):
                sentence = f"{sentence}; {_HOW_TO_CONVERT}"
        raise ConfigurationError([Problem(path, sentence, sentence)])

    def _validate_strictly(self, document: dict[str, Any], duplicates: Sequence[str]) -> None:
        """Reject what upstream's strict decoder rejects: the document first, then the arguments of plugins.

        Upstream: apimachinery pkg/runtime/serializer/versioning, kube-scheduler/config/v1/types.go DecodeNestedObjects
        """
        outer = StrictCheck()
        outer.check(document, self.rules.configuration)
        if outer.wrong is not None:
            raise ConfigurationError([outer.wrong])
        faults = [(_path_of(fault), fault) for fault in duplicates] + [(path, f'unknown field "{path}"') for path in outer.unknown]
        for number, profile in enumerate(document.get("profiles", ())):
            for index, config in enumerate(profile.get("pluginConfig", ())):
                path = f"profiles[{number}].pluginConfig[{index}]"
                unknown = self._unknown_args(config.get("name", ""), config.get("args"), path)
                if unknown:
                    inside = strict_error([f'unknown field "{field}"' for field in unknown])
                    nested = strict_error([f"decoding args for plugin {config['name']}: {inside}"])
                    faults.append((f"{path}.args.{unknown[0]}", f"decoding .{path}: {nested}"))
        if faults:
            path, sentence = faults[0][0], strict_error([sentence for _, sentence in faults])
            raise ConfigurationError([Problem(path, sentence, sentence)])

    def _unknown_args(self, name: str, args: Any, path: str) -> list[str]:
        """Unknown fields in the arguments of one plugin. Raises `ConfigurationError` if they cannot be decoded.

        Upstream: PluginConfig.decodeNestedObjects
        """
        args_type = self.rules.args.get(name)
        if args_type is None or args is None:
            return []
        where = f"{path}.args"
        decoding = f"decoding .{path}: "
        if not isinstance(args, dict):
            sentence = f"{decoding}decoding args for plugin {name}: couldn't get version/kind; json parse error: json: cannot unmarshal"
            raise ConfigurationError([Problem(where, "expected an object", sentence)])
        version, kind = args.get("apiVersion", API_VERSION), args.get("kind", f"{name}Args")
        known_types = {known_name + "Args" for known_name in self.rules.args}
        if version != API_VERSION or kind not in known_types:
            sentence = (
                f'{decoding}decoding args for plugin {name}: no kind "{kind}" is registered for version "{version}" '
                f'in scheme "{self.rules.scheme}"'
            )
            raise ConfigurationError([Problem(f"{where}.{'apiVersion' if version != API_VERSION else 'kind'}", sentence, sentence)])
        if kind != f"{name}Args":
            sentence = f"{decoding}args for plugin {name} were not of type {name}Args.{_GROUP}, got {kind}.{_GROUP}"
            raise ConfigurationError([Problem(f"{where}.kind", sentence, sentence)])
        strict = StrictCheck()
        strict.check({key: value for key, value in args.items() if key not in ("apiVersion", "kind")}, args_type)
        if strict.wrong is not None:
            sentence = f"{decoding}decoding args for plugin {name}: {strict.wrong}"
            raise ConfigurationError([Problem(f"{where}.{strict.wrong.path}", sentence, sentence)])
        return strict.unknown

    def _complete_profile(self, profile: KubeSchedulerProfile, path: str) -> KubeSchedulerProfile:
        """The profile with the default plugins merged in and the arguments of each plugin decoded, or set to defaults."""
        plugins = merge_plugins(profile.plugins, apply_feature_gates(self.rules.default_plugins, self.features))
        configs = [self._decode_args(config, f"{path}.pluginConfig[{index}]") for index, config in enumerate(profile.plugin_config)]
        configured = {config.name for config in configs}
        enabled = {plugin.name for point in ("multi_point", *EXTENSION_POINTS) for plugin in getattr(plugins, point).enabled}
        configs.extend(
            PluginConfig(name, _with_gate_defaults(self.rules.args[name](), self.features))
            for name in sorted((enabled - configured) & self.rules.args.keys())
        )
        return msgspec.structs.replace(profile, plugins=plugins, plugin_config=tuple(configs))

    def _decode_args(self, config: PluginConfig, path: str) -> PluginConfig:
        args_type = self.rules.args.get(config.name)
        if args_type is None:
            return config
        args = {key: value for key, value in (config.args or {}).items() if key not in ("apiVersion", "kind")}
        return PluginConfig(config.name, _with_gate_defaults(_convert(args, args_type, f"{path}.args"), self.features))


def _with_gate_defaults(args: Args, features: Features) -> Args:
    """The arguments with the defaults of feature gates. Upstream: SetDefaults_VolumeBindingArgs, SetDefaults_DynamicResourcesArgs"""
    if isinstance(args, VolumeBindingArgs) and not args.shape and features.storage_capacity_scoring:
        return msgspec.structs.replace(args, shape=STORAGE_CAPACITY_SHAPE)
    if isinstance(args, DynamicResourcesArgs):
        return DynamicResourcesArgs(
            filter_timeout=args.filter_timeout or ("10s" if features.dra_scheduler_filter_timeout else None),
            binding_timeout=args.binding_timeout or ("600s" if features.waits_for_binding_conditions else None),
        )
    return args


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


def _fit_problems(configuration: KubeSchedulerConfiguration, validation: ArgsValidation) -> list[Problem]:
    """NodeResourcesFit validates its arguments when it is created, with other messages. Upstream: noderesources/fit.go NewFit"""
    for index, profile in enumerate(configuration.profiles):
        args = profile.args("NodeResourcesFit")
        points = ("multi_point", *EXTENSION_POINTS)
        enabled = {plugin.name for point in points for plugin in getattr(profile.plugins, point).enabled}
        if not isinstance(args, NodeResourcesFitArgs) or "NodeResourcesFit" not in enabled:
            continue
        problems = list(validation.validate("", args))
        if problems:
            number = next(index for index, config in enumerate(profile.plugin_config) if config.name == "NodeResourcesFit")
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


def _convert(data: Any, target: type[Decoded], path: str) -> Decoded:
    try:
        return msgspec.convert(data, target)
    except msgspec.ValidationError as error:
        # Upstream's errors were found before; this one is specific to schedviz's decoder.
        raise ConfigurationError([Problem(path, str(error))]) from None


def _too_large_integers(value: Any, path: str) -> Iterator[Problem]:
    """Integers that neither Go's decoder nor a checkpoint can hold, wherever they are: plugins may define arguments of any shape."""
    match value:
        case dict():
            for name, member in value.items():
                yield from _too_large_integers(member, f"{path}.{name}" if path else name)
        case list():
            for index, item in enumerate(value):
                yield from _too_large_integers(item, f"{path}[{index}]")
        case int() if not -(1 << 63) <= value < 1 << 63:
            yield Problem(path, "expected an integer from -2^63 to 2^63 - 1")


def _without_nulls(value: Any) -> Any:
    """The same data without null members: Go's decoder treats them as absent."""
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
