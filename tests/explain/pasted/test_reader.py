"""A text about a pod is answered with what decides: whether it has a node, and whether one is on its way."""

from __future__ import annotations

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.messages.parsed_message import newest_of_each_source
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.pasted.reader import read_text
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.described_pods import described_pods
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in

HEAD = "Name:       web\nNamespace:  shop\n"
CPU = "  Warning  FailedScheduling  {age}  default-scheduler  0/3 nodes are available: 3 Insufficient cpu.\n"
CONTROL_PLANE = (
    "  Warning  FailedScheduling  2m  default-scheduler  0/4 nodes are available: 1 node(s) had untolerated taint "
    "{node-role.kubernetes.io/control-plane: }, 3 Insufficient cpu.\n"
)


def read(text: str) -> TextReading:
    described = {key: PodInfo(pod) for key, pod in described_pods(CopiedText(text)).items()}
    return read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), described, seconds_of_age)


def answer(events: str) -> PodAnswer:
    found = read(HEAD + "Events:\n" + events).answer_of("shop/web")
    assert found is not None
    return found


def scale_up(age: str) -> str:
    return f"  Normal  TriggeredScaleUp  {age}  cluster-autoscaler  pod triggered scale-up: [{{asg-a 3->4 (max: 10)}}]\n"


def test_a_pod_that_was_scheduled_after_its_messages_is_not_pending() -> None:
    found = answer(
        CPU.format(age="2m10s")
        + "  Normal   Scheduled  60s  default-scheduler  Successfully assigned shop/web to node-a\n"
        + "  Warning  FailedMount  10s  kubelet  configmap not found\n"
    )
    assert (found.standing, found.sentence, found.note) == (
        "scheduled",
        "The pod is already scheduled to `node-a` (60s ago), so its earlier messages no longer apply.",
        "Its newest warning is not about scheduling: configmap not found (FailedMount).",
    )


def test_a_scheduled_pod_whose_image_cannot_be_pulled_says_so_and_not_what_follows_from_it() -> None:
    placed = "  Normal   Scheduled  60s  default-scheduler  Successfully assigned shop/web to node-a\n"
    later = "  Warning  BackOff  5s  kubelet  Back-off restarting failed container sidecar in pod web_shop\n"
    for why, said in (
        ("rpc error: code = NotFound desc = failed to resolve image: registry.example/web:9: not found", "was not found."),
        ("unexpected status: 403 Forbidden", "the registry refuses access to the image"),
        ("dial tcp: i/o timeout", "could not be pulled."),
    ):
        failed = f'  Warning  Failed  20s  kubelet  Failed to pull image "registry.example/web:9": {why}\n'
        note = answer(CPU.format(age="2m10s") + placed + failed + later).note
        assert note.startswith("It now fails for another reason: the ")
        assert said in note
        assert "`registry.example/web:9`" in note


def test_of_messages_with_the_same_age_the_last_is_the_newest() -> None:
    found = read(
        HEAD
        + "Events:\n"
        + CPU.format(age="34m")
        + "  Warning  FailedScheduling  34m (x2 over 34m)  default-scheduler  0/3 nodes are available: 3 Insufficient memory.\n"
    )
    newest = newest_of_each_source(found.messages, seconds_of_age)
    assert [message.text for message in newest] == ["0/3 nodes are available: 3 Insufficient memory."]


def test_the_pod_that_is_pending_comes_before_the_one_that_is_not() -> None:
    events = "Events:\n" + CPU.format(age="2m")
    placed = f"{HEAD}{events}  Normal   Scheduled  60s  default-scheduler  Successfully assigned shop/web to node-a\n"
    found = read(f"{placed}\n{HEAD.replace('web', 'db')}{events}")
    assert [message.pod for message in found.messages] == ["shop/db", "shop/web"]
    assert [answer.standing for answer in found.answers] == ["pending", "scheduled"]


def test_events_without_the_name_of_their_pod_say_that_it_was_scheduled() -> None:
    found = read(
        "Events:\n" + CPU.format(age="2m10s") + "  Normal   Scheduled  60s  default-scheduler  Successfully assigned shop/web to node-a\n"
    )
    assert [(answer.pod, answer.standing) for answer in found.answers] == [("shop/web", "scheduled")]


def test_a_pod_that_was_scheduled_before_its_messages_is_pending_again() -> None:
    text = HEAD + "Events:\n  Normal   Scheduled  60m  default-scheduler  Successfully assigned shop/web to node-a\n" + CPU.format(age="2m")
    assert read(text).answer_of("shop/web") is None


FAILED_LINE = 'I1220 {time}.3 1 schedule_one.go:1055] "Unable to schedule pod; no fit; waiting" pod="tas/sts-0" err="0/1 nodes are available: 1 Insufficient cpu."\n'
BOUND_LINE = (
    'I1220 04:51:57.9 1 schedule_one.go:314] "Successfully bound pod to node" pod="tas/sts-0" node="kind-worker" evaluatedNodes=9\n'
)


def test_a_pod_that_the_same_log_shows_bound_is_not_pending() -> None:
    found = read(FAILED_LINE.format(time="04:51:53") + BOUND_LINE).answer_of("tas/sts-0")
    assert found is not None
    assert (found.standing, found.sentence) == (
        "scheduled",
        "The pod is already scheduled to `kind-worker` (12-20 04:51:57), so its earlier messages no longer apply.",
    )
    assert read(BOUND_LINE + FAILED_LINE.format(time="04:53:00")).answer_of("tas/sts-0") is None


