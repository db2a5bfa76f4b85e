"""Extenders: programs beside the scheduler that filter, rank and bind. Here they answer as they were declared.

The engine calls nobody: an extender that was not declared with its answers (FORMAT.md, "Extenders") fails as an unreachable one does.

Upstream: pkg/scheduler/extender.go HTTPExtender, pkg/scheduler/scheduler.go buildExtenders
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from schedviz.engine.config import Extender as ExtenderConfig
from schedviz.engine.config import KubeSchedulerConfiguration, KubeSchedulerProfile
from schedviz.engine.config.plugin_args import NodeResourcesFitArgs
from schedviz.engine.config.types import ExtenderManagedResource, PluginConfig
from schedviz.engine.framework.types import PodInfo

#: By how much an extender's score of 0..10 is stretched to a plugin's of 0..100.
SCALE: Final = 10


class DeclaredFilter(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which nodes it lets pass. Absent `allow_nodes` is all."""

    allow_nodes: list[str] | None = None
    deny_nodes: list[str] = []
    unresolvable_nodes: list[str] = []
    reason: str = ""


class DeclaredPreempt(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which candidates of preemption it lets pass, and on which it would evict nobody."""

    allow_nodes: list[str] | None = None
    no_victims: list[str] = []


class Declared(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An extender with its answers: a member of FORMAT.md's `fakeExtenders`."""

    name: str
    weight: int = 0
    filter_verb: bool = False
    prioritize_verb: bool = False
    preempt_verb: bool = False
    bind_verb: bool = False
    ignorable: bool = False
    node_cache_capable: bool = False
    managed_resources: list[ExtenderManagedResource] = []
    filter: DeclaredFilter = DeclaredFilter()
    prioritize: dict[str, int] = {}
    preempt: DeclaredPreempt = DeclaredPreempt()
    #: What goes wrong: at every verb, or by verb.
    error: str | dict[str, str] | UnsetType | None = UNSET

    @property
    def url(self) -> str:
        """What upstream calls the extender."""
        return f"http://{self.name}.fake"

    def error_at(self, verb: str) -> str:
        """What goes wrong at a verb; "" where nothing does."""
        if isinstance(self.error, str):
            return self.error
        return self.error.get(verb, "") if isinstance(self.error, dict) else ""

    def configuration(self) -> ExtenderConfig:
        """The same as a member of `extenders` in the configuration."""
        return ExtenderConfig(
            url_prefix=self.url,
            filter_verb="filter" if self.filter_verb else "",
            prioritize_verb="prioritize" if self.prioritize_verb else "",
            preempt_verb="preempt" if self.preempt_verb else "",
            bind_verb="bind" if self.bind_verb else "",
            weight=self.weight,
            node_cache_capable=self.node_cache_capable,
            managed_resources=tuple(self.managed_resources),
            ignorable=self.ignorable,
        )


class ExtenderFilterRecord(msgspec.Struct):
    """What one extender's Filter came to."""

    extender: str
    feasible: list[str] = []
    failed: dict[str, str] = {}
    unresolvable: dict[str, str] = {}
    error: str = ""
    ignored: bool = False


class ExtenderScoreRecord(msgspec.Struct):
    """What one extender gave to each node."""

    weight: int = 0
    raw: dict[str, int] = {}
    weighted: dict[str, int] = {}
    error: str = ""


class Extender:
    """One extender. Errors are values: the message, "" where there is none."""

    def __init__(self, config: ExtenderConfig, declared: Declared | None) -> None:
        self.name = config.url_prefix
        self.is_ignorable = config.ignorable
        self.is_binder = bool(config.bind_verb)
        self.supports_preemption = bool(config.preempt_verb)
        self._config = config
        self._declared = declared
        self._managed = {resource.name for resource in config.managed_resources}

    def is_interested(self, pod: PodInfo) -> bool:
        """Whether the pod asks for a resource that the extender looks after; one that looks after none takes all pods."""
        if not self._managed:
            return True
        containers = (*pod.pod.spec.containers, *pod.pod.spec.init_containers)
        return any(
            not self._managed.isdisjoint(container.resources.requests) or not self._managed.isdisjoint(container.resources.limits)
            for container in containers
        )

    def filter(self, nodes: Sequence[str]) -> ExtenderFilterRecord:
        """Which of the nodes can run the pod."""
        if not self._config.filter_verb:
            return ExtenderFilterRecord(self.name, list(nodes))
        if error := self._error_at("filter", as_result=True):
            return ExtenderFilterRecord(self.name, error=error, ignored=self.is_ignorable)
        assert self._declared is not None
        rules = self._declared.filter
        reason = rules.reason or f"node rejected by extender {self._declared.name}"
        record = ExtenderFilterRecord(self.name)
        for node in nodes:
            if node in rules.unresolvable_nodes:
                record.unresolvable[node] = reason
            elif node in rules.deny_nodes or (rules.allow_nodes is not None and node not in rules.allow_nodes):
                record.failed[node] = reason
            else:
                record.feasible.append(node)
        return record

    def prioritize(self, nodes: Sequence[str]) -> ExtenderScoreRecord:
        """How it ranks the nodes; an error is recorded and otherwise ignored."""
        if not self._config.prioritize_verb:
            return ExtenderScoreRecord(0, dict.fromkeys(nodes, 0), dict.fromkeys(nodes, 0))
        if error := self._error_at("prioritize"):
            return ExtenderScoreRecord(error=error)
        assert self._declared is not None
        weight = self._config.weight
        raw = {node: self._declared.prioritize.get(node, 0) for node in nodes}
        return ExtenderScoreRecord(weight, raw, {node: score * weight * SCALE for node, score in raw.items()})

    def process_preemption(self, nodes: Sequence[str]) -> tuple[dict[str, bool], str]:
        """Of the candidates those that it lets pass, and whether it leaves victims on them; or what went wrong."""
        if error := self._error_at("preempt"):
            return {}, error
        assert self._declared is not None
        rules = self._declared.preempt
        allowed = [node for node in nodes if rules.allow_nodes is None or node in rules.allow_nodes]
        return {node: node not in rules.no_victims for node in allowed}, ""

    def bind_error(self) -> str:
        """What goes wrong when it is to bind; "": it writes the Binding."""
        return self._error_at("bind", as_result=True)

    def _error_at(self, verb: str, *, as_result: bool = False) -> str:
        """Filter and bind say what went wrong in their result, the others answer with HTTP 500."""
        url = f"{self.name.rstrip('/')}/{verb}"
        if self._declared is None:
            return f'Post "{url}": this extender is not called: its answers were not declared'
        error = self._declared.error_at(verb)
        return error if as_result or not error else f"failed {verb} with extender at URL {url}, code 500"


def build_extenders(configuration: KubeSchedulerConfiguration, declared: Iterable[dict[str, Any]]) -> list[Extender]:
    """The extenders of a configuration and those that were declared, those that may fail without harm last.

    Raises `msgspec.ValidationError`. Upstream: scheduler.go buildExtenders
    """
    found = [Extender(config, None) for config in configuration.extenders]
    for each in declared:
        answers = msgspec.convert(each, Declared)
        found.append(Extender(answers.configuration(), answers))
    return sorted(found, key=lambda extender: extender.is_ignorable)


def with_ignored_resources(configuration: KubeSchedulerConfiguration, declared: Iterable[dict[str, Any]]) -> KubeSchedulerConfiguration:
    """The configuration in which NodeResourcesFit leaves to extenders what they look after alone. Upstream: scheduler.go buildExtenders"""
    managed = [resource for extender in configuration.extenders for resource in extender.managed_resources]
    managed += [resource for each in declared for resource in msgspec.convert(each, Declared).managed_resources]
    ignored = tuple(resource.name for resource in managed if resource.ignored_by_scheduler)
    if not ignored:
        return configuration
    return replace(configuration, profiles=tuple(_ignoring(profile, ignored) for profile in configuration.profiles))


def _ignoring(profile: KubeSchedulerProfile, ignored: tuple[str, ...]) -> KubeSchedulerProfile:
    def changed(config: PluginConfig) -> PluginConfig:
        if not isinstance(config.args, NodeResourcesFitArgs):
            return config
        return replace(config, args=replace(config.args, ignored_resources=ignored))

    return replace(profile, plugin_config=tuple(changed(config) for config in profile.plugin_config))
