"""Messages of job queues and schedulers beside or in place of kube-scheduler: Kueue, coscheduling, Volcano, YuniKorn, Fargate."""

from __future__ import annotations

import re
from typing import Final

from schedviz.explain.meaning import Meaning, Row
from schedviz.trace.phrase import phrase

KUEUE: Final = "kueue"
VOLCANO: Final = "volcano"
YUNIKORN: Final = "yunikorn"
KAI: Final = "kai-scheduler"
#: It places the pods of Fargate profiles on EKS.
FARGATE: Final = "fargate-scheduler"
#: A plugin that schedules the pods of a PodGroup together, of the scheduler-plugins project.
COSCHEDULING: Final = "Coscheduling"
#: Their messages say what a group or a queue waits for; the message that counts nodes says why a pod does not fit.
GROUP_SCHEDULERS: Final = frozenset({COSCHEDULING, VOLCANO, YUNIKORN, KAI, FARGATE})

#: Before the reasons of a message of Kueue, which has one for each flavor and resource.
_POD_SET: Final = re.compile(r"(?:^|; )couldn't assign flavors to pod set \S+: ")
_BETWEEN_REASONS: Final = re.compile(
    r", (?=insufficient |borrowing limit |resource |untolerated taint |[Ff]lavor |topology |skipping |could not )"
    r"|\. (?=Pending the (?:preemption|migration) |Preempting )"
)
KUEUE_CONCLUSION: Final = phrase("Kueue has not admitted the workload.")

_RAISE: Final = "raise the flavor's `nominalQuota` or `borrowingLimit` in the ClusterQueue: `kubectl edit clusterqueues`"
_WAIT_OR_RAISE: Final = f"wait until other workloads finish (`kubectl get workloads -A`), or {_RAISE}"
_UNUSED: Final = r"insufficient unused quota(?: in cohort)? for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+)"
_QUOTA: Final = r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+)"
_CAPACITY: Final = "the workload requests {request} {resource}, but the flavor `{flavor}` has at most {most}, including what it may borrow"
_QUEUE: Final = r"(?P<kind>LocalQueue|ClusterQueue) (?P<queue>[a-z0-9./-]+)"