def test_a_scale_up_says_that_a_node_is_on_its_way_and_nothing_else_to_try() -> None:
    text = HEAD + "Events:\n" + CONTROL_PLANE + scale_up("60s")
    reading = read(text)
    found = reading.answer_of("shop/web")
    assert found is not None
    assert (found.standing, found.sentence) == (
        "coming",
        "A node is being added: 60s ago, the cluster autoscaler started scaling node group asg-a from 3 to 4 nodes (maximum: 10).",
    )
    assert found.advice.startswith("Wait for the node: `kubectl get nodes -w`")
    assert reading.messages[0].message.first == ""


def test_a_scale_up_that_brought_no_node_in_time_is_no_reason_to_wait() -> None:
    found = answer(CPU.format(age="2m") + scale_up("20m"))
    assert found.standing == "pending"
    assert found.sentence.startswith("The pod is still pending, although a node should have joined by now: 20m ago, ")


VICTIMS = (
    "  Warning  FailedScheduling  2m  default-scheduler  0/3 nodes are available: 3 Insufficient cpu. preemption: not eligible due to a "
    "terminating pod on the nominated node.\n"
)
NOMINATED = "NominatedNodeName:  node-b\n"


def test_a_pod_for_which_preemption_has_made_room_waits_for_its_victims_and_needs_nothing_else() -> None:
    reading = read(HEAD + NOMINATED + "Events:\n" + VICTIMS)
    found = reading.answer_of("shop/web")
    assert found is not None
    assert found.sentence == "The pod is nominated to node-b and is waiting for the pods that preemption evicted there to terminate."
    assert "--field-selector spec.nodeName=node-b | grep Terminating" in found.advice
    [message] = reading.messages
    assert (message.message.first, [clause.advice for clause in message.message.clauses]) == ("", [""])


def test_an_autoscaler_does_not_decide_about_a_pod_that_waits_for_its_victims() -> None:
    assert answer(VICTIMS + scale_up("60s")).sentence == (
        "The pod is waiting for the pods that preemption evicted from its nominated node to terminate."
    )


def test_the_message_of_the_attempt_that_nominated_a_pod_has_no_part_of_preemption() -> None:
    found = read(HEAD + NOMINATED + "Events:\n" + CPU.format(age="2m")).answer_of("shop/web")
    assert found is not None
    assert found.sentence.startswith("The pod is nominated to node-b: its scheduler has chosen that node")


def test_a_nomination_that_preemption_has_given_up_since_is_no_answer() -> None:
    given_up = CPU.format(age="2m").rstrip() + " preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.\n"
    assert read(HEAD + NOMINATED + "Events:\n" + given_up).answer_of("shop/web") is None


def test_a_limit_of_the_autoscaler_follows_the_reason_and_says_what_to_do() -> None:
    found = answer(
        CPU.format(age="2m")
        + "  Normal  NotTriggerScaleUp  90s  cluster-autoscaler  pod didn't trigger scale-up: 1 node(s) didn't match Pod's node "
        + "affinity/selector, 1 max node group size reached\n"
    )
    assert found.sentence == (
        "None of the 3 nodes has enough free CPU. The cluster autoscaler did not add a node: 1 node group is at its maximum size and 1 does not "
        "match the pod's node selector or affinity."
    )
    assert found.advice == "Raise the maximum size of a node group that can run the pod"


def test_an_unreachable_node_is_recovered_first_if_no_other_can_access_the_volume() -> None:
    refusal = (
        "  Normal  NotTriggerScaleUp  90s  cluster-autoscaler  pod didn't trigger scale-up: 1 node(s) had volume node affinity conflict\n"
    )
    for other, also, begins in (
        (
            "1 node(s) had volume node affinity conflict",
            "cannot access the pod's volume",
            "Recover the unreachable node first (`kubectl get nodes | grep NotReady`): ",
        ),
        ("1 Insufficient cpu", "does not have enough free CPU", "Add a node group in the volume's zone, or free up capacity "),
    ):
        said = f"0/2 nodes are available: 1 node(s) had untolerated taint {{node.kubernetes.io/unreachable: }}, {other}."
        found = answer(f"  Warning  FailedScheduling  2m  default-scheduler  {said}\n" + refusal)
        assert found.sentence == (
            f"Neither node can run the pod: 1 is unreachable and 1 {also}. The cluster autoscaler did not add a node: "
            "1 node group has machines that cannot access the pod's volume."
        )
        assert found.advice.startswith(begins)


def test_the_newest_word_of_an_autoscaler_counts() -> None:
    refusal = "  Normal  NotTriggerScaleUp  30s  cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached\n"
    assert answer(CPU.format(age="2m") + scale_up("5m") + refusal).standing == "pending"
    assert answer(CPU.format(age="2m") + scale_up("10s") + refusal).standing == "coming"


def test_a_scale_up_that_the_cloud_refused_names_its_reason() -> None:
    found = answer(
        "  Warning  FailedScaleUp  3m  cluster-autoscaler  Node scale up in zones us-central1-a associated with this pod failed: "
        "GCE quota exceeded. Pod is at risk of not being scheduled.\n"
    )
    assert found.sentence == "The cluster autoscaler could not add a node in us-central1-a (GCE quota exceeded)."


def test_an_autoscaler_that_waits_after_a_failure_names_the_failure() -> None:
    found = answer(
        "  Warning  FailedScaleUp      13m  cluster-autoscaler  Node scale up in zones us-central1-a associated with this pod failed: "
        "GCE out of resources. Pod is at risk of not being scheduled.\n"
        "  Normal   NotTriggerScaleUp  3m   cluster-autoscaler  pod didn't trigger scale-up: 1 in backoff after failed scale-up\n"
    )
    assert found.sentence == "The cluster autoscaler could not add a node in us-central1-a (GCE out of resources)."
    assert found.note == "The autoscaler is waiting before it retries."


