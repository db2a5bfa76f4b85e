"""The arguments of plugins, with their defaults. Upstream: kube-scheduler/config/v1/types_pluginargs.go"""

from __future__ import annotations

from typing import Final

import msgspec

from schedviz.engine.config.types import Duration, Int32, Int64
from schedviz.kube.affinity import NodeAffinity, TopologySpreadConstraint


class Args(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Arguments of a plugin, or a part of them."""


class ResourceSpec(Args, frozen=True):
    """A resource and its weight; 0 means 1."""

    name: str = ""
    weight: Int64 = 0

    def __post_init__(self) -> None:
        if self.weight == 0:
            msgspec.structs.force_setattr(self, "weight", 1)


#: The resources that are scored by default.
DEFAULT_RESOURCES: Final = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))


class UtilizationShapePoint(Args, frozen=True):
    """A point of a scoring function: utilization 0..100, score 0..10."""

    utilization: Int32 = 0
    score: Int32 = 0


class RequestedToCapacityRatioParam(Args, frozen=True):
    """The function of the RequestedToCapacityRatio strategy, as points."""

    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(Args, frozen=True):
    """The scoring strategy of NodeResourcesFit: LeastAllocated, MostAllocated or RequestedToCapacityRatio."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None

    def __post_init__(self) -> None:
        if not self.resources:
            msgspec.structs.force_setattr(self, "resources", DEFAULT_RESOURCES)


class DefaultPreemptionArgs(Args, frozen=True):
    """How many candidates preemption's dry run looks for at least: a percentage of the nodes, and a number."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class InterPodAffinityArgs(Args, frozen=True):
    """The weight of an existing pod's required affinity, and whether its preferred terms are ignored."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class NodeResourcesFitArgs(Args, frozen=True):
    """Extended resources that Filter ignores, and the scoring strategy."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type="LeastAllocated")


class PodTopologySpreadArgs(Args, frozen=True):
    """Default constraints for pods without any: the scheduler's own (System) or these (List)."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"

    def __post_init__(self) -> None:
        if not self.defaulting_type:
            msgspec.structs.force_setattr(self, "defaulting_type", "System")


class NodeResourcesBalancedAllocationArgs(Args, frozen=True):
    """The resources whose used fractions are compared."""

    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES

    def __post_init__(self) -> None:
        if not self.resources:
            msgspec.structs.force_setattr(self, "resources", DEFAULT_RESOURCES)


class VolumeBindingArgs(Args, frozen=True):
    """The timeout of volume binding. A `shape` needs a feature gate: VolumeCapacityPriority (off in v1.27.1), StorageCapacityScoring."""

    bind_timeout_seconds: Int64 = 600
    shape: tuple[UtilizationShapePoint, ...] | None = None


#: The shape with StorageCapacityScoring: the less is free, the lower the score.
STORAGE_CAPACITY_SHAPE: Final = (UtilizationShapePoint(utilization=0, score=10), UtilizationShapePoint(utilization=100, score=0))


class NodeAffinityArgs(Args, frozen=True):
    """Node affinity that is added to every pod's own."""

    added_affinity: NodeAffinity | None = None


class DynamicResourcesArgs(Args, frozen=True):
    """How long filtering one node, and waiting for device binding conditions, can take. None: what the feature gates set by default."""

    filter_timeout: Duration | None = None
    binding_timeout: Duration | None = None


#: Plugin name -> the type of its arguments. Other plugins take none.
ARGS_BY_PLUGIN: Final[dict[str, type[Args]]] = {
    "DefaultPreemption": DefaultPreemptionArgs,
    "InterPodAffinity": InterPodAffinityArgs,
    "NodeAffinity": NodeAffinityArgs,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
    "NodeResourcesFit": NodeResourcesFitArgs,
    "PodTopologySpread": PodTopologySpreadArgs,
    "VolumeBinding": VolumeBindingArgs,
}

#: The same for v1.36.
ARGS_BY_PLUGIN_V1_36: Final[dict[str, type[Args]]] = {**ARGS_BY_PLUGIN, "DynamicResources": DynamicResourcesArgs}
