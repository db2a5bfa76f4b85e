"""v1.36: VolumeRestrictions, VolumeZone, NodeVolumeLimits."""

import pytest

from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueueingHint
from tests.engine.framework.plugins.conftest import Storage

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.QUEUE_SKIP
POD_DELETE = ClusterEvent(GVK.POD, ActionType.DELETE)
CLAIM_ADD = ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
CLAIM_UPDATE = ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.UPDATE)
VOLUME_ADD = ClusterEvent(GVK.PERSISTENT_VOLUME, ActionType.ADD)
VOLUME_UPDATE = ClusterEvent(GVK.PERSISTENT_VOLUME, ActionType.UPDATE)
CLASS_ADD = ClusterEvent(GVK.STORAGE_CLASS, ActionType.ADD)
NODE_ADD = ClusterEvent(GVK.NODE, ActionType.ADD)
NODE_LABEL = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_LABEL)
CSI_NODE_ADD = ClusterEvent(GVK.CSI_NODE, ActionType.ADD)
CSI_NODE_UPDATE = ClusterEvent(GVK.CSI_NODE, ActionType.UPDATE)
ATTACHMENT_DELETE = ClusterEvent(GVK.VOLUME_ATTACHMENT, ActionType.DELETE)
DISK = {"name": "d", "gcePersistentDisk": {"pdName": "disk"}}
EPHEMERAL = {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


@pytest.fixture
def world(world_of_v1_36):
    return world_of_v1_36


# VolumeRestrictions


def test_a_claim_for_one_pod_that_is_in_use_rejects_every_node(world, storage):
    world.node("n")
    storage.claim("c", volume="v", accessModes=["ReadWriteOncePod"])
    storage.volume("v")
    storage.pod("there", "c", on="n")

    rejected = world.rejections(world.framework(), storage.pod("p", "c"))

    reason = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
    assert rejected == {"n": ("VolumeRestrictions", "Unschedulable", (reason,))}


@pytest.mark.parametrize(("modes", "users", "skips"), [(["ReadWriteOncePod"], (), True), (["ReadWriteOnce"], ("there",), True)])
def test_a_claim_without_exclusive_use_needs_no_filter(world, storage, modes, users, skips):
    world.node("n")
    storage.claim("c", volume="v", accessModes=modes)
    storage.volume("v")
    for name in users:
        storage.pod(name, "c", on="n")
    pre, _, state = world.filter(world.framework(), storage.pod("p", "c"))

    assert ("VolumeRestrictions" in state.skip_filter_plugins) is skips
    assert next(answer for answer in pre.plugin_results if answer.plugin == "VolumeRestrictions").status.is_skip is skips


@pytest.mark.parametrize(
    ("mine", "theirs", "namespace", "hint"),
    [
        (DISK, DISK, "default", QUEUE),
        (DISK, DISK, "other", SKIP),
        (DISK, {"name": "d", "gcePersistentDisk": {"pdName": "another"}}, "default", SKIP),
        (
            {"name": "c", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "x", "persistentVolumeClaim": {"claimName": "c"}},
            "default",
            QUEUE,
        ),
        (
            {"name": "c", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "x", "persistentVolumeClaim": {"claimName": "d"}},
            "default",
            SKIP,
        ),
    ],
)
def test_the_deletion_of_a_pod_queues_those_that_need_its_disk_or_claim(world, mine, theirs, namespace, hint):
    gone = world.pod("gone", volumes=[theirs], namespace=namespace, nodeName="n")

    assert world.hint("VolumeRestrictions", POD_DELETE, world.pod("p", volumes=[mine]), old=gone) is hint


@pytest.mark.parametrize("plugin", ["VolumeRestrictions", "VolumeZone", "VolumeBinding", "NodeVolumeLimits"])
def test_a_claim_queues_the_pods_that_use_it(world, storage, plugin):
    claim = storage.claim("c")

    assert world.hint(plugin, CLAIM_ADD, storage.pod("p", "c"), new=claim) is QUEUE
    assert world.hint(plugin, CLAIM_ADD, storage.pod("q", "d"), new=claim) is SKIP
    assert world.hint(plugin, CLAIM_ADD, storage.pod("r", "c", namespace="other"), new=claim) is SKIP


@pytest.mark.parametrize(
    ("plugin", "hint"), [("VolumeBinding", QUEUE), ("NodeVolumeLimits", QUEUE), ("VolumeZone", SKIP), ("VolumeRestrictions", SKIP)]
)
def test_a_claim_that_was_made_for_a_pod_queues_it_where_ephemeral_volumes_count(world, storage, plugin, hint):
    claim = storage.claim("p-e")

    assert world.hint(plugin, CLAIM_ADD, world.pod("p", volumes=[EPHEMERAL]), new=claim) is hint


# VolumeZone


def test_a_beta_label_of_a_volume_meets_the_label_of_a_node(world, storage):
    for name, labels in (("a", {ZONE: "a"}), ("b", {ZONE: "b"}), ("both", {ZONE: "a", BETA_ZONE: "b"})):
        world.node(name, labels=labels)
    storage.claim("c", volume="v")
    storage.volume("v", labels={BETA_ZONE: "a"})

    rejected = world.rejections(world.framework(), storage.pod("p", "c"))

    assert sorted(rejected) == ["b", "both"]
    assert rejected["b"] == ("VolumeZone", "UnschedulableAndUnresolvable", ("node(s) had no available volume zone",))


def test_a_new_class_queues_pods_only_if_it_waits_for_them(world, storage):
    storage.storage_class("waits")
    storage.storage_class("at-once", waits=False)
    classes = {name: world.objects.get("StorageClass", "", name) for name in ("waits", "at-once")}

    assert world.hint("VolumeZone", CLASS_ADD, world.pod("p"), new=classes["waits"]) is QUEUE
    assert world.hint("VolumeZone", CLASS_ADD, world.pod("p"), new=classes["at-once"]) is SKIP


def test_a_volume_queues_pods_when_it_is_new_or_moves_to_another_zone(world, storage):
    here, there, labelled = (storage.volume("v", labels=labels) for labels in ({ZONE: "a"}, {ZONE: "b"}, {ZONE: "a", "x": "y"}))

    assert world.hint("VolumeZone", VOLUME_ADD, world.pod("p"), new=here) is QUEUE
    assert world.hint("VolumeZone", VOLUME_UPDATE, world.pod("p"), old=here, new=there) is QUEUE
    assert world.hint("VolumeZone", VOLUME_UPDATE, world.pod("p"), old=here, new=labelled) is SKIP


def test_every_added_or_relabelled_node_queues_pods_with_volumes(world):
    node = world.node("n")

    for plugin in ("VolumeZone", "VolumeBinding"):
        assert world.hint(plugin, NODE_ADD, world.pod("p"), new=node) is QUEUE
        assert world.hint(plugin, NODE_LABEL, world.pod("p"), old=node, new=node) is QUEUE
    assert world.hint("VolumeRestrictions", NODE_ADD, world.pod("p"), new=node) is QUEUE
    assert world.hint("VolumeRestrictions", NODE_LABEL, world.pod("p"), old=node, new=node) is None


# NodeVolumeLimits


def csi_node(world, storage, **limits):
    storage.csi_node("n", **limits)
    return world.objects.get("CSINode", "", "n")


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [({"d": 1}, {"d": 2}, QUEUE), ({"d": 2}, {"d": 1}, SKIP), ({"d": 1}, {"d": 1}, SKIP), ({}, {"d": 1}, QUEUE), ({"d": 1}, {}, SKIP)],
)
def test_a_limit_that_grows_queues_pods(world, storage, before, after, hint):
    old, new = csi_node(world, storage, **before), csi_node(world, storage, **after)

    assert world.hint("NodeVolumeLimits", CSI_NODE_UPDATE, world.pod("p"), old=old, new=new) is hint
    assert world.hint("NodeVolumeLimits", CSI_NODE_ADD, world.pod("p"), new=new) is QUEUE