def test_a_node_of_karpenter_is_on_its_way() -> None:
    found = answer(
        CPU.format(age="2m") + "  Normal  Nominated  20s  karpenter  Pod should schedule on: nodeclaim/default-x7, node/ip-10-0\n"
    )
    assert (found.standing, found.sentence) == ("coming", "Karpenter nominated the node `ip-10-0` for the pod 20s ago.")
    assert "`kubectl describe nodeclaim default-x7`" in found.advice


def test_a_nodepool_at_its_limits_comes_before_those_that_the_pod_does_not_suit() -> None:
    found = answer(
        CPU.format(age="2m") + '  Warning  FailedScheduling  20s  karpenter  Failed to schedule pod, incompatible with nodepool "gpu", did '
        'not tolerate dedicated=gpu:NoSchedule; all available instance types exceed limits for nodepool: "arm"\n'
    )
    assert found.sentence == (
        "None of the 3 nodes has enough free CPU. Karpenter cannot add a node for this pod: another node would exceed the limits of NodePool `arm`."
    )
    assert found.note == "Other NodePools do not match the pod: `gpu` has the taint `dedicated=gpu:NoSchedule`."
    assert found.advice.startswith("If the pod belongs in NodePool `arm`, raise its `spec.limits`. ")


def test_the_event_of_a_claim_is_the_answer_about_its_pod() -> None:
    reading = read(
        "NAMESPACE   LAST SEEN   TYPE      REASON               OBJECT                               MESSAGE\n"
        "data        4m2s        Warning   FailedScheduling     pod/kafka-2                          0/2 nodes are available: pod has unbound "
        "immediate PersistentVolumeClaims.\n"
        "data        12s         Warning   ProvisioningFailed   persistentvolumeclaim/data-kafka-2   storageclass.storage.k8s.io "
        '"fast-ssd" not found\n'
        "data        12s         Warning   ProvisioningFailed   persistentvolumeclaim/other          no quota\n"
    )
    found = reading.answer_of("data/kafka-2")
    assert found is not None
    assert found.sentence.startswith("The claim `data/data-kafka-2` has no volume: StorageClass `fast-ssd` does not exist (")
    assert "`kubectl get storageclass`" in found.advice
    assert [message.pod for message in reading.messages] == ["data/kafka-2", "data/other"]


def test_a_described_claim_without_its_pod_is_explained() -> None:
    said = 'failed to provision volume with StorageClass "gp3": rpc error: code = Internal desc = you are not authorized: ec2:CreateVolume'
    reading = read(
        "Name:          data-redis-0\nNamespace:     cache\nStatus:        Pending\nUsed By:       redis-0\nEvents:\n"
        "  Type     Reason              Age               From                      Message\n"
        "  ----     ------              ----              ----                      -------\n"
        f"  Warning  ProvisioningFailed  3m (x9 over 12m)  ebs.csi.aws.com_ebs-1_2c  {said}\n"
    )
    [message] = reading.messages
    [clause] = message.message.clauses
    assert (message.pod, message.text) == ("cache/data-redis-0", said)
    assert clause.headline.endswith("its provisioner is not allowed to create the volume")
    assert clause.advice == "grant the provisioner's account the permission that the message names"
    assert reading.others == ""


def test_events_of_nodes_name_those_that_are_not_ready() -> None:
    reading = read(
        "default      4m    Normal   NodeNotReady      node/b-2        Node b-2 status is now: NodeNotReady\n"
        "default      4m    Normal   NodeNotReady      node/b-3        Node b-3 status is now: NodeNotReady\n"
        "web          50s   Warning  FailedScheduling  pod/front-1     0/4 nodes are available: 2 Insufficient cpu, "
        "2 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.\n"
        "kube-system  50s   Warning  NetworkNotReady   pod/proxy-1     cni plugin not initialized\n"
    )
    [message] = reading.messages
    assert message.message.first == "run `kubectl describe node b-2 b-3` to see why; its conditions and events name the cause"
    found = reading.answer_of("web/front-1")
    assert found is not None
    assert found.note == "The nodes are not ready because their network is not: kube-system/proxy-1 reports: cni plugin not initialized"
    assert reading.others == ""


def test_a_daemonset_pod_whose_host_port_is_in_use_needs_no_other_node() -> None:
    described = (
        "Name:             proxy-4mgxq\nNamespace:        kube-system\nNode:             <none>\nStatus:           Pending\n"
        "Controlled By:    DaemonSet/proxy\nContainers:\n  http:\n    Port:       80/TCP\n    Host Port:  80/TCP\n"
        "  https:\n    Port:       443/TCP\n    Host Port:  443/TCP\nEvents:\n"
        "  Warning  FailedScheduling  2m  default-scheduler  0/3 nodes are available: 1 node(s) didn't have free ports for the requested "
        "pod ports, 2 node(s) didn't match Pod's node affinity/selector.\n"
    )
    [message] = read(described).messages
    assert message.message.clauses[0].headline == "1 node already uses the pod's host port (one of `80`, `443`)"
    assert message.message.first.startswith("a pod of a DaemonSet belongs to one node. Find the pod that uses the port there: ")
    [of_deployment] = read(described.replace("DaemonSet/proxy", "ReplicaSet/proxy")).messages
    assert "DaemonSet" not in of_deployment.message.first


