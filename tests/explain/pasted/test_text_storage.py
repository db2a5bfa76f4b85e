"""What pasted descriptions and tables of volumes, claims and classes say about a pod that waits for its volume."""

from __future__ import annotations

import pytest

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.pasted.pod_answer import PodAnswer
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

NONE_FOUND = "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."
CONFLICT = "0/2 nodes are available: 2 node(s) had volume node affinity conflict."
UNBOUND = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
NODES = "NAME     STATUS   ROLES    AGE   VERSION\nnode-1   Ready    <none>   20h   v1.30.2\n\n"
CLASSES = (
    "NAME            PROVISIONER                    RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE\n"
    "local-storage   kubernetes.io/no-provisioner   Delete          WaitForFirstConsumer   false                  20h\n\n"
)


def event(said: str) -> str:
    return (
        "Name:             loki-0\nNamespace:        logs\nStatus:           Pending\nContainers:\n  c:\n    Image:  x\nVolumes:\n  data:\n"
        "    Type:       PersistentVolumeClaim\n    ClaimName:  data-loki-0\nNode-Selectors:  <none>\nEvents:\n"
        f"  Warning  FailedScheduling  55s   default-scheduler  {said}\n"
    )


def claim(name: str = "data-loki-0", *, volume: str = "", storage_class: str = "local-storage", used_by: str = "loki-0") -> str:
    status = "Bound" if volume else "Pending"
    return (
        f"Name:          {name}\nNamespace:     logs\nStorageClass:  {storage_class}\nStatus:        {status}\nVolume:        {volume}\n"
        f"Capacity:\nAccess Modes:\nVolumeMode:    Filesystem\nUsed By:       {used_by}\nEvents:        <none>\n"
    )


def volume(name: str = "pv-1", *, of: str = "", status: str = "Available", storage_class: str = "local-storage", term: str = "") -> str:
    affinity = f"Node Affinity:\n  Required Terms:\n    Term 0:        {term}\n" if term else "Node Affinity:     <none>\n"
    return (
        f"Name:              {name}\nLabels:            <none>\nStorageClass:      {storage_class}\nStatus:            {status}\n"
        f"Claim:             {of}\nReclaim Policy:    Retain\nAccess Modes:      RWO\nVolumeMode:        Filesystem\n"
        f"Capacity:          12Gi\n{affinity}Message:\nEvents:    <none>\n"
    )


def reading(text: str) -> TextReading:
    described = {key: PodInfo(pod) for key, pod in described_pods(CopiedText(text)).items()}
    return read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), described, seconds_of_age, storage_in(plain(text)))


def answer(text: str) -> PodAnswer:
    [found] = reading(text).answers
    return found


def test_a_volume_whose_node_does_not_exist_is_named_with_that_node() -> None:
    found = answer(event(NONE_FOUND) + volume(term="kubernetes.io/hostname in [your-node-name]") + claim())
    assert found.sentence == (
        "No PersistentVolume in the text matches the claim `logs/data-loki-0`: `pv-1` would match, but only nodes with "
        "`kubernetes.io/hostname=your-node-name` can access it."
    )
    assert found.advice.startswith("check that such a node exists: `kubectl get nodes --show-labels | grep your-node-name`")


def test_nodes_of_the_text_show_that_no_node_has_the_label_of_the_volume() -> None:
    found = answer(event(NONE_FOUND) + volume(term="kubernetes.io/hostname in [your-node-name]") + claim() + NODES)
    assert "`pv-1` can be used only from nodes with `kubernetes.io/hostname=your-node-name`, and no node in the text has" in found.sentence
    assert found.advice.startswith("name an existing node")


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (volume(storage_class="fast"), "`pv-1` has StorageClass `fast`, but the claim has `local-storage`"),
        (volume(storage_class=""), "`pv-1` has no StorageClass, but the claim has `local-storage`"),
        (volume(of="logs/old", status="Released"), "`pv-1` is Released: it still belongs to the deleted claim `logs/old`"),
        (volume(of="logs/other", status="Bound"), "`pv-1` belongs to the claim `logs/other`"),
        (volume().replace("Filesystem", "Block"), "`pv-1` has the volume mode Block, but the claim has Filesystem"),
    ],
)
def test_a_volume_that_does_not_match_a_claim_says_why(other: str, why: str) -> None:
    found = answer(event(NONE_FOUND) + claim() + other)
    assert found.sentence == f"No PersistentVolume in the text matches the claim `logs/data-loki-0`: {why}."
    assert found.advice


def test_a_released_volume_comes_with_the_command_that_frees_it() -> None:
    found = answer(event(UNBOUND) + claim() + volume(of="logs/old", status="Released"))
    assert '`kubectl patch pv pv-1 --type=json -p \'[{"op":"remove","path":"/spec/claimRef"}]\'`' in found.advice


def test_a_volume_that_matches_as_far_as_the_text_shows_leads_to_what_the_text_lacks() -> None:
    found = answer(event(NONE_FOUND) + claim() + volume())
    assert found.sentence == "The claim `logs/data-loki-0` is not bound, although the volume `pv-1` matches it as far as the text shows."
    assert "`kubectl get pvc data-loki-0 -n logs -o yaml`" in found.advice