@pytest.mark.parametrize(
    ("volumes", "place", "hint"),
    [
        ([{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}], {"nodeName": "n"}, QUEUE),
        ([{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}], {"status": {"nominatedNodeName": "n"}}, QUEUE),
        ([{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}], {}, SKIP),
        ([EPHEMERAL], {"nodeName": "n"}, QUEUE),
        ([DISK], {"nodeName": "n"}, QUEUE),
        ([{"name": "r", "rbd": {"monitors": ["m"], "image": "i"}}], {"nodeName": "n"}, SKIP),
        ([{"name": "x", "emptyDir": {}}], {"nodeName": "n"}, SKIP),
        ([], {"nodeName": "n"}, SKIP),
    ],
)
def test_the_deletion_of_a_pod_with_attached_volumes_queues_pods(world, volumes, place, hint):
    assert world.hint("NodeVolumeLimits", POD_DELETE, world.pod("p"), old=world.pod("gone", volumes=volumes, **place)) is hint


def attachment(world, name, *, driver, node="n", volume="v"):
    spec = {"attacher": driver, "nodeName": node, "source": {"persistentVolumeName": volume}}
    return world.object({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name}, "spec": spec})


def test_a_detached_volume_queues_pods_with_claims_or_with_disks_of_its_driver(world, storage):
    detached = attachment(world, "a", driver="pd.csi.storage.gke.io")
    other = attachment(world, "b", driver="ebs.csi.aws.com")

    assert world.hint("NodeVolumeLimits", ATTACHMENT_DELETE, storage.pod("p", "c"), old=other) is QUEUE
    assert world.hint("NodeVolumeLimits", ATTACHMENT_DELETE, world.pod("q", volumes=[DISK]), old=detached) is QUEUE
    assert world.hint("NodeVolumeLimits", ATTACHMENT_DELETE, world.pod("q", volumes=[DISK]), old=other) is SKIP
    assert world.hint("NodeVolumeLimits", ATTACHMENT_DELETE, world.pod("r"), old=detached) is SKIP