def test_pods_that_were_evicted_for_another_are_named() -> None:
    reading = read(
        "10s  Normal   Preempted         pod/report-1  Preempted by pod 5b1c0c2e on node worker-7\n"
        "8s   Warning  FailedScheduling  pod/report-2  0/8 nodes are available: 8 Insufficient memory.\n"
    )
    assert reading.others == "1 other pod was preempted by pods of higher priority: report-1"


def test_a_pod_that_was_preempted_says_how_often_and_for_which_pods() -> None:
    row = "10s  Normal   Preempted         pod/report-1  Preempted by {by} on node worker-7\n"
    message = "8s   Warning  FailedScheduling  pod/report-1  0/8 nodes are available: 8 Insufficient memory.\n"
    reading = read(row.format(by="kube-system/agent-a") + row.format(by="kube-system/agent-b") + message)
    found = reading.answer_of("default/report-1")
    assert found is not None
    assert found.note == (
        "The pod was preempted 2 times by pods of higher priority (kube-system/agent-a, kube-system/agent-b), which may happen again."
    )
    assert reading.others == ""
    unnamed = read(row.format(by="pod 5b1c0c2e") + message).answer_of("default/report-1")
    assert unnamed is not None
    assert unnamed.note == "The pod was preempted once by a pod of higher priority, which may happen again."


def test_a_scheduler_that_has_stopped_is_the_answer() -> None:
    pods = "NAMESPACE     NAME                  READY   STATUS    RESTARTS   AGE\nshop          web-1                 0/1     Pending   0          9m\n"
    stopped = "kube-system   kube-scheduler-cp-1   0/1     CrashLoopBackOff   14 (2m ago)   12d\n"
    [message] = read(pods + stopped).messages
    [clause] = message.message.clauses
    assert clause.headline == "kube-scheduler is not running (CrashLoopBackOff), so no pod is scheduled"
    assert clause.advice == "start with its log: `kubectl logs kube-scheduler-cp-1 -n kube-system --previous`"
    running = "kube-system   kube-scheduler-cp-2   1/1     Running            0             12d\n"
    assert read(pods + stopped + running).messages == ()


def test_nodes_for_the_clusters_own_pods_are_not_suggested() -> None:
    reading = read(
        "pod didn't trigger scale-up: 1 node(s) had untolerated taint {CriticalAddonsOnly: true}, "
        "1 node(s) had untolerated taint {kubernetes.azure.com/scalesetpriority: spot}"
    )
    found = reading.answer_of("")
    assert found is not None
    assert found.advice.startswith("add a toleration for `kubernetes.azure.com/scalesetpriority=spot` if the pod may be interrupted")


def test_the_event_of_a_claim_does_not_explain_a_pod_that_lacks_cpu() -> None:
    text = (
        "data  4m2s  Warning  FailedScheduling    pod/kafka-2                         0/2 nodes are available: 2 Insufficient cpu.\n"
        "data  12s   Warning  ProvisioningFailed  persistentvolumeclaim/data-kafka-2  no quota\n"
    )
    assert read(text).answer_of("data/kafka-2") is None


def test_a_pod_of_another_scheduler_without_events_was_not_tried() -> None:
    described = HEAD + "Node:  <none>\nStatus:  Pending\nScheduler Name:  {scheduler}\nContainers:\n  main:\nEvents:  <none>\n"
    [message] = read(described.format(scheduler="volcano")).messages
    [clause] = message.message.clauses
    assert (message.pod, message.writer) == ("shop/web", "kubectl describe")
    assert clause.headline.startswith("no scheduler has tried the pod: it specifies the scheduler volcano ")
    assert clause.advice.startswith("check that volcano is running: `kubectl get pods -A | grep volcano`")
    [message] = read(described.format(scheduler="default-scheduler")).messages
    assert message.message.clauses[0].headline == "no scheduler has tried the pod: it has no events, and no condition `PodScheduled`"


def test_the_earlier_reason_of_a_node_that_became_unhealthy_is_kept() -> None:
    found = answer(
        "  Warning  FailedScheduling  12m  default-scheduler  0/9 nodes are available: 4 Insufficient cpu, 5 node(s) were unschedulable.\n"
        "  Warning  FailedScheduling  2m   default-scheduler  0/9 nodes are available: 1 node(s) had untolerated taint "
        "{node.kubernetes.io/disk-pressure: }, 3 Insufficient cpu, 5 node(s) were unschedulable.\n"
    )
    assert found.note == (
        '12m ago, 1 node that is unhealthy now probably had the reason "Insufficient cpu", so a repair alone may not be enough.'
    )


def test_the_requests_of_a_described_pod_are_in_its_reasons() -> None:
    reading = read(
        HEAD + "Containers:\n  main:\n    Requests:\n      cpu:  1500m\nNode-Selectors:  disktype=ssd\n"
        "Tolerations:     dedicated=ml:NoSchedule\n                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s\nEvents:\n"
        "  Warning  FailedScheduling  2m  default-scheduler  0/9 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint "
        "{dedicated: gpu}, 6 node(s) didn't match Pod's node affinity/selector.\n"
    )
    clauses = {clause.plugin: clause for clause in reading.messages[0].message.clauses}
    assert clauses["NodeResourcesFit"].headline == "1 node does not have enough free CPU; the pod requests 1.5 CPU"
    assert clauses["NodeAffinity"].headline.endswith(" (`disktype=ssd`)")
    assert "`kubectl get nodes -l disktype=ssd`" in clauses["NodeAffinity"].advice
    assert clauses["TaintToleration"].headline.endswith("; the pod tolerates `dedicated=ml`")


