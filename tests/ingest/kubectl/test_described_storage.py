"""Volumes, claims, StorageClasses and nodes are read from kubectl's descriptions and tables."""

from __future__ import annotations

from schedviz.ingest.kubectl.described_storage import described_storage, storage_in
from schedviz.ingest.pasted.plain_text import plain

PV = """\
Name:              local-pv
Labels:            <none>
StorageClass:      local-storage
Status:            Available
Claim:
Reclaim Policy:    Retain
Access Modes:      RWO,ROX
VolumeMode:        Filesystem
Capacity:          12Gi
Node Affinity:
  Required Terms:
    Term 0:        kubernetes.io/hostname in [node-7, node-8]
                   disk exists
Message:
Source:
    Type:  LocalVolume (a persistent volume backed by local storage on a node)
    Path:  /data
Events:    <none>
"""
PVC = """\
Name:          data-loki-0
Namespace:     logs
StorageClass:  local-storage
Status:        Pending
Volume:
Labels:        name=loki
Capacity:
Access Modes:
VolumeMode:    Filesystem
Used By:       loki-0
Events:
  Type    Reason                Age   From                         Message
  ----    ------                ----  ----                         -------
  Normal  WaitForFirstConsumer  6m    persistentvolume-controller  waiting for first consumer to be created before binding
"""
CLASS = """\
Name:                  standard
IsDefaultClass:        Yes
Provisioner:           example.com/disk
AllowVolumeExpansion:  True
ReclaimPolicy:         Delete
VolumeBindingMode:     WaitForFirstConsumer
Events:                <none>
"""
TABLES = """\
$ kubectl get pvc -A
NAMESPACE   NAME       STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   AGE
shop        data-a-0   Pending                                      manual         11m
shop        data-b-0   Bound     pv-b     5Gi        RWO            manual         11m
$ kubectl get pv
NAME   CAPACITY   ACCESS MODES   RECLAIM POLICY   STATUS      CLAIM           STORAGECLASS   REASON   AGE
pv-a   1Gi        RWX            Retain           Released    shop/old        manual                  3d
pv-b   5Gi        RWO            Retain           Bound       shop/data-b-0   manual                  3d
pv-c   2Gi        RWO            Retain           Available                                           3d
$ kubectl get sc
NAME                 PROVISIONER                    RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE
manual               kubernetes.io/no-provisioner   Delete          WaitForFirstConsumer   false                  20h
standard (default)   rancher.io/local-path          Delete          Immediate              false                  20h
$ kubectl get nodes
NAME     STATUS   ROLES           AGE   VERSION
node-1   Ready    control-plane   20h   v1.30.2
"""


def test_a_described_volume_has_its_class_size_modes_and_the_terms_of_its_node_affinity() -> None:
    [volume] = storage_in(plain(f"host:~# kubectl describe pv local-pv\n{PV}")).volumes
    assert (volume.metadata.name, volume.spec.storage_class_name, volume.status.phase) == ("local-pv", "local-storage", "Available")
    assert str(volume.spec.capacity["storage"]) == "12Gi"
    assert volume.spec.access_modes == ("ReadWriteOnce", "ReadOnlyMany")
    assert volume.spec.claim_ref is None
    assert volume.spec.node_affinity is not None
    assert volume.spec.node_affinity.required is not None
    [term] = volume.spec.node_affinity.required.node_selector_terms
    assert [(each.key, each.operator, each.values) for each in term.match_expressions] == [
        ("kubernetes.io/hostname", "In", ("node-7", "node-8")),
        ("disk", "Exists", ()),
    ]


def test_a_described_claim_has_its_class_its_status_and_the_pods_that_use_it() -> None:
    storage = storage_in(PVC)
    [claim] = storage.claims
    assert (claim.key, claim.spec.storage_class_name, claim.status.phase) == ("logs/data-loki-0", "local-storage", "Pending")
    assert (claim.spec.volume_name, claim.spec.access_modes) == ("", ())
    assert storage.used_by == {"logs/data-loki-0": ("logs/loki-0",)}


