"""One answer about a pod joins what its scheduler and its autoscalers say, in real texts."""

from __future__ import annotations

import pytest

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.pasted.reader import read_text
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.described_pods import described_pods
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in
from tests.ingest.pasted.found_messages import found_messages

#: https://github.com/kubernetes-sigs/karpenter/issues/932
NOMINATED = """\
  Normal   Nominated         108s (x12 over 24m)  karpenter          Pod should schedule on: nodeclaim/default-cvkcv, node/ip-10-199-71-41.ec2.internal
  Warning  FailedScheduling  77s (x3 over 4m14s)  default-scheduler  0/8 nodes are available: 1 Insufficient memory, 7 node(s) had untolerated taint {im-a-sparklike: true}.
"""
#: https://github.com/kubernetes/autoscaler/issues/4606
TOO_SMALL = """\
status:
  conditions:
  - message: '0/6 nodes are available: 6 Insufficient cpu, 6 Insufficient memory.'
    reason: Unschedulable
    status: "False"
    type: PodScheduled

I0111 10:23:26.908655       1 klogx.go:86] Pod garden/reserve-excess-capacity-f655d54d-g4crf is unschedulable
I0111 10:23:26.908932       1 scale_up.go:288] Pod reserve-excess-capacity-f655d54d-g4crf can't be scheduled on shoot--ash-garden--z1, predicate checking error: Insufficient cpu, Insufficient memory; predicateName=NodeResourcesFit; reasons: Insufficient cpu, Insufficient memory; debugInfo=
"""


def read(text: str) -> TextReading:
    described = {key: PodInfo(pod) for key, pod in described_pods(CopiedText(text)).items()}
    return read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), described, seconds_of_age)


def test_a_nomination_that_is_repeated_is_no_reason_to_wait() -> None:
    found = read(NOMINATED).answer_of("")
    assert found is not None
    assert (found.standing, found.sentence) == (
        "pending",
        "Karpenter has nominated the node `ip-10-199-71-41.ec2.internal` 12 times in 24m, but the scheduler still rejects every node.",
    )
    assert "`kubectl describe node ip-10-199-71-41.ec2.internal` and `kubectl describe nodeclaim default-cvkcv`" in found.advice
    assert "Wait" not in found.advice


def test_the_log_of_the_autoscaler_and_the_status_of_its_pod_are_one_answer_without_the_advice_to_add_a_node() -> None:
    reading = read(TOO_SMALL)
    assert {message.pod for message in reading.messages} == {"garden/reserve-excess-capacity-f655d54d-g4crf"}
    [found] = reading.answers
    assert found.sentence.endswith("the node group `shoot--ash-garden--z1` has machines with too little CPU and memory for the pod.")
    of_scheduler = next(message for message in reading.messages if not message.writer)
    assert all("add a node" not in clause.advice for clause in of_scheduler.message.clauses)


def test_an_event_of_the_autoscaler_without_a_reason_does_not_outrank_the_scheduler() -> None:
    # https://github.com/kubernetes/autoscaler/issues/1470
    reading = read(
        "Events:\n"
        "  Normal   NotTriggerScaleUp  11m (x174 over 1h)  cluster-autoscaler  pod didn't trigger scale-up (it wouldn't fit if a new node is added)\n"
        "  Warning  FailedScheduling   1m (x5490 over 1h)  default-scheduler   0/9 nodes are available: 2 node(s) didn't match node selector, "
        "8 Insufficient cpu.\n"
    )
    assert reading.answer_of("") is None
    scheduler, autoscaler = reading.messages
    assert "`kubectl -n kube-system logs deploy/cluster-autoscaler`" in autoscaler.message.clauses[0].advice
    assert scheduler.message.first == ""


def test_the_pod_of_karpenters_console_log_is_read_and_its_values_are_not_quoted() -> None:
    [said] = found_messages(
        "karpenter-5dd4-5kxvj controller 2023-10-05T05:29:23.450Z\tERROR\tcontroller.provisioner\tCould not schedule pod, incompatible with "
        'provisioner "a", daemonset overhead={"cpu":"655m"}, did not tolerate x=y:NoSchedule\t{"commit": "322822a", "pod": "monitoring/prometheus-0"}\n'
    )
    assert said.pod == "monitoring/prometheus-0"
    assert said.message.endswith("did not tolerate x=y:NoSchedule")


