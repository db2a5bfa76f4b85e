import pytest

NAME = "VolumeRestrictions"
NO_DISK = (NAME, "Unschedulable", ("node(s) had no available disk",))


@pytest.mark.parametrize(
    ("mine", "theirs", "fits"),
    [
        ({"awsElasticBlockStore": {"volumeID": "v"}}, {"awsElasticBlockStore": {"volumeID": "v"}}, False),
        ({"awsElasticBlockStore": {"volumeID": "v"}}, {"awsElasticBlockStore": {"volumeID": "w"}}, True),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, False),
        ({"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, True),
        ({"iscsi": {"iqn": "i", "targetPortal": "p"}}, {"iscsi": {"iqn": "i", "targetPortal": "q"}}, False),
        ({"rbd": {"monitors": ["m", "n"], "image": "i"}}, {"rbd": {"monitors": ["n"], "image": "i"}}, False),
        ({"rbd": {"monitors": ["m"], "image": "i"}}, {"rbd": {"monitors": ["n"], "image": "i"}}, True),
    ],
)
def test_a_disk_is_used_by_one_pod_unless_all_mount_it_read_only(world, mine, theirs, fits):
    world.node("n")
    world.node("free")
    world.pod("old", on="n", volumes=[{"name": "v", **theirs}])

    rejected = world.rejections(world.framework(), world.pod("p", volumes=[{"name": "v", **mine}]))

    assert rejected == ({} if fits else {"n": NO_DISK})


def test_a_readwriteoncepod_claim_in_use_rejects_every_node(world, storage):
    world.node("a")
    world.node("b")
    storage.volume("v", accessModes=["ReadWriteOncePod"])
    storage.claim("c", volume="v", accessModes=["ReadWriteOncePod"])
    storage.pod("old", "c", on="a")
    taken = (NAME, "Unschedulable", ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",))

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {"a": taken, "b": taken}