def test_pods_without_volumes_that_are_attached_are_not_counted(world, storage):
    world.node("n")
    storage.claim("c", volume="v")
    storage.volume("v")
    framework = world.framework()

    _, _, plain = world.filter(framework, world.pod("p", volumes=[{"name": "x", "emptyDir": {}}]))
    _, _, with_claim = world.filter(framework, storage.pod("q", "c"))

    assert "NodeVolumeLimits" in plain.skip_filter_plugins
    assert "NodeVolumeLimits" not in with_claim.skip_filter_plugins


def csi_claim(storage, name, driver="d"):
    storage.claim(name, volume=f"v-{name}")
    return storage.volume(f"v-{name}", csi={"driver": driver, "volumeHandle": f"h-{name}"})


def test_volumes_that_are_still_attached_count(world, storage):
    for name in ("n", "free"):
        world.node(name)
        storage.csi_node(name, d=1)
    csi_claim(storage, "old")
    csi_claim(storage, "new")
    attachment(world, "a", driver="d", volume="v-old")

    rejected = world.rejections(world.framework(), storage.pod("p", "new"))

    assert rejected == {"n": ("NodeVolumeLimits", "Unschedulable", ("node(s) exceed max volume count",))}


def test_an_attached_volume_that_a_pod_uses_counts_once(world, storage):
    world.node("n")
    storage.csi_node("n", d=2)
    csi_claim(storage, "old")
    csi_claim(storage, "new")
    storage.pod("there", "old", on="n")
    attachment(world, "a", driver="d", volume="v-old")

    assert world.rejections(world.framework(), storage.pod("p", "new")) == {}


def test_a_disk_that_its_driver_does_not_know_is_an_error_with_the_name_of_the_volume(world, storage):
    world.node("n")
    storage.csi_node("n", **{"disk.csi.azure.com": 1})
    pod = world.pod("p", volumes=[{"name": "v", "azureDisk": {"diskName": "d", "diskURI": "u"}}])

    _, outcome, _ = world.filter(world.framework(), pod)

    assert outcome.error is not None
    message = "converting volume(v) from inline to csi: kind(Shared) is not supported in csi migration"
    assert outcome.error.message == f'running "NodeVolumeLimits" filter plugin: {message}'


def test_a_limit_of_the_node_object_does_not_count(world, storage):
    world.node("n", {"attachable-volumes-csi-d": "0"})
    storage.csi_node("n")
    csi_claim(storage, "c")

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {}


def test_a_disk_counts_for_its_driver_on_every_node_with_a_csi_node(world, storage):
    world.node("n")
    storage.csi_node("n", **{"pd.csi.storage.gke.io": 0})

    rejected = world.rejections(world.framework(), world.pod("p", volumes=[DISK]))

    assert rejected == {"n": ("NodeVolumeLimits", "Unschedulable", ("node(s) exceed max volume count",))}


@pytest.mark.parametrize(("prevents", "gate", "rejected"), [(True, True, ["without"]), (False, True, []), (True, False, [])])
def test_a_driver_can_keep_pods_off_nodes_that_lack_it(v1_36_with_gates, prevents, gate, rejected):
    world = v1_36_with_gates(VolumeLimitScaling=gate)
    storage = Storage(world)
    spec = {"preventPodSchedulingIfMissing": prevents}
    world.object({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"}, "spec": spec})
    world.node("with")
    world.node("without")
    storage.csi_node("with", d=None)
    csi_claim(storage, "c")

    result = world.rejections(world.framework(), storage.pod("p", "c"))

    status = ("NodeVolumeLimits", "Unschedulable", ("d CSI driver is not installed on the node",))
    assert result == dict.fromkeys(rejected, status)
