"""Why the kubelet rejects a pod that a scheduler has placed, and why it evicts one."""

from __future__ import annotations

from typing import Final

from schedviz.explain.meaning import Meaning, Row
from schedviz.explain.reason_tables.kubelet import KUBELET

_REJECTED: Final = r"(?:Pod )?(?:was rejected: )?"
_ALLOCATE: Final = _REJECTED + r"Allocate failed due to "
_REPLACE: Final = (
    "delete the failed pod: the kubelet does not try it again, and a controller creates another one. If that repeats, look for what "
    "uses the node without the scheduler, such as pods with `spec.nodeName`"
)
_REPLACE_ONLY: Final = "delete the failed pod: the kubelet does not try it again, and a controller creates another one"
_CHECK_DEVICES: Final = (
    "check the devices of that node and the log of their device plugin's pod there. Cordon the node until they work, because each new pod "
    "can be placed there again; then delete the failed pod"
)
_FREE_STORAGE: Final = (
    "free disk space on the node: unused images, logs, and what pods write to `emptyDir` and to their containers. Give pods that write "
    "much a request for `ephemeral-storage`. The kubelet does not start the evicted pod again; a controller creates another one"
)
_LIMIT_STORAGE: Final = (
    "raise the limit in the pod's template, or write less. The kubelet does not start the evicted pod again; a controller creates "
    "another one"
)
_CONTAINERS: Final = r"(?P<containers>(?: Container \S+ was using [^.]+?(?:\.|$))*)"

