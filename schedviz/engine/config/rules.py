"""`Rules`: what the releases of kube-scheduler read, default and validate differently in a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from schedviz.engine.config import types, types_v1_36
from schedviz.engine.config.default_plugins import DEFAULT_PLUGINS
from schedviz.engine.config.errors import FieldErrors, go_value, json_value
from schedviz.engine.config.plugin_args import ARGS_BY_PLUGIN, ARGS_BY_PLUGIN_V1_36, Args
from schedviz.engine.config.types import API_VERSION, KubeSchedulerConfiguration, Plugins
from schedviz.engine.features import V1_36_GATES, Gates
from schedviz.trace import releases

_SCHEME: Final = "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one release."""

    configuration: type[KubeSchedulerConfiguration]
    default_plugins: Plugins
    #: Plugin name -> the type of its arguments.
    args: Mapping[str, type[Args]]
    #: API versions that the release still reads with this warning, and schedviz does not read.
    deprecated: Mapping[str, str] = {}
    #: Plugins that were removed, and the version that removed them.
    removed_plugins: frozenset[str]
    removed_in: str
    #: The API version that messages show for a configuration without one.
    default_version: str
    #: The scheme's name, which has the line of upstream's source.
    scheme: str
    errors: FieldErrors
    gates: Gates
    #: Messages of the release about profiles that sort the queue differently, and about the points of a shape.
    queue_sort_differs: str
    queue_sort_args_differ: str
    shape_unsorted: str
    #: The feature gate without which VolumeBindingArgs cannot have a shape.
    shape_gate: str
    #: The parameters of RequestedToCapacityRatio are required for this strategy, and forbidden for others.
    strategy_decides_ratio: bool
    #: The message of an unsupported operator of a node selector lists the supported ones.
    lists_operators: bool


_V1_27: Final = Rules(
    configuration=types.KubeSchedulerConfiguration,
    default_plugins=DEFAULT_PLUGINS[releases.V1_27],
    args=ARGS_BY_PLUGIN,
    deprecated={
        "v1beta2": "KubeSchedulerConfiguration v1beta2 is deprecated in v1.25, will be removed in v1.28",
        "v1beta3": "KubeSchedulerConfiguration v1beta3 is deprecated in v1.26, will be removed in v1.29",
    },
    removed_plugins=frozenset({"SelectorSpread"}),
    removed_in=API_VERSION,
    default_version=API_VERSION,
    scheme=f"{_SCHEME}:31",
    errors=FieldErrors(go_value),
    gates={},
    queue_sort_differs="has to match for all profiles",
    queue_sort_args_differ="has to match for all profiles",
    shape_unsorted="utilization values must be sorted in increasing order",
    shape_gate="VolumeCapacityPriority",
    strategy_decides_ratio=False,
    lists_operators=False,
)

_V1_36: Final = Rules(
    configuration=types_v1_36.KubeSchedulerConfiguration,
    default_plugins=DEFAULT_PLUGINS[releases.V1_36],
    args=ARGS_BY_PLUGIN_V1_36,
    removed_plugins=frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"}),
    # Upstream takes it from the core API instead of its own.
    removed_in="v1",
    default_version="",
    scheme=f"{_SCHEME}:29",
    errors=FieldErrors(json_value),
    gates=V1_36_GATES,
    queue_sort_differs="must be the same for all profiles",
    queue_sort_args_differ="queueSort must be the same for all profiles",
    shape_unsorted="values must be sorted in increasing order",
    shape_gate="StorageCapacityScoring",
    strategy_decides_ratio=True,
    lists_operators=True,
)

#: By release.
RULES: Final[Mapping[str, Rules]] = {releases.V1_27: _V1_27, releases.V1_36: _V1_36}
