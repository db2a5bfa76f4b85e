"""Reasons that concern a node itself: its resources, its taints, its state and its name."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row

_COUNTED: Final = (
    "the pods on the node request more than they use: the scheduler counts requests, not usage",
    "the pod requests more than it needs",
    "terminating pods count until they are gone",
)
_POD_LIMIT: Final = Meaning(
    names.NODE_RESOURCES_FIT,
    "the node already has the maximum number of pods",
    ("the kubelet's --max-pods", "the node has no free pod IP addresses"),
    "add a node, or raise the kubelet's --max-pods if the network has more pod IP addresses",
    of_nodes=("{nodes} has its maximum number of pods", "{nodes} have their maximum number of pods"),
)
_SELECTOR: Final = Meaning(
    names.NODE_AFFINITY,
    "the node's labels do not match the pod's nodeSelector or required node affinity",
    (
        "a label that was removed from the node or was never set",
        "a typo in the selector",
        "a volume or a profile that adds an affinity",
    ),
    "compare the pod's nodeSelector and nodeAffinity with `kubectl get nodes --show-labels`",
    of_nodes=("{nodes} does not have the labels that the pod asks for", "{nodes} do not have the labels that the pod asks for"),
)
_UNHEALTHY: Final = "look at the node's conditions with `kubectl describe node`, and at its kubelet"
_TOLERATE: Final = "add a toleration to the pod if it belongs there, or add nodes without the taint"
_TAINTED: Final = r"node\(s\) had (?:untolerated )?taint "
_END: Final = r"(?:, that the pod didn't tolerate)?"

NODES: Final[tuple[Row, ...]] = (
    (r"Insufficient pods", _POD_LIMIT),
    (
        r"Insufficient (?P<resource>ephemeral-storage)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource}, minus the requests of its pods (assumed pods included), is less than the pod's request",
            _COUNTED,
            "lower the pod's ephemeral-storage request, or use nodes with larger disks",
            of_nodes=("{nodes} has too little free {resource}", "{nodes} have too little free {resource}"),
        ),
    ),
    (
        r"Insufficient (?P<resource>(?:[\w.-]+/|hugepages-).+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource}, minus the requests of its pods (assumed pods included), is less than the pod's request",
            (
                "the node has no such device, or its device plugin does not run",
                "other pods have all devices of the node; each is given to one pod, even if it is idle",
            ),
            "look for the resource under Allocatable in `kubectl describe node`; if it is missing, check the device plugin on that node",
            of_nodes=("{nodes} has too little free {resource}", "{nodes} have too little free {resource}"),
        ),
    ),
    (
        r"Insufficient (?P<resource>.+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource}, minus the requests of its pods (assumed pods included), is less than the pod's request",
            _COUNTED,
            "lower the requests of the pod or of others, or add a node; `kubectl describe node` lists the requests under Allocated "
            "resources",
            of_nodes=("{nodes} has too little free {resource}", "{nodes} have too little free {resource}"),
        ),
    ),
    ("Too many pods", _POD_LIMIT),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/unschedulable.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is cordoned: {taint}",
            ("a drain or an upgrade that has not finished",),
            "uncordon the node when its maintenance is over: `kubectl uncordon {node}`",
            of_nodes=("{nodes} is cordoned", "{nodes} are cordoned"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.cloudprovider\.kubernetes\.io/uninitialized.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the cloud provider has not initialized the node: {taint}",
            ("a node that is minutes old", "the cloud-controller-manager does not run, or the cloud refuses its calls"),
            "wait if the node is new; otherwise look at the cloud-controller-manager: "
            "`kubectl get pods -n kube-system | grep cloud-controller`, and its log",
            of_nodes=(
                "{nodes} is not initialized by the cloud provider yet ({taint})",
                "{nodes} are not initialized by the cloud provider yet ({taint})",
            ),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.(?:cloudprovider\.)?kubernetes\.io/.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is unhealthy: {taint}",
            (),
            _UNHEALTHY,
            of_nodes=("{nodes} is unhealthy ({taint})", "{nodes} are unhealthy ({taint})"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node-role\.kubernetes\.io/.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is reserved for the control plane: {taint}",
            ("control-plane nodes do not run workloads; do not count their capacity",),
            "nothing, if other nodes are meant to run the pod; on a cluster of one node, remove the taint",
            of_nodes=("{nodes} is reserved for the control plane", "{nodes} are reserved for the control plane"),
        ),
    ),
    (
        _TAINTED
        + r"\{(?P<taint>(?:ToBeDeletedByClusterAutoscaler|DeletionCandidateOfClusterAutoscaler|karpenter\.sh/|karpenter\.k8s).*?)\}"
        + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "an autoscaler is removing or preparing the node: {taint}",
            ("a scale-down or a replacement of nodes is under way",),
            "wait for the autoscaler; if it has stopped, look at its log, and remove the taint from a node that stays",
            of_nodes=("{nodes} is being removed or prepared by an autoscaler", "{nodes} are being removed or prepared by an autoscaler"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>.*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the pod does not tolerate the taint {taint}",
            ("a node pool that is reserved for other workloads", "the pod lacks the pool's toleration"),
            _TOLERATE,
            of_nodes=(
                "{nodes} is tainted, and the pod does not tolerate {taint}",
                "{nodes} are tainted, and the pod does not tolerate {taint}",
            ),
        ),
    ),
    (
        r"node\(s\) had (?:untolerated taint\(s\)|taints that the pod didn't tolerate)",
        Meaning(
            names.TAINT_TOLERATION,
            "the node has a taint that the pod does not tolerate",
            (
                "a node pool that is reserved for other workloads",
                "the pod lacks the pool's toleration",
            ),
            "list the taints with `kubectl describe nodes | grep Taints`, and compare them with the pod's tolerations",
            of_nodes=("{nodes} has a taint that the pod does not tolerate", "{nodes} have taints that the pod does not tolerate"),
        ),
    ),
    (
        r"node\(s\) were unschedulable",
        Meaning(
            names.NODE_UNSCHEDULABLE,
            "the node is cordoned (spec.unschedulable)",
            ("a drain or an upgrade that has not finished",),
            "uncordon the node when its maintenance is over: `kubectl uncordon {node}`",
            of_nodes=("{nodes} is cordoned", "{nodes} are cordoned"),
        ),
    ),
    (
        r"node\(s\) (?:were not ready|had unknown conditions?|had unavailable network|were unreachable)",
        Meaning(
            names.NODE_UNSCHEDULABLE,
            "the node is not ready",
            (),
            _UNHEALTHY,
            of_nodes=("{nodes} is not ready", "{nodes} are not ready"),
        ),
    ),
    (
        r"node\(s\) (?:had (?P<what>memory|disk|pid) pressure|were out of disk space)",
        Meaning(
            names.NODE_UNSCHEDULABLE,
            "the node's kubelet reports pressure: too little memory, disk or process IDs is left",
            (),
            _UNHEALTHY,
            of_nodes=(
                "{nodes} has too little memory, disk or process IDs left",
                "{nodes} have too little memory, disk or process IDs left",
            ),
        ),
    ),
    (r"node\(s\) didn't match (?:Pod's )?node (?:selector|affinity)(?:/selector)?", _SELECTOR),
    (
        r"node\(s\) (?:didn't satisfy plugin(?:\(s\))? (?:NodeAffinity|\[NodeAffinity\])|were left out by PreFilter)",
        Meaning(
            names.NODE_AFFINITY,
            "the pod's node affinity names other nodes (metadata.name)",
            ("the named node was deleted or has another name",),
            "for a DaemonSet's pod, only the reasons of its own node matter: `kubectl get pod POD -o yaml` names it",
            of_nodes=("{nodes} is not the one that the pod names", "{nodes} are not the one that the pod names"),
        ),
    ),
    (
        r"node\(s\) didn't satisfy plugin(?:\(s\))? (?P<plugins>.+)",
        Meaning(
            "",
            "the plugins {plugins} allow only other nodes, before the filters run",
            (),
            "only the reasons of the other nodes matter",
            of_nodes=(
                "{nodes} is excluded by {plugins} before the filters run",
                "{nodes} are excluded by {plugins} before the filters run",
            ),
        ),
    ),
    (
        r"node\(s\) didn't match scheduler-enforced node affinity",
        Meaning(
            names.NODE_AFFINITY,
            "the profile's addedAffinity excludes the node",
            (),
            "compare addedAffinity in the scheduler's configuration with the node's labels",
            of_nodes=("{nodes} is excluded by the scheduler's addedAffinity", "{nodes} are excluded by the scheduler's addedAffinity"),
        ),
    ),
    (
        r"pod affinity terms conflict",
        Meaning(
            names.NODE_AFFINITY,
            "the terms of the pod's node affinity name different nodes, so that no node is left",
            (),
            "correct the matchFields of the pod's node affinity",
        ),
    ),
    (
        r"node\(s\) didn't match the requested (?:node name|hostname)",
        Meaning(
            names.NODE_NAME,
            "spec.nodeName requests another node",
            (),
            "remove spec.nodeName from the pod, or name an existing node",
            of_nodes=("{nodes} is not the one that the pod names", "{nodes} are not the one that the pod names"),
        ),
    ),
    (
        r"node\(s\) didn't have the requested labels",
        Meaning(names.NODE_AFFINITY, "a policy of the scheduler requires labels that the node lacks", (), "label the node"),
    ),
    (
        r"node\(s\) didn't match Pod's required features",
        Meaning(
            names.NODE_DECLARED_FEATURES,
            "the node's kubelet does not declare a feature that the pod requires",
            ("an older kubelet",),
            "upgrade the kubelet, or remove the feature from the pod",
        ),
    ),
)
