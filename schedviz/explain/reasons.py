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
            "what is allocatable of {resource}, less the requests of the pods there (assumed ones too), is less than the pod requests",
            (
                "the pods there request more than they use: requests count, use does not",
                "the pod requests more than it needs",
                "pods that are being deleted count until they are gone",
            ),
        ),
    ),
    (
        "Too many pods",
        Meaning(
            names.NODE_RESOURCES_FIT, "as many pods as the node allows are on it", ("the kubelet's --max-pods", "no free pod addresses")
        ),
    ),
    (
        r"node\(s\) had untolerated taint \{(?P<taint>node\.kubernetes\.io/.*)\}",
        Meaning(names.TAINT_TOLERATION, "the node is not well: {taint}", ("look at the node's conditions and its kubelet",)),
    ),
    (
        r"node\(s\) had untolerated taint \{(?P<taint>node-role\.kubernetes\.io/.*)\}",
        Meaning(
            names.TAINT_TOLERATION, "the node is for the control plane: {taint}", ("not meant for workloads; not to be counted as room",)
        ),
    ),
    (
        r"node\(s\) had untolerated taint \{(?P<taint>.*)\}",
        Meaning(
            names.TAINT_TOLERATION,
            "the pod does not tolerate the taint {taint}",
            ("a node pool that is kept for others", "the pod lacks the pool's toleration"),
        ),
    ),
    (
        r"node\(s\) had untolerated taint\(s\)",
        Meaning(
            names.TAINT_TOLERATION,
            "the node has a taint that the pod does not tolerate",
            ("a node pool that is kept for others", "the pod lacks the pool's toleration", "look at the node's conditions and its kubelet"),
        ),
    ),
    (
        r"node\(s\) were unschedulable",
        Meaning(names.NODE_UNSCHEDULABLE, "the node is cordoned (spec.unschedulable)", ("a drain or an upgrade that has not ended",)),
    ),
    (
        r"node\(s\) didn't match Pod's node affinity/selector",
        Meaning(
            names.NODE_AFFINITY,
            "the node's labels do not match the pod's nodeSelector or required node affinity",
            ("a label that the node lost or never had", "a typing mistake in the selector", "a volume or a profile that adds an affinity"),
        ),
    ),
    (
        r"node\(s\) (didn't satisfy plugin\(s\) \[NodeAffinity\]|were left out by PreFilter)",
        Meaning(
            names.NODE_AFFINITY,
            "the pod's node affinity names nodes (metadata.name), and this is none of them",
            ("the named node is gone, or has another name",),
        ),
    ),
    (r"node\(s\) didn't match scheduler-enforced node affinity", Meaning(names.NODE_AFFINITY, "the profile's addedAffinity keeps it off")),
    (r"node\(s\) didn't match the requested node name", Meaning(names.NODE_NAME, "spec.nodeName asks for another node")),
    (
        r"node\(s\) didn't have free ports for the requested pod ports",
        Meaning(
            names.NODE_PORTS, "a host port that the pod wants is taken there", ("a pod with the same hostPort, often a replica of it",)
        ),
    ),
    (
        r"node\(s\) didn't match pod affinity rules",
        Meaning(
            names.INTER_POD_AFFINITY,
            "no pod that it must be near runs in the node's domain",
            ("the pod to be near does not run, or has other labels", "its namespace is not among the term's"),
        ),
    ),
    (
        r"node\(s\) didn't match pod anti-affinity rules",
        Meaning(names.INTER_POD_AFFINITY, "a pod that it must be far from runs in the node's domain", ("more replicas than domains",)),
    ),
    (
        r"node\(s\) didn't satisfy existing pods anti-affinity rules",
        Meaning(names.INTER_POD_AFFINITY, "a pod in the node's domain wants to be far from it"),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints(?P<missing> \(missing required label\))?",
        Meaning(
            names.POD_TOPOLOGY_SPREAD,
            "the pod would make the skew larger than maxSkew, or the node lacks the topology key",
            ("a domain without room keeps the others from growing", "nodes without the topology label"),
        ),
    ),
    (
        r"node\(s\) (had volume node affinity conflict|didn't match PersistentVolume's node affinity)",
        Meaning(names.VOLUME_BINDING, "the volume of a claim cannot be reached from the node", ("the volume is in another zone",)),
    ),
    (
        r"node\(s\) didn't find available persistent volumes to bind",
        Meaning(names.VOLUME_BINDING, "no volume that the claim could be bound to can be reached from the node"),
    ),
    (
        r"node\(s\) did not have enough free storage",
        Meaning(names.VOLUME_BINDING, "no CSIStorageCapacity says that the storage can be made there"),
    ),
    (r"node\(s\) unavailable due to one or more pvc\(s\) bound to non-existent pv\(s\)", Meaning(names.VOLUME_BINDING, "a volume is gone")),
    (
        "pod has unbound immediate PersistentVolumeClaims",
        Meaning(
            names.VOLUME_BINDING, "a claim is to be bound before scheduling, and is not", ("no volume matches", "the provisioner is down")
        ),
    ),
    (r"persistentvolumeclaim \"(?P<claim>.*)\" not found", Meaning(names.VOLUME_BINDING, "there is no claim {claim}")),
    (r"node\(s\) had no available volume zone", Meaning(names.VOLUME_ZONE, "a volume is in a zone other than the node's")),
    (r"node\(s\) exceed max volume count", Meaning(names.NODE_VOLUME_LIMITS, "as many volumes as the node allows are attached to it")),
    (r"node\(s\) had no available disk", Meaning(names.VOLUME_RESTRICTIONS, "another pod there uses a disk that cannot be shared")),
    (
        r"node(\(s\) unavailable due to| has pod using) PersistentVolumeClaim with .*ReadWriteOncePod access mode.*",
        Meaning(names.VOLUME_RESTRICTIONS, "a claim that one pod may use at a time is in use"),
    ),
    (
        r"node\(s\) didn't match Pod's required features",
        Meaning(names.NODE_DECLARED_FEATURES, "the node's kubelet does not declare a feature that the pod needs", ("an older kubelet",)),
    ),
    (
        "cannot allocate all claims",
        Meaning(names.DYNAMIC_RESOURCES, "the devices that the pod's claims need are not all available from the node"),
    ),
    (
        "Preemption is not helpful for scheduling",
        Meaning(names.DEFAULT_PREEMPTION, "evicting pods would not make the node fit"),
    ),
    (
        "No preemption victims found for incoming pod",
        Meaning(names.DEFAULT_PREEMPTION, "no pods of a lower priority are there whose eviction would make room"),
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
