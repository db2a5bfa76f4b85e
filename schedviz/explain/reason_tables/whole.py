"""Messages that concern the pod as a whole and count no nodes: gates, groups, reservations and bindings."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row

_GANG: Final = "GangScheduling"
#: What to do about a pod that asks for another scheduler.
ADVICE_ABOUT_OTHER_SCHEDULER: Final = (
    "check that {scheduler} is running: `kubectl get pods -A | grep {scheduler}`. If it is, its log shows what the pod "
    "is waiting for; if there is no such scheduler, correct `schedulerName` in the pod's template"
)
#: How an error of the binding begins.
_BINDING: Final = r'(?:binding rejected: )?(?:running Bind plugin "?(?P<plugin>\w+)"?: )?'
#: What has no message of a scheduler, but tells that there is none.
DESCRIPTION: Final = "kubectl describe"
POD_OBJECT: Final = "Pod object"
TABLE_OF_PODS: Final = "kubectl get pods"
SCHEDULER_LOG: Final = "kube-scheduler log"

WHOLE: Final[tuple[Row, ...]] = (
    (
        r"Scheduler Name: (?P<scheduler>[a-z0-9.-]+); Events: <none>",
        Meaning(
            DESCRIPTION,
            "no scheduler has tried the pod: it specifies the scheduler {scheduler} and has no events",
            ("that scheduler is not running", "the events have expired: the API server keeps them for an hour by default"),
            ADVICE_ABOUT_OTHER_SCHEDULER,
        ),
    ),
    (
        r"spec\.schedulerName: (?P<scheduler>[A-Za-z0-9.-]+)",
        Meaning(
            POD_OBJECT,
            "the pod specifies the scheduler {scheduler}, so kube-scheduler does not try it",
            (),
            ADVICE_ABOUT_OTHER_SCHEDULER,
        ),
    ),
    (
        r"status\.phase: Pending, without the condition PodScheduled",
        Meaning(
            POD_OBJECT,
            "no scheduler has tried the pod: its status has no condition `PodScheduled`",
            ("no kube-scheduler is running, or none holds the lease", "the pod was created a moment ago"),
            "check that kube-scheduler is running: `kubectl get pods -n kube-system | grep scheduler`",
        ),
    ),
    (
        r"spec\.nodeName: (?P<node>[^;\s]+)(?:; .*)?",
        Meaning(POD_OBJECT, "the pod is assigned to node {node}, so its scheduling is complete", (), ""),
    ),
    (
        r"STATUS: SchedulingGated \(Kueue's event: Admitted\)",
        Meaning(
            TABLE_OF_PODS,
            "Kueue has admitted the workload, but the pod still has scheduling gates",
            ("another controller has a gate of its own", "Kueue does not remove its gate"),
            (
                "list the gates: `kubectl get pod{pod} -o yaml | grep -A3 schedulingGates`. A gate without `kueue.x-k8s.io` belongs to "
                "another controller, which must remove it. If only Kueue's is left, read its log: `kubectl logs -n kueue-system "
                "deploy/kueue-controller-manager`"
            ),
        ),
    ),
    (
        r"STATUS: SchedulingGated",
        Meaning(
            TABLE_OF_PODS,
            "the pod has scheduling gates, and the scheduler does not try it until all of them are removed",
            (),
            (
                "list the gates: `kubectl get pod{pod} -o yaml | grep -A3 schedulingGates`. Those with `kueue.x-k8s.io` are removed when "
                "Kueue admits the workload"
            ),
        ),
    ),
    (
        r"STATUS: (?P<status>[\w:./-]+)(?: \((?P<node>[a-z0-9.-]+)\))?",
        Meaning(TABLE_OF_PODS, "the pod has a node, and its containers do not run ({status})", (), ""),
    ),
    (
        r"Terminating on (?P<node>\S+), which is NotReady",
        Meaning(
            TABLE_OF_PODS,
            "the pod is being deleted, but cannot end, because `{node}` is not ready: no kubelet confirms that the pod has stopped",
            (),
            (
                "bring `{node}` back. If the machine is off for good, delete its node object, or taint it with "
                "`node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`, so that its pods are removed and their volumes are detached"
            ),
        ),
    ),
    (
        r"unavailable nodes: (?P<nodes>[^`]+)",
        Meaning(
            TABLE_OF_PODS,
            "the text has no message of the scheduler about the pod, but it shows nodes that take no new pods: {nodes}",
            (),
            "read the pod's events, which say whether that is the reason: `kubectl describe pod{pod}`",
        ),
    ),
    (
        r"Events: <none>; PodScheduled False",
        Meaning(
            DESCRIPTION,
            "a scheduler has tried the pod, but its events have expired: the API server keeps them for an hour by default",
            (),
            "read the scheduler's last message in the pod's status: `kubectl get pod{pod} -o yaml | grep -B3 -A3 PodScheduled`",
        ),
    ),
    (
        r"Events: <none>, without the condition PodScheduled",
        Meaning(
            DESCRIPTION,
            "no scheduler has tried the pod: it has no events, and no condition `PodScheduled`",
            ("no kube-scheduler is running, or none holds the lease", "the pod was created a moment ago"),
            "check that kube-scheduler is running: `kubectl get pods -n kube-system | grep scheduler`",
        ),
    ),
    (
        r"kube-scheduler does not run: (?P<state>\w+)",
        Meaning(
            TABLE_OF_PODS,
            "kube-scheduler is not running ({state}), so no pod is scheduled",
            (),
            "start with its log: `kubectl logs{pod} --previous`",
        ),
    ),
    (
        r"(?:failed to renew lease (?P<lease>[^\s;]+)[^;]*(?:; )?)?Leaderelection lost|failed to renew lease (?P<not_renewed>[^\s;:]+).*",
        Meaning(
            SCHEDULER_LOG,
            ("the kube-scheduler that wrote this log lost its lease and stopped: pods stay pending until an instance holds the lease"),
            ("the API server was slow or unreachable", "the scheduler's node was overloaded"),
            (
                "check whether another instance has taken over: `kubectl get lease -A | grep scheduler` shows the holder, and "
                "`kubectl get pods -A | grep kube-scheduler` whether it is running. Then check the API server and etcd at that "
                "time"
            ),
        ),
    ),
    (
        r"no nodes (?:are )?available to schedule pods",
        Meaning(
            "",
            "the scheduler has no nodes to choose from",
            (
                "the cluster has no nodes, or none has registered yet",
                "the scheduler cannot list nodes because of its RBAC permissions or its connection to the API server",
            ),
            "run `kubectl get nodes`; if it lists nodes, look for list and watch errors in the scheduler's log",
        ),
    ),
    (
        r"(?:waiting for scheduling gates: (?P<gates>.*)|Scheduling is blocked due to non-empty scheduling gates)",
        Meaning(
            names.SCHEDULING_GATES,
            "the pod has scheduling gates, and the scheduler does not try it until all of them are removed",
            (),
            "find the controller that set the gates (`spec.schedulingGates`)",
        ),
    ),
    (
        (
            r'(?:error while )?running (?:PreBind plugin )?"VolumeBinding"(?: prebind plugin for pod "[^"]*")?: '
            r".*(?:timed out|deadline exceeded).*"
        ),
        Meaning(
            names.VOLUME_BINDING,
            "a node was chosen, but the pod's volumes were not bound in time",
            (
                "the provisioner is not running",
                "the storage has no capacity left",
                "a volume that was created in advance is still Released, or another claim has it",
            ),
            "check the events of the pod's claims with `kubectl describe pvc`. If a claim needs a new volume, check the log of its "
            "provisioner; if it needs an existing one, check its status with `kubectl get pv`",
        ),
    ),
    (
        r'running (?P<point>\w+) plugin "?(?P<plugin>\w+)"?: waiting for resource driver .*',
        Meaning(
            names.DYNAMIC_RESOURCES,
            "the DRA driver has not allocated the pod's ResourceClaim",
            (),
            "check the log of the driver's controller",
        ),
    ),
    (
        _BINDING + r"(?:Operation cannot be fulfilled on [^:]*: )?(?P<why>etcdserver: .*)",
        Meaning(
            names.DEFAULT_BINDER,
            "the API server could not save the binding because etcd failed (`{why}`)",
            ("etcd's disk is slow or full", "etcd had no leader at that time"),
            "no action is needed if it happens once, because the scheduler retries; if it repeats, check etcd's health and disk latency",
        ),
    ),
    (
        _BINDING + r"Operation cannot be fulfilled on [^:]*: (?P<why>(?:context deadline exceeded|.*timed? ?out|.*connection refused).*)",
        Meaning(
            names.DEFAULT_BINDER,
            "the API server did not save the binding (`{why}`)",
            ("the API server or etcd was slow or unreachable",),
            (
                "no action is needed if it happens once, because the scheduler retries; if it repeats, check the API server and "
                "etcd at that time"
            ),
        ),
    ),
    (
        _BINDING + r"Operation cannot be fulfilled on .*",
        Meaning(
            names.DEFAULT_BINDER,
            "the pod was deleted, recreated, or bound by another client during its binding",
            ("a second scheduler has the same name",),
            "no action is needed if it happens once; if it repeats, look for a second scheduler with the same name",
        ),
    ),
    (
        r'(?:error while )?running "?(?P<plugin>\w+)"? (?P<point>\w+) plugin(?: for pod "[^"]*")?: (?P<why>.*)',
        Meaning("", "the plugin {plugin} failed: {why}", (), "check the scheduler's log"),
    ),
    (
        (
            r'running Score plugins: plugin "DynamicResources" failed with: number of allocations (?P<fewer>\d+) is smaller than number of '
            r"claims (?P<claims>\d+)"
        ),
        Meaning(
            names.DYNAMIC_RESOURCES,
            "the scheduler fails when it scores nodes for the pod's {claims} claims, of which {fewer} is new (kubernetes issue 139016)",
            ("the pod uses a claim that is allocated already beside a new one",),
            "upgrade kube-scheduler to a release with the fix; until then, use either shared or new claims in one pod",
        ),
    ),
    (
        r'running (?P<point>\w+) plugins: plugin "?(?P<plugin>\w+)"? failed with: (?P<why>.*)',
        Meaning("", "the {point} plugin {plugin} failed: {why}", (), "check the scheduler's log"),
    ),
    (
        r'running (?P<point>\w+) plugin "?(?P<plugin>\w+)"?: (?P<why>.*)',
        Meaning("", "the {point} plugin {plugin} failed: {why}", (), "check the scheduler's log"),
    ),
    (
        r"(?:AssumePod failed: )?pod \S+ is in the cache, so can't be assumed",
        Meaning(
            "",
            "the scheduler's cache already has the pod, from an earlier attempt that has not ended",
            (),
            "no action is needed if it happens once; if it repeats, restart kube-scheduler",
        ),
    ),
    (
        r"skip schedule deleting pod: .*",
        Meaning("", "the pod is being deleted, so the scheduler skips it", (), "if the pod is not removed, check its finalizers"),
    ),
    (
        r"(?:pod (?:\S+ )?)?(?:rejected|timed out) (?:due to timeout after waiting .* at plugin .*|while waiting (?:on|for) permit.*)",
        Meaning(
            "", "a Permit plugin rejected the pod or timed out", (), "check the plugin that holds the pod, such as a gang-scheduling plugin"
        ),
    ),
    (
        (
            r"waiting for (?:pods's pod group .*|minCount pods from a gang) to appear in scheduling queue|"
            r"waiting for minCount pods from a gang to be scheduled|extra pods could not be placed|no feasible placements found|"
            r"pod group is unschedulable|not enough capacity for the gang"
        ),
        Meaning(
            _GANG,
            "the pod belongs to a group whose pods are scheduled together, and the group is incomplete or does not fit",
            (),
            "check the other pods of the group: one of them reports why it does not fit",
        ),
    ),
    (
        r'rejected by "?(?P<plugin>[\w-]+)"? at (?P<point>[\w-]+): (?P<why>.*)',
        Meaning("", "the plugin {plugin} rejected the pod at {point}: {why}", (), "check the configuration and the log of that plugin"),
    ),
    (
        r"0/\d+ placements are available, first placement status: (?P<why>.*)",
        Meaning(_GANG, "no placement fits the pod group; the first one fails because: {why}", (), "check the other pods of the group"),
    ),
)

#: The names of predicates before 1.10, whose messages have them instead of reasons.
OLD_PREDICATES: Final[dict[str, str]] = {
    "MatchNodeSelector": "node(s) didn't match node selector",
    "PodToleratesNodeTaints": "node(s) had taints that the pod didn't tolerate",
    "PodFitsHostPorts": "node(s) didn't have free ports for the requested pod ports",
    "HostName": "node(s) didn't match the requested hostname",
    "MatchInterPodAffinity": "node(s) didn't match pod affinity/anti-affinity",
    "PodAffinityRulesNotMatch": "node(s) didn't match pod affinity rules",
    "PodAntiAffinityRulesNotMatch": "node(s) didn't match pod anti-affinity rules",
    "ExistingPodsAntiAffinityRulesNotMatch": "node(s) didn't satisfy existing pods anti-affinity rules",
    "CheckServiceAffinity": "node(s) didn't match service affinity",
    "CheckVolumeBinding": "node(s) didn't find available persistent volumes to bind",
    "NoVolumeZoneConflict": "node(s) had no available volume zone",
    "NoVolumeNodeConflict": "node(s) had volume node affinity conflict",
    "NoDiskConflict": "node(s) had no available disk",
    "MaxVolumeCount": "node(s) exceed max volume count",
    "NodeUnderMemoryPressure": "node(s) had memory pressure",
    "NodeUnderDiskPressure": "node(s) had disk pressure",
    "NodeNotReady": "node(s) were not ready",
    "NodeOutOfDisk": "node(s) were out of disk space",
    "NodeUnschedulable": "node(s) were unschedulable",
    "CheckNodeCondition": "node(s) were not ready",
}
