"""`Detail`: the numbers behind a clause, one struct for each kind of reason. They become JSON with a `kind`."""

from __future__ import annotations

import msgspec

from schedviz.trace.phrase import Phrase

#: How many nodes, pods or label values a detail names; the first are the nearest or the most frequent.
MAX_NAMES = 5


class NodeAmount(msgspec.Struct, frozen=True, rename="camel"):
    """A resource on one node, in base units: milli-cpus, bytes, or a count."""

    node: str
    allocatable: int
    #: The requests of its pods, and of pods nominated to it with the same or a higher priority.
    used: int


class LabelValue(msgspec.Struct, frozen=True, rename="camel"):
    """A value of a label, and how many nodes have it."""

    value: str
    nodes: int


class DomainPods(msgspec.Struct, frozen=True, rename="camel"):
    """A topology domain and its number of matching pods."""

    domain: str
    pods: int


class PodOnNode(msgspec.Struct, frozen=True, rename="camel"):
    """A pod `namespace/name` and its node."""

    pod: str
    node: str


class Detail(msgspec.Struct, frozen=True, rename="camel", tag_field="kind", kw_only=True):
    """What all kinds have in common."""

    #: In one sentence, without a full stop.
    sentence: str
    #: The same for translation.
    sentence_phrase: Phrase


class ResourceDetail(Detail, frozen=True, tag="resource"):
    """Insufficient resources, or `pods`: too many pods."""

    resource: str
    requested: int
    #: Nodes of the cluster with any of it, and the largest allocatable amount.
    offered_by: int
    largest: int
    #: The rejected nodes that are nearest to fitting.
    nodes: tuple[NodeAmount, ...]


class TaintDetail(Detail, frozen=True, tag="taint"):
    """An untolerated taint."""

    #: As kubectl prints it: `key=value:NoSchedule`.
    taint: str
    #: Rejected nodes whose first untolerated taint it is.
    nodes: int
    #: Pods of the cluster with a toleration that names its key: their number, and the first few names. Others tolerate everything.
    tolerated_by: int
    pods: tuple[str, ...]


class LabelDetail(Detail, frozen=True, tag="label"):
    """One requirement on node labels: of the pod's nodeSelector or node affinity, or of a volume."""

    key: str
    #: The requirement in selector notation: `disk in (nvme,ssd)`.
    requirement: str
    #: Nodes of the cluster that meet it.
    matching: int
    #: The values that nodes have, most frequent first, and how many nodes lack the label.
    values: tuple[LabelValue, ...]
    without: int
    #: `namespace/name` of the claim and the name of the volume that require it; "" for the pod's own requirements.
    claim: str = ""
    volume: str = ""


class SpreadDetail(Detail, frozen=True, tag="spread"):
    """A topology spread constraint."""

    topology_key: str
    max_skew: int
    selector: str
    #: The fewest matching pods of any domain, and the most that a domain may have before it takes another.
    fewest: int
    most: int
    #: Fewest pods first. `of` is the number of domains.
    domains: tuple[DomainPods, ...]
    of: int
    #: Nodes without the topology key.
    without: int


class PodAffinityDetail(Detail, frozen=True, tag="podAffinity"):
    """A required term of pod affinity or anti-affinity."""

    #: `affinity` and `antiAffinity` are the pod's own; `existingAntiAffinity` are terms of running pods that select this pod.
    term: str
    topology_key: str
    selector: str
    namespaces: tuple[str, ...]
    #: Running pods that match (or have the term), and the first of them.
    matching: int
    pods: tuple[PodOnNode, ...]


class PortDetail(Detail, frozen=True, tag="port"):
    """A host port in use."""

    #: `TCP 8080`, with the address if it is not 0.0.0.0.
    port: str
    #: Rejected nodes where it is in use, and the pods that use it on the first of them.
    nodes: int
    pods: tuple[PodOnNode, ...]


class DeviceDetail(Detail, frozen=True, tag="device"):
    """A request of a claim for devices, over the rejected nodes."""

    #: `namespace/name` of the claim, and `request` or `request/alternative`.
    claim: str
    request: str
    device_class: str
    #: How many devices; 0: all that match.
    wanted: int
    #: The devices that the nodes can use, and those of them that nothing excludes.
    devices: int
    free: int
    #: The others, by what excludes them first: class, selectors, in use, taints, capacity, counters.
    excluded: dict[str, int]


AnyDetail = ResourceDetail | TaintDetail | LabelDetail | SpreadDetail | PodAffinityDetail | PortDetail | DeviceDetail