def test_a_class_without_provisioner_needs_a_volume() -> None:
    found = answer(event(NONE_FOUND) + claim() + CLASSES)
    assert found.sentence == (
        "The claim `logs/data-loki-0` has no volume: StorageClass `local-storage` has the provisioner `kubernetes.io/no-provisioner`, which "
        "creates none, and the text shows no PersistentVolume."
    )


def test_a_class_that_the_table_of_classes_lacks_does_not_exist() -> None:
    found = answer(event(UNBOUND) + claim(storage_class="fast") + CLASSES)
    assert found.sentence == "The claim `logs/data-loki-0` has no volume: StorageClass `fast` does not exist."
    assert found.advice.startswith("create StorageClass `fast`")


def test_a_claim_without_class_needs_a_default_class() -> None:
    found = answer(event(UNBOUND) + claim(storage_class="") + CLASSES)
    assert found.sentence.endswith("it names no StorageClass, and none of the classes in the text is the default.")


def test_the_place_of_a_bound_volume_is_part_of_the_answer() -> None:
    bound = claim(volume="pv-1") + volume(of="logs/data-loki-0", status="Bound", term="topology.kubernetes.io/zone in [eu-1a]")
    found = answer(event(CONFLICT) + bound)
    assert found.sentence == "The pod's volume `pv-1` can be used only from nodes with `topology.kubernetes.io/zone=eu-1a`."
    node = "Name:    n1\nRoles:   <none>\nLabels:  kubernetes.io/hostname=n1\n         topology.kubernetes.io/zone=eu-1b\n"
    assert answer(event(CONFLICT) + bound + node).sentence.endswith(", and no node in the text has this label.")
    assert answer(event(CONFLICT) + bound + node.replace("1b", "1a")).sentence.endswith("`topology.kubernetes.io/zone=eu-1a`: n1.")


def test_volumes_in_different_zones_are_named() -> None:
    text = (
        event(CONFLICT)
        + claim(volume="pv-1")
        + claim("logs-loki-0", volume="pv-2")
        + volume("pv-1", of="logs/data-loki-0", status="Bound", term="topology.kubernetes.io/zone in [eu-1a]")
        + volume("pv-2", of="logs/logs-loki-0", status="Bound", term="topology.kubernetes.io/zone in [eu-1b]")
    ).replace(
        "ClaimName:  data-loki-0\n",
        "ClaimName:  data-loki-0\n  more:\n    Type:       PersistentVolumeClaim\n    ClaimName:  logs-loki-0\n",
    )
    assert answer(text).sentence == (
        "No node can access all volumes of the pod, which are in different places: `pv-1` (`topology.kubernetes.io/zone=eu-1a`), "
        "`pv-2` (`topology.kubernetes.io/zone=eu-1b`)."
    )


def test_a_reason_without_its_message_is_explained_beside_tables() -> None:
    text = (
        "1 node(s) had volume node affinity conflict minikube\n\n"
        "NAME   CAPACITY   ACCESS MODES   RECLAIM POLICY   STATUS   CLAIM           STORAGECLASS   REASON   AGE\n"
        "pv-j   10Gi       RWO            Retain           Bound    tools/jenkins   manual                  25m\n"
    )
    found = reading(text)
    assert [clause.headline for clause in found.messages[0].message.clauses] == ["1 node cannot access the pod's volume"]
    assert found.answers[0].sentence == "The pod's claim `tools/jenkins` is bound to the volume `pv-j`."
    assert "`kubectl describe pv pv-j`" in found.answers[0].advice


def test_tables_without_a_message_explain_the_unbound_claim() -> None:
    table = (
        "NAMESPACE   NAME          STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS    AGE\n"
        "logs        data-loki-0   Pending                                      local-storage   11m\n\n"
    )
    [message] = reading(table + CLASSES).messages
    assert message.pod == "logs/data-loki-0"
    assert "which creates none" in message.message.clauses[0].headline
    assert reading(table).messages == ()


def test_objects_of_the_text_that_do_not_matter_are_mentioned() -> None:
    found = reading(
        event("0/1 nodes are available: 1 Insufficient cpu.") + claim(volume="pv-1") + volume(of="logs/data-loki-0", status="Bound")
    )
    assert found.others == "read, but not needed for the answer: PersistentVolume pv-1, PersistentVolumeClaim logs/data-loki-0"
    assert found.answers[0].sentence == ""


