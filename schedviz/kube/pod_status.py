"""What a pod's status says, also in kubectl's column STATUS, and how that stands in the place of a message of the scheduler."""

from __future__ import annotations

import re
from typing import Final

#: How what a Pod object says in the place of a message begins: it has a node.
PLACED: Final = "spec.nodeName: "
#: The same of what the column STATUS of a table says.
STATUS: Final = "STATUS: "
#: The column STATUS of a pod that scheduling gates hold.
GATED: Final = "SchedulingGated"
#: Why a container waits whose image cannot be pulled.
PULL_REASONS: Final = ("ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull")
#: The column STATUS of pods that have a node, and do not run.
STATUS_OF_KUBELET: Final = re.compile(
    rf"(?:Init:)?(?:{'|'.join(PULL_REASONS)}|CrashLoopBackOff|CreateContainer\w*Error|RunContainerError)"
    r"|ContainerCreating|PodInitializing|Init:\d+/\d+"
)
#: The same of pods that the kubelet rejected or evicted: they do not run again.
STATUS_OF_FAILED: Final = re.compile(
    r"Evicted|OutOf[a-z][\w./-]*|CapacityExceeded|UnexpectedAdmissionError|NodeAffinity|MatchNodeSelector|TaintToleration"
    r"|TopologyAffinityError|NodePorts"
)
#: The end of the name of a ReplicaSet's pod, without the hyphen. Upstream: apimachinery pkg/util/rand SafeEncodeString
GENERATED_SUFFIX: Final = r"[bcdf-hj-np-tv-xz2456789]{5}"