REJECTIONS: Final[tuple[Row, ...]] = (
    (
        _REJECTED
        + r"Node didn't have enough (?:resource|capacity): pods, requested: \d+, used: (?P<used>\d+), capacity: (?P<most>\d+)\b.*",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod: the node already has {used} pods, and its maximum is {most}",
            ("another pod took the room after the pod was placed", "pods use the node that its scheduler did not place there"),
            _REPLACE,
            kind="rejected",
        ),
    ),
    (
        _REJECTED + r"Node didn't have enough (?:resource|capacity): (?P<resource>[^\s,]+), requested: (?P<requested>\d+), "
        r"used: (?P<used>\d+), capacity: (?P<capacity>\d+)\b.*",
        Meaning(
            KUBELET,
            (
                "the kubelet rejected the pod: the node has only {free} free (pods there request {used} of {capacity}), "
                "and the pod requests {requested}"
            ),
            ("another pod took the room after the pod was placed", "pods use the node that its scheduler did not place there"),
            _REPLACE,
            kind="rejected",
        ),
    ),
    (
        _REJECTED + r"Predicate TaintToleration failed(?:: .+)?",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod after it was placed, because the node has a taint that the pod does not tolerate",
            (
                "the node had just joined, and its kubelet had not yet seen that a startup taint was removed",
                "the taint was added after the pod was placed",
            ),
            _REPLACE_ONLY,
            kind="rejected",
        ),
    ),
    (
        _REJECTED + r"Predicate (?P<predicate>NodeAffinity|MatchNodeSelector) failed(?:: .+)?",
        Meaning(
            KUBELET,
            (
                "the kubelet rejected the pod after it was placed, because the node's labels do not match the pod's node selector or "
                "affinity ({predicate})"
            ),
            ("the node's labels changed, or were set only after the kubelet had started",),
            _REPLACE_ONLY,
            kind="rejected",
        ),
    ),
    (
        _REJECTED + r"Predicate (?P<predicate>\w+) failed(?:: (?P<why>.+))?",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod after it was placed, because the node failed the check {predicate}",
            (),
            _REPLACE,
            kind="rejected",
        ),
    ),
    (
        _REJECTED
        + r"Unexpected error while attempting to recover from admission failure: .*?\[\(res: (?P<lacking>\S+), q: (?P<short>\d+)\).*",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod: the node lacks {lacking}, and the kubelet found no pods there to evict for it",
            ("another pod took the room after the pod was placed", "pods use the node that its scheduler did not place there"),
            "make room on that node: delete or move some of its pods. Then delete the failed pod; a controller creates another one",
            kind="rejected",
        ),
    ),
    (
        _ALLOCATE
        + r"requested number of devices unavailable for (?P<device>\S+?)\. Requested: ?(?P<number>\d+), Available: ?(?P<left>\d+).*",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod: the pod requests {number} `{device}`, and the device plugin on the node has {left} left",
            ("the device plugin restarted, or found devices unhealthy", "another pod received the devices"),
            _CHECK_DEVICES,
            kind="rejected",
        ),
    ),
    (
        _ALLOCATE + r"no healthy devices present; cannot allocate unhealthy devices (?P<device>[^\s,]+).*",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod: no `{device}` device on the node is healthy",
            ("the device plugin is not running there, or has restarted", "the device or its driver has failed"),
            _CHECK_DEVICES,
            kind="rejected",
        ),
    ),
    (
        _ALLOCATE + r".*?rpc error: code = \w+ desc = (?P<why>.+?)(?:, which is unexpected\.?)?",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod: a device plugin on the node failed ({why})",
            ("the device plugin restarted or crashed", "the device or its driver has failed"),
            _CHECK_DEVICES,
            kind="rejected",
        ),
    ),
    (
        _REJECTED + r"(?:Unexpected error while attempting to recover from admission failure: |Allocate failed due to ).+",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod after it was placed (UnexpectedAdmissionError)",
            ("the node restarted, and a device plugin or another pod was not ready",),
            _REPLACE,
            kind="rejected",
        ),
    ),
    (
        r"(?:Pod )?The node was low on resource: (?P<resource>ephemeral-storage|inodes|nodefs|imagefs)\.?"
        r"(?: Threshold quantity: (?P<threshold>\w+), available: (?P<available>\w+)\.)?" + _CONTAINERS,
        Meaning(
            KUBELET,
            "the kubelet evicted the pod, because the node was short of {resource}{amounts}{users}",
            (),
            _FREE_STORAGE,
            kind="evicted",
        ),
    ),
    (
        r"(?:Pod )?The node was low on resource: (?P<resource>[\w-]+)\.?"
        r"(?: Threshold quantity: (?P<threshold>\w+), available: (?P<available>\w+)\.)?" + _CONTAINERS,
        Meaning(
            KUBELET,
            "the kubelet evicted the pod, because the node was short of {resource}{amounts}{users}",
            ("pods use more memory than they request",),
            (
                "raise the memory requests of the pods that use more than they request, so that fewer are placed on one node. The kubelet "
                "does not start the evicted pod again; a controller creates another one"
            ),
            kind="evicted",
        ),
    ),
    (
        r"(?:Pod )?The node had condition: \[(?P<condition>[^\]]+)\]\.?",
        Meaning(
            KUBELET,
            "the kubelet rejected the pod, because the node had the condition {condition}",
            (),
            (
                "free what the node is short of: `kubectl describe nodes` shows the condition. Then delete the failed pod; a "
                "controller creates another one"
            ),
            kind="rejected",
        ),
    ),
    (
        (
            r'(?:Pod |Container \S+ )?(?:exceeded its local ephemeral storage limit "(?P<limit>\w+)"'
            r"|ephemeral local storage usage exceeds the total limit of containers (?P<total>\w+))\.?"
        ),
        Meaning(
            KUBELET,
            "the kubelet evicted the pod, because the pod used more local storage than the limit of {limit}{total} for `ephemeral-storage`",
            (),
            _LIMIT_STORAGE,
            kind="evicted",
        ),
    ),
    (
        r'Usage of EmptyDir volume "(?P<volume>[^"]+)" exceeds the limit "(?P<limit>\w+)"\.?',
        Meaning(
            KUBELET,
            "the kubelet evicted the pod, because the emptyDir volume `{volume}` exceeded its size limit {limit}",
            (),
            _LIMIT_STORAGE,
            kind="evicted",
        ),
    ),
)
