"""Extenders: external programs that filter, prioritize and bind. Their responses are declared (FORMAT.md, "Extenders") or come from calls
by the engine's host (`extenders.calls`).

Upstream: pkg/scheduler/extender.go HTTPExtender, pkg/scheduler/scheduler.go buildExtenders
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from schedviz.engine.config import Extender as ExtenderConfig
from schedviz.engine.config import KubeSchedulerConfiguration, KubeSchedulerProfile
from schedviz.engine.config.durations import parse_duration
from schedviz.engine.config.plugin_args import NodeResourcesFitArgs
from schedviz.engine.config.types import ExtenderManagedResource, PluginConfig
from schedviz.engine.extenders import wire
from schedviz.engine.extenders.calls import ExtenderCalls, ExtenderTls
from schedviz.engine.framework.go_format import without_arguments
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.preemption.importance import NodeVictims
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.quantity import as_int64

#: The factor from an extender's score of 0..10 to a plugin's of 0..100.
SCALE: Final = 10
#: An extender's default timeout, which is also the maximum.
TIMEOUT_SECONDS: Final = 5.0

_Result = TypeVar("_Result")


class DeclaredFilter(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The nodes that pass. Without `allow_nodes`, these are all that are not in the other two lists."""

    allow_nodes: list[str] | None = None
    deny_nodes: list[str] = []
    unresolvable_nodes: list[str] = []
    reason: str = ""


