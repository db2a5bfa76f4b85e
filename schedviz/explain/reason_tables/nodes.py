"""Reasons that concern a node itself: its resources, its taints, its state and its name."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row

_COUNTED: Final = (
    "pods on the node request more than they use; the scheduler counts requests, not usage",
    "the pod requests more than it needs",
    "pods that are terminating still hold their requests",
)
_POD_LIMIT: Final = Meaning(
    names.NODE_RESOURCES_FIT,
    "the node already has the maximum number of pods",
    ("the kubelet's `--max-pods` limit is reached", "the machine type supports only so many pod IP addresses, as on EKS"),
    "add a node{where}; raising the kubelet's `--max-pods` helps only if the network has more pod IP addresses",
    of_nodes=("{nodes} has reached its maximum number of pods", "{nodes} have reached their maximum number of pods"),
)
_SELECTOR: Final = Meaning(
    names.NODE_AFFINITY,
    "the node's labels do not match the pod's `nodeSelector` or required node affinity",
    (
        "a label was removed from the node or was never set",
        "the selector has a typo",
        "an admission plugin or webhook added the selector to the pod",
    ),
    "compare the pod's `nodeSelector` and node affinity with the labels in `kubectl get nodes --show-labels`",
    of_nodes=("{nodes} does not match the pod's node selector or affinity", "{nodes} do not match the pod's node selector or affinity"),
    of_none="{nodes} matches the pod's node selector or affinity",
)
#: Of one node and of several. `messages/message.py` shortens them in a list.
OF_UNTOLERATED_TAINT: Final = (
    "{nodes} has the taint `{taint}`, which the pod does not tolerate",
    "{nodes} have the taint `{taint}`, which the pod does not tolerate",
)
_UNHEALTHY: Final = (
    "list the nodes with `kubectl get nodes | grep NotReady`, and run `kubectl describe node` for each to see why it is not ready"
)
_ONE_UNHEALTHY: Final = (
    "find the node with `kubectl get nodes | grep NotReady`, and run `kubectl describe node` with its name to see why it is not ready"
)
_THIS_UNHEALTHY: Final = "run `kubectl describe node {node}` to see why; its conditions and events name the cause"
_CORDONED: Final = (
    "list the cordoned nodes with `kubectl get nodes | grep SchedulingDisabled`, and uncordon those whose maintenance is finished"
)
_ONE_CORDONED: Final = (
    "find the cordoned node with `kubectl get nodes | grep SchedulingDisabled`, and uncordon it if its maintenance is finished"
)
_THIS_CORDONED: Final = "when the maintenance is finished, run `kubectl uncordon {node}`"
_DRAINED: Final = ("a drain or an upgrade has not finished",)
_LESS: Final = (
    "add a node{where}, or lower the requests of this pod or of other pods. To see current requests, run `kubectl describe nodes` "
    "and look under `Allocated resources`"
)
_LESS_ON: Final = (
    "add a node{where}, or lower the requests of this pod or of other pods. To see current requests, run `kubectl describe node "
    "{node}` and look under `Allocated resources`"
)
#: Those that advise to add a node, where `where` may say which.
ADDING_NODE: Final = (_LESS, _LESS_ON)
_TAINTED: Final = r"node\(s\) had (?:untolerated )?taint "
_END: Final = r"(?:, that the pod didn't tolerate)?"

NODES: Final[tuple[Row, ...]] = (
    (
        r"Insufficient quotas,? .*?quotaName: (?P<quota>[^,\s]+).*?exceedDimensions: \[(?P<resources>[^\]]*)\].*",
        Meaning(
            "ElasticQuota",
            "the quota `{quota}` of Koordinator has too little left of {resources} for the pod",
            ("other pods of the quota use it", "the pod requests more than the quota's maximum"),
            "compare the quota's maximum with what its pods request: `kubectl get elasticquotas -A`",
        ),
    ),
    (r"Insufficient pods", _POD_LIMIT),
    (
        r"Insufficient (?P<resource>ephemeral-storage)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource} minus the requests of its pods is less than the pod's request",
            _COUNTED,
            "lower the pod's ephemeral-storage request, or use nodes with larger disks",
            of_nodes=("{nodes} does not have enough free {resource}", "{nodes} do not have enough free {resource}"),
            of_none="{nodes} has enough free {resource}",
        ),
    ),
    (
        r"Insufficient (?P<resource>hugepages-.+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable `{resource}` minus the requests of its pods is less than the pod's request",
            ("no huge pages of this size are reserved on the node", "other pods use all huge pages of the node"),
            (
                "check which nodes list `{resource}` under `Allocatable` (`kubectl describe nodes`). Huge pages are "
                "reserved in the node's kernel (`vm.nr_hugepages`, or at boot), and the kubelet reports them after a "
                "restart"
            ),
            of_named=(
                "check how many `{resource}` `kubectl describe node {node}` lists under `Allocatable`; if there are "
                "none, reserve them in the node's kernel (`vm.nr_hugepages`, or at boot) and restart the kubelet"
            ),
            of_nodes=("{nodes} does not have enough free `{resource}`", "{nodes} do not have enough free `{resource}`"),
            of_none="{nodes} has enough free `{resource}`",
        ),
    ),
    (
        r"Insufficient (?P<resource>[\w.-]+/.+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable `{resource}` minus the requests of its pods is less than the pod's request",
            (
                "the node has no such device, or its device plugin is not running",
                "other pods have claimed all the node's devices. A requested device stays reserved even while idle",
            ),
            (
                "run `kubectl describe node` for each node that should offer `{resource}`. If `{resource}` is missing under "
                "`Allocatable`, the device plugin is not running on that node; otherwise, find the pods that hold the devices"
            ),
            of_named=(
                "run `kubectl describe node {node}`. If `{resource}` is missing under `Allocatable`, the device plugin is not running "
                "on that node"
            ),
            is_of_one_named=True,
            of_nodes=("{nodes} does not have enough free `{resource}`", "{nodes} do not have enough free `{resource}`"),
            of_none="{nodes} has enough free `{resource}`",
        ),
    ),
    (
        r"Insufficient (?P<resource>.+)",
        Meaning(
            names.NODE_RESOURCES_FIT,
            "the node's allocatable {resource} minus the requests of its pods is less than the pod's request",
            _COUNTED,
            _LESS,
            of_named=_LESS_ON,
            of_nodes=("{nodes} does not have enough free {resource}", "{nodes} do not have enough free {resource}"),
            of_none="{nodes} has enough free {resource}",
        ),
    ),
    ("Too many pods", _POD_LIMIT),
    (
        _TAINTED + r"\{(?P<taint>eks\.amazonaws\.com/compute-type: fargate)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is a Fargate node, which runs one pod of a Fargate profile: `{taint}`",
            (),
            "no action is needed if other nodes are meant to run the pod; a pod runs on Fargate only if a Fargate profile selects it",
            of_nodes=("{nodes} is a Fargate node (`{taint}`)", "{nodes} are Fargate nodes (`{taint}`)"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>[^{}]*\bwindows[^{}]*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is a Windows node: `{taint}`",
            (),
            (
                "no action is needed for a pod that runs on Linux; a Windows pod needs a toleration for `{taint}` and the node selector "
                "`kubernetes.io/os=windows`"
            ),
            of_nodes=("{nodes} is a Windows node (`{taint}`)", "{nodes} are Windows nodes (`{taint}`)"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>(?:virtual-kubelet\.io/|[\w./-]*virtual-node|kubernetes\.azure\.com/virtual).*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is a virtual node, which stands for a container service of the cloud: `{taint}`",
            (),
            "no action is needed unless the pod is meant to run in the cloud's container service",
            of_nodes=("{nodes} is a virtual node (`{taint}`)", "{nodes} are virtual nodes (`{taint}`)"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/unschedulable.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is cordoned: `{taint}`",
            _DRAINED,
            _CORDONED,
            of_named=_THIS_CORDONED,
            of_one=_ONE_CORDONED,
            of_nodes=("{nodes} is cordoned", "{nodes} are cordoned"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>(?P<agent>[\w.-]+)/agent-not-ready.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the {agent} agent on the node is not ready: `{taint}`",
            ("the node has just joined the cluster", "the agent's pod on the node is not running"),
            "wait if the node is new; otherwise check the agent's pod there: `kubectl get pods -n kube-system -o wide`",
            of_nodes=("{nodes} has no ready {agent} agent", "{nodes} have no ready {agent} agent"),
            of_none="{nodes} has a ready {agent} agent",
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.cloudprovider\.kubernetes\.io/uninitialized.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the cloud provider has not initialized the node: `{taint}`",
            ("the node has just joined the cluster", "the cloud-controller-manager is not running, or the cloud API rejects its calls"),
            (
                "wait if the node is new; otherwise check the pods of the cloud-controller-manager and their logs: `kubectl "
                "get pods -n kube-system | grep cloud-controller`"
            ),
            of_nodes=(
                "{nodes} has not been initialized by the cloud provider (`{taint}`)",
                "{nodes} have not been initialized by the cloud provider (`{taint}`)",
            ),
            of_none="{nodes} has been initialized by the cloud provider (`{taint}`)",
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/not-ready.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is not ready: `{taint}`",
            (
                "its kubelet or its container runtime has stopped",
                "its network plugin (CNI) is not running",
                "the node is restarting or being upgraded",
                "if `kubectl get nodes` shows it as Ready, kube-controller-manager is not running, which removes this taint",
            ),
            _UNHEALTHY,
            of_named=_THIS_UNHEALTHY,
            of_one=_ONE_UNHEALTHY,
            of_nodes=("{nodes} is not ready", "{nodes} are not ready"),
            of_none="{nodes} is ready",
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/unreachable.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node's kubelet has stopped reporting: `{taint}`",
            ("the machine or its network is down", "its kubelet has stopped"),
            "find the unreachable nodes with `kubectl get nodes | grep NotReady`, then recover or replace them",
            of_one="find the unreachable node with `kubectl get nodes | grep NotReady`, then recover or replace it",
            of_named=("recover or replace the machine; `kubectl describe node {node}` shows since when its kubelet has not reported"),
            of_nodes=("{nodes} is unreachable", "{nodes} are unreachable"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/disk-pressure.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node's disk is nearly full: `{taint}`",
            ("images, container logs, or emptyDir volumes fill the disk",),
            "free disk space on the nodes with DiskPressure, or replace them: `kubectl describe nodes` shows the conditions",
            of_named="free disk space there, or replace the machine: `kubectl describe node {node}` shows the conditions",
            of_nodes=("{nodes} has disk pressure", "{nodes} have disk pressure"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/memory-pressure.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is nearly out of memory: `{taint}`",
            ("pods use more memory than they request",),
            "find the pods that use the memory: `kubectl top pods -A --sort-by=memory`",
            of_nodes=("{nodes} has memory pressure", "{nodes} have memory pressure"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.kubernetes\.io/network-unavailable.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node has no network for pods: `{taint}`",
            ("the node has just joined the cluster", "its network plugin (CNI) is not running"),
            "wait if the node is new; otherwise check the network plugin's pods: `kubectl get pods -n kube-system -o wide`",
            of_nodes=("{nodes} has no pod network yet", "{nodes} have no pod network yet"),
            of_none="{nodes} has a pod network yet",
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node\.(?:cloudprovider\.)?kubernetes\.io/.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is unhealthy: `{taint}`",
            (),
            _UNHEALTHY,
            of_named=_THIS_UNHEALTHY,
            of_one=_ONE_UNHEALTHY,
            of_nodes=("{nodes} is unhealthy (`{taint}`)", "{nodes} are unhealthy (`{taint}`)"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>node-role\.kubernetes\.io/(?:master|control-?plane|etcd)\b.*?)(?:: )?\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is reserved for the control plane: `{taint}`",
            ("control-plane nodes do not run ordinary workloads",),
            "if the pod belongs on the control plane, add a toleration for `{taint}`; in a single-node cluster, remove the taint",
            of_nodes=("{nodes} is reserved for the control plane", "{nodes} are reserved for the control plane"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>ToBeDeletedByClusterAutoscaler.*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the cluster autoscaler is removing the node: `{taint}`",
            ("a scale-down is in progress",),
            "wait until the node is gone. If it stays, check the cluster autoscaler's log. To exclude a node from later scale-downs, "
            "annotate it with `cluster-autoscaler.kubernetes.io/scale-down-disabled=true`",
            of_nodes=("{nodes} is being removed by the cluster autoscaler", "{nodes} are being removed by the cluster autoscaler"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>karpenter\.sh/(?:not-ready|unregistered)\b.*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "Karpenter launched the node, which is not ready yet: `{taint}`",
            ("the node is still starting", "its network plugin (CNI) or another required DaemonSet pod has not started"),
            "wait for the node; if the taint stays, run `kubectl describe node` with its name, and check the pods on it",
            of_named="wait for the node; if the taint stays, run `kubectl describe node {node}`, and check the pods on it",
            is_of_one_named=True,
            of_nodes=(
                "{nodes} was launched by Karpenter and is not ready yet (`{taint}`)",
                "{nodes} were launched by Karpenter and are not ready yet (`{taint}`)",
            ),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>karpenter\.sh/disrupt(?:ed|ion)\b.*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "Karpenter is removing the node: `{taint}`",
            ("the node is being replaced, consolidated, or terminated",),
            "wait until the node is gone. If it stays, check Karpenter's log and what blocks the eviction of the node's pods, such as a "
            "PodDisruptionBudget",
            of_nodes=("{nodes} is being removed by Karpenter", "{nodes} are being removed by Karpenter"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>(?:DeletionCandidateOfClusterAutoscaler|karpenter\.sh/|karpenter\.k8s).*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "an autoscaler is removing or preparing the node: `{taint}`",
            ("a scale-down or a node replacement is in progress",),
            ("wait for the autoscaler; if the taint stays, check the autoscaler's log, and remove the taint if the node is meant to stay"),
            of_nodes=("{nodes} is being removed or prepared by an autoscaler", "{nodes} are being removed or prepared by an autoscaler"),
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>CriticalAddonsOnly.*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is reserved for the cluster's own pods: `{taint}`",
            ("the node belongs to a system node pool, which does not run workloads",),
            "these nodes do not run workloads; if no other node is meant to run the pod, add a node pool for workloads",
            of_nodes=("{nodes} is reserved for system pods (`{taint}`)", "{nodes} are reserved for system pods (`{taint}`)"),
        ),
    ),
    (
        _TAINTED
        + r"\{(?P<taint>(?:kubernetes\.azure\.com/scalesetpriority: spot|cloud\.google\.com/gke-(?:spot|preemptible)|"
        + r"[\w./-]*\bspot\b[\w./-]*).*?)\}"
        + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the node is a spot node, which the cloud can reclaim at any time: `{taint}`",
            (),
            "add a toleration for `{taint}` if the pod may be interrupted at any time; otherwise, add on-demand nodes{where}",
            of_nodes=(
                "{nodes} is a spot node, and the pod does not tolerate `{taint}`",
                "{nodes} are spot nodes, and the pod does not tolerate `{taint}`",
            ),
            kind="interruptible",
        ),
    ),
    (
        _TAINTED + r"\{(?P<taint>.*?)\}" + _END,
        Meaning(
            names.TAINT_TOLERATION,
            "the pod does not tolerate the taint `{taint}`",
            ("the node pool is reserved for other workloads",),
            "if the pod belongs on these nodes, add a toleration for `{taint}`; otherwise, add untainted nodes{where}",
            of_named=(
                "if the pod belongs on this node, add a toleration for `{taint}`, or remove the taint with `kubectl taint nodes {node} "
                "{taint_key}-`; otherwise, add untainted nodes{where}"
            ),
            is_of_one_named=True,
            of_one=(
                "if the pod belongs on this node, add a toleration for `{taint}` or remove the taint; otherwise, add untainted nodes{where}"
            ),
            of_nodes=OF_UNTOLERATED_TAINT,
        ),
    ),
    (
        r"node\(s\) had (?:untolerated taint\(s\)|taints that the pod didn't tolerate)",
        Meaning(
            names.TAINT_TOLERATION,
            "the node has a taint that the pod does not tolerate",
            ("the node pool is reserved for other workloads",),
            "list the taints with `kubectl describe nodes | grep Taints` and compare them with the pod's tolerations",
            of_nodes=("{nodes} has a taint that the pod does not tolerate", "{nodes} have taints that the pod does not tolerate"),
        ),
    ),
    (
        r"node\(s\) were unschedulable",
        Meaning(
            names.NODE_UNSCHEDULABLE,
            "the node is cordoned (`spec.unschedulable`)",
            _DRAINED,
            _CORDONED,
            of_named=_THIS_CORDONED,
            of_one=_ONE_CORDONED,
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
            of_one=_ONE_UNHEALTHY,
            of_nodes=("{nodes} is not ready", "{nodes} are not ready"),
            of_none="{nodes} is ready",
        ),
    ),
    (
        r"node\(s\) (?:had (?P<what>memory|disk|pid) pressure|were out of disk space)",
        Meaning(
            names.NODE_UNSCHEDULABLE,
            "the kubelet reports pressure: memory, disk space, or process IDs are running out",
            (),
            _UNHEALTHY,
            of_named=_THIS_UNHEALTHY,
            of_one=_ONE_UNHEALTHY,
            of_nodes=(
                "{nodes} is low on memory, disk space, or process IDs",
                "{nodes} are low on memory, disk space, or process IDs",
            ),
        ),
    ),
    (r"node\(s\) didn't match (?:Pod's )?node (?:selector|affinity)(?:/selector)?", _SELECTOR),
    (
        r"node\(s\) (?:didn't satisfy plugin(?:\(s\))? (?:NodeAffinity|\[NodeAffinity\])|were left out by PreFilter)",
        Meaning(
            names.NODE_AFFINITY,
            "the pod's node affinity names other nodes (`metadata.name`)",
            ("the named node was deleted or has another name",),
            ("no action is needed for these nodes: a DaemonSet pod is meant for one node, and only the reason for that node matters"),
            of_nodes=(
                "{nodes} is ruled out by the pod's node affinity, which names another node",
                "{nodes} are ruled out by the pod's node affinity, which names another node",
            ),
        ),
    ),
    (
        r"node (?:is|was) filtered out by the prefilter result",
        Meaning(
            names.NODE_AFFINITY,
            "the pod is meant for other nodes: its node affinity names them (`metadata.name`), or its local volume is on one",
            (),
            (
                "no action is needed for these nodes: a pod of a DaemonSet, or one with a local volume, is meant for one node, and only "
                "the reason for that node matters"
            ),
            of_nodes=(
                "{nodes} is not the one that the pod is meant for (its node affinity names one, or its local volume is on one)",
                "{nodes} are not the one that the pod is meant for (its node affinity names one, or its local volume is on one)",
            ),
        ),
    ),
    (
        r"node\(s\) didn't satisfy plugin(?:\(s\))? (?P<plugins>.+)",
        Meaning(
            "",
            "the plugins {plugins} restrict the pod to other nodes",
            (),
            "resolve the reasons for the other nodes",
            of_nodes=(
                "{nodes} is ruled out by {plugins} before filtering",
                "{nodes} are ruled out by {plugins} before filtering",
            ),
        ),
    ),
    (
        r"node\(s\) didn't match scheduler-enforced node affinity",
        Meaning(
            names.NODE_AFFINITY,
            "the profile's `addedAffinity` excludes the node",
            (),
            "compare `addedAffinity` in the scheduler configuration with the node's labels",
            of_nodes=(
                "{nodes} is ruled out by the scheduler's `addedAffinity`",
                "{nodes} are ruled out by the scheduler's `addedAffinity`",
            ),
        ),
    ),
    (
        r"pod affinity terms conflict",
        Meaning(
            names.NODE_AFFINITY,
            "the terms of the pod's node affinity name different nodes, so no node matches",
            (),
            "correct the `matchFields` in the pod's node affinity",
        ),
    ),
    (
        r"node\(s\) didn't match the requested (?:node name|hostname)",
        Meaning(
            names.NODE_NAME,
            "the pod requests another node by its name (`spec.nodeName`)",
            (),
            "remove `spec.nodeName` from the pod, or name an existing node",
            of_nodes=("{nodes} does not match the node name in the pod's spec", "{nodes} do not match the node name in the pod's spec"),
            of_none="{nodes} matches the node name in the pod's spec",
        ),
    ),
    (
        r"node\(s\) didn't have the requested labels",
        Meaning(names.NODE_AFFINITY, "a scheduler policy requires labels that the node lacks", (), "add the labels to the node"),
    ),
    (
        r"node\(s\) didn't match Pod's required features",
        Meaning(
            names.NODE_DECLARED_FEATURES,
            "the node's kubelet does not declare a feature that the pod requires",
            ("the kubelet is older",),
            "upgrade the kubelet, or remove the feature from the pod",
        ),
    ),
)
