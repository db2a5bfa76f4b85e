"""In-tree disks as volumes of their CSI drivers."""

import pytest

from schedviz.engine.framework.plugins.helper.csi_translation import TranslationError, in_tree_plugin, translated
from schedviz.kube.codec import from_dict

ZONE = "topology.kubernetes.io/zone"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"


def _translated(source, *, labels=None, terms=None):
    spec = dict(source)
    if terms is not None:
        spec["nodeAffinity"] = {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": key, "operator": "In", "values": values} for key, values in term.items()]}
                    for term in terms
                ]
            }
        }
    volume = from_dict({"kind": "PersistentVolume", "metadata": {"name": "v", "labels": labels or {}}, "spec": spec})
    plugin = in_tree_plugin(volume.spec)
    assert plugin is not None
    return translated(volume, plugin)


def _terms(volume):
    if volume.spec.node_affinity is None:
        return None
    terms = volume.spec.node_affinity.required.node_selector_terms
    return [{expression.key: list(expression.values) for expression in term.match_expressions} for term in terms]


@pytest.mark.parametrize(
    ("source", "labels", "driver", "handle"),
    [
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, {}, "ebs.csi.aws.com", "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}}, {}, "ebs.csi.aws.com", "vol-1"),
        ({"gcePersistentDisk": {"pdName": "d"}}, {}, "pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "x-y-a"}, "pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/x-y-a/disks/d"),
        (
            {"gcePersistentDisk": {"pdName": "d"}},
            {ZONE: "x-y-a__x-y-b"},
            "pd.csi.storage.gke.io",
            "projects/UNSPECIFIED/regions/x-y/disks/d",
        ),
        ({"azureDisk": {"diskName": "d", "diskURI": "/uri", "kind": "Managed"}}, {}, "disk.csi.azure.com", "/uri"),
        ({"cinder": {"volumeID": "c"}}, {}, "cinder.csi.openstack.org", "c"),
    ],
)
def test_each_kind_has_its_driver_and_handle(source, labels, driver, handle):
    volume = _translated(source, labels=labels)

    assert (volume.spec.csi.driver, volume.spec.csi.volume_handle) == (driver, handle)
    assert in_tree_plugin(volume.spec) is None


@pytest.mark.parametrize(
    ("source", "labels", "message"),
    [
        (
            {"awsElasticBlockStore": {"volumeID": "aws:///disk"}},
            {},
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws:///disk)",
        ),
        ({"azureDisk": {"diskName": "d", "diskURI": "u", "kind": "Dedicated"}}, {}, "kind(Dedicated) is not supported in csi migration"),
        (
            {"gcePersistentDisk": {"pdName": "d"}},
            {ZONE: "a__b"},
            "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: a",
        ),
        (
            {"gcePersistentDisk": {"pdName": "d"}},
            {ZONE: "x-y-a__x-z-a"},
            "failed to get region from zones: multiple or no regions gotten from zones, got: map[x-y:{} x-z:{}]",
        ),
    ],
)
def test_a_disk_that_the_driver_does_not_support_is_rejected(source, labels, message):
    with pytest.raises(TranslationError) as error:
        _translated(source, labels=labels)
    assert str(error.value) == message


EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
KEY = "topology.ebs.csi.aws.com/zone"


@pytest.mark.parametrize(
    ("labels", "terms", "expected"),
    [
        ({}, None, None),
        ({}, [{ZONE: ["a"], "x": ["y"]}], [{KEY: ["a"], "x": ["y"]}]),
        ({ZONE: "ignored"}, [{BETA_ZONE: ["a"], BETA_REGION: ["r"]}], [{KEY: ["a"], "topology.kubernetes.io/region": ["r"]}]),
        ({ZONE: "b__a"}, [{"x": ["y"]}, {"x": ["z"]}], [{"x": ["y"], KEY: ["a", "b"]}, {"x": ["z"], KEY: ["a", "b"]}]),
        ({BETA_ZONE: "a"}, None, [{KEY: ["a"]}]),
    ],
)
def test_zones_have_the_label_of_the_driver(labels, terms, expected):
    assert _terms(_translated(EBS, labels=labels, terms=terms)) == expected