def test_a_mistyped_toleration_of_a_described_pod_comes_first_and_is_called_a_typo() -> None:
    reading = read(
        HEAD + "Containers:\n  main:\n    Requests:\n      cpu:  1500m\nNode-Selectors:  disktype=ssd\n"
        "Tolerations:     nvidia.com/gpus:NoSchedule op=Exists\nEvents:\n"
        "  Warning  FailedScheduling  2m  default-scheduler  0/9 nodes are available: 1 node(s) had untolerated taint "
        "{node-role.kubernetes.io/control-plane: }, 2 node(s) had untolerated taint {nvidia.com/gpu: present}, 6 node(s) didn't match "
        "Pod's node affinity/selector.\n"
    )
    first, *others = reading.messages[0].message.clauses
    assert first.headline.endswith("does not tolerate; its toleration `nvidia.com/gpus` is probably a typo")
    assert first.advice == "change the pod's toleration from `nvidia.com/gpus` to `nvidia.com/gpu=present`"
    assert [clause.headline for clause in others if "control plane" in clause.headline] == ["1 node is reserved for the control plane"]


def test_other_warnings_are_named() -> None:
    reading = read(
        "ml    71s  Warning  BackOff           pod/notebook-0  Back-off restarting failed container\n"
        "shop  40s  Warning  FailedScheduling  pod/web         0/3 nodes are available: 3 Insufficient cpu.\n"
        "shop  12s  Warning  FailedMount       pod/cart-0      configmap not found\n"
    )
    assert reading.others == "there are 2 other warnings: ml/notebook-0 BackOff, shop/cart-0 FailedMount"


def test_pods_that_were_not_created_have_the_name_of_their_owner() -> None:
    reading = read(
        'shop  12s  Warning  FailedCreate  replicaset/web-5f  Error creating: pods "web-5f-x" is forbidden: exceeded quota: compute, '
        "requested: requests.cpu=2, used: requests.cpu=9, limited: requests.cpu=10\n"
    )
    assert [(message.pod, message.at, message.writer) for message in reading.messages] == [("shop/web-5f", "12s ago", "kube-apiserver")]
    assert reading.answers[0].standing == "notCreated"


def test_the_clauses_do_not_repeat_what_was_said_about_a_claim_or_about_other_nodes() -> None:
    full = "0/3 nodes are available: 1 Insufficient memory, 2 Insufficient cpu."
    [message] = read(f"Warning  FailedScheduling  2m  default-scheduler  {full}").messages
    assert [bool(clause.advice) for clause in message.message.clauses] == [True, False]
    assert message.message.clauses[1].causes == ()


POOL_ERROR = '{"level":"ERROR","message":"skipping, unable to resolve instance types","controller":"provisioner","NodePool":{"name":"general"},"error":"no subnets found"}\n'
POD_ERROR = (
    '{"level":"ERROR","message":"could not schedule pod","Pod":{"name":"web","namespace":"shop"},'
    '"error":"all available instance types exceed limits for nodepool: \\"general\\""}\n'
)
LISTING_ERROR = '{"level":"ERROR","message":"failed listing instance types for spot","controller":"disruption","error":"no route"}\n'
POOL_ADVICE = "First correct the subnet selector in its EC2NodeClass: `kubectl get ec2nodeclasses -o yaml`"


def test_other_errors_of_karpenter_about_a_nodepool_are_said_beside_its_refusal() -> None:
    found = read(POOL_ERROR + POD_ERROR + POOL_ERROR + LISTING_ERROR).answer_of("shop/web")
    assert found is not None
    assert "limits" in found.sentence
    assert found.note == (
        f"Karpenter also reports for NodePool `general`: no subnets found. {POOL_ADVICE}. "
        "Karpenter also reports for NodePool `spot`: no route. First check the NodePool and its node class: `kubectl describe nodepool spot`."
    )


OVER_LIMITS = (
    '{"level":"ERROR","logger":"controller.provisioner","message":"Could not schedule pod, all available instance types exceed limits for '
    'nodepool: \\"general\\"","pod":"shop/web"}\n'
)
NO_NODE_CLASS = (
    '{"level":"ERROR","message":"skipping, unable to resolve instance types, resolving node class, EC2NodeClass.karpenter.k8s.aws '
    '\\"main\\" not found","nodepool":"POOL"}\n'
)


def test_limits_are_not_the_cause_if_karpenter_found_no_instance_types() -> None:
    missing = NO_NODE_CLASS.replace("POOL", "general")
    found = read(missing + OVER_LIMITS + missing).answer_of("shop/web")
    assert found is not None
    assert (found.sentence, found.advice, found.note) == (
        "Karpenter cannot add a node: NodePool `general` refers to EC2NodeClass `main`, which does not exist.",
        "Create EC2NodeClass `main`, or correct `spec.template.spec.nodeClassRef` in NodePool `general`",
        "Karpenter's message about limits is a consequence: it reports a NodePool or Provisioner without instance types as over its limits.",
    )
    other = read(missing.replace('EC2NodeClass.karpenter.k8s.aws \\"main\\" not found', "no access") + OVER_LIMITS).answer_of("shop/web")
    assert other is not None
    assert other.sentence == (
        "Karpenter cannot add a node: it cannot find the instance types of NodePool `general` (resolving node class, no access)."
    )
    of_other_pool = read(NO_NODE_CLASS.replace("POOL", "spot") + OVER_LIMITS).answer_of("shop/web")
    assert of_other_pool is not None
    assert "another node would exceed the limits of NodePool `general`" in of_other_pool.sentence
    assert "Karpenter also reports for NodePool `spot`: unable to resolve instance types" in of_other_pool.note


