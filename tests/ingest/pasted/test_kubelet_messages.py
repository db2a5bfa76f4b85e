"""Why the kubelet does not start a pod, in texts without a scheduler's message."""

from __future__ import annotations

import pytest

from schedviz.explain.messages.message import parse_message
from schedviz.explain.pasted.reader import read_text
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.ingest.pasted.contents import contents_of
from schedviz.ingest.pasted.message_times import seconds_of_age
from tests.ingest.pasted.found_messages import found_messages


def reading_of_text(text: str) -> TextReading:
    contents = contents_of(text)
    return read_text(contents.messages, contents.facts, {}, seconds_of_age, contents.storage)


SANDBOX = "Failed to create pod sandbox: rpc error: code = Unknown desc = "


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            f'{SANDBOX}failed to get sandbox image "registry.example/pause:3.9": failed to pull image: i/o timeout',
            "that node cannot pull the sandbox image `registry.example/pause:3.9`, which every pod needs",
        ),
        (
            f'{SANDBOX}failed to setup network for sandbox "9f": plugin type="flannel" failed (add): no such file',
            "the network plugin `flannel` cannot set up its network there",
        ),
        (f"{SANDBOX}cni plugin not initialized", "the network plugin cannot set up its network there"),
        ("Failed to create pod sandbox: open /run/resolv.conf: no such file", "the kubelet cannot create its sandbox there"),
        (
            'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) db-0',
            "its volume `pvc-1` is still attached to the node of `db-0`, and only one node can have it",
        ),
        (
            'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node',
            "its volume `pvc-1` is still attached to another node, and only one node can have it",
        ),
        (
            'AttachVolume.Attach failed for volume "pvc-1" : AttachmentLimitExceeded: You may attach up to 27 devices for this instance type',
            "its volume `pvc-1` cannot be attached there: the machine already has its 27 devices",
        ),
        ('AttachVolume.Attach failed for volume "pvc-1" : disk is gone', "its volume `pvc-1` cannot be attached to it"),
        ('MountVolume.MountDevice failed for volume "pvc-1" : exit status 32', "its volume `pvc-1` cannot be mounted there"),
        ("Unable to attach or mount volumes: unmounted volumes=[data]: timed out", "its volumes were not mounted there in time"),
        ('Failed to pull image "web:9": rpc error: code = NotFound desc = web:9: not found', "its image `web:9` was not found"),
        ('Failed to pull image "web:9": pull access denied', "the registry refuses access to its image `web:9`"),
        ('Failed to pull image "web:9": i/o timeout', "its image `web:9` could not be pulled"),
    ],
)
def test_an_event_of_the_kubelet_says_why_a_pod_with_a_node_does_not_start(text: str, headline: str) -> None:
    [said] = found_messages(f"Events:\n  Warning  Failed  5s (x3 over 2m)  kubelet  {text}\n")
    assert said.message == text
    [clause] = parse_message(said.message).clauses
    assert (clause.plugin, clause.headline) == ("kubelet", f"the pod has a node, but {headline}")


def test_a_missing_configmap_is_named() -> None:
    [said] = found_messages('Warning  FailedMount ... MountVolume.SetUp failed for volume "cfg" : configmap "shop" not found')
    [clause] = parse_message(said.message).clauses
    assert clause.headline == "the pod has a node, but cannot start: the configmap `shop` does not exist in its namespace"


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            "> Pod Node didn't have enough resource: cpu, requested: 900, used: 1500, capacity: 2000",
            "the kubelet rejected the pod: the node has only 0.5 CPU free (pods there request 1.5 of 2 CPU), and the pod requests 0.9 CPU",
        ),
        (
            "Pod Node didn't have enough capacity: pods, requested: 1, used: 30, capacity: 29",
            "the kubelet rejected the pod: the node already has 30 pods, and its maximum is 29",
        ),
        (
            "Last Error: USER::Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match",
            (
                "the kubelet rejected the pod after it was placed, because the node's labels do not match the pod's node selector or affinity "
                "(NodeAffinity)"
            ),
        ),
        (
            "type=Warning reason=TaintToleration message=Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
            "the kubelet rejected the pod after it was placed, because the node has a taint that the pod does not tolerate",
        ),
        (
            (
                "Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: "
                "no set of running pods found to reclaim resources: [(res: cpu, q: 250), ]"
            ),
            "the kubelet rejected the pod: the node lacks 0.25 CPU, and the kubelet found no pods there to evict for it",
        ),
        (
            "Allocate failed due to requested number of devices unavailable for a.example/gpu. Requested: 2, Available: 1, which is unexpected",
            "the kubelet rejected the pod: the pod requests 2 `a.example/gpu`, and the device plugin on the node has 1 left",
        ),
        (
            "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices a.example/gpu, which is unexpected",
            "the kubelet rejected the pod: no `a.example/gpu` device on the node is healthy",
        ),
        (
            "Allocate failed due to rpc error: code = Unavailable desc = error reading from server: EOF, which is unexpected",
            "the kubelet rejected the pod: a device plugin on the node failed (error reading from server: EOF)",
        ),
        (
            '$ kubectl get pod web -o json\n{\n  "message": "Allocate failed due to no device, which is unexpected",\n  "phase": "Failed"\n}',
            "the kubelet rejected the pod after it was placed (UnexpectedAdmissionError)",
        ),
    ],
)
def test_a_pod_that_the_kubelet_rejected_is_explained(text: str, headline: str) -> None:
    [said] = found_messages(text)
    assert parse_message(said.message).clauses[0].headline == headline