def test_the_older_line_that_ignores_a_pod_is_read() -> None:
    # https://github.com/aws/karpenter-provider-aws/issues/5560
    [said] = found_messages(
        '{"level":"DEBUG","logger":"controller.provisioner","message":"ignoring pod, StorageClass.storage.k8s.io \\"smb\\" not found",'
        '"commit":"a70b39e","pod":"dev-rate/sp-pod"}'
    )
    assert (said.pod, said.message) == ("dev-rate/sp-pod", 'ignoring pod, StorageClass.storage.k8s.io "smb" not found')


def test_the_lines_of_a_log_about_one_pod_are_one_message_with_the_groups_that_are_skipped() -> None:
    # https://github.com/kubernetes/autoscaler/issues/3115
    reading = read(
        "I0506 14:23:31.057557       1 scale_up.go:271] Pod test/nginx-dxt2n is unschedulable\n"
        "I0506 14:23:31.057849       1 pod_schedulable.go:165] Pod nginx-dxt2n can't be scheduled on prod, predicate failed: PodToleratesNodeTaints "
        'predicate mismatch, reason: node(s) had taints that the pod didn\'t tolerate, taints on node: []v1.Taint{v1.Taint{Key:"prod-only", '
        'Value:"true", Effect:"NoSchedule", TimeAdded:(*v1.Time)(nil)}}\n'
        "W0506 14:23:31.057935       1 scale_up.go:335] Node group staging is not ready for scaleup - backoff\n"
    )
    found = reading.answer_of("test/nginx-dxt2n")
    assert found is not None
    assert found.sentence == (
        "The cluster autoscaler did not add a node: the node group `staging` is in backoff after a failed scale-up, and the node group `prod` has the untolerated taint `prod-only=true:NoSchedule`."
    )


def test_the_messages_of_both_autoscalers_of_a_cluster_are_used() -> None:
    [found] = read(
        "5m   Warning  FailedScheduling   pod/web   0/7 nodes are available: 7 Too many pods.\n"
        "2m   Normal   NotTriggerScaleUp  pod/web   pod didn't trigger scale-up: 2 max node group size reached\n"
        "3m   Warning  FailedScheduling   pod/web   Failed to schedule pod, did not tolerate taint (taint=a=b:NoSchedule)\n"
    ).answers
    assert found.sentence.startswith(
        "All 7 nodes have reached their maximum number of pods. The cluster autoscaler did not add a node: 2 node groups are at their maximum size"
    )
    assert found.note.startswith("Karpenter cannot add a node for this pod: ")


def test_the_node_groups_in_the_status_of_the_autoscaler_that_cannot_grow_are_listed() -> None:
    # https://github.com/kubernetes/autoscaler/pull/6375, and the format before it.
    status = """\
apiVersion: v1
data:
  status: |
    time: 2023-12-20 10:52:04.558615784 +0000 UTC
    autoscalerStatus: Running
    nodeGroups:
    - name: https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-c/instanceGroups/gke-grp
      health:
        status: Healthy
        cloudProviderTarget: 7
        maxSize: 9
      scaleUp:
        status: Backoff
        backoffInfo:
          errorCode: QUOTA_EXCEEDED
          errorMessage: Instance creation failed
kind: ConfigMap
"""
    [found] = read(status).answers
    assert found.sentence == (
        "The cluster autoscaler cannot scale up every node group: the last scale-up of the node group `gke-grp` failed: QUOTA_EXCEEDED, Instance creation failed."
    )
    old = """\
Cluster-autoscaler status at 2018-07-25 22:59:22.661669494 +0000 UTC:
NodeGroups:
  Name:        nodepool1
  Health:      Healthy (ready=5 unready=0 notStarted=0 longNotStarted=0 registered=5 longUnregistered=0 cloudProviderTarget=5 (minSize=1, maxSize=5))
  ScaleUp:     NoActivity (ready=5 cloudProviderTarget=5)
"""
    [found] = read(old).answers
    assert found.sentence.endswith(": the node group `nodepool1` is at its maximum size.")


