"""Configurations of v1.36: defaults, fields and messages that differ from v1.27.1. The messages are upstream's."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.config import ConfigurationError, KubeSchedulerConfiguration, load_configuration
from schedviz.engine.config.plugin_args import DynamicResourcesArgs, VolumeBindingArgs
from schedviz.engine.config.types_v1_36 import Plugins
from schedviz.engine.features import V1_36_GATES, features_of
from schedviz.trace.releases import V1_36

NEW: dict[str, Any] = {
    "delayCacheUntilActive": True,
    "profiles": [{"plugins": {"placementGenerate": {"enabled": [{"name": "A"}]}, "placementScore": {"disabled": [{"name": "*"}]}}}],
}


def load(data: dict[str, Any] | None, **gates: bool) -> KubeSchedulerConfiguration:
    return load_configuration(data, release=V1_36, features=features_of(V1_36_GATES, gates))


def args(plugin: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"profiles": [{"pluginConfig": [{"name": plugin, "args": given}]}]}


def enabled(point: str, plugin: str) -> dict[str, Any]:
    return {"profiles": [{"plugins": {point: {"enabled": [{"name": plugin}]}}}]}


def error_of(data: dict[str, Any], **gates: bool) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(data, **gates)
    return str(caught.value)


def test_default_plugins_have_upstreams_order() -> None:
    profile = load(None).profiles[0]
    names = [plugin.name for plugin in profile.plugins.multi_point.enabled]
    assert (names[0], names[-1]) == ("SchedulingGates", "NodeDeclaredFeatures")
    assert names.index("DynamicResources") < names.index("DefaultPreemption")
    assert not {"EBSLimits", "GCEPDLimits", "AzureDiskLimits"} & set(names)
    assert profile.args("DynamicResources") == DynamicResourcesArgs("10s", "600s")


def test_a_default_plugin_whose_feature_gate_is_off_is_omitted() -> None:
    dependents = [name for name, gate in V1_36_GATES.items() if "NodeDeclaredFeatures" in gate.depends_on]
    profile = load(None, NodeDeclaredFeatures=False, **dict.fromkeys(dependents, False)).profiles[0]
    assert "NodeDeclaredFeatures" not in [plugin.name for plugin in profile.plugins.multi_point.enabled]


def test_members_of_v1_36_are_read_and_unknown_to_v1_27_1() -> None:
    loaded = load(NEW)
    plugins = loaded.profiles[0].plugins
    assert isinstance(plugins, Plugins)
    assert [plugin.name for plugin in plugins.placement_generate.enabled] == ["A"]
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(NEW)
    assert str(caught.value) == (
        'strict decoding error: unknown field "delayCacheUntilActive", unknown field "profiles[0].plugins.placementGenerate", '
        'unknown field "profiles[0].plugins.placementScore"'
    )


@pytest.mark.parametrize("plugin", ["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"])
def test_removed_plugins_are_rejected(plugin: str) -> None:
    detail = 'was invalid in version "v1" (KubeSchedulerConfiguration is version "")'
    assert error_of(enabled("filter", plugin)) == f'profiles[0].plugins.filter.enabled[0]: Invalid value: "{plugin}": {detail}'
    versioned = {"apiVersion": "kubescheduler.config.k8s.io/v1", **args(plugin, {})}
    assert error_of(versioned).endswith('(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")')


def test_removed_versions_are_not_registered() -> None:
    assert error_of({"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}).startswith(
        'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3" in scheme '
        '"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:29"'
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]},
            "profiles[1].schedulerName: Duplicate value: {}",
        ),
        (
            {"profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {"queueSort": {"enabled": [{"name": "Mine"}]}}}]},
            (
                'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"Mine","Weight":0}],"Disabled":null}: '
                "must be the same for all profiles"
            ),
        ),
        (
            {"leaderElection": {"retryPeriod": "-1s"}},
            'leaderElection.retryPeriod: Invalid value: "-1s": must be greater than zero',
        ),
        (
            args("VolumeBinding", {"shape": [{"utilization": 0, "score": 0}]}),
            (
                'profiles[0].pluginConfig[0].args.shape: Invalid value: [{"Utilization":0,"Score":0}]: unexpected field `shape`, '
                "remove it or turn on the feature gate StorageCapacityScoring"
            ),
        ),
        (
            args("NodeResourcesFit", {"scoringStrategy": {"type": "RequestedToCapacityRatio"}}),
            "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio",
        ),
        (
            args("NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated", "requestedToCapacityRatio": {"shape": []}}}),
            "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio",
        ),
        (
            args(
                "NodeResourcesFit",
                {
                    "scoringStrategy": {
                        "type": "RequestedToCapacityRatio",
                        "requestedToCapacityRatio": {"shape": [{"utilization": 5, "score": 1}, {"utilization": 1, "score": 1}]},
                    }
                },
            ),
            "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 1: values must be sorted in increasing order",
        ),
        (
            args("DynamicResources", {"filterTimeout": "-1s", "bindingTimeout": "500ms"}),
            (
                '[profiles[0].pluginConfig[0].args.filterTimeout: Invalid value: "-1s": must be zero or positive, '
                'profiles[0].pluginConfig[0].args.bindingTimeout: Invalid value: "500ms": must be at least 1 second]'
            ),
        ),
        (args("DynamicResources", {"filterTimeout": "soon"}), 'time: invalid duration "soon"'),
        (args("DynamicResources", {"timeout": "1s"}), 'unknown field "timeout"'),
    ],
)
def test_invalid_configurations_give_the_messages_of_v1_36(data: dict[str, Any], message: str) -> None:
    assert error_of(data).endswith(message)


def test_timeouts_of_dynamic_resources_need_their_gates() -> None:
    loaded = load(None, DRASchedulerFilterTimeout=False, DRADeviceBindingConditions=False)
    assert loaded.profiles[0].args("DynamicResources") == DynamicResourcesArgs()
    timeouts = args("DynamicResources", {"filterTimeout": "1s", "bindingTimeout": "2s"})
    assert error_of(timeouts, DRASchedulerFilterTimeout=False, DRADeviceBindingConditions=False) == (
        "[profiles[0].pluginConfig[0].args.filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled, "
        "profiles[0].pluginConfig[0].args.bindingTimeout: Forbidden: "
        "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled]"
    )


def test_storage_capacity_scoring_gives_volume_binding_a_shape() -> None:
    loaded = load(None, StorageCapacityScoring=True).profiles[0].args("VolumeBinding")
    assert isinstance(loaded, VolumeBindingArgs)
    assert [(point.utilization, point.score) for point in loaded.shape or ()] == [(0, 10), (100, 0)]
    unsorted = [{"utilization": 50, "score": 1}, {"utilization": 10, "score": 1}]
    assert error_of(args("VolumeBinding", {"shape": unsorted}), StorageCapacityScoring=True).endswith(
        "values must be sorted in increasing order"
    )


def test_the_operator_of_added_affinity_is_refused_with_the_supported_ones() -> None:
    terms = [{"matchExpressions": [{"key": "a", "operator": "Near"}]}]
    message = error_of(
        args("NodeAffinity", {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}})
    )
    assert message.endswith('Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"')