def test_the_event_is_about_the_pod_of_the_table_that_is_starting_and_not_about_the_pending_one() -> None:
    text = (
        "NAMESPACE  NAME   READY  STATUS    RESTARTS  AGE\nnet        cni-a  0/1    Init:0/2  0         9m\n"
        f"net        ctl-b  0/1    Pending   0         9m\n\nWarning  FailedCreatePodSandBox  2m  kubelet  {SANDBOX}no space left\n"
    )
    assert [said.pod for said in found_messages(text)] == ["net/cni-a"]


def test_the_message_names_its_pod_and_is_not_repeated_as_another_warning() -> None:
    text = f'Warning  FailedCreatePodSandBox  5s  kubelet  {SANDBOX}error adding pod net_dns-1 to CNI network "w": plugin type="w" failed (add): x'
    contents = contents_of(text)
    reading = read_text(contents.messages, contents.facts, {}, seconds_of_age, contents.storage)
    assert [message.pod for message in reading.messages] == ["net/dns-1"]
    assert reading.others == ""


def test_the_reason_of_a_mount_comes_before_its_timeout() -> None:
    text = (
        'Warning  FailedMount  9m  kubelet  MountVolume.SetUp failed for volume "data" : exit status 1\n'
        "Warning  FailedMount  1m  kubelet  Unable to attach or mount volumes: unmounted volumes=[data]: timed out\n"
    )
    assert [said.message for said in found_messages(text)] == ['MountVolume.SetUp failed for volume "data" : exit status 1']


def test_a_scheduler_message_is_preferred() -> None:
    text = f"Warning  FailedScheduling  1m  default-scheduler  0/1 nodes are available: 1 Insufficient cpu.\n{SANDBOX}old"
    assert [said.message for said in found_messages(text)] == ["0/1 nodes are available: 1 Insufficient cpu."]


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            (
                "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 777784Ki. Container a was using 8Ki, "
                "request is 0, has larger consumption of ephemeral-storage. Container b was using 2Mi, request is 1Mi, has larger consumption "
                "of ephemeral-storage. "
            ),
            (
                "the kubelet evicted the pod, because the node was short of ephemeral storage: it had ≈760Mi left, and the kubelet evicts "
                "pods below 1Gi. Container `b` used 2Mi and requests 1Mi, `a` used 8Ki and requests 0"
            ),
        ),
        ("The node was low on resource: memory.", "the kubelet evicted the pod, because the node was short of memory"),
        ("Pod The node had condition: [DiskPressure].", "the kubelet rejected the pod, because the node had the condition DiskPressure"),
        (
            'Usage of EmptyDir volume "tmp" exceeds the limit "1Gi". ',
            "the kubelet evicted the pod, because the emptyDir volume `tmp` exceeded its size limit 1Gi",
        ),
    ],
)
def test_an_evicted_pod_is_explained(text: str, headline: str) -> None:
    description = f"Name: web-1\nNamespace: shop\nNode: node-a/10.0.0.1\nStatus: Failed\nReason: Evicted\nMessage: {text}\nIP:\n"
    [said] = found_messages(description)
    assert said.pod == "shop/web-1"
    assert parse_message(said.message).clauses[0].headline == headline
    [answer] = reading_of_text(description).answers
    # That the pod has a node does not make the message old.
    assert (answer.standing, answer.sentence) == ("pending", "")


def test_an_evicted_pod_as_an_object_is_explained() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1\n  namespace: shop\nspec:\n  nodeName: node-a\nstatus:\n"
        "  phase: Failed\n  reason: Evicted\n  message: 'The node was low on resource: memory. '\n"
    )
    [said] = found_messages(text)
    assert (said.pod, said.message) == ("shop/web-1", "The node was low on resource: memory.")


REFUSED = "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices a.example/gpu, which is unexpected"


