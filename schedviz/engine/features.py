"""Feature gates: upstream's names, and their values in one session.

The scheduler asks `features.scheduler_async_preemption`, never for a version. v1.27.1 has no gates here: what its alpha gates would switch
on is not part of its recordings.

Upstream: pkg/features/kube_features.go, framework/plugins/feature/feature.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec


class Features(msgspec.Struct, frozen=True):
    """Whether each gate is on. The member of `SchedulerAsyncPreemption` is `scheduler_async_preemption`."""

    clearing_nominated_node_name_after_binding: bool = False
    dra_admin_access: bool = False
    dra_consumable_capacity: bool = False
    dra_device_binding_conditions: bool = False
    dra_device_taint_rules: bool = False
    dra_device_taints: bool = False
    dra_extended_resource: bool = False
    dra_list_type_attributes: bool = False
    dra_node_allocatable_resources: bool = False
    dra_partitionable_devices: bool = False
    dra_prioritized_list: bool = False
    dra_resource_claim_device_status: bool = False
    dra_scheduler_filter_timeout: bool = False
    dra_workload_resource_claims: bool = False
    dynamic_resource_allocation: bool = False
    gang_scheduling: bool = False
    generic_workload: bool = False
    in_place_pod_level_resources_vertical_scaling: bool = False
    in_place_pod_vertical_scaling: bool = False
    node_declared_features: bool = False
    nominated_node_name_for_expectation: bool = False
    opportunistic_batching: bool = False
    pod_level_resources: bool = False
    scheduler_async_api_calls: bool = False
    scheduler_async_preemption: bool = False
    scheduler_pop_from_backoff_q: bool = False
    scheduler_queueing_hints: bool = False
    sidecar_containers: bool = False
    storage_capacity_scoring: bool = False
    taint_toleration_comparison_operators: bool = False
    topology_aware_workload_scheduling: bool = False
    volume_limit_scaling: bool = False
    workload_aware_preemption: bool = False

    @property
    def waits_for_binding_conditions(self) -> bool:
        """Whether PreBind waits for conditions of allocated devices, which needs two gates."""
        return self.dra_device_binding_conditions and self.dra_resource_claim_device_status


class Gate(msgspec.Struct, frozen=True):
    """A feature gate of one release."""

    #: Its member of `Features`; "": kube-scheduler does not read it.
    member: str
    default: bool
    #: Its value cannot be changed.
    is_locked: bool = False
    #: The gates that must be on if it is. Upstream: defaultKubernetesFeatureGateDependencies
    depends_on: tuple[str, ...] = ()


#: The gates of a release, by upstream's name.
Gates = Mapping[str, Gate]

#: The gates of v1.36 that kube-scheduler reads, and those that depend on them. Dependencies on gates that are locked to on are left out.
V1_36_GATES: Final[Gates] = {
    "ClearingNominatedNodeNameAfterBinding": Gate("clearing_nominated_node_name_after_binding", default=True),
    "DRAAdminAccess": Gate("dra_admin_access", default=True, is_locked=True),
    "DRAConsumableCapacity": Gate("dra_consumable_capacity", default=True),
    "DRADeviceBindingConditions": Gate("dra_device_binding_conditions", default=True, depends_on=("DRAResourceClaimDeviceStatus",)),
    "DRADeviceTaintRules": Gate("dra_device_taint_rules", default=False, depends_on=("DRADeviceTaints",)),
    "DRADeviceTaints": Gate("dra_device_taints", default=True),
    "DRAExtendedResource": Gate("dra_extended_resource", default=True),
    "DRAListTypeAttributes": Gate("dra_list_type_attributes", default=False),
    "DRANodeAllocatableResources": Gate("dra_node_allocatable_resources", default=False),
    "DRAPartitionableDevices": Gate("dra_partitionable_devices", default=True),
    "DRAPrioritizedList": Gate("dra_prioritized_list", default=True),
    "DRAResourceClaimDeviceStatus": Gate("dra_resource_claim_device_status", default=True),
    "DRASchedulerFilterTimeout": Gate("dra_scheduler_filter_timeout", default=True),
    "DRAWorkloadResourceClaims": Gate("dra_workload_resource_claims", default=False, depends_on=("GenericWorkload",)),
    "DynamicResourceAllocation": Gate("dynamic_resource_allocation", default=True, is_locked=True),
    "ExtendWebSocketsToKubelet": Gate("", default=True, depends_on=("NodeDeclaredFeatures",)),
    "GangScheduling": Gate("gang_scheduling", default=False, depends_on=("GenericWorkload",)),
    "GenericWorkload": Gate("generic_workload", default=False),
    "InPlacePodLevelResourcesVerticalScaling": Gate(
        "in_place_pod_level_resources_vertical_scaling", default=True, depends_on=("PodLevelResources", "NodeDeclaredFeatures")
    ),
    "InPlacePodVerticalScaling": Gate("in_place_pod_vertical_scaling", default=True, is_locked=True),
    "InPlacePodVerticalScalingInitContainers": Gate("", default=True, depends_on=("NodeDeclaredFeatures",)),
    "NodeDeclaredFeatures": Gate("node_declared_features", default=True),
    "NominatedNodeNameForExpectation": Gate("nominated_node_name_for_expectation", default=True),
    "OpportunisticBatching": Gate("opportunistic_batching", default=True),
    "PodLevelResources": Gate("pod_level_resources", default=True),
    "RestartAllContainersOnContainerExits": Gate("", default=True, depends_on=("NodeDeclaredFeatures",)),
    "SchedulerAsyncAPICalls": Gate("scheduler_async_api_calls", default=False),
    "SchedulerAsyncPreemption": Gate("scheduler_async_preemption", default=True),
    "SchedulerPopFromBackoffQ": Gate("scheduler_pop_from_backoff_q", default=True),
    "SchedulerQueueingHints": Gate("scheduler_queueing_hints", default=True, is_locked=True),
    "SidecarContainers": Gate("sidecar_containers", default=True, is_locked=True),
    "StorageCapacityScoring": Gate("storage_capacity_scoring", default=False),
    "TaintTolerationComparisonOperators": Gate("taint_toleration_comparison_operators", default=False),
    "TopologyAwareWorkloadScheduling": Gate("topology_aware_workload_scheduling", default=False, depends_on=("GenericWorkload",)),
    "VolumeLimitScaling": Gate("volume_limit_scaling", default=False),
    "WorkloadAwarePreemption": Gate("workload_aware_preemption", default=False, depends_on=("GangScheduling",)),
}


class FeatureGateError(ValueError):
    """A gate that does not exist in the release, or that is locked."""

    def __init__(self, gate: str, message: str) -> None:
        super().__init__(message)
        self.gate = gate


def features_of(gates: Gates, overrides: Mapping[str, bool]) -> Features:
    """The gates' values with these changes. Raises `FeatureGateError`.

    Deviation: upstream logs a warning for an unknown gate; here it is an error, so that a typo is noticed.
    Upstream: component-base/featuregate/feature_gate.go SetFromMap
    """
    values = {name: gate.default for name, gate in gates.items()}
    for name, value in overrides.items():
        gate = gates.get(name)
        if gate is None:
            raise FeatureGateError(name, f"unrecognized feature gate: {name}; {_available_gates(gates)}")
        if gate.is_locked and value != gate.default:
            value_text, default = str(value).lower(), str(gate.default).lower()
            raise FeatureGateError(name, f"cannot set feature gate {name} to {value_text}, feature is locked to {default}")
        values[name] = value
    for name, gate in gates.items():
        disabled = [other for other in gate.depends_on if not values[other]]
        if values[name] and disabled:
            message = f"{name} is enabled, but depends on features that are disabled: [{' '.join(disabled)}]"
            raise FeatureGateError(name, message)
    return Features(**{gate.member: values[name] for name, gate in gates.items() if gate.member})


def _available_gates(gates: Gates) -> str:
    return f"there are {', '.join(sorted(gates))}" if gates else "the release has no feature gates here"
