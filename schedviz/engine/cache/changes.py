"""Collects what one call changes in NodeInfos, and turns it into NodeChanges when the call ends."""

from __future__ import annotations

from typing import Any

from schedviz.engine.cache.node_item import declared_features, image_states, taints, used_ports
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.kube.zones import zone_key
from schedviz.trace.events import NodeChange, PodOnNode


class NodeInfoDraft:
    """One NodeInfo before the call, with the pods that were added and removed since."""

    __slots__ = (
        "_allocatable",
        "_image_states",
        "_is_irregular",
        "_node",
        "_non_zero_requested",
        "_requested",
        "_touches_claims",
        "_touches_ports",
        "added",
        "info",
        "is_dropped",
        "removed",
    )

    def __init__(self, info: NodeInfo) -> None:
        self.info = info
        #: The NodeInfo was removed from the list.
        self.is_dropped = False
        self.removed: list[str] = []
        self.added: list[PodOnNode] = []
        self._node = info.node
        self._allocatable = info.allocatable
        self._image_states = info.image_states
        self._requested = info.requested.to_view()
        self._non_zero_requested = info.non_zero_requested.to_view()
        self._touches_ports = False
        self._touches_claims = False
        self._is_irregular = False

    def add_pod(self, pod: PodInfo) -> None:
        """Add a pod to the node."""
        self.info.add_pod(pod)
        self.added.append(PodOnNode(pod=pod.key, affinity=pod.has_affinity, required_anti_affinity=pod.has_required_anti_affinity))
        self._note(pod)

    def remove_pod(self, pod: PodInfo) -> None:
        """Remove a pod from the node. Raises `PodNotFoundError`."""
        info = self.info
        # The fold of views (`trace/cache_fold.py`) knows only the keys of pods. It removes the same pod only if the key is unique, and if
        # the lists of pods with affinity lose exactly the pods that were added to them. Otherwise the change has the complete lists.
        self._is_irregular |= (
            _has(info.pods_with_affinity, pod) != pod.has_affinity
            or _has(info.pods_with_required_anti_affinity, pod) != pod.has_required_anti_affinity
            or sum(other.key == pod.key for other in info.pods) > 1
        )
        info.remove_pod(pod)
        self.removed.append(pod.key)
        self._note(pod)

    def finish(self) -> NodeChange:
        """The change since the draft was made."""
        info = self.info
        if self.is_dropped:
            return NodeChange(node=info.name, generation=info.generation, dropped=True)
        requested, non_zero_requested = info.requested.to_view(), info.non_zero_requested.to_view()
        return NodeChange(
            node=info.name,
            generation=info.generation,
            **self._node_members(),
            removed=self.removed,
            added=self.added,
            requested=None if requested == self._requested else requested,
            non_zero_requested=None if non_zero_requested == self._non_zero_requested else non_zero_requested,
            used_ports=used_ports(info.used_ports) if self._touches_ports else None,
            pvc_ref_counts=info.pvc_ref_counts.copy() if self._touches_claims else None,
            pod_order=[pod.key for pod in info.pods] if self._is_irregular else None,
            pods_with_affinity=[pod.key for pod in info.pods_with_affinity] if self._is_irregular else None,
            pods_with_required_anti_affinity=[pod.key for pod in info.pods_with_required_anti_affinity] if self._is_irregular else None,
        )

    def _node_members(self) -> dict[str, Any]:
        """Members that change with the Node object. Separate because most changes are of pods alone."""
        info, node, before = self.info, self.info.node, self._node
        if node is before and info.image_states is self._image_states:
            return {}
        unschedulable = node is not None and node.spec.unschedulable
        zone = zone_key(node) if node is not None else ""
        return {
            "has_node": None if (node is None) == (before is None) else node is not None,
            "unschedulable": None if unschedulable == (before is not None and before.spec.unschedulable) else unschedulable,
            "taints": None if taints(node) == taints(before) else taints(node),
            "zone": None if zone == (zone_key(before) if before is not None else "") else zone,
            "allocatable": None if info.allocatable == self._allocatable else info.allocatable.to_view(),
            "declared_features": None if declared_features(node) == declared_features(before) else declared_features(node),
            "image_states": None if info.image_states == self._image_states else image_states(info),
        }

    def _note(self, pod: PodInfo) -> None:
        self._touches_ports |= bool(pod.host_ports)
        self._touches_claims |= bool(pod.claims)


class NodeInfoChanges:
    """The NodeInfos that one call changed, in the order of the changes."""

    def __init__(self) -> None:
        self._drafts: list[NodeInfoDraft] = []

    def draft_of(self, info: NodeInfo) -> NodeInfoDraft:
        """The draft of a NodeInfo. Call it before each change.

        If another NodeInfo was changed in between, this is a new draft, because the NodeInfo moves to the head of the list again.
        """
        if self._drafts and self._drafts[-1].info is info:
            return self._drafts[-1]
        draft = NodeInfoDraft(info)
        self._drafts.append(draft)
        return draft

    def finish(self) -> list[NodeChange]:
        """The changes, in the order in which the NodeInfos moved to the head."""
        return [draft.finish() for draft in self._drafts]


def _has(pods: list[PodInfo], pod: PodInfo) -> bool:
    return any(other.uid == pod.uid for other in pods)
