"""v1.36: VolumeBinding."""

import pytest
from msgspec.structs import replace

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.plugins.volumebinding.assume_cache import AssumeError, PassiveVolumeCache
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueueingHint
from tests.engine.framework.plugins.conftest import Storage

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.QUEUE_SKIP
CLASS_ADD = ClusterEvent(GVK.STORAGE_CLASS, ActionType.ADD)
CLASS_UPDATE = ClusterEvent(GVK.STORAGE_CLASS, ActionType.UPDATE)
CSI_NODE_ADD = ClusterEvent(GVK.CSI_NODE, ActionType.ADD)
CSI_NODE_UPDATE = ClusterEvent(GVK.CSI_NODE, ActionType.UPDATE)
DRIVER_ADD = ClusterEvent(GVK.CSI_DRIVER, ActionType.ADD)
DRIVER_UPDATE = ClusterEvent(GVK.CSI_DRIVER, ActionType.UPDATE)
CAPACITY_ADD = ClusterEvent(GVK.CSI_STORAGE_CAPACITY, ActionType.ADD)
CAPACITY_UPDATE = ClusterEvent(GVK.CSI_STORAGE_CAPACITY, ActionType.UPDATE)


@pytest.fixture
def world(world_of_v1_36):
    return world_of_v1_36


def test_a_class_queues_pods_when_it_is_new_or_allows_other_topologies(world, storage):
    def made(*zones):
        expressions = [{"key": "zone", "values": list(zones)}]
        storage.storage_class("s", allowedTopologies=[{"matchLabelExpressions": expressions}] if zones else [])
        return world.objects.get("StorageClass", "", "s")

    pod, any_zone, zone_a = world.pod("p"), made(), made("a")

    assert world.hint("VolumeBinding", CLASS_ADD, pod, new=any_zone) is QUEUE
    assert world.hint("VolumeBinding", CLASS_UPDATE, pod, old=zone_a, new=any_zone) is QUEUE
    assert world.hint("VolumeBinding", CLASS_UPDATE, pod, old=zone_a, new=made("a")) is SKIP


def test_a_csi_node_queues_pods_when_it_is_new_or_migrates_other_plugins(world, storage):
    def made(migrated):
        storage.csi_node("n", migrated=migrated)
        return world.objects.get("CSINode", "", "n")

    pod, none, some = world.pod("p"), made(""), made("kubernetes.io/gce-pd")

    assert world.hint("VolumeBinding", CSI_NODE_ADD, pod, new=none) is QUEUE
    assert world.hint("VolumeBinding", CSI_NODE_UPDATE, pod, old=none, new=some) is QUEUE
    assert world.hint("VolumeBinding", CSI_NODE_UPDATE, pod, old=some, new=made("kubernetes.io/gce-pd")) is SKIP


def test_a_driver_that_stops_to_publish_its_capacity_queues_pods_with_its_volumes(world):
    def driver(tracks):
        spec = {"storageCapacity": tracks}
        return world.object({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"}, "spec": spec})

    inline = world.pod("p", volumes=[{"name": "v", "csi": {"driver": "d"}}])
    other = world.pod("q", volumes=[{"name": "v", "csi": {"driver": "e"}}])

    assert world.hint("VolumeBinding", DRIVER_UPDATE, inline, old=driver(tracks=True), new=driver(tracks=False)) is QUEUE
    assert world.hint("VolumeBinding", DRIVER_UPDATE, inline, old=driver(tracks=False), new=driver(tracks=True)) is SKIP
    assert world.hint("VolumeBinding", DRIVER_UPDATE, other, old=driver(tracks=True), new=driver(tracks=False)) is SKIP
    assert world.hint("VolumeBinding", DRIVER_ADD, inline, new=driver(tracks=False)) is None


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        ({"capacity": "1Gi"}, {"capacity": "2Gi"}, QUEUE),
        ({"capacity": "2Gi"}, {"capacity": "1Gi"}, SKIP),
        ({}, {"capacity": "1Gi"}, QUEUE),
        ({"capacity": "1Gi"}, {}, SKIP),
        ({"capacity": "1Gi", "maximumVolumeSize": "1Gi"}, {"capacity": "9Gi", "maximumVolumeSize": "1Gi"}, SKIP),
        ({"capacity": "1Gi", "maximumVolumeSize": "1Gi"}, {"capacity": "1Gi", "maximumVolumeSize": "2Gi"}, QUEUE),
    ],
)
def test_more_capacity_queues_pods(world, before, after, hint):
    def capacity(amounts):
        metadata = {"name": "c", "namespace": "default"}
        data = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": metadata, "storageClassName": "s"}
        return world.object({**data, **amounts})

    assert world.hint("VolumeBinding", CAPACITY_UPDATE, world.pod("p"), old=capacity(before), new=capacity(after)) is hint
    assert world.hint("VolumeBinding", CAPACITY_ADD, world.pod("p"), new=capacity(after)) is QUEUE


