"""Taints of nodes that are not for an ordinary pod: a toleration of them is no fix to propose, or the last one."""

from __future__ import annotations

from typing import Final

from schedviz.explain.details.node_labels import node_requirements
from schedviz.kube.core import Pod, Taint

#: Keys of taints of nodes that are unhealthy, cordoned, not initialized yet, or about to be removed: a new node does not have them, and
#: no pod should tolerate them.
OUT_OF_USE: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "node.cilium.io/agent-not-ready",
    "karpenter.sh/",
    "DeletionCandidateOfClusterAutoscaler",
    "ToBeDeletedByClusterAutoscaler",
)
#: Keys of taints of nodes that run only the pods that their provider chooses, one each or outside the cluster.
_OF_PROVIDER: Final = ("eks.amazonaws.com/compute-type", "virtual-kubelet.io/provider", "virtual-node.")
#: Keys of taints of the nodes that run the control plane.
CONTROL_PLANE_KEYS: Final = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/etcd")
_WINDOWS: Final = "windows"
_OS: Final = "kubernetes.io/os"


def is_out_of_use(taint: Taint) -> bool:
    """Whether the node is unhealthy, cordoned, not initialized yet, or about to be removed."""
    return taint.key.startswith(OUT_OF_USE)


def is_for_other_pods(taint: Taint, pod: Pod) -> bool:
    """Whether the node cannot run the pod as other nodes can: it is serverless, or runs Windows and the pod does not ask for that."""
    if taint.key.startswith(_OF_PROVIDER):
        return True
    return _WINDOWS in f"{taint.key}={taint.value}".lower() and not _selects_windows(pod)


def is_reserved(taint: Taint, pod: Pod) -> bool:
    """Whether the node is out of use, for other pods, or for the control plane."""
    return is_out_of_use(taint) or is_for_other_pods(taint, pod) or is_of_control_plane(taint)


def is_of_control_plane(taint: Taint) -> bool:
    """Whether the node is reserved for the control plane."""
    return taint.key in CONTROL_PLANE_KEYS


def _selects_windows(pod: Pod) -> bool:
    return any(each.key.endswith(_OS) and _WINDOWS in each.values for each in node_requirements(pod) or ())