def test_console_lines_of_earlier_karpenter_releases_are_explained() -> None:
    skipped = '2023-09-26T10:00:37.775Z\tINFO\tcontroller.provisioner\tskipping, WHY\t{"commit": "1", "provisioner": "general"}\n'
    limits = (
        "2023-09-26T10:00:37.775Z\tERROR\tcontroller.provisioner\tCould not schedule pod, all available instance types exceed limits for "
        'provisioner: "general"\t{"commit": "1", "pod": "shop/web"}\n'
    )
    for why, sentence in (
        ("no resolved instance types found", "it found no instance types for Provisioner `general`."),
        (
            'unable to resolve instance types, AWSNodeTemplate.karpenter.k8s.aws "main" not found',
            "Provisioner `general` refers to AWSNodeTemplate `main`, which does not exist.",
        ),
    ):
        found = read(skipped.replace("WHY", why) + limits).answer_of("shop/web")
        assert found is not None
        assert found.sentence == f"Karpenter cannot add a node: {sentence}"
        assert "`spec.providerRef`" in found.advice


def test_errors_of_karpenter_about_nodepools_alone_are_explained() -> None:
    [message] = read(POOL_ERROR + POOL_ERROR).messages
    assert (message.pod, message.writer, message.message.clauses[0].headline, message.message.clauses[0].advice) == (
        "nodepool/general",
        "karpenter",
        "Karpenter cannot use NodePool `general`: no subnets found",
        POOL_ADVICE,
    )


def test_the_allocatable_amounts_of_a_described_node_are_compared_with_the_device_that_is_lacking() -> None:
    gpu = "  Warning  FailedScheduling  10h  default-scheduler  0/6 nodes are available: 6 Insufficient nvidia.com/gpu.\n"
    for rows, said in (
        ("  nvidia.com/gpu:  1\n", "A described node lists `nvidia.com/gpu: 1` under Allocatable, so its device plugin is running"),
        ("  nvidia.com/gpu:  0\n", "The described nodes do not offer `nvidia.com/gpu` under Allocatable"),
        ("", "The described nodes do not offer `nvidia.com/gpu` under Allocatable"),
    ):
        text = f"Capacity:\n  cpu:  6\nAllocatable:\n  cpu:  5840m\n{rows}\nEvents:\n{gpu}"
        found = read(text).answer_of("")
        assert found is not None
        assert found.note.startswith(said)
        assert read(text.replace("nvidia.com/gpu.", "cpu.")).answer_of("") is None


def nominated(age: str, on: str) -> str:
    return f"{age}  Normal  Nominated  pod/web  Pod should schedule on: {on}\n"


def test_a_nomination_of_karpenter_that_the_scheduler_contradicts_is_no_reason_to_wait() -> None:
    rejected = "0s  Warning  FailedScheduling  pod/web  0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.\n"
    found = read(nominated("0s", "nodeclaim/a-1, node/ip-1 (1c)") + rejected).answer_of("default/web")
    assert found is not None
    assert (found.standing, found.sentence) == (
        "pending",
        "Karpenter nominated the node `ip-1` 0s ago, but kube-scheduler rejects every node, including that one.",
    )
    # A node that has not joined cannot have been rejected.
    for waiting in (nominated("0s", "nodeclaim/a-1") + rejected, nominated("0s", "node/ip-1") + rejected.replace("0s", "5s")):
        found = read(waiting).answer_of("default/web")
        assert found is not None
        assert found.standing == "coming"


def test_a_volume_in_another_place_is_read_with_what_to_do_among_few_reasons() -> None:
    few = (
        "0/12 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, "
        "2 node(s) had volume node affinity conflict, 8 node(s) didn't match Pod's node affinity/selector."
    )
    [message] = read(few).messages
    volume = next(clause for clause in message.message.clauses if "volume" in clause.reason)
    assert not volume.is_aside
    assert volume.advice
    [message] = read(few.replace("12 nodes", "13 nodes").replace("8 node(s)", "1 node(s) were unschedulable, 8 node(s)")).messages
    assert next(clause for clause in message.message.clauses if "volume" in clause.reason).is_aside


def test_a_reason_of_all_nodes_comes_first() -> None:
    for second in ("4 Insufficient cpu", "2 node(s) were unschedulable"):
        [found] = read(f"0/10 nodes are available: {second}, 10 node(s) didn't match node selector.").messages
        assert found.message.clauses[0].count == 10
        assert "nodeSelector" in found.message.first
        assert not found.message.clauses[0].is_aside
    # Each of several reasons of all nodes has to be dealt with.
    [found] = read("0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory.").messages
    assert found.message.first == ""


def test_what_to_do_about_several_devices_is_said_once() -> None:
    reading = read(
        "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient example.com/gpu, 3 Insufficient example.com/gpumem."
    )
    of_devices = [clause for clause in reading.messages[0].message.clauses if clause.reason.startswith("Insufficient")]
    [advice] = [clause.advice for clause in of_devices if clause.advice]
    assert advice.startswith("run `kubectl describe node` for each node that should offer `example.com/gpu` and `example.com/gpumem`. If")


