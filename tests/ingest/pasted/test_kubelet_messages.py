"""Why the kubelet does not start a pod, in texts without a scheduler's message."""

from __future__ import annotations

import pytest

from schedviz.explain.messages.message import parse_message
from schedviz.explain.pasted.text_reading import read_text
from schedviz.ingest.pasted.pasted_text import messages_in, seconds_of_age
from schedviz.ingest.pasted.text_namespace import contents_of

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
            "its volume `pvc-1` is still attached to another node, and only one node can have it",
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
    [said] = messages_in(f"Events:\n  Warning  Failed  5s (x3 over 2m)  kubelet  {text}\n")
    assert said.message == text
    [clause] = parse_message(said.message).clauses
    assert (clause.plugin, clause.headline) == ("kubelet", f"the pod has a node, but {headline}")


def test_a_missing_configmap_is_named() -> None:
    [said] = messages_in('Warning  FailedMount ... MountVolume.SetUp failed for volume "cfg" : configmap "shop" not found')
    [clause] = parse_message(said.message).clauses
    assert clause.headline == "the pod has a node, but cannot start: the configmap `shop` does not exist in its namespace"


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            "> Pod Node didn't have enough resource: cpu, requested: 900, used: 1500, capacity: 2000",
            "the kubelet rejected the pod: its node has too little CPU (requested 900, used 1500, capacity 2000)",
        ),
        (
            "Last Error: USER::Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match",
            "the kubelet rejected the pod after it was placed, because its node failed the check NodeAffinity",
        ),
        (
            '$ kubectl get pod web -o json\n{\n  "message": "Allocate failed due to no device, which is unexpected",\n  "phase": "Failed"\n}',
            "the kubelet rejected the pod after it was placed (UnexpectedAdmissionError)",
        ),
    ],
)
def test_a_pod_that_the_kubelet_rejected_is_explained(text: str, headline: str) -> None:
    [said] = messages_in(text)
    assert parse_message(said.message).clauses[0].headline == headline


def test_the_event_is_about_the_pod_of_the_table_that_is_starting_and_not_about_the_pending_one() -> None:
    text = (
        "NAMESPACE  NAME   READY  STATUS    RESTARTS  AGE\nnet        cni-a  0/1    Init:0/2  0         9m\n"
        f"net        ctl-b  0/1    Pending   0         9m\n\nWarning  FailedCreatePodSandBox  2m  kubelet  {SANDBOX}no space left\n"
    )
    assert [said.pod for said in messages_in(text)] == ["net/cni-a"]


def test_the_message_names_its_pod_and_is_not_repeated_as_another_warning() -> None:
    text = f'Warning  FailedCreatePodSandBox  5s  kubelet  {SANDBOX}error adding pod net_dns-1 to CNI network "w": plugin type="w" failed (add): x'
    contents = contents_of(text)
    reading = read_text(contents.messages, contents.events, {}, seconds_of_age, contents.storage)
    assert [message.pod for message in reading.messages] == ["net/dns-1"]
    assert reading.others == ""


def test_the_reason_of_a_mount_comes_before_its_timeout() -> None:
    text = (
        'Warning  FailedMount  9m  kubelet  MountVolume.SetUp failed for volume "data" : exit status 1\n'
        "Warning  FailedMount  1m  kubelet  Unable to attach or mount volumes: unmounted volumes=[data]: timed out\n"
    )
    assert [said.message for said in messages_in(text)] == ['MountVolume.SetUp failed for volume "data" : exit status 1']


def test_a_scheduler_message_is_preferred() -> None:
    text = f"Warning  FailedScheduling  1m  default-scheduler  0/1 nodes are available: 1 Insufficient cpu.\n{SANDBOX}old"
    assert [said.message for said in messages_in(text)] == ["0/1 nodes are available: 1 Insufficient cpu."]