def test_a_local_volume_does_not_narrow_the_nodes_in_pre_filter(world, storage):
    world.node("a")
    world.node("b")
    storage.claim("c", volume="v")
    storage.volume("v", on=["a"])
    pre, outcome, _ = world.filter(world.framework(), storage.pod("p", "c"))

    assert pre.node_names is None
    assert outcome.node_to_status()["b"].reasons == ("node(s) didn't match PersistentVolume's node affinity",)


def test_a_claim_takes_only_volumes_of_its_attributes_class(world, storage):
    storage.storage_class("s")
    storage.claim("c", storage_class="s", volumeAttributesClassName="gold")
    for name, rest in (("a", {"volumeAttributesClassName": "gold"}), ("b", {"volumeAttributesClassName": "tin"}), ("n", {})):
        world.node(name)
        storage.volume(f"v-{name}", storage_class="s", on=[name], **rest)

    assert sorted(world.rejections(world.framework(), storage.pod("p", "c"))) == ["b", "n"]


def test_pre_bind_has_work_only_for_claims_that_are_not_bound(world, storage):
    world.node("n")
    storage.storage_class("s")
    storage.claim("bound", volume="v")
    storage.volume("v")
    storage.claim("waits", storage_class="s")
    storage.volume("free", storage_class="s")
    framework = world.framework()
    plugin = framework.plugins.by_name["VolumeBinding"]
    codes = {}
    for claims in ((), ("bound",), ("waits",)):
        pod = storage.pod("p", *claims)
        _, _, state = world.filter(framework, pod)
        assert plugin.reserve(state, pod, "n").is_success
        codes[claims] = plugin.pre_bind_pre_flight(state, pod, "n").code.value

    assert codes == {(): "Skip", ("bound",): "Skip", ("waits",): "Success"}
    assert plugin.pre_bind_pre_flight(CycleState(), pod, "n").reasons == ("not found",)


def test_storage_is_scored_only_if_its_feature_gate_is_on(world, v1_36_with_gates):
    results = {}
    for name, each in (("off", world), ("on", v1_36_with_gates(StorageCapacityScoring=True))):
        storage = Storage(each)
        storage.storage_class("s")
        storage.claim("c", storage_class="s", size="1Gi")
        for node, size in (("tight", "1Gi"), ("roomy", "4Gi")):
            each.node(node)
            storage.volume(f"v-{node}", storage_class="s", on=[node], size=size)
        outcome = each.score(each.framework(), storage.pod("p", "c"))
        scores = [plugin.raw.tolist() for plugin in outcome.plugins if plugin.name == "VolumeBinding"]
        results[name] = [sorted(score) for score in scores]

    # The default shape falls from 100 for empty to 0 for full storage.
    assert results == {"off": [], "on": [[0, 75]]}


def test_provisioned_volumes_are_scored_by_the_capacity_of_the_driver(v1_36_with_gates):
    world = v1_36_with_gates(StorageCapacityScoring=True)
    storage = Storage(world)
    storage.storage_class("s", provisioner="d")
    world.object({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"}, "spec": {"storageCapacity": True}})
    for node, size in (("a", "2Gi"), ("b", "8Gi")):
        world.node(node)
        metadata = {"name": f"c-{node}", "namespace": "default"}
        topology = {"matchLabels": {"kubernetes.io/hostname": node}}
        data = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": metadata, "storageClassName": "s"}
        world.object({**data, "nodeTopology": topology, "capacity": size})
    storage.claim("one", storage_class="s", size="1Gi")
    storage.claim("two", storage_class="s", size="1Gi")

    scores = world.scores_of(world.framework(), storage.pod("p", "one", "two"), "VolumeBinding")

    assert scores == {"a": 0, "b": 75}


@pytest.fixture
def cache(storage):
    cache = PassiveVolumeCache()
    cache.add(storage.volume("v"))
    return cache


def newer(volume, version):
    return replace(volume, metadata=replace(volume.metadata, resource_version=version))


def test_an_assumed_volume_lasts_until_the_informer_has_another_version(cache):
    stored = cache.get("v")
    assumed = replace(stored, unread="assumed")
    cache.assume(assumed)
    cache.add(stored)
    assert cache.get("v") is assumed

    cache.add(newer(stored, "99"))
    assert cache.get("v").metadata.resource_version == "99"


def test_an_older_version_from_the_informer_replaces_a_newer_one(cache):
    cache.add(newer(cache.get("v"), "99"))
    cache.add(newer(cache.get("v"), "98"))

    assert cache.get("v").metadata.resource_version == "98"


def test_only_the_current_version_can_be_assumed(cache):
    stored = cache.get("v")

    with pytest.raises(AssumeError, match=r'^"v" is out of sync \(stored: 1, assume: 99\)$'):
        cache.assume(newer(stored, "99"))
    with pytest.raises(AssumeError, match=r'^persistentvolumes "w" not found$'):
        cache.get("w")


def test_an_assumed_volume_is_dropped_only_by_its_own_version(cache):
    stored = cache.get("v")
    assumed = replace(stored, unread="assumed")
    cache.assume(assumed)

    cache.restore(newer(stored, "99"))
    assert cache.get("v") is assumed
    cache.restore(assumed)
    assert cache.get("v") is stored
