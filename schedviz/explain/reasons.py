"""The meaning of the reasons in a FitError, and their usual causes."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from schedviz.engine.framework.plugins import names
from schedviz.trace.phrase import Phrase


class Meaning(NamedTuple):
    """A reason in other words. `plugin` gives the reason."""

    plugin: str
    template: str
    causes: tuple[str, ...] = ()
    values: dict[str, str] = {}  # noqa: RUF012 -- a tuple's default, which nobody writes to.

    @property
    def phrase(self) -> Phrase:
        """The meaning, for this reason."""
        return Phrase(self.template, dict(self.values))

    @property
    def sentence(self) -> str:
        """The same in English."""
        return self.phrase.text


_TABLE: Final[tuple[tuple[str, Meaning], ...]] = (
    (
        r"Insufficient (?P<resource>.+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource}, minus the requests of its pods (assumed pods included), is less than the pod's request",
            (
                "the pods on the node request more than they use: the scheduler counts requests, not usage",
                "the pod requests more than it needs",
                "terminating pods count until they are gone",
            ),
        ),
    ),
    (
        "Too many pods",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node already has the maximum number of pods",
            ("the kubelet's --max-pods", "the node has no free pod IP addresses"),
        ),
    ),
    (
        r"node\(s\) had untolerated taint \{(?P<taint>node\.kubernetes\.io/.*)\}",
        Meaning(names.TAINT_TOLERATION, "the node is unhealthy: {taint}", ("check the node's conditions and its kubelet",)),
    ),
    (
        r"node\(s\) had untolerated taint \{(?P<taint>node-role\.kubernetes\.io/.*)\}",
        Meaning(
            names.TAINT_TOLERATION,
            "the node is reserved for the control plane: {taint}",
            ("control-plane nodes do not run workloads; do not count their capacity",),
        ),
    ),
    (
        r"node\(s\) had untolerated taint \{(?P<taint>.*)\}",
        Meaning(
            names.TAINT_TOLERATION,
            "the pod does not tolerate the taint {taint}",
            ("a node pool that is reserved for other workloads", "the pod lacks the pool's toleration"),
        ),
    ),
    (
        r"node\(s\) had untolerated taint\(s\)",
        Meaning(
            names.TAINT_TOLERATION,
            "the node has a taint that the pod does not tolerate",
            (
                "a node pool that is reserved for other workloads",
                "the pod lacks the pool's toleration",
                "check the node's conditions and its kubelet",
            ),
        ),
    ),
    (
        r"node\(s\) were unschedulable",
        Meaning(names.NODE_UNSCHEDULABLE, "the node is cordoned (spec.unschedulable)", ("a drain or an upgrade that has not finished",)),
    ),
    (
        r"node\(s\) didn't match Pod's node affinity/selector",
        Meaning(
            names.NODE_AFFINITY,
            "the node's labels do not match the pod's nodeSelector or required node affinity",
            (
                "a label that was removed from the node or was never set",
                "a typo in the selector",
                "a volume or a profile that adds an affinity",
            ),
        ),
    ),
    (
        r"node\(s\) (didn't satisfy plugin\(s\) \[NodeAffinity\]|were left out by PreFilter)",
        Meaning(
            names.NODE_AFFINITY,
            "the pod's node affinity names other nodes (metadata.name)",
            ("the named node was deleted or has another name",),
        ),
    ),
    (
        r"node\(s\) didn't match scheduler-enforced node affinity",
        Meaning(names.NODE_AFFINITY, "the profile's addedAffinity excludes the node"),
    ),
    (r"node\(s\) didn't match the requested node name", Meaning(names.NODE_NAME, "spec.nodeName requests another node")),
    (
        r"node\(s\) didn't have free ports for the requested pod ports",
        Meaning(
            names.NODE_PORTS,
            "a host port that the pod requests is in use on the node",
            ("a pod with the same hostPort, often a replica of it",),
        ),
    ),
    (
        r"node\(s\) didn't match pod affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "no pod that matches the pod's affinity runs in the node's topology domain",
            ("the required pod does not run or has other labels", "its namespace is not among those of the affinity term"),
        ),
    ),
    (
        r"node\(s\) didn't match pod anti-affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "a pod that matches the pod's anti-affinity runs in the node's topology domain",
            ("more replicas than topology domains",),
        ),
    ),
    (
        r"node\(s\) didn't satisfy existing pods anti-affinity rules",
        Meaning(names.INTER_POD_AFFINITY, "a pod in the node's topology domain has anti-affinity to this pod"),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints(?P<missing> \(missing required label\))?",
        Meaning(
            names.POD_TOPOLOGY_SPREAD,
            "the pod would make the skew larger than maxSkew, or the node lacks the topology label",
            ("a domain without capacity blocks the others", "nodes without the topology label"),
        ),
    ),
    (
        r"node\(s\) (had volume node affinity conflict|didn't match PersistentVolume's node affinity)",
        Meaning(names.VOLUME_BINDING, "a volume of the pod cannot be used from the node", ("the volume is in another zone",)),
    ),
    (
        r"node\(s\) didn't find available persistent volumes to bind",
        Meaning(names.VOLUME_BINDING, "no volume that matches the claim can be used from the node"),
    ),
    (
        r"node\(s\) did not have enough free storage",
        Meaning(names.VOLUME_BINDING, "no CSIStorageCapacity object reports enough capacity for the node"),
    ),
    (
        r"node\(s\) unavailable due to one or more pvc\(s\) bound to non-existent pv\(s\)",
        Meaning(names.VOLUME_BINDING, "a claim is bound to a volume that does not exist"),
    ),
    (
        "pod has unbound immediate PersistentVolumeClaims",
        Meaning(names.VOLUME_BINDING, "a claim with immediate binding is not bound yet", ("no volume matches", "the provisioner is down")),
    ),
    (r"persistentvolumeclaim \"(?P<claim>.*)\" not found", Meaning(names.VOLUME_BINDING, "the claim {claim} does not exist")),
    (r"node\(s\) had no available volume zone", Meaning(names.VOLUME_ZONE, "a volume is in a zone other than the node's")),
    (r"node\(s\) exceed max volume count", Meaning(names.NODE_VOLUME_LIMITS, "the maximum number of volumes is attached to the node")),
    (r"node\(s\) had no available disk", Meaning(names.VOLUME_RESTRICTIONS, "another pod on the node uses a disk that cannot be shared")),
    (
        r"node(\(s\) unavailable due to| has pod using) PersistentVolumeClaim with .*ReadWriteOncePod access mode.*",
        Meaning(names.VOLUME_RESTRICTIONS, "a ReadWriteOncePod claim is in use by another pod"),
    ),
    (
        r"node\(s\) didn't match Pod's required features",
        Meaning(names.NODE_DECLARED_FEATURES, "the node's kubelet does not declare a feature that the pod requires", ("an older kubelet",)),
    ),
    (
        "cannot allocate all claims",
        Meaning(names.DYNAMIC_RESOURCES, "not all devices that the pod's claims request are available on the node"),
    ),
    (
        "resourceclaim not available on the node",
        Meaning(names.DYNAMIC_RESOURCES, "a claim of the pod has devices that this node cannot use, or whose preparation failed"),
    ),
    (
        r"request .+: device class (?P<name>\S+) does not exist",
        Meaning(
            names.DYNAMIC_RESOURCES, "the device class {name} of a claim does not exist", ("the driver of the devices is not installed",)
        ),
    ),
    (
        r"resource claim (?P<name>\S+) is in the process of being allocated",
        Meaning(names.DYNAMIC_RESOURCES, "another pod is getting devices for the claim {name}; this one waits until they are written"),
    ),
    (
        r'could not find ResourceClaim "(?P<name>[^"]+)"|pod "[^"]+": ResourceClaim not created yet',
        Meaning(
            names.DYNAMIC_RESOURCES, "a claim of the pod does not exist", ("the controller that creates claims from templates is not on",)
        ),
    ),
    (
        "Preemption is not helpful for scheduling",
        Meaning(names.DEFAULT_PREEMPTION, "evicting pods would not make the pod fit on the node"),
    ),
    (
        "No preemption victims found for incoming pod",
        Meaning(names.DEFAULT_PREEMPTION, "the node has no lower-priority pods whose eviction would make room"),
    ),
)

_COMPILED: Final = tuple((re.compile(pattern), meaning) for pattern, meaning in _TABLE)


def meaning_of(reason: str) -> Meaning | None:
    """The meaning of a reason; None if no default plugin gives it."""
    for pattern, meaning in _COMPILED:
        match = pattern.fullmatch(reason)
        if match is not None:
            return meaning._replace(values={key: value or "" for key, value in match.groupdict().items()})
    return None
