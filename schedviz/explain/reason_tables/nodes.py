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
    "add a node; raising the kubelet's --max-pods helps only if the network has more pod IP addresses",
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
_UNHEALTHY: Final = "find out what is wrong there: `kubectl get nodes | grep NotReady` lists such nodes, `kubectl describe node` shows why"
_THIS_UNHEALTHY: Final = "find out what is wrong there: `kubectl describe node {node}` shows the conditions"
_CORDONED: Final = "uncordon the nodes whose maintenance is over; `kubectl get nodes | grep SchedulingDisabled` lists them"
_THIS_CORDONED: Final = "if the maintenance is over: `kubectl uncordon {node}`"
_DRAINED: Final = ("a drain or an upgrade that has not finished",)
_LESS: Final = "add a node, or lower the requests of this pod or of others: `kubectl describe nodes` lists them under Allocated resources"
_LESS_ON: Final = (
    "add a node, or lower the requests of this pod or of others: `kubectl describe node {node}` lists them under Allocated resources"
)
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
        r"Insufficient (?P<resource>hugepages-.+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource}, minus the requests of its pods (assumed pods included), is less than the pod's request",
            ("no huge pages of this size are reserved on the node", "other pods have all huge pages of the node"),
            "see which nodes list {resource} under Allocatable (`kubectl describe nodes`). Huge pages are reserved in a node's kernel "
            "(`vm.nr_hugepages`, or at boot); its kubelet reports them after a restart",
            of_named="see how many {resource} `kubectl describe node {node}` lists under Allocatable; if there are none, reserve them in "
            "the node's kernel (`vm.nr_hugepages`, or at boot) and restart its kubelet",
            of_nodes=("{nodes} has too little free {resource}", "{nodes} have too little free {resource}"),
        ),
    ),
    (
        r"Insufficient (?P<resource>[\w.-]+/.+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource}, minus the requests of its pods (assumed pods included), is less than the pod's request",
            (
                "the node has no such device, or its device plugin does not run",
                "other pods have all devices of the node; each is given to one pod, even if it is idle",
            ),
            "see which nodes list {resource} under Allocatable (`kubectl describe nodes`), and which pods have it there; others have no "
            "such device, or no device plugin",
            of_named="see whether `kubectl describe node {node}` lists {resource} under Allocatable; if not, its device plugin is down",
            of_nodes=("{nodes} has too little free {resource}", "{nodes} have too little free {resource}"),
        ),
    ),
    (
        r"Insufficient (?P<resource>.+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource}, minus the requests of its pods (assumed pods included), is less than the pod's request",
            _COUNTED,
            _LESS,
            of_named=_LESS_ON,
            of_nodes=("{nodes} has too little free {resource}", "{nodes} have too little free {resource}"),
        ),
    ),
    ("Too many pods", _POD_LIMIT),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/unschedulable.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is cordoned: {taint}",
            _DRAINED,
            _CORDONED,
            of_named=_THIS_CORDONED,
            of_nodes=("{nodes} is cordoned", "{nodes} are cordoned"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>(?P<agent>[\w.-]+)/agent-not-ready.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node's agent of {agent} is not ready: {taint}",
            ("a node that is minutes old", "the agent's pod on the node does not run"),
            "wait if the node is new; otherwise look at the agent's pod there: `kubectl get pods -n kube-system -o wide`",
            of_nodes=("the agent of {agent} is not ready on {nodes}", "the agent of {agent} is not ready on {nodes}"),
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
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/not-ready.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is not ready: {taint}",
            ("its kubelet or its container runtime has stopped", "its network plugin (CNI) does not run", "it restarts, or is upgraded"),
            _UNHEALTHY,
            of_named=_THIS_UNHEALTHY,
            of_nodes=("{nodes} is not ready", "{nodes} are not ready"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/unreachable.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node's kubelet does not report any more: {taint}",
            ("the machine is down, or its network is", "its kubelet has stopped"),
            "find out why, and bring back or replace: `kubectl get nodes | grep NotReady` lists them",
            of_named="find out why, and bring back or replace: `kubectl describe node {node}` says since when its kubelet does not report",
            of_nodes=("{nodes} is unreachable", "{nodes} are unreachable"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/disk-pressure.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node's disk is nearly full: {taint}",
            ("images, logs of containers, or emptyDir volumes",),
            "free disk space on the nodes with DiskPressure, or replace them: `kubectl describe nodes` shows the conditions",
            of_named="free disk space there, or replace it: `kubectl describe node {node}` shows the conditions",
            of_nodes=("{nodes} has disk pressure", "{nodes} have disk pressure"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/memory-pressure.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is nearly out of memory: {taint}",
            ("pods that use more memory than they request",),
            "find the pods that use the memory: `kubectl top pods -A --sort-by=memory`",
            of_nodes=("{nodes} has memory pressure", "{nodes} have memory pressure"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/network-unavailable.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node has no network for pods: {taint}",
            ("a node that is minutes old", "its network plugin (CNI) does not run"),
            "wait if the node is new; otherwise look at the network plugin's pods: `kubectl get pods -n kube-system -o wide`",
            of_nodes=("{nodes} has no pod network yet", "{nodes} have no pod network yet"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.(?:cloudprovider\.)?kubernetes\.io/.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is unhealthy: {taint}",
            (),
            _UNHEALTHY,
            of_named=_THIS_UNHEALTHY,
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
        _TAINTED + r"\{(?P<taint>CriticalAddonsOnly.*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is reserved for the cluster's own pods: {taint}",
            ("a system node pool, which does not run workloads",),
            "nothing: these nodes do not run workloads. If no other node is meant to run the pod, add a node pool for workloads",
            of_nodes=("{nodes} is reserved for system pods ({taint})", "{nodes} are reserved for system pods ({taint})"),
        ),
    ),
    (
        _TAINTED
        + r"\{(?P<taint>(?:kubernetes\.azure\.com/scalesetpriority: spot|cloud\.google\.com/gke-(?:spot|preemptible)|"
        + r"[\w./-]*\bspot\b[\w./-]*).*?)\}"
        + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is a spot node, which the cloud may take away at any time: {taint}",
            ("the pod lacks the pool's toleration",),
            "add a toleration for {taint} if the pod may be interrupted at any time; otherwise add nodes that are not spot nodes",
            of_nodes=(
                "{nodes} is a spot node, and the pod does not tolerate {taint}",
                "{nodes} are spot nodes, and the pod does not tolerate {taint}",
            ),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>.*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the pod does not tolerate the taint {taint}",
            ("a node pool that is reserved for other workloads", "the pod lacks the pool's toleration"),
            "add a toleration for {taint} if the pod belongs on such nodes; otherwise add nodes without the taint",
            of_nodes=(
                "{nodes} has the taint {taint}, which the pod does not tolerate",
                "{nodes} have the taint {taint}, which the pod does not tolerate",
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
            _DRAINED,
            _CORDONED,
            of_named=_THIS_CORDONED,
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
            of_named=_THIS_UNHEALTHY,
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
            of_named=_THIS_UNHEALTHY,
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
            "nothing: a DaemonSet's pod is made for one node, and only the reason of that node matters",
            of_nodes=("{nodes} is not the one that this pod is for", "{nodes} are not the one that this pod is for"),
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