def test_the_volume_that_the_log_says_a_claim_got_is_in_the_command() -> None:
    log = (
        'I0307 08:52:21.705696       1 scheduler_binder.go:522] claim "shop/data-db-0" bound to volume "pv-a"\n'
        'I0307 08:52:22.705696       1 scheduler_binder.go:522] claim "shop/data-db-1" bound to volume "pv-b"\n'
        'I0307 08:52:30.761984       1 factory.go:338] "Unable to schedule pod; no fit; waiting" pod="shop/db-0" '
        'err="0/3 nodes are available: 1 node(s) had volume node affinity conflict, 2 Insufficient cpu."\n'
    )
    [message] = read(log).messages
    [advice] = [clause.advice for clause in message.message.clauses if clause.plugin == "VolumeBinding"]
    assert "run `kubectl describe pv pv-a` and look under `Node Affinity`" in advice


def test_what_no_node_has_comes_before_the_newer_message_that_the_group_waits() -> None:
    found = read(
        HEAD
        + "Events:\n"
        + "  Warning  FailedScheduling  13s  scheduler-plugins-scheduler  0/3 nodes are available: 3 Insufficient cpu.\n"
        + "  Warning  FailedScheduling  10s  scheduler-plugins-scheduler  pod with pgName: train last failed in 3s, deny\n"
    )
    by_writer = {message.writer: message for message in found.messages}
    assert by_writer[""].message.clauses[0].headline == "none of the 3 nodes has enough free CPU"
    assert by_writer["Coscheduling"].message.clauses[0].headline.startswith("the coscheduling plugin holds the pod back")
    assert [answer.standing for answer in found.answers] == ["pending"]


def test_a_described_workload_says_why_kueue_does_not_admit_it() -> None:
    why = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor base, 3 more needed"
    found = read(
        f"Name:       job-train\nNamespace:  team\nKind:       Workload\nStatus:\n  Conditions:\n    Message:  {why}\n    Reason:   Pending\n"
        f"    Type:     QuotaReserved\nEvents:\n  Warning  Pending  34s  kueue-admission  {why}\n"
    )
    [message] = found.messages
    assert (message.pod, message.writer, message.text) == ("team/job-train", "kueue", why)
    assert found.others == ""


def test_a_workload_without_its_description_has_the_name_in_the_command_or_that_of_the_only_gated_pod() -> None:
    why = "couldn't assign flavors to pod set main: resource memory unavailable in ClusterQueue\n"
    assert [message.pod for message in read(f"$ kubectl describe workload job-train -n team\n    Message:  {why}").messages] == [
        "team/job-train"
    ]
    gated = "NAME      READY   STATUS            RESTARTS   AGE\ntrain-0   0/1     SchedulingGated   0          4m\n\n"
    assert [message.pod for message in read(f"{gated}    Message:  {why}").messages] == ["default/train-0"]


def test_a_task_of_yunikorn_has_the_name_of_its_pod() -> None:
    found = read(
        "  Normal  Scheduling        10m  yunikorn  spark/driver is queued and waiting for allocation\n"
        "  Normal  PodUnschedulable  9m   yunikorn  Task spark/driver is skipped from scheduling because the queue quota has been exceed\n"
    )
    newest = found.messages[-1]
    assert (newest.pod, newest.at, newest.writer) == ("spark/driver", "9m ago", "yunikorn")
    assert newest.message.clauses[0].headline == "YuniKorn does not place the pod: its queue has reached its quota"


def test_a_pod_in_the_table_of_all_objects_is_the_one_of_its_message() -> None:
    table = "NAME        READY   STATUS    RESTARTS   AGE\npod/web     0/1     Pending   0          9m\npod/job-a   0/1     Pending   0          9m\n\n"
    row = "Warning  FailedScheduling  Pod/web  0/3 nodes are available: 3 Insufficient cpu.\n"
    assert read(table + row).others == "pod `job-a` is pending, too, but the text contains no message about it"


def test_a_pending_pod_of_the_table_without_a_message_is_named() -> None:
    table = "NAME    READY   STATUS    RESTARTS   AGE\nweb     0/1     Pending   0          9m\n{rows}\n"
    events = "Name:       web\nNamespace:  default\nEvents:\n" + CPU.format(age="2m")
    rows = "job-a   0/1     Pending   0          9m\nold     1/1     Running   0          9d"

    assert read(table.format(rows=rows) + events).others == "pod `job-a` is pending, too, but the text contains no message about it"
    more = f"{rows}\njob-b   0/1     Pending   0          9m"
    assert read(table.format(rows=more) + events).others == (
        "2 other pods are pending, too, but the text contains no message about them: job-a, job-b"
    )
    # The message of no pod may be about any of them.
    assert not read(table.format(rows=rows) + "Events:\n" + CPU.format(age="2m")).others


def bound_and_rejected(volume: str, message: str) -> TextReading:
    return read(
        f'I0312 10:00:01.000001       1 scheduler_binder.go:522] claim "shop/data-db-1" bound to volume "{volume}"\n'
        f'I0312 10:00:09.000001       1 factory.go:338] "Unable to schedule pod; no fit; waiting" pod="shop/db-1" err="{message}"\n'
    )


def test_a_local_volume_that_the_log_names_leads_to_its_node_and_not_to_a_zone() -> None:
    message = (
        bound_and_rejected("local-pv-4c1d", "0/4 nodes are available: 1 Insufficient memory, 3 node(s) had volume node affinity conflict.")
        .messages[0]
        .message
    )
    [advice] = [clause.advice for clause in message.clauses if clause.advice]
    assert "`kubectl describe pv local-pv-4c1d` names the node under `Node Affinity`. Free up resources there" in advice
    assert "zone" not in " ".join((advice, message.first, *(cause for clause in message.clauses for cause in clause.causes)))

    alone = bound_and_rejected(
        "local-pv-4c1d", "0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) had volume node affinity conflict."
    )
    assert any("Check why that node does not accept the pod" in clause.advice for clause in alone.messages[0].message.clauses)


