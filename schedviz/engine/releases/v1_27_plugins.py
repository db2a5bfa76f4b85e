"""The in-tree plugins of v1.27.1 by name, with their factories. Upstream: framework/plugins/registry.go"""

from __future__ import annotations

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.defaultbinder.default_binder import DefaultBinder
from schedviz.engine.framework.plugins.defaultpreemption.default_preemption import DefaultPreemption
from schedviz.engine.framework.plugins.imagelocality.image_locality import ImageLocality
from schedviz.engine.framework.plugins.interpodaffinity.plugin import InterPodAffinity
from schedviz.engine.framework.plugins.nodeaffinity.node_affinity import NodeAffinity
from schedviz.engine.framework.plugins.nodename.node_name import NodeName
from schedviz.engine.framework.plugins.nodeports.node_ports import NodePorts
from schedviz.engine.framework.plugins.noderesources.balanced_allocation import BalancedAllocation
from schedviz.engine.framework.plugins.noderesources.fit import Fit
from schedviz.engine.framework.plugins.nodeunschedulable.node_unschedulable import NodeUnschedulable
from schedviz.engine.framework.plugins.nodevolumelimits.csi import CSILimits
from schedviz.engine.framework.plugins.nodevolumelimits.non_csi import AzureDiskLimits, CinderLimits, EBSLimits, GCEPDLimits
from schedviz.engine.framework.plugins.podtopologyspread.plugin import PodTopologySpread
from schedviz.engine.framework.plugins.queuesort.priority_sort import PrioritySort
from schedviz.engine.framework.plugins.schedulinggates.scheduling_gates import SchedulingGates
from schedviz.engine.framework.plugins.scripted.scripted import make_scripted
from schedviz.engine.framework.plugins.selectorspread.selector_spread import SelectorSpread
from schedviz.engine.framework.plugins.tainttoleration.taint_toleration import TaintToleration
from schedviz.engine.framework.plugins.volumebinding.volume_binding import VolumeBinding
from schedviz.engine.framework.plugins.volumerestrictions.volume_restrictions import VolumeRestrictions
from schedviz.engine.framework.plugins.volumezone.volume_zone import VolumeZone
from schedviz.engine.framework.runtime.plugin_lists import Registry


def in_tree_registry() -> Registry:
    """Every plugin of v1.27.1 except DynamicResources (alpha there), and Scripted, which is ours.

    A v1 configuration rejects SelectorSpread.
    """
    return {
        names.PRIORITY_SORT: PrioritySort,
        names.NODE_UNSCHEDULABLE: NodeUnschedulable,
        names.NODE_NAME: NodeName,
        names.TAINT_TOLERATION: TaintToleration,
        names.NODE_AFFINITY: NodeAffinity,
        names.NODE_PORTS: NodePorts,
        names.NODE_RESOURCES_FIT: Fit,
        names.VOLUME_RESTRICTIONS: VolumeRestrictions,
        names.EBS_LIMITS: EBSLimits,
        names.GCE_PD_LIMITS: GCEPDLimits,
        names.NODE_VOLUME_LIMITS: CSILimits,
        names.AZURE_DISK_LIMITS: AzureDiskLimits,
        names.CINDER_LIMITS: CinderLimits,
        names.VOLUME_BINDING: VolumeBinding,
        names.VOLUME_ZONE: VolumeZone,
        names.POD_TOPOLOGY_SPREAD: PodTopologySpread,
        names.INTER_POD_AFFINITY: InterPodAffinity,
        names.DEFAULT_PREEMPTION: DefaultPreemption,
        names.NODE_RESOURCES_BALANCED_ALLOCATION: BalancedAllocation,
        names.IMAGE_LOCALITY: ImageLocality,
        names.DEFAULT_BINDER: DefaultBinder,
        names.SCHEDULING_GATES: SchedulingGates,
        names.SCRIPTED: make_scripted,
        names.SELECTOR_SPREAD: SelectorSpread,
    }
