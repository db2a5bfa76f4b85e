"""Volume limits of nodes, for CSI drivers and for in-tree disks."""

import pytest

from schedviz.engine.framework.plugins.nodevolumelimits.limits import csi_attach_limit_key

FULL = "node(s) exceed max volume count"
DRIVER = "csi.example.com"


def _csi_claim(storage, name, *, handle=None, driver=DRIVER):
    storage.volume(f"pv-{name}", csi={"driver": driver, "volumeHandle": handle or name})
    return storage.claim(name, volume=f"pv-{name}").name


def _full(world, pod):
    rejected = world.rejections(world.framework(), pod)
    assert all(code == "Unschedulable" and reasons == (FULL,) for _, code, reasons in rejected.values())
    return {name: plugin for name, (plugin, _, _) in rejected.items()}


def _ebs(name):
    return {"name": name, "awsElasticBlockStore": {"volumeID": name}}


# CSI


def test_the_csi_nodes_limit_counts_each_volume_once(world, storage):
    for name in ("none", "one", "two"):
        world.node(name)
    storage.csi_node("none", **{DRIVER: 0})
    storage.csi_node("one", **{DRIVER: 1})
    for name in ("one", "two"):
        storage.pod(f"on-{name}", _csi_claim(storage, "shared"), on=name)
    _csi_claim(storage, "another")
    _csi_claim(storage, "alias", handle="shared")

    assert _full(world, storage.pod("p", "another")) == {"none": "NodeVolumeLimits", "one": "NodeVolumeLimits"}
    assert _full(world, storage.pod("q", "alias")) == {"none": "NodeVolumeLimits"}
    assert _full(world, storage.pod("r", _csi_claim(storage, "foreign", driver="other"))) == {}


def test_a_node_can_set_the_limit_where_its_csi_node_does_not(world, storage):
    world.node("full", {f"attachable-volumes-csi-{DRIVER}": "0"})
    world.node("overridden", {f"attachable-volumes-csi-{DRIVER}": "0"})
    storage.csi_node("overridden", **{DRIVER: 5})

    assert _full(world, storage.pod("p", _csi_claim(storage, "c"))) == {"full": "NodeVolumeLimits"}


def test_volumes_that_are_not_provisioned_yet_are_counted_by_their_class(world, storage):
    world.node("a")
    storage.csi_node("a", **{DRIVER: 1})
    storage.storage_class("dyn", DRIVER)
    storage.claim("c1", storage_class="dyn")
    storage.claim("c2", storage_class="dyn")

    assert _full(world, storage.pod("p", "c1")) == {}
    assert _full(world, storage.pod("q", "c1", "c2")) == {"a": "NodeVolumeLimits"}


def test_migrated_disks_count_as_their_drivers(world, storage):
    for name in ("migrated", "not yet", "no limit"):
        world.node(name)
    storage.csi_node("migrated", migrated="kubernetes.io/gce-pd", **{"pd.csi.storage.gke.io": 1})
    storage.csi_node("not yet", **{"pd.csi.storage.gke.io": 1})
    world.pod("old", on="migrated", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "d1", "readOnly": True}}])
    storage.volume("pv", gcePersistentDisk={"pdName": "d2"})
    storage.claim("c", volume="pv")

    assert _full(world, storage.pod("p", "c")) == {"migrated": "NodeVolumeLimits"}
    assert _full(world, world.pod("q", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "d1", "readOnly": True}}])) == {}


def test_a_disk_that_its_driver_does_not_know_is_an_error(world, storage):
    world.node("a")
    storage.csi_node("a", **{"disk.csi.azure.com": 1})
    pod = world.pod("p", volumes=[{"name": "v", "azureDisk": {"diskName": "d", "diskURI": "u"}}])

    _, outcome, _ = world.filter(world.framework(), pod)

    assert outcome.error is not None
    before, after = "nil " * 21, " nil" * 7
    disk = "&AzureDiskVolumeSource{DiskName:d,DataDiskURI:u,CachingMode:*ReadWrite,FSType:*ext4,ReadOnly:*false,Kind:*Shared,}"
    assert outcome.error.message == (
        f'running "NodeVolumeLimits" filter plugin: converting volume({{v {{{before}{disk}{after}}}}}) from inline to csi: '
        "kind(Shared) is not supported in csi migration"
    )


