"""The members of a KubeSchedulerConfiguration, with their defaults. Unknown members are errors.

Members about the real scheduler's environment (leaderElection, clientConnection, parallelism) are checked and have no effect here.

Upstream: kube-scheduler/config/v1/types.go, pkg/scheduler/apis/config/v1/defaults.go
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from schedviz.engine.config.durations import parse_duration

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
#: In Go's format: `1m30s`. "": none.
Duration = Annotated[str, Meta(extra={"go": "Duration"})]
#: Bytes in base64.
Base64 = Annotated[str, Meta(extra={"go": "bytes"})]

_DURATIONS: Final = frozenset({"lease_duration", "renew_deadline", "retry_period"})


class Part(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """A part of the configuration."""


def _fill(part: Part, *members: str) -> None:
    """Replace empty members by their defaults: `""`, 0, or no duration."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(part)}
    for member in members:
        value = getattr(part, member)
        if not value or (isinstance(value, str) and member in _DURATIONS and parse_duration(value) == 0):
            msgspec.structs.force_setattr(part, member, defaults[member])


class Plugin(Part, frozen=True):
    """A plugin by name; the weight (0 means 1) applies at Score."""

    name: str = ""
    weight: Int32 = 0


class PluginSet(Part, frozen=True):
    """Plugins that are added to and removed from the defaults of one extension point; `*` removes all."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(Part, frozen=True):
    """Plugins by extension point; `multi_point` applies to each extension point that a plugin implements."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()


#: The members of `Plugins` that are extension points, in upstream's order.
EXTENSION_POINTS: Final = (
    "pre_filter",
    "filter",
    "post_filter",
    "reserve",
    "pre_score",
    "score",
    "pre_bind",
    "bind",
    "post_bind",
    "permit",
    "pre_enqueue",
    "queue_sort",
)


#: The extension points of pod groups, which v1.36 has.
PLACEMENT_POINTS: Final = ("placement_generate", "placement_score")


class PluginConfig(Part, frozen=True):
    """The arguments of one plugin: a struct of `plugin_args`, or plain data for other plugins."""

    name: str = ""
    args: Any = None


class KubeSchedulerProfile(Part, frozen=True):
    """A profile, which pods select with their `spec.schedulerName`."""

    scheduler_name: str = ""
    #: None: the value of the configuration.
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()

    def args(self, plugin: str) -> Any:
        """The arguments of a plugin; None: it has none."""
        return next((entry.args for entry in self.plugin_config if entry.name == plugin), None)


class ExtenderManagedResource(Part, frozen=True):
    """An extended resource that an extender manages."""

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(Part, frozen=True):
    """TLS settings of an extender. Only `insecure`, `server_name` and `ca_data` are used; the others are refused (docs/extenders.md)."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = msgspec.field(default="", name="caFile")
    cert_data: Base64 = ""
    key_data: Base64 = ""
    ca_data: Base64 = msgspec.field(default="", name="caData")


class Extender(Part, frozen=True):
    """An extender, called over HTTP; a verb that is empty is not called."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = msgspec.field(default="", name="httpTimeout")
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class LeaderElectionConfiguration(Part, frozen=True):
    """Checked, without effect."""

    leader_elect: bool = True
    lease_duration: Duration = "15s"
    renew_deadline: Duration = "10s"
    retry_period: Duration = "2s"
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"

    def __post_init__(self) -> None:
        _fill(self, "lease_duration", "renew_deadline", "retry_period", "resource_lock", "resource_name", "resource_namespace")


class ClientConnectionConfiguration(Part, frozen=True):
    """Checked, without effect."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: float = 50.0
    burst: Int32 = 100

    def __post_init__(self) -> None:
        _fill(self, "content_type", "qps", "burst")


class KubeSchedulerConfiguration(Part, frozen=True):
    """The scheduler's configuration, with one or more profiles."""

    api_version: Literal["kubescheduler.config.k8s.io/v1"] = msgspec.field(default=API_VERSION, name="apiVersion")
    kind: Literal["KubeSchedulerConfiguration"] = KIND
    parallelism: Int32 = 16
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    client_connection: ClientConnectionConfiguration = ClientConnectionConfiguration()
    enable_profiling: bool = True
    #: None: the value of enableProfiling.
    enable_contention_profiling: bool | None = None
    #: 0: adaptive, by the number of nodes.
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[KubeSchedulerProfile, ...] = ()
    extenders: tuple[Extender, ...] = ()