def test_a_described_class_has_its_provisioner_and_may_be_the_default() -> None:
    storage = storage_in(CLASS)
    [found] = storage.classes
    assert (found.metadata.name, found.provisioner, found.volume_binding_mode) == ("standard", "example.com/disk", "WaitForFirstConsumer")
    assert (storage.default_class, storage.lists_classes) == ("standard", False)


def test_tables_with_empty_cells_are_read_by_column() -> None:
    storage = storage_in(TABLES)
    assert [(claim.key, claim.status.phase, claim.spec.volume_name) for claim in storage.claims] == [
        ("shop/data-a-0", "Pending", ""),
        ("shop/data-b-0", "Bound", "pv-b"),
    ]
    references = [volume.spec.claim_ref and volume.spec.claim_ref.name for volume in storage.volumes]
    assert references == ["old", "data-b-0", None]
    assert [volume.spec.storage_class_name for volume in storage.volumes] == ["manual", "manual", ""]
    assert [found.metadata.name for found in storage.classes] == ["manual", "standard"]
    assert (storage.default_class, storage.lists_classes) == ("standard", True)
    assert [node.metadata.name for node in storage.nodes] == ["node-1"]


def test_a_description_comes_before_a_row_about_the_same_object() -> None:
    row = "NAME       CAPACITY   ACCESS MODES   RECLAIM POLICY   STATUS      CLAIM   STORAGECLASS    REASON   AGE\n"
    row += "local-pv   12Gi       RWO            Retain           Available           local-storage            6m\n"
    [volume] = storage_in(f"{row}$ kubectl describe pv\n{PV}").volumes
    assert volume.spec.node_affinity is not None


def test_a_claim_of_a_table_without_namespaces_has_that_which_its_volume_names() -> None:
    text = (
        "NAME      STATUS   VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   AGE\n"
        "jenkins   Bound    pv-j     10Gi       RWO            manual         25m\n\n"
        "NAME   CAPACITY   ACCESS MODES   RECLAIM POLICY   STATUS   CLAIM           STORAGECLASS   REASON   AGE\n"
        "pv-j   10Gi       RWO            Retain           Bound    tools/jenkins   manual                  25m\n"
    )
    assert [claim.key for claim in storage_in(text).claims] == ["tools/jenkins"]


def test_names_with_their_kind_are_those_of_a_table_of_several_kinds() -> None:
    text = (
        "NAME                            STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   AGE\n"
        "persistentvolumeclaim/data-a    Pending                                      manual         11m\n"
    )
    assert [claim.key for claim in storage_in(text).claims] == ["default/data-a"]


def test_damaged_tables_and_descriptions_are_skipped() -> None:
    assert (
        storage_in("NAME   CAPACITY   RECLAIM POLICY   CLAIM\n\nName:  x\nAccess Modes:\nCapacity:  what\nReclaim Policy:  y\n").volumes
        == ()
    )
    assert storage_in("") == storage_in("all is well")


def test_the_objects_of_descriptions_are_those_of_an_import() -> None:
    assert [content["kind"] for content in described_storage(PV + PVC + CLASS)] == [
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
    ]


def test_a_table_may_be_indented_and_has_the_namespace_of_its_command() -> None:
    table = (
        "$ kubectl get pvc,sc -n data\n"
        "NAME                                STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   VOLUMEATTRIBUTESCLASS   AGE\n"
        "persistentvolumeclaim/data-worker   Pending                                      fast-ssd       <unset>                 12m\n\n"
        "NAME                                             PROVISIONER             RECLAIMPOLICY   VOLUMEBINDINGMODE      AGE\n"
        "storageclass.storage.k8s.io/standard (default)   rancher.io/local-path   Delete          WaitForFirstConsumer   3d\n"
    )
    storage = storage_in("".join(f"    {line}\n" for line in table.splitlines()))
    assert [(claim.key, claim.spec.storage_class_name) for claim in storage.claims] == [("data/data-worker", "fast-ssd")]
    assert storage.default_class == "standard"
