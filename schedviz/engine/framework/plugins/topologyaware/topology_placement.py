"""TopologyPlacementGenerator: one placement for each domain of the topology in which all pods of a group must be. v1.36.

Upstream: framework/plugins/topologyaware/topology_placement.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.listers import find_pod_group
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.gangscheduling.gang_scheduling import pod_group_not_found
from schedviz.engine.framework.pod_groups import Placement, PodGroupInfo, by_name
from schedviz.engine.framework.status import Status, as_status
from schedviz.kube.core import Pod


class TopologyPlacement:
    name = names.TOPOLOGY_PLACEMENT_GENERATOR

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def generate_placements(self, group: PodGroupInfo, parent: Placement) -> Sequence[Placement] | Status:
        """The parent placement if the group has no topology constraint. If pods of the group have nodes, only their domain is left."""
        pod_group = find_pod_group(self._handle.objects, group)
        if pod_group is None:
            return as_status(pod_group_not_found(group))
        constraints = pod_group.spec.scheduling_constraints
        if constraints is None or not constraints.topology:
            return [parent]
        # The API allows one constraint.
        key = constraints.topology[0].key
        try:
            scheduled = self._handle.snapshot.pod_group(group.key).scheduled_pods()
            required = self._domain_of(key, scheduled)
        except LookupError as error:
            return as_status(str(error))
        nodes: dict[str, list[str]] = {}
        for info in self._handle.snapshot.node_info_list:
            assert info.node is not None
            domain = info.node.metadata.labels.get(key)
            if domain is not None and (required is None or required == domain):
                nodes.setdefault(domain, []).append(info.name)
        return by_name(Placement(domain, tuple(members)) for domain, members in nodes.items())

    def _domain_of(self, key: str, pods: Sequence[Pod]) -> str | None:
        """The domain of pods that have nodes; None: there are no pods. Raises LookupError. Upstream: getScheduledPodsTopologyDomain"""
        common_value: str | None = None
        prefix = "cannot determine domain for already scheduled pods"
        for pod in pods:
            info = self._handle.snapshot.node_info_map.get(pod.spec.node_name)
            if info is None or info.node is None:
                raise LookupError(f'{prefix}: getting node for pod {pod.key}: nodeinfo not found for node name "{pod.spec.node_name}"')
            domain = info.node.metadata.labels.get(key)
            if domain is None:
                raise LookupError(f"{prefix}: no topology domain found for pod {pod.key}")
            if common_value and common_value != domain:
                raise LookupError(f"{prefix}: more than 1 domain found for pod group: {common_value}, {domain}")
            common_value = domain
        return common_value
