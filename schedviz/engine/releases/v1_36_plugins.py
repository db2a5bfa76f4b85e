"""The in-tree plugins of v1.36 by name, with their factories. Upstream: framework/plugins/registry.go"""

from __future__ import annotations

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.defaultbinder.default_binder_v1_36 import DefaultBinderV136
from schedviz.engine.framework.plugins.defaultpreemption.default_preemption_v1_36 import DefaultPreemptionV136
from schedviz.engine.framework.plugins.dynamicresources.dynamic_resources import DynamicResources
from schedviz.engine.framework.plugins.gangscheduling.gang_scheduling import GangScheduling
from schedviz.engine.framework.plugins.imagelocality.image_locality_v1_36 import ImageLocalityV136
from schedviz.engine.framework.plugins.interpodaffinity.plugin_v1_36 import InterPodAffinityV136
from schedviz.engine.framework.plugins.nodeaffinity.node_affinity_v1_36 import NodeAffinityV136
from schedviz.engine.framework.plugins.nodedeclaredfeatures.node_declared_features import NodeDeclaredFeatures
from schedviz.engine.framework.plugins.nodename.node_name_v1_36 import NodeNameV136
from schedviz.engine.framework.plugins.nodeports.node_ports_v1_36 import NodePortsV136
from schedviz.engine.framework.plugins.noderesources.balanced_allocation_v1_36 import BalancedAllocationV136
from schedviz.engine.framework.plugins.noderesources.fit_v1_36 import FitV136
from schedviz.engine.framework.plugins.nodeunschedulable.node_unschedulable_v1_36 import NodeUnschedulableV136
from schedviz.engine.framework.plugins.nodevolumelimits.csi_v1_36 import CSILimitsV136
from schedviz.engine.framework.plugins.podgrouppodscount.podgroup_pods_count import PodGroupPodsCount
from schedviz.engine.framework.plugins.podtopologyspread.plugin_v1_36 import PodTopologySpreadV136
from schedviz.engine.framework.plugins.queuesort.priority_sort import PrioritySort
from schedviz.engine.framework.plugins.schedulinggates.scheduling_gates_v1_36 import SchedulingGatesV136
from schedviz.engine.framework.plugins.scripted.scripted import make_scripted
from schedviz.engine.framework.plugins.tainttoleration.taint_toleration_v1_36 import TaintTolerationV136
from schedviz.engine.framework.plugins.topologyaware.topology_placement import TopologyPlacement
from schedviz.engine.framework.plugins.volumebinding.volume_binding_v1_36 import VolumeBindingV136
from schedviz.engine.framework.plugins.volumerestrictions.volume_restrictions_v1_36 import VolumeRestrictionsV136
from schedviz.engine.framework.plugins.volumezone.volume_zone_v1_36 import VolumeZoneV136
from schedviz.engine.framework.runtime.plugin_lists import Registry


def in_tree_registry() -> Registry:
    """Every plugin of v1.36, and Scripted, which is ours. Plugins of pod groups are enabled by their gates."""
    return {
        names.SCHEDULING_GATES: SchedulingGatesV136,
        names.PRIORITY_SORT: PrioritySort,
        names.NODE_UNSCHEDULABLE: NodeUnschedulableV136,
        names.NODE_NAME: NodeNameV136,
        names.TAINT_TOLERATION: TaintTolerationV136,
        names.NODE_AFFINITY: NodeAffinityV136,
        names.NODE_PORTS: NodePortsV136,
        names.NODE_RESOURCES_FIT: FitV136,
        names.VOLUME_RESTRICTIONS: VolumeRestrictionsV136,
        names.NODE_VOLUME_LIMITS: CSILimitsV136,
        names.VOLUME_BINDING: VolumeBindingV136,
        names.VOLUME_ZONE: VolumeZoneV136,
        names.POD_TOPOLOGY_SPREAD: PodTopologySpreadV136,
        names.INTER_POD_AFFINITY: InterPodAffinityV136,
        names.DYNAMIC_RESOURCES: DynamicResources,
        names.DEFAULT_PREEMPTION: DefaultPreemptionV136,
        names.NODE_RESOURCES_BALANCED_ALLOCATION: BalancedAllocationV136,
        names.IMAGE_LOCALITY: ImageLocalityV136,
        names.DEFAULT_BINDER: DefaultBinderV136,
        names.NODE_DECLARED_FEATURES: NodeDeclaredFeatures,
        names.GANG_SCHEDULING: GangScheduling,
        names.TOPOLOGY_PLACEMENT_GENERATOR: TopologyPlacement,
        names.POD_GROUP_PODS_COUNT: PodGroupPodsCount,
        names.SCRIPTED: make_scripted,
    }
