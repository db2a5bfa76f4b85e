"""What the cluster autoscaler's reasons mean for node groups, in sentences about one and about several, and what to do."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from schedviz.trace.phrase import Phrase, phrase

#: What the machines of node groups lack for a pod; "": another reason.
Lack = Literal["", "volume", "device", "size"]


class GroupKind(NamedTuple):
    """What a reason of the scheduler means for nodes that a group would get, and what to do."""

    words: tuple[str, ...]
    #: About one group, and about several.
    said: tuple[str, str]
    advice: Phrase
    #: Reasons of later filters come first: the nodes pass the earlier ones.
    rank: int
    lacks: Lack = ""


ADVICE_ABOUT_SIZE: Final = phrase("Lower the pod's requests, or add a node group with larger machines")
ADVICE_ABOUT_DEVICE: Final = phrase(
    "Add a node group whose machines have `{resource}`, or free `{resource}` by stopping a pod that uses it. If the pod requests more than "
    "one, lower its request. A node group without nodes must declare `{resource}` for the autoscaler, for example with ASG tags on AWS"
)
#: What to do about a volume that no node group can access.
ADVICE_ABOUT_VOLUME: Final = phrase(
    "Add a node group in the volume's zone, or free up capacity on a node that can access the volume. A bound volume cannot move to "
    "another zone. To see its zone, run `kubectl get pv NAME -o yaml` and look under nodeAffinity. A node group without nodes must declare "
    "the zone label that the volume requires, for example with ASG tags on AWS"
)
#: The same where other node groups lack what the pod requests: the new one needs both.
ADVICE_ABOUT_VOLUME_AND_DEVICE: Final = phrase(
    "Add a node group in the volume's zone whose machines have `{resource}`, or free `{resource}` in that zone by stopping a pod that uses "
    "it. A bound volume cannot move to another zone. To see its zone, run `kubectl get pv NAME -o yaml` and look under nodeAffinity. A "
    "node group without nodes must declare `{resource}` and its zone for the autoscaler, for example with ASG tags on AWS"
)
ADVICE_ABOUT_VOLUME_AND_SIZE: Final = phrase(
    "Lower the pod's requests, or add a node group with larger machines in the volume's zone. A bound volume cannot move to another zone. "
    "To see its zone, run `kubectl get pv NAME -o yaml` and look under nodeAffinity"
)
GROUP_KINDS: Final[tuple[GroupKind, ...]] = (
    GroupKind(
        ("volume node affinity conflict", "PersistentVolume's node affinity"),
        (
            "{groups} has machines that cannot access the pod's volume",
            "{groups} have machines that cannot access the pod's volume",
        ),
        ADVICE_ABOUT_VOLUME,
        1,
        "volume",
    ),
    GroupKind(
        ("exceed max volume count",),
        ("{groups} has machines that cannot attach enough volumes", "{groups} have machines that cannot attach enough volumes"),
        phrase("Use fewer volumes in the pod, or add a node group whose machines attach more volumes"),
        1,
    ),
    GroupKind(
        ("topology spread constraint",),
        ("{groups} would violate the pod's topology spread constraints", "{groups} would violate the pod's topology spread constraints"),
        phrase("Add a node group in the zone that has the fewest matching pods, or set `whenUnsatisfiable: ScheduleAnyway`"),
        1,
    ),
    GroupKind(
        ("pod anti-affinity", "anti-affinity rules"),
        ("{groups} would violate a required anti-affinity", "{groups} would violate a required anti-affinity"),
        phrase("Make the anti-affinity preferred instead of required, or add a node group in another zone"),
        1,
    ),
    GroupKind(
        ("pod affinity rules", "pod affinity/anti-affinity"),
        ("{groups} does not satisfy the pod's affinity to other pods", "{groups} do not satisfy the pod's affinity to other pods"),
        phrase("Check that the pods required by the affinity are running, or make the affinity preferred instead of required"),
        1,
    ),
    GroupKind(
        ("Too many pods",),
        ("{groups} has machines whose pod limit is too low", "{groups} have machines whose pod limit is too low"),
        phrase("Raise the pod limit of the node group, or use fewer DaemonSets"),
        1,
    ),
    GroupKind(
        ("free ports", "host port"),
        (
            "{groups} has nodes on which the pod's host port would be in use",
            "{groups} have nodes on which the pod's host port would be in use",
        ),
        phrase("Use another host port, or keep the DaemonSet that uses it off the node group"),
        1,
    ),
    GroupKind(
        ("node affinity", "node selector"),
        ("{groups} does not match the pod's node selector or affinity", "{groups} do not match the pod's node selector or affinity"),
        phrase(
            "Compare the pod's node selector and node affinity with the labels of the node groups. A node group without nodes "
            "must declare its "
            "labels for the autoscaler, for example with ASG tags on AWS"
        ),
        2,
    ),
)
#: Sentences about one node group, and about several.
TOO_SMALL: Final = (
    "{groups} has machines with too little {resources} for the pod",
    "{groups} have machines with too little {resources} for the pod",
)
WITHOUT_DEVICE: Final = ("{groups} does not offer enough `{resource}`", "{groups} do not offer enough `{resource}`")
UNNAMED_TAINTS: Final = ("{groups} has taints that the pod does not tolerate", "{groups} have taints that the pod does not tolerate")
TAINTED: Final = ("{groups} has the untolerated taint `{taint}`", "{groups} have the untolerated taint `{taint}`")
UNKNOWN: Final = ("{groups} does not fit the pod", "{groups} do not fit the pod")
OTHER: Final = ("{groups} does not fit the pod ({reason})", "{groups} do not fit the pod ({reason})")
#: All of them, for their translations.
SENTENCES: Final = (
    *TOO_SMALL,
    *WITHOUT_DEVICE,
    *UNNAMED_TAINTS,
    *TAINTED,
    *UNKNOWN,
    *OTHER,
    *(text for kind in GROUP_KINDS for text in kind.said),
)
WITHOUT_REASON: Final = phrase("the cluster autoscaler did not add a node, and its event gives no reason")
#: Where the reason is that an event leaves out.
READ_THE_LOG: Final = phrase(
    "To find the reason, run `kubectl -n kube-system logs deploy/cluster-autoscaler`. On GKE, read the autoscaler visibility events instead"
)
ADVICE_ABOUT_REGISTRATION: Final = phrase(
    "Find out why the machines do not join: read the kubelet's log on one of them, and check its role, its network, and its user data. The "
    "autoscaler deletes machines that do not register"
)
