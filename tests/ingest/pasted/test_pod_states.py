"""What texts without a message of a scheduler say instead: pods as objects, tables and descriptions, and the events of claims."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.messages.message import parse_message
from schedviz.explain.pasted.reader import read_text
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.ingest.kubectl.described_storage import storage_in
from schedviz.ingest.pasted.contents import contents_of
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.described_pods import described_pods
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in
from schedviz.ingest.pasted.plain_text import plain
from tests.ingest.pasted.found_messages import found_messages


def reading(text: str) -> TextReading:
    described = {key: PodInfo(pod) for key, pod in described_pods(CopiedText(text)).items()}
    return read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), described, seconds_of_age, storage_in(plain(text)))


def said(text: str) -> list[tuple[str, str]]:
    return [(each.pod, each.message) for each in found_messages(text)]


def a_pod(name: str = "api-0", *, spec: dict[str, Any] | None = None, **status: Any) -> str:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "pay"},
        "spec": {"containers": [{"name": "main", "image": "registry.example/api"}], **(spec or {})},
        "status": {"phase": "Pending", **status},
    }
    return json.dumps(pod)


def unscheduled(message: str) -> list[dict[str, str]]:
    return [{"type": "PodScheduled", "status": "False", "message": message}]


def test_a_pod_object_is_explained_with_its_node_selector() -> None:
    message = "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't match Pod's node affinity/selector."
    found = reading(a_pod(spec={"nodeSelector": {"kubernetes.io/hostname": "n-3"}}, conditions=unscheduled(message)))

    assert found.messages[0].message.conclusion.startswith("The pod can run only on `n-3`")


def test_a_workload_object_says_why_kueue_has_not_admitted_it() -> None:
    workload: dict[str, Any] = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Workload",
        "metadata": {"name": "job-train", "namespace": "team"},
        "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": "ClusterQueue shared is inactive"}]},
    }
    assert said(json.dumps(workload)) == [("team/job-train", "ClusterQueue shared is inactive")]
    assert said(yaml.safe_dump(workload)) == [("team/job-train", "ClusterQueue shared is inactive")]
    workload["status"]["conditions"][0] |= {"status": "True", "message": "Quota reserved in ClusterQueue shared"}
    assert said(json.dumps(workload)) == []


def test_a_pod_object_that_no_scheduler_has_tried_says_so() -> None:
    assert said(a_pod()) == [("pay/api-0", "status.phase: Pending, without the condition PodScheduled")]
    assert said(a_pod(spec={"schedulerName": "volcano"})) == [("pay/api-0", "spec.schedulerName: volcano")]
    [message] = reading(a_pod(spec={"schedulerName": "volcano"})).messages
    assert message.message.clauses[0].headline == "the pod specifies the scheduler volcano, so kube-scheduler does not try it"
    # Imports read only what a scheduler wrote, and a manifest has no status.
    assert found_messages(a_pod(), of_others=False) == []
    assert said(a_pod().replace('"phase": "Pending"', '"phase": ""')) == []


@pytest.mark.parametrize(
    ("gates", "sentence", "advice"),
    [
        (["kueue.x-k8s.io/admission"], "Kueue holds the pod", "`kubectl describe workloads.kueue.x-k8s.io -n pay`"),
        (["example.com/quota"], "The scheduling gate `example.com/quota` holds the pod", "find the controller"),
        (["example.com/a", "example.com/b"], "The scheduling gates `example.com/a`, `example.com/b` hold the pod", "find the controller"),
    ],
)
def test_a_gated_pod_object_names_its_gates(gates: list[str], sentence: str, advice: str) -> None:
    conditions = unscheduled("Scheduling is blocked due to non-empty scheduling gates")
    found = reading(a_pod(spec={"schedulingGates": [{"name": gate} for gate in gates]}, conditions=conditions))

    assert found.answers[0].sentence.startswith(sentence)
    assert advice in found.answers[0].advice


def test_a_pod_object_with_a_node_does_not_wait_for_the_scheduler() -> None:
    waiting = [{"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}}]
    stuck = a_pod(spec={"nodeName": "n-1"}, containerStatuses=waiting)
    found = reading(stuck)

    assert found.answers[0].standing == "scheduled"
    assert found.answers[0].sentence.endswith("it is on n-1, and a container waits: ImagePullBackOff (Back-off pulling image).")
    assert "imagePullSecrets" in found.answers[0].advice
    # Beside a pod that waits for the scheduler, it is no news.
    both = json.dumps({"kind": "List", "items": [json.loads(stuck), json.loads(a_pod("api-1"))]})
    assert [pod for pod, _ in said(both)] == ["pay/api-1"]


def test_the_node_of_a_pod_object_ends_its_older_events() -> None:
    reference = {"kind": "Pod", "namespace": "pay", "name": "api-0"}
    event = {"kind": "Event", "reason": "FailedScheduling", "message": "0/2 nodes are available: 2 x.", "involvedObject": reference}
    placed = json.loads(a_pod(spec={"nodeName": "n-1"}, phase="Running"))

    assert reading(json.dumps({"kind": "List", "items": [placed, event]})).answers[0].standing == "scheduled"


def test_the_status_column_of_a_table_says_what_a_pod_waits_for() -> None:
    table = "NAMESPACE  NAME   READY  STATUS             RESTARTS  AGE\npay        api-0  0/1    {}  0         5m\n"
    pulls = reading(table.format("ErrImagePull"))
    assert pulls.answers[0].sentence == "The pod is not waiting for the scheduler: only a pod that has a node has the status ErrImagePull."
    assert "`kubectl logs api-0 -n pay --previous`" in reading(table.format("CrashLoopBackOff")).answers[0].advice
    gated = reading(table.format("SchedulingGated"))
    assert (gated.messages[0].pod, gated.answers[0].standing) == ("pay/api-0", "pending")
    # The message of a pending pod is asked for.
    assert said(table.format("Pending")) == said(table.format("Running")) == []


DESCRIBED = "Name:             api-0\nNamespace:        pay\nNode:             {}\nStatus:           Pending\n{}Events:           <none>\n"


@pytest.mark.parametrize(
    ("node", "more", "message"),
    [
        ("<none>", "Conditions:\n  Type           Status\n  PodScheduled   False \n", "Events: <none>; PodScheduled False"),
        ("<none>", "", "Events: <none>, without the condition PodScheduled"),
        ("n-1/10.0.0.1", "    State:          Waiting\n      Reason:       ErrImagePull\n", "spec.nodeName: n-1; ErrImagePull"),
    ],
)
def test_a_description_without_events_shows_whether_a_scheduler_has_tried_the_pod(node: str, more: str, message: str) -> None:
    assert said(DESCRIBED.format(node, more)) == [("pay/api-0", message)]


def test_a_claim_that_waits_for_its_first_consumer_is_not_an_error() -> None:
    claim = "Name:          data\nNamespace:     pay\nStorageClass:  disks\nStatus:        Pending\nEvents:\n"
    event = "  Normal  WaitForFirstConsumer  9s  persistentvolume-controller  waiting for first consumer to be created before binding\n"
    [message] = reading(claim + event).messages
    assert message.pod == "pay/data"
    assert message.message.clauses[0].headline.startswith("the claim has no volume yet: its StorageClass")
    event += "  Normal  WaitForPodScheduled   2s  persistentvolume-controller  waiting for pod api-0 to be scheduled\n"
    assert "`kubectl describe pod api-0 -n pay`" in reading(claim + event).messages[0].message.clauses[0].advice


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ('Warning  FailedScheduling  3m  yunikorn  persistentvolumeclaim "data" not found', "the claim `data` does not exist"),
        ("Normal  Scheduling  3m  yunikorn  pay/api-0 is queued and waiting for allocation", "YuniKorn has queued the pod"),
        ("Normal  Unschedulable  9s  volcano  resource in cluster is overused", "Volcano does not start the pod group: with it"),
        ("Normal  Unschedulable  9s  volcano  queue resource quota insufficient", "Volcano does not start the pod group: its queue"),
        (
            (
                "0/5 nodes are available: Insufficient quotas [[a.example/gpu]], quotaName: team, used: a.example/gpu:4, "
                "exceedDimensions: [a.example/gpu]."
            ),
            "the quota `team` of Koordinator has too little left of a.example/gpu",
        ),
        (
            (
                'Warning  FailedScheduling  3s  default-scheduler  running Score plugins: plugin "DynamicResources" failed with: number of '
                "allocations 1 is smaller than number of claims 3"
            ),
            "the scheduler fails when it scores nodes for the pod's 3 claims",
        ),
    ],
)
def test_messages_of_other_schedulers_and_of_devices_are_explained(text: str, headline: str) -> None:
    found = reading(text)
    assert found.messages[0].message.clauses[0].headline.startswith(headline)
    assert found.others == ""


def test_an_error_of_karpenter_is_read_from_a_line_that_was_printed_on_several() -> None:
    error = 'incompatible with nodepool \\"gpu\\", daemonset overhead={\\"cpu\\":\\"1\\"}, did not tolerate gpu=yes:NoSchedule'
    lines = f'{{"message": "could not schedule pod",\n"Pod": {{"name": "api-0", "namespace": "pay"}},\n"error": "{error};\n{error}"}}'
    found = reading(lines)
    assert found.messages[0].pod == "pay/api-0"
    assert "`gpu=yes:NoSchedule`" in found.answers[0].sentence


def test_the_owner_of_pods_that_are_refused_is_named_by_them() -> None:
    event = 'Warning  FailedCreate  2m  replicaset-controller  Error creating: pods "web-7c5487-7jqsn" is forbidden: exceeded quota: q, '
    assert said(f"{event}requested: pods=1, used: pods=5, limited: pods=5")[0][0] == "default/web-7c5487"


def test_a_log_of_the_cluster_autoscaler_that_resizes_a_node_group_does_not_say_that_it_adds_no_node() -> None:
    log = (
        "I0419 22:15:23.390214       1 klogx.go:87] Pod pay/api-0 is unschedulable\n"
        "I0419 22:15:23.392060       1 scale_up.go:93] Pod api-0 can't be scheduled on pool-b, predicate checking error: node(s) didn't match "
        "Pod's node affinity/selector; predicateName=NodeAffinity; reasons: node(s) didn't match Pod's node affinity/selector; debugInfo=\n"
    )
    assert reading(log).answers[0].sentence.startswith("The cluster autoscaler did not add a node: ")
    resized = reading(f"{log}I0419 22:15:23.393112       1 scale_up.go:282] Best option to resize: pool-a\n")
    assert resized.messages[0].pod == "pay/api-0"
    assert resized.answers[0].sentence.startswith("The cluster autoscaler adds nodes to `pool-a`, for this pod or for others. Elsewhere: ")
    assert "labels and taints of `pool-a`" in resized.answers[0].advice


def test_a_claim_that_waits_for_its_provisioner_is_explained_until_it_has_a_volume() -> None:
    event = (
        "Normal  ExternalProvisioning  4s  persistentvolume-controller  waiting for a volume to be created, either by external provisioner "
        '"p.io/b" or manually'
    )
    [said] = found_messages(event + " created by system administrator")
    [clause] = parse_message(said.message).clauses
    assert clause.headline == "the claim has no volume, because its provisioner p.io/b has not created one yet"
    assert found_messages(f"{event}\nNormal  ProvisioningSucceeded  1s  p.io  Successfully provisioned volume pvc-1") == []


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (
            "NodeAffinity",
            "The pod is not waiting for the scheduler: the kubelet of `node-5` rejected the pod (NodeAffinity).",
        ),
        ("Evicted", "The pod is not waiting for the scheduler: the kubelet of `node-5` evicted the pod."),
    ],
)
@pytest.mark.parametrize("head", ["NAME   READY   STATUS   RESTARTS   AGE   IP   NODE   NOMINATED NODE   READINESS GATES\n", ""])
def test_a_pod_that_a_table_shows_rejected_or_evicted_is_not_waiting_for_the_scheduler(head: str, status: str, sentence: str) -> None:
    text = (
        f"[root@n ~]# kubectl get pod -n ceph -o wide\n{head}"
        "rgw-1   1/1   Running   1 (3h ago)   4h25m   10.232.1.28   node-6   <none>   <none>\n"
        f"rgw-2   0/1   {status}   0   4h25m   <none>   node-5   <none>   <none>\n"
    )
    contents = contents_of(text)
    [answer] = read_text(contents.messages, contents.facts, {}, seconds_of_age, contents.storage).answers
    assert (answer.pod, answer.standing, answer.sentence) == ("ceph/rgw-2", "scheduled", sentence)
    assert "`kubectl describe pod rgw-2 -n ceph`" in answer.advice


def test_a_pod_that_cannot_end_on_a_lost_node_is_explained() -> None:
    nodes = (
        "NAME    STATUS     ROLES    AGE   VERSION\nnode3   Ready      <none>   21m   v1.20.6\nnode4   NotReady   <none>   21m   v1.20.6\n"
    )
    pods = (
        "\nNAME    READY   STATUS        RESTARTS   AGE   IP          NODE    NOMINATED NODE   READINESS GATES\n"
        "web-1   1/1     Terminating   0          20m   10.42.0.6   node4   <none>           <none>\n"
        "web-2   1/1     Terminating   0          20m   10.42.0.7   node3   <none>           <none>\n"
    )
    [message] = found_messages(nodes + pods)
    assert message.pod == "default/web-1"
    assert parse_message(message.message).clauses[0].headline == (
        "the pod is being deleted, but cannot end, because `node4` is not ready: no kubelet confirms that the pod has stopped"
    )
    assert found_messages(pods) == []


def test_a_gate_that_stays_after_kueue_has_admitted_the_workload_is_that_of_another() -> None:
    # https://github.com/kubernetes-sigs/kueue/issues/9482
    table = "NAME                READY   STATUS            RESTARTS   AGE\nsleep-qw5hb   0/1     SchedulingGated   0          2m3s\n"
    event = (
        "\n  Normal  Admitted       2m25s  kueue-admission  Admitted by ClusterQueue cluster-queue, wait time since reservation was 0s\n"
    )
    reading = read_text(messages_in(CopiedText(table + event)), [], {}, seconds_of_age)
    assert [answer.sentence for answer in reading.answers] == [""]
    [said] = reading.messages
    [clause] = said.message.clauses
    assert (said.pod, clause.headline) == ("default/sleep-qw5hb", "Kueue has admitted the workload, but the pod still has scheduling gates")
    assert "A gate without `kueue.x-k8s.io` belongs to another controller" in clause.advice
    [said] = read_text(messages_in(CopiedText(table)), [], {}, seconds_of_age).messages
    assert said.message.clauses[0].headline.startswith("the pod has scheduling gates")
