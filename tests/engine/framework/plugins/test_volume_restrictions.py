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
def test_a_disk_is_used_by_one_pod_unless_all_only_read(world, mine, theirs, fits):
    world.node("n")
    world.node("free")
    world.pod("old", on="n", volumes=[{"name": "v", **theirs}])

    rejected = world.rejections(world.framework(), world.pod("p", volumes=[{"name": "v", **mine}]))

    assert rejected == ({} if fits else {"n": NO_DISK})


def test_pods_that_need_what_is_not_whole_yet_are_known(world):
    world.node("n")
    world.update()
    framework = world.framework()
    claim = world.pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])

    without = framework.decided_without(claim)

    assert without == ["AzureDiskLimits", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"]
    assert framework.decided_without(world.pod("q", {"cpu": "1"}), world.snapshot) == []
