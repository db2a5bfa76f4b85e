"""A spread constraint with its selector parsed, for Filter and Score.

Upstream: framework/plugins/podtopologyspread/common.go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.plugins.helper.taint import HARD_TAINT_EFFECTS
from schedviz.engine.framework.plugins.helper.taint_comparison import tolerations_tolerate_taint_v1_36
from schedviz.engine.framework.plugins.helper.topology import intersection
from schedviz.engine.framework.plugins.nodeaffinity.node_affinity import matches
from schedviz.engine.framework.pod_memo import SelectionMemo
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Mask
from schedviz.kube.affinity import Toleration, TopologySpreadConstraint
from schedviz.kube.core import Node, Pod, Taint
from schedviz.kube.node_affinity import RequiredNodeAffinity, required_node_affinity
from schedviz.kube.selectors import Labels, Selector, label_selector, selector_from_set

HOSTNAME = "kubernetes.io/hostname"
_HONOR = "Honor"


class Constraint(msgspec.Struct, frozen=True):
    """Upstream: topologySpreadConstraint"""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False
    #: Tolerations may compare numbers (TaintTolerationComparisonOperators).
    compares_taints: bool = False

    def includes(self, pod: Pod, node: Node, required: RequiredNodeAffinity) -> bool:
        """Whether a node counts for the pod's spreading. Upstream: matchNodeInclusionPolicies"""
        if self.honors_affinity and not matches(required, node):
            return False
        return not self.honors_taints or not self.is_untolerated(node.spec.taints, pod.spec.tolerations)

    def is_untolerated(self, taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> bool:
        """Whether one of the taints keeps the pod off a node."""
        hard = (taint for taint in taints if taint.effect in HARD_TAINT_EFFECTS)
        return not all(tolerations_tolerate_taint_v1_36(tolerations, taint, compares=self.compares_taints) for taint in hard)


def parse_constraints(constraints: Iterable[TopologySpreadConstraint], labels: Labels, action: str) -> tuple[Constraint, ...]:
    """The constraints with this `whenUnsatisfiable`. Raises `SelectorError`. Upstream: filterTopologySpreadConstraints"""
    return tuple(_parse(constraint, labels) for constraint in constraints if constraint.when_unsatisfiable == action)


def _parse(constraint: TopologySpreadConstraint, labels: Labels) -> Constraint:
    selector = label_selector(constraint.label_selector)
    matched = {key: labels[key] for key in constraint.match_label_keys if key in labels}
    if matched and not selector.selects_nothing:
        selector = selector_from_set(matched).with_requirements(*selector.requirements)
    return Constraint(
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        selector=selector,
        min_domains=1 if constraint.min_domains is None else constraint.min_domains,
        honors_affinity=constraint.node_affinity_policy in (None, _HONOR),
        honors_taints=constraint.node_taints_policy == _HONOR,
    )


def keys(constraints: Sequence[Constraint]) -> list[str]:
    return [constraint.topology_key for constraint in constraints]


def included(rows: Rows, constraint: Constraint, pod: PodInfo) -> Mask | None:
    """The rows that count for the pod's spreading by this constraint; None: all."""
    mask: Mask | None = None
    if constraint.honors_affinity:
        mask = _affinity_mask(rows, required_node_affinity(pod.pod))
    if constraint.honors_taints:
        tolerations = pod.pod.spec.tolerations

        def tolerates_all(node_info: NodeInfo) -> int:
            taints = node_info.node.spec.taints if node_info.node is not None else ()
            return not constraint.is_untolerated(taints, tolerations)

        key = ("spread-taints", tolerations, constraint.compares_taints)
        mask = intersection(mask, rows.node_column(key, tolerates_all, np.bool_).astype(np.bool_, copy=False))
    return mask


def _affinity_mask(rows: Rows, required: RequiredNodeAffinity) -> Mask | None:
    if required.labels is None and required.nodes is None:
        return None

    def matches_affinity(node_info: NodeInfo) -> int:
        return node_info.node is not None and matches(required, node_info.node)

    return rows.node_column(("spread-affinity", required), matches_affinity, np.bool_).astype(np.bool_, copy=False)


def matching_pods(rows: Rows, selector: Selector, namespace: str) -> IntArray:
    """The number of selected pods of the namespace on each row. Only rows whose pods changed are recomputed."""
    matching = SelectionMemo(lambda pod: is_counted(pod, selector, namespace))
    return rows.info_column(("matching-pods", selector, namespace), lambda node_info: sum(matching(node_info.pods)), np.int64)


def is_counted(pod: PodInfo, selector: Selector, namespace: str) -> bool:
    """Whether a pod is selected and not terminating. An empty selector selects no pods. Upstream: countPodsMatchSelector"""
    if selector.is_empty or pod.namespace != namespace or pod.pod.metadata.deletion_timestamp is not None:
        return False
    return selector.matches(pod.pod.metadata.labels)
