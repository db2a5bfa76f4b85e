"""Validates a decoded configuration with defaults. Upstream: apis/config/validation/validation.go"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from schedviz.engine.config.durations import format_duration, parse_duration
from schedviz.engine.config.errors import GoDuration, GoPath, Problem, required
from schedviz.engine.config.rules import Rules
from schedviz.engine.config.types import (
    ClientConnectionConfiguration,
    Extender,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
)
from schedviz.engine.config.validation_plugin_args import ArgsValidation
from schedviz.engine.features import Features
from schedviz.kube.label_names import key_faults

#: Extension points by their name in a configuration.
_STAGES = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "queue_sort",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
}


class Validation(msgspec.Struct, frozen=True):
    """Validates configurations of one release."""

    rules: Rules
    features: Features
    #: `apiVersion` as it was written.
    api_version: str

    @property
    def args(self) -> ArgsValidation:
        """Validates the arguments of plugins."""
        return ArgsValidation(self.rules, self.features)

    def _invalid(self, path: str, value: object, detail: str) -> Problem:
        return self.rules.errors.invalid(path, value, detail)

    def _duplicate(self, path: str, value: object) -> Problem:
        return self.rules.errors.duplicate(path, value)

    def validate(self, configuration: KubeSchedulerConfiguration) -> list[Problem]:
        """Every problem; none: the scheduler would start. Upstream: ValidateKubeSchedulerConfiguration"""
        problems = [*self._client_connection(configuration.client_connection), *self._leader_election(configuration.leader_election)]
        if configuration.parallelism <= 0:
            problems.append(self._invalid("parallelism", configuration.parallelism, "should be an integer value greater than zero"))
        problems += self._profiles(configuration.profiles)
        problems += self._percentage("percentageOfNodesToScore", configuration.percentage_of_nodes_to_score)
        initial, maximum = configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds
        if initial <= 0:
            problems.append(self._invalid("podInitialBackoffSeconds", initial, "must be greater than 0"))
        if maximum < initial:
            problems.append(self._invalid("podMaxBackoffSeconds", maximum, "must be greater than or equal to PodInitialBackoffSeconds"))
        problems += self._extenders(configuration.extenders)
        return problems

    def _client_connection(self, connection: ClientConnectionConfiguration) -> Iterator[Problem]:
        if connection.burst < 0:
            yield self._invalid("clientConnection.burst", connection.burst, "must be non-negative")

    def _leader_election(self, election: LeaderElectionConfiguration) -> Iterator[Problem]:
        if not election.leader_elect:
            return
        lease, renew, retry = map(parse_duration, (election.lease_duration, election.renew_deadline, election.retry_period))
        for member, nanoseconds in (("leaseDuration", lease), ("renewDeadline", renew), ("retryPeriod", retry)):
            if nanoseconds <= 0:
                yield self._invalid(f"leaderElection.{member}", GoDuration(format_duration(nanoseconds)), "must be greater than zero")
        if lease <= renew:
            yield self._invalid("leaderElection.leaseDuration", GoDuration(format_duration(renew)), "must be greater than `RenewDeadline`")
        if election.resource_lock != "leases":
            yield self._invalid("leaderElection.resourceLock", election.resource_lock, 'resourceLock value must be "leases"')

    def _percentage(self, path: str, percentage: int | None) -> Iterator[Problem]:
        if percentage is not None and not 0 <= percentage <= 100:
            yield self._invalid(path, percentage, "not in valid range [0-100]")

    def _profiles(self, profiles: Sequence[KubeSchedulerProfile]) -> Iterator[Problem]:
        seen: dict[str, int] = {}
        for index, profile in enumerate(profiles):
            path = f"profiles[{index}]"
            yield from self._profile(path, profile)
            if profile.scheduler_name in seen:
                yield self._duplicate(f"{path}.schedulerName", GoPath(f"profiles[{seen[profile.scheduler_name]}].schedulerName"))
            seen[profile.scheduler_name] = index
        yield from self._common_queue_sort(profiles)

    def _profile(self, path: str, profile: KubeSchedulerProfile) -> Iterator[Problem]:
        if not profile.scheduler_name:
            yield required(f"{path}.schedulerName")
        yield from self._percentage(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
        for stage, member in _STAGES.items():
            for index, plugin in enumerate(getattr(profile.plugins, member).enabled):
                if plugin.name in self.rules.removed_plugins:
                    yield self._invalid(f"{path}.plugins.{stage}.enabled[{index}]", plugin.name, self._removed())
        seen: set[str] = set()
        for index, config in enumerate(profile.plugin_config):
            config_path = f"{path}.pluginConfig[{index}]"
            if config.name in seen:
                yield self._duplicate(config_path, config.name)
            seen.add(config.name)
            if config.name in self.rules.removed_plugins:
                yield self._invalid(config_path, config.name, self._removed())
            elif config.name != "NodeResourcesFit":  # validated when the plugin is created
                yield from self.args.validate(f"{config_path}.args", config.args)

    def _removed(self) -> str:
        return f'was invalid in version "{self.rules.removed_in}" (KubeSchedulerConfiguration is version "{self.api_version}")'

    def _common_queue_sort(self, profiles: Sequence[KubeSchedulerProfile]) -> Iterator[Problem]:
        """All profiles share one queue, so they must sort it in the same way. Upstream: validateCommonQueueSort"""
        canon = profiles[0].plugins.queue_sort
        if len(canon.enabled) > 1:
            yield self._invalid("profiles[0].plugins.queueSort.Enabled", len(canon.enabled), "only one queue sort plugin can be enabled")
        name = canon.enabled[0].name if canon.enabled else ""
        canon_args = profiles[0].args(name)
        for index, profile in enumerate(profiles[1:], 1):
            if profile.plugins.queue_sort != canon:
                yield self._invalid(f"profiles[{index}].plugins.queueSort", profile.plugins.queue_sort, self.rules.queue_sort_differs)
            for config in profile.plugin_config:
                if config.name == name and config.args != canon_args:
                    yield self._invalid(f"profiles[{index}].pluginConfig.args", config.args, self.rules.queue_sort_args_differ)

    def _extenders(self, extenders: Sequence[Extender]) -> Iterator[Problem]:
        managed: set[str] = set()
        for index, extender in enumerate(extenders):
            path = f"extenders[{index}]"
            if extender.prioritize_verb and extender.weight <= 0:
                yield self._invalid(f"{path}.weight", extender.weight, "must have a positive weight applied to it")
            for position, resource in enumerate(extender.managed_resources):
                name_path = f"{path}.managedResources[{position}].name"
                yield from self._extended_resource_name(name_path, resource.name)
                if resource.name in managed:
                    yield self._invalid(name_path, resource.name, "duplicate extender managed resource name")
                managed.add(resource.name)
        binders = sum(1 for extender in extenders if extender.bind_verb)
        if binders > 1:
            yield self._invalid("extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind")

    def _extended_resource_name(self, path: str, name: str) -> list[Problem]:
        problems = list(self.args.name_problems(path, name))
        native = "/" not in name or "kubernetes.io/" in name
        if not problems and (native or name.startswith("requests.") or key_faults(f"requests.{name}")):
            problems.append(self._invalid(path, name, "is an invalid extended resource name"))
        return problems