#: The events of a spawner, each after its time.
TIMED = """\
2026-03-10T10:00:00.000000Z [Warning] 0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.
2026-03-10T10:00:01Z [Normal] Pod should schedule on: nodeclaim/gpu-aaaaa
2026-03-10T10:00:40Z [Normal] pod didn't trigger scale-up: 1 node(s) didn't match Pod's node affinity/selector
2026-03-10T10:05:00.000000Z [Warning] 0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.
"""


def test_a_second_nodeclaim_shows_that_the_first_one_gave_no_node() -> None:
    reading = read(f"{TIMED}2026-03-10T10:12:01Z [Normal] Pod should schedule on: nodeclaim/gpu-bbbbb\n")
    [found] = reading.answers
    assert (found.standing, found.sentence) == (
        "pending",
        ("Karpenter nominated NodeClaim `gpu-aaaaa` and, 12 minutes later, `gpu-bbbbb`, but the pod is still pending."),
    )
    assert found.advice.startswith("Run `kubectl describe nodeclaim gpu-bbbbb`")
    assert found.note.startswith("The cluster autoscaler did not add a node")


def test_nodeclaims_that_never_joined_come_before_what_the_cluster_autoscaler_says_later() -> None:
    reading = read(
        f"{TIMED}2026-03-10T10:06:01Z [Normal] Pod should schedule on: nodeclaim/gpu-bbbbb\n"
        "2026-03-10T10:12:01Z [Normal] Pod should schedule on: nodeclaim/gpu-ccccc\n"
        "2026-03-10T10:13:00Z [Normal] pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector\n"
    )
    [found] = reading.answers
    assert found.sentence == ("Karpenter nominated 3 NodeClaims in 12 minutes, most recently `gpu-ccccc`, but the pod is still pending.")
    assert found.note.startswith("The cluster autoscaler did not add a node")


def test_the_time_between_nodeclaims_counts_from_the_first_of_repeated_events() -> None:
    reading = read(
        "  Normal   Nominated         10m (x13 over 50m)  karpenter          Pod should schedule on: machine/web-aaaaa\n"
        "  Warning  FailedScheduling  4m (x11 over 50m)   default-scheduler  0/4 nodes are available: 4 Insufficient memory.\n"
        "  Normal   Nominated         80s (x4 over 8m)    karpenter          Pod should schedule on: machine/web-bbbbb\n"
    )
    [found] = reading.answers
    assert found.sentence == ("Karpenter nominated Machine `web-aaaaa` and, 42 minutes later, `web-bbbbb`, but the pod is still pending.")
    assert "whether launch, registration, or initialization failed. If its node is ready, compare" in found.advice


def test_two_nodeclaims_at_once_do_not_replace_each_other() -> None:
    reading = read(f"{TIMED}2026-03-10T10:00:09Z [Normal] Pod should schedule on: nodeclaim/gpu-bbbbb\n")
    [found] = reading.answers
    assert "gpu-aaaaa" not in found.sentence


ADDED = """\
  Warning  FailedScheduling  30m  default-scheduler  0/9 nodes are available: 7 Insufficient cpu, 2 node(s) had untolerated taint {a: b}.
  Normal   Nominated         30m  karpenter          Pod should schedule on: nodeclaim/default-aaaaa
  Warning  FailedScheduling  28m  default-scheduler  0/10 nodes are available: 1 node(s) had volume node affinity conflict, 7 Insufficient cpu, 2 node(s) had untolerated taint {a: b}.
"""


def test_a_node_that_joined_and_does_not_help_is_the_answer() -> None:
    reading = read(ADDED)
    [found] = reading.answers
    assert (found.standing, found.sentence) == (
        "pending",
        "Since Karpenter nominated NodeClaim `default-aaaaa` 30m ago, 1 node has joined (9 → 10), but it cannot access the pod's volume.",
    )
    assert "topology.kubernetes.io/zone" in found.advice
    newest = next(message for message in reading.messages if message.at == "28m ago")
    assert newest.message.clauses[0].reason == "node(s) had volume node affinity conflict"


@pytest.mark.parametrize(
    ("taint", "advice"),
    [
        ("node(s) had taints that the pod didn't tolerate", "Look at the taints of the new node"),
        ("node(s) had untolerated taint {node.kubernetes.io/not-ready: }", "If it is not ready yet, wait"),
        ("node(s) had untolerated taint {gpu: true}", "toleration"),
    ],
)
def test_what_to_do_about_the_taint_of_a_node_that_joined_is_the_first_advice(taint: str, advice: str) -> None:
    [found] = read(ADDED.replace("node(s) had volume node affinity conflict", taint)).answers
    assert "1 node has joined (9 → 10), but it " in found.sentence
    assert advice in found.advice
    assert "lower the requests" not in found.advice