def test_ephemeral_claims_of_others_are_an_error_on_their_node(world, storage):
    world.node("a")
    storage.csi_node("a", **{DRIVER: 9})
    world.pod("old", on="a", volumes=[{"name": "v", "ephemeral": {}}])
    storage.claim("old-v")
    pod = storage.pod("p", _csi_claim(storage, "c"))

    _, outcome, _ = world.filter(world.framework(), pod)

    assert outcome.error is not None
    assert outcome.error.message == (
        'running "NodeVolumeLimits" filter plugin: PVC default/old-v was not created for pod default/old (pod is not owner)'
    )


@pytest.mark.parametrize(
    ("driver", "key"),
    [
        ("csi.example.com", "attachable-volumes-csi-csi.example.com"),
        ("a" * 39, f"attachable-volumes-csi-{'a' * 39}"),
        ("a" * 40, "attachable-volumes-csi-" + "a" * 23 + "a56559418dc7908c"),
    ],
)
def test_long_driver_names_are_truncated_and_hashed(driver, key):
    assert csi_attach_limit_key(driver) == key


# In-tree disks


@pytest.mark.parametrize(
    ("instance_type", "limit"),
    [("", 39), ("m5.large", 25), ("x1.t3", 25), ("z1d.metal", 25), ("m4.large", 39)],
)
def test_ebs_limits_depend_on_the_instance(world, instance_type, limit):
    world.node("a", labels={"node.kubernetes.io/instance-type": instance_type})
    world.pod("old", on="a", volumes=[_ebs(f"v{number}") for number in range(limit - 1)])

    assert _full(world, world.pod("p", volumes=[_ebs("new")])) == {}
    assert _full(world, world.pod("q", volumes=[_ebs("new"), _ebs("newer")])) == {"a": "EBSLimits"}


@pytest.mark.parametrize(
    ("plugin", "resource", "source"),
    [
        ("EBSLimits", "aws-ebs", lambda name: {"awsElasticBlockStore": {"volumeID": name}}),
        ("GCEPDLimits", "gce-pd", lambda name: {"gcePersistentDisk": {"pdName": name}}),
        ("AzureDiskLimits", "azure-disk", lambda name: {"azureDisk": {"diskName": name, "diskURI": name}}),
    ],
)
def test_a_node_sets_its_own_limit_and_claims_count_too(world, storage, plugin, resource, source):
    world.node("a", {f"attachable-volumes-{resource}": "1"})
    world.node("b")
    storage.volume("pv1", **source("d1"))
    storage.volume("pv2", **source("d2"))
    for number in ("1", "2"):
        storage.claim(f"c{number}", volume=f"pv{number}")
    storage.pod("old", "c1", on="a")

    assert _full(world, storage.pod("p", "c2")) == {"a": plugin}
    assert _full(world, storage.pod("q", "c1")) == {}


def test_claims_without_a_volume_count_by_their_class(world, storage):
    world.node("a", {"attachable-volumes-aws-ebs": "1"})
    storage.storage_class("gp2", "kubernetes.io/aws-ebs")
    storage.storage_class("other", "x.example.com")
    storage.claim("c1", storage_class="gp2")
    storage.claim("c2", storage_class="gp2")
    storage.claim("c3", storage_class="other")

    assert _full(world, storage.pod("p", "c1", "c3")) == {}
    assert _full(world, storage.pod("q", "c1", "c2")) == {"a": "EBSLimits"}


def test_where_disks_are_migrated_the_drivers_limit_counts(world, storage):
    world.node("a", {"attachable-volumes-aws-ebs": "0"})
    storage.csi_node("a", **{"ebs.csi.aws.com": 1})

    assert _full(world, world.pod("p", volumes=[_ebs("v")])) == {}
    assert _full(world, world.pod("q", volumes=[_ebs("v"), _ebs("w")])) == {"a": "NodeVolumeLimits"}