class DeclaredPreempt(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The candidates of preemption that pass, and those on which no pod is evicted."""

    allow_nodes: list[str] | None = None
    no_victims: list[str] = []


class Declared(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An extender with declared responses: a member of FORMAT.md's `fakeExtenders`."""

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
    #: The error, for every verb or by verb.
    error: str | dict[str, str] | UnsetType | None = UNSET

    @property
    def url(self) -> str:
        """The URL that upstream shows for the extender."""
        return f"http://{self.name}.fake"

    def error_at(self, verb: str) -> str:
        """The error for a verb; "": none."""
        if isinstance(self.error, str):
            return self.error
        return self.error.get(verb, "") if isinstance(self.error, dict) else ""

    def configuration(self) -> ExtenderConfig:
        """The extender as a member of `extenders` in the configuration."""
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
    """The result of one extender's Filter."""

    extender: str
    feasible: list[str] = []
    failed: dict[str, str] = {}
    unresolvable: dict[str, str] = {}
    error: str = ""
    ignored: bool = False


class ExtenderScoreRecord(msgspec.Struct):
    """The scores of one extender."""

    weight: int = 0
    raw: dict[str, int] = {}
    weighted: dict[str, int] = {}
    error: str = ""


class Extender:
    """One extender. Errors are returned as messages; "": none."""

    def __init__(self, config: ExtenderConfig, declared: Declared | None, calls: ExtenderCalls, *, formats_errors: bool = True) -> None:
        self.name = config.url_prefix
        self.is_ignorable = config.ignorable
        self.is_binder = bool(config.bind_verb)
        self.is_filter = bool(config.filter_verb)
        self.is_prioritizer = bool(config.prioritize_verb)
        self.supports_preemption = bool(config.preempt_verb)
        self._config = config
        self._declared = declared
        self._calls = calls
        #: v1.27.1 uses the extender's error as a format.
        self._error = without_arguments if formats_errors else str
        self._managed = {resource.name for resource in config.managed_resources}

    @property
    def keeps_node_infos(self) -> bool:
        """Whether the nodes that pass Filter are the scheduler's own; otherwise v1.36 knows no pods on them."""
        return self._config.node_cache_capable or not self.is_filter

    def is_interested(self, pod: PodInfo) -> bool:
        """Whether the pod requests a resource that the extender manages; an extender that manages none is interested in all pods."""
        if not self._managed:
            return True
        containers = pod.pod.spec.all_containers
        return any(
            not self._managed.isdisjoint(container.resources.requests) or not self._managed.isdisjoint(container.resources.limits)
            for container in containers
        )

    def filter(self, pod: PodInfo, rows: Rows) -> ExtenderFilterRecord:
        """The nodes that can run the pod, in the extender's order. Upstream: HTTPExtender.Filter"""
        verb = self._config.filter_verb
        if not verb:
            return ExtenderFilterRecord(self.name, list(rows.names))
        if self._declared is not None:
            return self._declared_filter(self._declared, rows.names)
        result, error = self._call(verb, self._nodes_args(pod, rows), wire.filter_result)
        if result is None or result.error:
            return self._failed_filter(error if result is None else self._error(result.error))
        cached = self._config.node_cache_capable
        if cached and result.node_names is not None:
            names = frozenset(rows.names)
            for name in result.node_names:
                if name not in names:
                    return self._failed_filter(
                        f'extender "{self.name}" claims a filtered node "{name}" which is not found in the input node list'
                    )
            feasible = result.node_names
        else:
            feasible = result.nodes or []
        failed = {node: why for node, why in result.failed.items() if node not in result.unresolvable}
        return ExtenderFilterRecord(self.name, list(dict.fromkeys(feasible)), failed, result.unresolvable)

    def prioritize(self, pod: PodInfo, rows: Rows) -> ExtenderScoreRecord:
        """The extender's scores; an error is recorded and otherwise ignored. Upstream: HTTPExtender.Prioritize"""
        verb = self._config.prioritize_verb
        raw = dict.fromkeys(rows.names, 0)
        if not verb:
            return ExtenderScoreRecord(0, raw, dict(raw))
        if self._declared is not None:
            if error := self._declared_error(self._declared, "prioritize"):
                return ExtenderScoreRecord(error=error)
            raw = {node: self._declared.prioritize.get(node, 0) for node in raw}
        else:
            scores, error = self._call(verb, self._nodes_args(pod, rows), wire.priorities)
            if scores is None:
                return ExtenderScoreRecord(error=error)
            for node, score in scores:
                if node in raw:
                    raw[node] = as_int64(raw[node] + score)
        weight = self._config.weight
        return ExtenderScoreRecord(weight, raw, {node: as_int64(score * weight * SCALE) for node, score in raw.items()})

    def process_preemption(self, pod: PodInfo, candidates: Sequence[NodeVictims], snapshot: SharedLister) -> tuple[list[NodeVictims], str]:
        """The candidates and victims that the extender keeps, or the error.

        They keep their order; candidates that the extender adds come last (upstream's map has no order). Upstream:
        HTTPExtender.ProcessPreemption
        """
        if self._declared is not None:
            if error := self._declared_error(self._declared, "preempt"):
                return [], error
            rules = self._declared.preempt
            allowed = [candidate for candidate in candidates if rules.allow_nodes is None or candidate.node in rules.allow_nodes]
            return [NodeVictims(candidate.node, ()) if candidate.node in rules.no_victims else candidate for candidate in allowed], ""
        body = wire.preemption_args(pod, candidates, meta=self._config.node_cache_capable)
        result, error = self._call(self._config.preempt_verb, body, wire.preemption_result)
        if result is None:
            return [], error
        nodes = [candidate.node for candidate in candidates if candidate.node in result]
        remaining = []
        for node in dict.fromkeys([*nodes, *result]):
            victims = self._victims(node, result[node], snapshot)
            if isinstance(victims, str):
                return [], victims
            remaining.append(victims)
        return remaining, ""

    def bind_error(self, pod: PodInfo, node: str, *, cycle: int) -> str:
        """The error of binding; "": the Binding was written. Upstream: HTTPExtender.Bind"""
        if self._declared is not None:
            return self._error(self._declared.error_at("bind"))
        response, error = self._call(self._config.bind_verb, wire.binding_args(pod, node), wire.binding_error, cycle=cycle)
        return error if response is None else self._error(response)

    # Declared responses.

    def _declared_filter(self, declared: Declared, nodes: Sequence[str]) -> ExtenderFilterRecord:
        if error := declared.error_at("filter"):
            return self._failed_filter(self._error(error))
        rules = declared.filter
        reason = rules.reason or f"node rejected by extender {declared.name}"
        record = ExtenderFilterRecord(self.name)
        for node in nodes:
            if node in rules.unresolvable_nodes:
                record.unresolvable[node] = reason
            elif node in rules.deny_nodes or (rules.allow_nodes is not None and node not in rules.allow_nodes):
                record.failed[node] = reason
            else:
                record.feasible.append(node)
        return record

    def _failed_filter(self, error: str) -> ExtenderFilterRecord:
        return ExtenderFilterRecord(self.name, error=error, ignored=self.is_ignorable)

    def _declared_error(self, declared: Declared, verb: str) -> str:
        """Filter and bind report errors in their result, the other verbs with HTTP 500."""
        error = declared.error_at(verb)
        return error and f"failed {verb} with extender at URL {self._url(verb)}, code 500"

    # Over HTTP.

    def _call(self, verb: str, body: bytes, read: Callable[[bytes], _Result], *, cycle: int | None = None) -> tuple[_Result | None, str]:
        """The response, or the error. Upstream: HTTPExtender.send"""
        config = self._config
        tls = _tls(config)
        if isinstance(tls, str):
            return None, f'Post "{self._url(verb)}": {tls}'
        timeout = min(parse_duration(config.http_timeout or "0s") / 1e9 or TIMEOUT_SECONDS, TIMEOUT_SECONDS)
        response = self._calls.call(self.name, self._url(verb), verb, body, timeout_seconds=timeout, tls=tls, cycle=cycle)
        if response.error:
            return None, response.error
        try:
            return read(response.body), ""
        except wire.ResponseError as error:
            return None, str(error)

    def _url(self, verb: str) -> str:
        return f"{self.name.rstrip('/')}/{verb}"

    def _nodes_args(self, pod: PodInfo, rows: Rows) -> bytes:
        if self._config.node_cache_capable:
            return wire.filter_args(pod, None, list(rows.names))
        return wire.filter_args(pod, [info.node for info in rows.infos if info.node is not None], None)

    def _victims(self, node: str, victims: wire.MetaVictims, snapshot: SharedLister) -> NodeVictims | str:
        """The pods with these UIDs, or the UID that does not exist. Upstream: HTTPExtender.convertToVictims"""
        info = snapshot.node_info_map.get(node)
        if info is None or info.node is None:
            return f'nodeinfo not found for node name "{node}"'
        by_uid = {pod.uid: pod for pod in info.pods}
        for uid in victims.uids:
            if uid not in by_uid:
                return (
                    f"extender: {self.name} claims to preempt pod (UID: &{{{uid}}}) on node: {node}, but the pod is not found on that node"
                )
        return NodeVictims(node, tuple(by_uid[uid] for uid in victims.uids), victims.num_pdb_violations)


def _tls(config: ExtenderConfig) -> ExtenderTls | str:
    """How the certificate is verified, or the error. Certificate files would be the server's own, so they are refused. Upstream:
    extender.go makeTransport
    """
    tls_config = config.tls_config
    if tls_config is None:
        return ExtenderTls(insecure=config.enable_https)
    if tls_config.cert_file or tls_config.key_file or tls_config.ca_file or tls_config.cert_data or tls_config.key_data:
        return "of tlsConfig schedviz uses insecure, serverName and caData alone"
    ca_pem = base64.b64decode(tls_config.ca_data).decode("ascii", errors="replace") if tls_config.ca_data else ""
    return ExtenderTls(
        insecure=tls_config.insecure or (config.enable_https and not ca_pem), server_name=tls_config.server_name, ca_pem=ca_pem
    )


def build_extenders(
    configuration: KubeSchedulerConfiguration, declared: Iterable[dict[str, Any]], calls: ExtenderCalls, *, formats_errors: bool = True
) -> list[Extender]:
    """The extenders of a configuration and the declared ones; ignorable extenders come last. An extender of the configuration with the URL
    of a declared one (`http://<name>.fake`) keeps its configuration and gives the declared responses.

    Raises `msgspec.ValidationError`. Upstream: scheduler.go buildExtenders
    """
    by_url = {own.url: own for own in (msgspec.convert(item, Declared) for item in declared)}
    pairs = [(config, by_url.pop(config.url_prefix, None)) for config in configuration.extenders]
    pairs += [(own.configuration(), own) for own in by_url.values()]
    extenders = [Extender(config, own, calls, formats_errors=formats_errors) for config, own in pairs]
    return sorted(extenders, key=lambda extender: extender.is_ignorable)


def with_ignored_resources(configuration: KubeSchedulerConfiguration, declared: Iterable[dict[str, Any]]) -> KubeSchedulerConfiguration:
    """The configuration; NodeResourcesFit ignores the resources that only extenders manage. Upstream: scheduler.go buildExtenders"""
    managed = [resource for extender in configuration.extenders for resource in extender.managed_resources]
    managed += [resource for item in declared for resource in msgspec.convert(item, Declared).managed_resources]
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