QUEUES: Final[tuple[Row, ...]] = (
    (
        r"Pod not supported on Fargate: (?P<why>.+)",
        Meaning(
            FARGATE,
            "Fargate cannot run the pod: {why}",
            (),
            (
                "remove from the pod's template what the message names, or run the pod on EC2 nodes: a pod is meant for Fargate if its "
                "namespace and labels match a Fargate profile (`aws eks list-fargate-profiles`)"
            ),
        ),
    ),
    (
        r"Misconfigured Fargate Profile: (?P<why>.+)",
        Meaning(
            FARGATE,
            "the Fargate profile that selects the pod does not work: {why}",
            (),
            "correct the profile as the message says: `aws eks describe-fargate-profile` shows its role and its subnets",
        ),
    ),
    (
        r"(?:Fargate|fargate) capacity is unavailable at this time.*",
        Meaning(
            FARGATE,
            "AWS has no Fargate capacity for the pod in the zones of the profile's subnets at the moment",
            (),
            "wait, or add subnets in other zones to the Fargate profile",
        ),
    ),
    (
        r"Pod (?P<which>\S+) can possibly be assigned to (?P<node>\S+?)(?:, once .*)?",
        Meaning(
            VOLCANO,
            "Volcano could place this pod on {node}, but starts the group only when enough of its pods fit",
            (),
            "read the messages about the other pods of the group: one of them says why it does not fit",
        ),
    ),
    (
        r"No nodes with enough resources were found: .+",
        Meaning(
            KAI,
            "KAI Scheduler found no node with enough free resources for the pod",
            ("the pod requests more than the GPUs or other resources that are free", "KAI Scheduler does not know the nodes' GPUs"),
            "compare the pod's requests with `Allocatable` and `Allocated resources` in `kubectl describe nodes`",
        ),
    ),
    (
        _UNUSED + r", (?P<more>\S+) more needed",
        Meaning(KUEUE, "the flavor `{flavor}` has too little unused quota for {resource} ({more} more needed)", (), _WAIT_OR_RAISE),
    ),
    (_UNUSED, Meaning(KUEUE, "the flavor `{flavor}` has too little unused quota for {resource}", (), _WAIT_OR_RAISE)),
    (
        _QUOTA + r", request > maximum capacity \((?P<request>\S+) > (?P<most>\S+)\)",
        Meaning(KUEUE, _CAPACITY, (), f"request less, or {_RAISE}"),
    ),
    (
        _QUOTA + r", previously considered podsets requests \(0\) \+ current podset request \((?P<request>\S+)\) > "
        r"maximum capacity \((?P<most>\S+)\)",
        Meaning(KUEUE, _CAPACITY, (), f"request less, or {_RAISE}"),
    ),
    (
        _QUOTA + r", previously considered podsets requests \((?P<before>\S+)\) \+ current podset request \((?P<request>\S+)\) > "
        r"maximum capacity \((?P<most>\S+)\)",
        Meaning(
            KUEUE,
            "the workload's pod sets request {before} and {request} {resource}, but the flavor `{flavor}` has at most {most}, "
            "including what it may borrow",
            (),
            f"request less, or {_RAISE}",
        ),
    ),
    (
        _QUOTA + r"(?: in ClusterQueue)?(?:, request > maximum capacity)?",
        Meaning(
            KUEUE,
            "the workload requests more {resource} than the flavor `{flavor}` has, including what it may borrow",
            (),
            f"request less, or {_RAISE}",
        ),
    ),
    (
        r"borrowing limit for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+) exceeded",
        Meaning(KUEUE, "the workload would exceed the borrowing limit of the flavor `{flavor}` for {resource}", (), _WAIT_OR_RAISE),
    ),
    (
        r"resource (?P<resource>\S+) unavailable in ClusterQueue",
        Meaning(
            KUEUE,
            "the ClusterQueue has no quota for {resource}",
            (),
            "add the resource to `spec.resourceGroups` of the ClusterQueue, or remove it from the workload's requests",
        ),
    ),
    (
        r"untolerated taint \{?(?P<taint>[^{}]+)\}? in flavor (?P<flavor>\S+)",
        Meaning(
            KUEUE,
            "the flavor `{flavor}` has the taint `{taint}`, which the workload does not tolerate",
            (),
            "if the workload belongs on this flavor's nodes, add a toleration to its pod template",
        ),
    ),
    (
        r"flavor \"?(?P<flavor>[^\s\"]+)\"? doesn't match node affinity",
        Meaning(
            KUEUE,
            "the flavor `{flavor}` does not match the workload's node selector or affinity",
            (),
            "compare the labels of the flavor with the pod template: `kubectl get resourceflavors {flavor} -o yaml`",
        ),
    ),
    (
        r"flavor (?P<flavor>\S+) not found",
        Meaning(KUEUE, "the ResourceFlavor `{flavor}` does not exist", (), "create it, or remove it from the ClusterQueue"),
    ),
    (
        r"Flavor \"(?P<flavor>[^\"]+)\" supports only TopologyAwareScheduling",
        Meaning(
            KUEUE,
            "the flavor `{flavor}` admits only workloads that request a topology",
            (),
            "annotate the pod template with `kueue.x-k8s.io/podset-required-topology` or `kueue.x-k8s.io/podset-preferred-topology`",
        ),
    ),
    (
        r"Flavor \"(?P<flavor>[^\"]+)\" does not (?:support TopologyAwareScheduling|contain the requested level)",
        Meaning(
            KUEUE,
            "the flavor `{flavor}` does not have the topology level that the workload requests",
            (),
            "compare `topologyName` of the flavor with the annotations `kueue.x-k8s.io/podset-*-topology` of the pod template",
        ),
    ),
    (
        r"topology \"(?P<topology>[^\"]+)\" doesn't allow to fit any of (?P<all>\d+) \w+\(s\).*",
        Meaning(
            KUEUE,
            "no domain of the topology `{topology}` has room for any of the {all} pods",
            (),
            "free capacity on the nodes of one domain, or prefer the topology level instead of requiring it",
        ),
    ),
    (
        r"topology \"(?P<topology>[^\"]+)\" allows to fit only (?P<some>\d+) out of (?P<all>\d+) \w+\(s\).*",
        Meaning(
            KUEUE,
            "within one domain, the topology `{topology}` has room for only {some} of the {all} pods",
            (),
            "free capacity on the nodes of one domain, or prefer the topology level instead of requiring it",
        ),
    ),
    (
        r"Pending the preemption of (?P<others>\d+) workload\(s\)",
        Meaning(KUEUE, "Kueue preempts other workloads for it ({others})", (), "wait until their pods have terminated"),
    ),
    (
        _QUEUE + r" (?:doesn't exist|not found|is terminating or missing)",
        Meaning(
            KUEUE,
            "the {kind} `{queue}` does not exist",
            (),
            "create it, or correct the label `kueue.x-k8s.io/queue-name` of the job or `clusterQueue` of its LocalQueue",
        ),
    ),
    (
        _QUEUE + r" is (?:inactive|stopped)",
        Meaning(
            KUEUE,
            "the {kind} `{queue}` is not active",
            ("its `stopPolicy` is set", "a ResourceFlavor or admission check that it names is missing"),
            "read its condition `Active`: `kubectl describe {kind} {queue}`",
        ),
    ),
    (
        r"The workload is deactivated.*",
        Meaning(KUEUE, "the workload is deactivated", (), "read why in its conditions, then set its `spec.active` to true"),
    ),
    (
        r"Workload no longer fits after processing another workload",
        Meaning(KUEUE, "another workload has just taken the quota", (), _WAIT_OR_RAISE),
    ),
    (
        (
            r'(?:rejected by "?coscheduling"? at \w+: |running "?coscheduling"? \w+ plugin: |PreFilter failed: )?'
            r"(?:less than min(?:Available|Member)|pre-filter pod \S+ cannot find enough sibling pods.*|"
            r"pod with pgName: \S+ last failed in .*, deny|optimistic rejection in PostFilter|"
            r"PodGroup \S+ gets rejected due to Pod .*|rejection in PostFilter)"
        ),
        Meaning(
            COSCHEDULING,
            "the coscheduling plugin holds the pod back until enough pods of its group exist and fit",
            (
                "fewer pods of the group were created than its minimum (`minMember`) requires",
                "a pod of the group did not fit, and the group is tried again later",
            ),
            "check the group and its pods: `kubectl get podgroups,pods{namespace}`; a pod of the group reports why it does not fit",
        ),
    ),
    (
        r"queue resource quota insufficient.*",
        Meaning(
            VOLCANO,
            "Volcano does not start the pod group: its queue has too little quota left for the group",
            ("other groups use the quota", "the queue's `capability` names a resource of which the cluster has less"),
            "compare `spec.capability` of the queue with its `status.allocated`: `kubectl describe queues.scheduling.volcano.sh`",
        ),
    ),
    (
        r"resource in cluster is overused",
        Meaning(
            VOLCANO,
            "Volcano does not start the pod group: with it, the groups would request more than the cluster has",
            ("groups of finished or deleted jobs are left over, and still count",),
            "list the groups with `kubectl get podgroups -A`, and delete those whose job has ended; otherwise, add nodes",
        ),
    ),
    (
        r"\S+ is queued and waiting for allocation",
        Meaning(
            YUNIKORN,
            "YuniKorn has queued the pod, and has not chosen a node for it",
            ("the queue is at its limit", "no node has room for the pod"),
            "compare the queue's usage with its limits in YuniKorn's web interface, and read the scheduler's log: "
            "`kubectl logs -n yunikorn deploy/yunikorn-scheduler`",
        ),
    ),
    (
        (
            r"(?:\d+/\d+ tasks in gang unschedulable: )?(?:pod group|job) is not ready, (?=.*?\b1 minAvailable)"
            r"(?=.*?\b(?P<running>[1-9]\d*) Running)(?=.*?\b(?P<pending>[1-9]\d*) Pending).*"
        ),
        Meaning(
            VOLCANO,
            (
                "the group has the one pod that it needs to start (running: {running}), but Volcano finds no room for its other pods "
                "(pending: {pending})"
            ),
            ("the group's queue is full", "no node has enough free resources"),
            (
                "compare the pod's requests with the queue (`kubectl describe queue`) and with the free resources of the nodes (`kubectl "
                "describe nodes`, under `Allocated resources`)"
            ),
        ),
    ),
    (
        (
            r"(?:\d+/\d+ tasks in gang unschedulable: )?(?:pod group|job) is not ready, (?=.*?\b(?P<least>[1-9]\d*) minAvailable)"
            r"(?=.*?\b(?P<pending>[1-9]\d*) Pending).*"
        ),
        Meaning(
            VOLCANO,
            "Volcano waits until as many pods of the group as must run together have room (minAvailable: {least}, pending: {pending})",
            ("the group's queue is full, or the cluster lacks resources for the whole group",),
            "check the group and its queue: `kubectl describe podgroup` and `kubectl describe queue`",
        ),
    ),
    (
        r"(?:\d+/\d+ tasks in gang unschedulable: .*|(?:pod group|job) is (?:not )?ready, .*|all nodes are unavailable: .*)",
        Meaning(
            VOLCANO,
            "Volcano waits until as many pods of the group as must run together (minAvailable) have room",
            ("the group's queue is full, or the cluster lacks resources for the whole group",),
            "check the group and its queue: `kubectl describe podgroup` and `kubectl describe queue`",
        ),
    ),
    (
        r"Task \S+ is skipped from scheduling because the queue quota has been exceed(?:ed)?",
        Meaning(
            YUNIKORN,
            "YuniKorn does not place the pod: its queue has reached its quota",
            ("other applications use the quota",),
            "wait until other applications of the queue finish, or raise `resources.max` of the queue in YuniKorn's configuration",
        ),
    ),
    (
        r"Task \S+ is pending for the requested resources become available",
        Meaning(
            YUNIKORN,
            "YuniKorn has found no node with enough free resources for the pod",
            (),
            "compare the pod's requests with what is free: `kubectl describe nodes`",
        ),
    ),
)


def reasons_of_kueue(message: str) -> list[str]:
    """The reasons in a message of Kueue about a workload's pod sets, each once; empty for another text."""
    if _POD_SET.match(message) is None:
        return []
    return list(dict.fromkeys(reason for said in _POD_SET.split(message) if said for reason in _BETWEEN_REASONS.split(said.rstrip("."))))
