"""The placement constraints of a pod: node affinity, pod affinity, topology spread, tolerations."""

from __future__ import annotations

import msgspec

from schedviz.kube.meta import Int32, Int64, LabelSelector, ObjectPart


class NodeSelectorRequirement(ObjectPart, frozen=True, gc=False):
    """One condition on a node's labels or fields: In, NotIn, Exists, DoesNotExist, Gt, Lt."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(ObjectPart, frozen=True, gc=False):
    """Conditions that must all hold. An empty term matches nothing."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(ObjectPart, frozen=True, gc=False):
    """Terms, one of which must match."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(ObjectPart, frozen=True, gc=False):
    """A preference for some nodes."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(ObjectPart, frozen=True, gc=False):
    """The nodes that a pod requires or prefers."""

    required: NodeSelector | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: tuple[PreferredSchedulingTerm, ...] = msgspec.field(default=(), name="preferredDuringSchedulingIgnoredDuringExecution")


class PodAffinityTerm(ObjectPart, frozen=True, gc=False):
    """The pods to be near to or far from, and the topology that defines near."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    #: The API server has merged these into the selector.
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(ObjectPart, frozen=True, gc=False):
    """A preference for being near to or far from some pods."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(ObjectPart, frozen=True, gc=False):
    """Pods to be near to (in `Affinity.pod_affinity`) or far from (in `Affinity.pod_anti_affinity`)."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(default=(), name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(default=(), name="preferredDuringSchedulingIgnoredDuringExecution")


class Affinity(ObjectPart, frozen=True, gc=False):
    """All affinities of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    #: Upstream: PodAntiAffinity, a type of the same shape.
    pod_anti_affinity: PodAffinity | None = None


class Toleration(ObjectPart, frozen=True, gc=False):
    """A tolerated taint. An empty key with Exists matches every taint, an empty effect every effect."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(ObjectPart, frozen=True, gc=False):
    """How evenly matching pods must be spread over the domains of a topology."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()