@pytest.mark.parametrize(
    ("text", "pods"),
    [
        (
            f"Successfully assigned shop/a-1 to node-a\n{REFUSED}\nSuccessfully assigned shop/a-2 to node-a\n{REFUSED}\n",
            ["shop/a-1", "shop/a-2"],
        ),
        (f"{REFUSED}\n14:22\nSuccessfully assigned shop/a-2 to node-a\n14:22\n", ["shop/a-2"]),
        (f"Message: Pod {REFUSED}\n\nNAME  READY  STATUS  RESTARTS  AGE\na-3  0/1  UnexpectedAdmissionError  0  4s\n", ["default/a-3"]),
        (f'$ kubectl -n shop get pod a-4 -o json | jq .status\n{{\n  "message": "Pod {REFUSED}",\n  "phase": "Failed"\n}}\n', ["shop/a-4"]),
    ],
)
def test_a_message_without_a_description_is_about_the_pod_that_was_assigned_or_printed(text: str, pods: list[str]) -> None:
    assert [said.pod for said in found_messages(text)] == pods


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (
            "Normal Started 37s kubelet Started container web",
            "A container of the pod has started since (37s ago), so the earlier message no longer applies.",
        ),
        (
            'Normal SuccessfulAttachVolume 55s attachdetach-controller AttachVolume.Attach succeeded for volume "pvc-1"',
            "The volume has been attached since (55s ago), so the earlier message no longer applies.",
        ),
        ("Normal Started 5m kubelet Started container web", ""),
    ],
)
def test_a_volume_that_was_attached_later_is_no_reason_to_act(event: str, sentence: str) -> None:
    text = f'Events:\n  Warning  FailedAttachVolume  71s  attachdetach-controller  Multi-Attach error for volume "pvc-1" Volume is in use\n  {event}\n'
    [answer] = reading_of_text(text).answers
    assert answer.sentence == sentence


@pytest.mark.parametrize(
    ("text", "pod", "headline"),
    [
        (
            'shop  14s  Warning  FailedMount  pod/web-1  MountVolume.SetUp failed for volume \n"cfg" : secret "remote" not found\n',
            "shop/web-1",
            "the pod has a node, but cannot start: the secret `remote` does not exist in its namespace",
        ),
        (
            (
                'Error from server: container "web" in pod "web-1" is waiting to start: PodInitializing\n'
                "  Warning  BackOff  2m  kubelet  Back-off restarting failed container\n"
            ),
            "default/web-1",
            "the pod has a node, but one of its containers ends again and again, so the kubelet waits before each restart",
        ),
        (
            "Warning  BackOff  2m  kubelet  Back-off restarting failed container web in pod web-1_shop(0f1d)\n",
            "shop/web-1",
            "the pod has a node, but one of its containers ends again and again, so the kubelet waits before each restart",
        ),
    ],
)
def test_wrapped_mounts_and_restarts_are_about_their_pod(text: str, pod: str, headline: str) -> None:
    [said] = found_messages(text)
    assert said.pod == pod
    assert parse_message(said.message).clauses[0].headline == headline


def test_a_message_in_a_yaml_string_or_before_other_words_keeps_its_amounts() -> None:
    folded = (
        "status:\n  message: 'Pod Node didn''t have enough resource: memory, requested: 2097152000,\n"
        "    used: 65865462583, capacity: 66388008960'\n  phase: Failed\n"
    )
    titled = (
        "OutOfmemory: Pod Node didn't have enough resource: memory, requested: 2097152000, used: 65865462583, capacity: 66388008960\n"
        "Please file an issue if you think this is a bug.\n"
    )
    for text in (folded, titled):
        [said] = found_messages(text)
        assert parse_message(said.message).clauses[0].headline == (
            "the kubelet rejected the pod: the node has only ≈498Mi free (pods there request ≈61.3Gi of ≈61.8Gi), and the pod requests "
            "2000Mi of memory"
        )


@pytest.mark.parametrize(
    ("text", "pod", "headline"),
    [
        (
            (
                f'Warning  FailedCreatePodSandBox  1m  kubelet  {SANDBOX}plugin type="aws-cni" failed (add): add cmd: failed to assign an IP '
                "address to container\n"
            ),
            "",
            "the pod has a node, but the network plugin of AWS has no IP address for it there",
        ),
        (
            (
                'Failed create pod sandbox: rpc error: NetworkPlugin cni failed to set up pod "web-1_shop" network: add cmd: failed to assign an '
                "IP address to container\n"
            ),
            "shop/web-1",
            "the pod has a node, but the network plugin of AWS has no IP address for it there",
        ),
        (
            f"{SANDBOX}failed to allocate for range 0: no IP addresses available in range set: 10.244.0.1-10.244.0.254\n",
            "",
            (
                "the pod has a node, but the network plugin has no IP address for it there: all addresses of the node's range are in use "
                "(10.244.0.1-10.244.0.254)"
            ),
        ),
    ],
)
def test_a_network_without_addresses_is_named(text: str, pod: str, headline: str) -> None:
    [said] = found_messages(text)
    assert (said.pod, parse_message(said.message).clauses[0].headline) == (pod, headline)


def test_a_warning_that_repeats_the_reason_or_follows_from_it_is_not_said_again() -> None:
    attach = 'Multi-Attach error for volume "pvc-1" Volume is in use'
    reading = reading_of_text(
        "Name: web-1\nNamespace: shop\nNode: node-a/10.0.0.1\nStatus: Pending\nEvents:\n"
        f"  Warning  FailedAttachVolume  11m  attachdetach-controller  {attach}\n"
        "  Warning  FailedMount  2m  kubelet  Unable to attach or mount volumes: unmounted volumes=[data]: timed out\n"
        f"  Warning  FailedCreatePodSandBox  1m  kubelet  (combined from similar events): {attach} again\n"
    )
    assert [message.text for message in reading.messages][-1].startswith("Multi-Attach error")
    assert reading.others == ""