def test_a_node_that_joined_is_not_the_answer_if_other_nodes_changed_as_well() -> None:
    [found] = read(ADDED.replace("7 Insufficient cpu, 2 node(s) had untolerated taint {a: b}.\n", "9 Insufficient cpu.\n", 1)).answers
    assert "joined (9" not in found.sentence


def test_a_scale_up_to_one_node_is_in_the_singular() -> None:
    [found] = read("  Normal  TriggeredScaleUp  60s  cluster-autoscaler  pod triggered scale-up: [{asg-a 0->1 (max: 5)}]\n").answers
    assert "started scaling node group asg-a from 0 to 1 node (maximum: 5)." in found.sentence


JOINED_AND_LOST = """\
  Normal   Nominated         4m10s                karpenter          Pod should schedule on: nodeclaim/small-aaaaa
  Normal   Nominated         110s                 karpenter          Pod should schedule on: nodeclaim/small-bbbbb
  Warning  FailedScheduling  40s (x5 over 2m22s)  default-scheduler  0/4 nodes are available: 1 node(s) had untolerated taint {{{taint}: }}, 3 Too many pods.
  Warning  FailedScheduling  9s (x3 over 5m1s)    default-scheduler  0/3 nodes are available: 3 Too many pods.
"""


def test_a_node_that_was_under_memory_pressure_and_is_gone_is_no_reason_to_wait_for_the_next_one() -> None:
    [found] = read(JOINED_AND_LOST.format(taint="node.kubernetes.io/memory-pressure")).answers
    assert (found.standing, found.sentence) == (
        "pending",
        (
            "Karpenter nominated NodeClaim `small-aaaaa` and then NodeClaim `small-bbbbb`, and the pod is still pending: kube-scheduler no "
            "longer counts 1 node that had the taint `node.kubernetes.io/memory-pressure` (4 → 3)."
        ),
    )
    assert found.advice.startswith("Run `kubectl describe nodeclaim small-bbbbb`. If the new node also reports memory pressure")
    [not_ready] = read(JOINED_AND_LOST.format(taint="node.kubernetes.io/unreachable")).answers
    assert not_ready.advice.endswith("its conditions and events show what is wrong with the new node")
    # A node of another pool may have left for any reason, and one nomination is no second attempt.
    for text in (JOINED_AND_LOST.format(taint="team"), JOINED_AND_LOST.format(taint="node.kubernetes.io/unreachable").split("\n", 1)[1]):
        [coming] = read(text).answers
        assert coming.sentence.startswith("A node is being added: Karpenter nominated NodeClaim `small-bbbbb`")


def test_an_error_of_karpenter_copied_without_its_line_is_read() -> None:
    why = (
        'incompatible with nodepool "blue", daemonset overhead={"cpu":"180m","pods":"5"}, unsatisfiable topology constraint for topology '
        "spread, key=topology.kubernetes.io/zone (counts = us-east-1b: 1 and 7 other(s), podDomains = topology.kubernetes.io/zone In "
        "[us-east-1b], nodeDomains = topology.kubernetes.io/zone In [us-east-1b];"
    )
    debug = '{"level":"DEBUG","logger":"controller.provisioner","message":"adding requirements","pod":"shop/web-5"}\n\n'
    for text, pod in ((why, ""), (why.replace('"', '\\"'), ""), (debug + why.replace('"', '\\"'), "shop/web-5")):
        reading = read(text)
        [found] = reading.answers
        assert (found.pod, [message.text for message in reading.messages]) == (pod, [f"could not schedule pod, {why}"])
        assert found.sentence == (
            "Karpenter cannot add a node for this pod: NodePool `blue` cannot satisfy the pod's topology spread over "
            "`topology.kubernetes.io/zone`: us-east-1b has 1 matching pod, and Karpenter compares 7 more domains, but the pod can run only "
            "in us-east-1b."
        )
    assert read("They are incompatible with nodepool settings.").messages == ()