def test_the_volume_is_a_note_beside_an_autoscaler_and_beside_reasons_that_come_first() -> None:
    bound = claim(volume="pv-1") + volume(of="logs/data-loki-0", status="Bound", term="topology.kubernetes.io/zone in [eu-1a]")
    note = "The pod's volume `pv-1` can be used only from nodes with `topology.kubernetes.io/zone=eu-1a`."
    refusal = (
        "  Normal   NotTriggerScaleUp  3m  cluster-autoscaler  pod didn't trigger scale-up: 2 node(s) had volume node affinity conflict\n"
    )
    beside = answer(event(CONFLICT) + refusal + bound)
    assert beside.sentence.startswith("Neither node can access the pod's volume. The cluster autoscaler did not add a node: 2 node groups ")
    assert beside.note == note
    second = answer(event("0/4 nodes are available: 1 node(s) had volume node affinity conflict, 3 Insufficient cpu.") + bound)
    assert (second.sentence, second.note) == ("", note)


def test_a_volume_in_yaml_among_the_text_is_read() -> None:
    manifest = (
        "Details:\n\napiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: pv-1\nspec:\n  claimRef:\n    name: data-loki-0\n"
        "    namespace: logs\n  nodeAffinity:\n    required:\n      nodeSelectorTerms:\n      - matchExpressions:\n"
        "        - key: topology.kubernetes.io/zone\n          operator: In\n          values:\n          - eu-1a\n"
    )
    found = answer(f"Warning  FailedScheduling  2m   default-scheduler  {CONFLICT}\n\n{manifest}")
    assert found.sentence == "The pod's volume `pv-1` can be used only from nodes with `topology.kubernetes.io/zone=eu-1a`."


def test_a_released_volume_of_a_claim_that_was_created_again_does_not_match() -> None:
    found = answer(event(UNBOUND) + claim() + volume(of="logs/data-loki-0", status="Released"))
    assert "`pv-1` is Released: it still belongs to the deleted claim `logs/data-loki-0`" in found.sentence


def test_a_cluster_without_classes_has_nothing_to_provision_with() -> None:
    found = answer(event(UNBOUND) + claim() + "$ kubectl get sc\nNo resources found\n")
    assert "the cluster has no StorageClass" in found.sentence


def test_a_claim_that_cannot_be_bound_says_so_in_its_events() -> None:
    said = "no persistent volumes available for this claim and no storage class is set"
    text = claim().replace("<none>\n", f"\n  Normal  FailedBinding  2m (x26 over 8m)  persistentvolume-controller  {said}\n")
    [message] = reading(text).messages
    assert message.pod == "logs/data-loki-0"
    assert message.message.clauses[0].headline.endswith(
        "no PersistentVolume matches it, and it names no StorageClass, nor is one the default"
    )


def test_the_command_searches_for_the_zone_and_not_for_its_region() -> None:
    text = (
        "Warning  FailedScheduling  2m  default-scheduler  0/1 nodes are available: 1 node(s) had volume node affinity conflict.\n\n"
        "Name:              pvc-1\nStorageClass:      gp2\nStatus:            Bound\nClaim:             shop/data\nReclaim Policy:    Delete\n"
        "Access Modes:      RWO\nCapacity:          1Gi\nNode Affinity:     \n  Required Terms:  \n"
        "    Term 0:        topology.kubernetes.io/region in [us-east-1]\n                   topology.kubernetes.io/zone in [us-east-1f]\n"
    )
    contents = contents_of(text)
    [answer] = read_text(contents.messages, contents.facts, {}, seconds_of_age, contents.storage).answers
    assert "`kubectl get nodes --show-labels | grep us-east-1f`" in answer.advice


def test_the_only_volume_of_manifests_is_the_one_that_the_scheduler_rejects() -> None:
    text = (
        "0/5 nodes are available: 1 node(s) had volume node affinity conflict, 4 node(s) didn't match node selector\n```\n"
        "kind: PersistentVolume\napiVersion: v1\nmetadata:\n  name: logs\nspec:\n  storageClassName: manual\n  capacity:\n    storage: 20Gi\n"
        "  accessModes: [ReadWriteOnce]\n  nodeAffinity:\n    required:\n      nodeSelectorTerms:\n        - matchExpressions:\n"
        "            - {key: kubernetes.io/hostname, operator: In, values: [node4]}\n```\n```\n"
        "kind: PersistentVolumeClaim\napiVersion: v1\nmetadata:\n  name: logs-claim\nspec:\n  storageClassName: manual\n"
        "  accessModes: [ReadWriteOnce]\n  resources:\n    requests:\n      storage: 20Gi\n```\n"
    )
    contents = contents_of(text)
    [answer] = read_text(contents.messages, contents.facts, {}, seconds_of_age, contents.storage).answers
    assert answer.sentence == (
        "The pod's volume and its node selector or affinity exclude each other: `logs` can be used only from nodes with "
        "`kubernetes.io/hostname=node4`, but of the 5 nodes the selector allows only 1, and not one of those."
    )
    assert answer.advice.startswith(
        "change the pod's node selector or affinity so that it allows a node with `kubernetes.io/hostname=node4`"
    )

    others = text.replace("4 node(s) didn't match node selector", "2 Insufficient cpu, 2 node(s) didn't match node selector")
    contents = contents_of(others)
    [answer] = read_text(contents.messages, contents.facts, {}, seconds_of_age, contents.storage).answers
    assert "exclude" not in answer.sentence + answer.note