def test_a_volume_of_the_cloud_still_has_a_zone() -> None:
    message = (
        bound_and_rejected("pvc-77aa", "0/4 nodes are available: 1 Insufficient memory, 3 node(s) had volume node affinity conflict.")
        .messages[0]
        .message
    )
    assert any("add a node in the volume's zone" in clause.advice for clause in message.clauses)
    assert any("`kubectl describe pv pvc-77aa`" in clause.advice for clause in message.clauses)


NO_CLAIM = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.  not found"
NO_VOLUME = "no persistent volumes available for this claim and no storage class is set"
WHY_NO_VOLUME = f"no PersistentVolume matches it, and it names no StorageClass, nor is one the default ({NO_VOLUME})."


def test_commented_output_with_broken_lines_is_read_as_without_comments() -> None:
    note = (
        "k -n shop get pod\n# NAME     READY   STATUS    RESTARTS   AGE\n# redis-0   0/1     Pending   0          9m\n"
        "k -n shop get pod redis-0 -o yaml\n# message: '0/3 nodes are available: pod has unbound immediate \n# PersistentVolumeClaims.  "
        "not found'\nk -n shop describe pvc disk-redis-0\n#Events:\n# Type    Reason         Age                 From             Message\n"
        "# ----    ------         ----                ----             -------\n"
        "# Normal  FailedBinding  24s (x42 over 8m)   persistentvolume-controller  no \n"
        "# persistent volumes available for this claim and no storage class is set\nk get sc\n"
    )
    for text in (note, note.replace("# ", "").replace("#", "")):
        reading = read(text)
        [found] = reading.answers
        assert found.sentence.startswith("The claim `")
        assert found.sentence.endswith(f"disk-redis-0` has no volume: {WHY_NO_VOLUME}")
        assert [message.text for message in reading.messages] == [NO_CLAIM.replace("  ", " ")]
        assert reading.others == ""


def test_the_only_claim_of_a_text_explains_its_only_pod_that_waits_for_one() -> None:
    event = f"  Normal  FailedBinding  24s (x42 over 8m)  persistentvolume-controller  {NO_VOLUME}\n"
    message = f"message: '{NO_CLAIM}'\n"
    [named] = read(f"$ kubectl -n shop describe pvc uploads\nEvents:\n{event}{message}").answers
    assert named.sentence == f"The claim `shop/uploads` has no volume: {WHY_NO_VOLUME}"
    unnamed = read(f"Events:\n{event}{message}")
    [found] = unnamed.answers
    assert found.sentence == f"A claim of the pod has no volume: {WHY_NO_VOLUME}"
    assert "storageClassName" in found.advice
    assert unnamed.others == ""
    # It is no warning about a pod that waits for something else.
    other = read(f"Events:\n{event}message: '0/3 nodes are available: 3 Insufficient cpu.'\n")
    assert (other.answer_of(""), other.others) == (None, "")


def test_a_claim_whose_volume_is_taken_says_so() -> None:
    row = '  Warning  FailedBinding  24s  persistentvolume-controller  volume "pv-7" already bound to a different claim.\n'
    [message] = read(f"Name:       uploads\nNamespace:  shop\nStatus:     Pending\nEvents:\n{row}").messages
    assert message.message.clauses[0].headline.endswith("it names the volume `pv-7`, which is bound to another claim")


def test_a_message_that_is_cut_within_the_words_about_claims_is_no_fragment() -> None:
    [message] = read("0/3 nodes are available: pod has unbound immediate").messages
    assert message.message.clauses[0].headline == "a PersistentVolumeClaim of the pod is not bound"


def test_a_deleted_pod_comes_last_and_needs_nothing() -> None:
    cpu = "0/3 nodes are available: 3 Insufficient cpu."
    rows = [
        f"45m  Warning  FailedScheduling   pod/web-5d9c-aaaaa       {cpu}",
        "44m  Normal   NotTriggerScaleUp  pod/web-5d9c-aaaaa       pod didn't trigger scale-up: 1 max node group size reached",
        "40m  Normal   SuccessfulDelete   replicaset/web-5d9c      Deleted pod: web-5d9c-aaaaa",
        "40m  Warning  FailedScheduling   pod/web-5d9c-aaaaa       skip schedule deleting pod: default/web-5d9c-aaaaa",
        f"10s  Warning  FailedScheduling   pod/web-5d9c-bbbbb       {cpu}",
    ]
    reading = read("\n".join(rows) + "\n")
    assert [answer.pod for answer in reading.answers] == ["default/web-5d9c-bbbbb", "default/web-5d9c-aaaaa"]
    assert [answer.standing for answer in reading.answers] == ["pending", "deleted"]
    assert reading.messages[0].pod == "default/web-5d9c-bbbbb"
    deleted = reading.answers[-1]
    assert (deleted.sentence, deleted.advice) == ("The pod was deleted (40m ago), so its earlier messages no longer apply.", "")
    [_, being_deleted] = read("\n".join(rows[:2] + rows[3:]) + "\n").answers
    assert being_deleted.sentence == "The pod is being deleted, so its earlier messages no longer apply."


def test_a_pod_that_was_created_again_with_the_name_of_a_deleted_one_is_pending() -> None:
    reading = read(
        "40m  Normal   SuccessfulDelete  daemonset/agent  Deleted pod: agent-x2x4x\n"
        "10s  Warning  FailedScheduling  pod/agent-x2x4x  0/3 nodes are available: 3 Insufficient cpu.\n"
    )
    assert [answer.standing for answer in reading.answers] == ["pending"]
