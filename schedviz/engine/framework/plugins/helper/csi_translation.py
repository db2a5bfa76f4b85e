"""Translates in-tree volumes to volumes of the CSI drivers that replaced them.

Upstream: csi-translation-lib
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from schedviz.kube.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from schedviz.kube.storage import CSINode, PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity
from schedviz.kube.volumes import AWSElasticBlockStore, AzureDisk, CSISource, Volume

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"

#: The annotation of a CSINode that lists the plugins whose volumes its drivers handle.
MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"

#: Separates the zones of a regional volume in its label.
_ZONES_DELIMITER: Final = "__"
_GCE_ZONAL: Final = "projects/UNSPECIFIED/zones/{}/disks/{}"
_GCE_REGIONAL: Final = "projects/UNSPECIFIED/regions/{}/disks/{}"
_AWS_VOLUME: Final = re.compile(r"vol-[^/]*")


class InTreePlugin(msgspec.Struct, frozen=True):
    """An in-tree plugin: its name, its CSI driver, and the member of a volume that it uses."""

    name: str
    driver: str
    source: str
    #: The driver's topology label for zones.
    topology_key: str = ""
    #: Whether the feature gate of its migration is on in v1.27.
    is_migration_on: bool = False


AWS_EBS: Final = InTreePlugin(
    "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "aws_elastic_block_store", "topology.ebs.csi.aws.com/zone", is_migration_on=True
)
GCE_PD: Final = InTreePlugin(
    "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gce_persistent_disk", "topology.gke.io/zone", is_migration_on=True
)
AZURE_DISK: Final = InTreePlugin("kubernetes.io/azure-disk", "disk.csi.azure.com", "azure_disk", is_migration_on=True)
CINDER: Final = InTreePlugin(
    "kubernetes.io/cinder", "cinder.csi.openstack.org", "cinder", "topology.cinder.csi.openstack.org/zone", is_migration_on=True
)
PORTWORX: Final = InTreePlugin("kubernetes.io/portworx-volume", "pxd.portworx.com", "portworx_volume")
#: The scheduler's feature checks do not cover plugins after the first four, which stay in-tree there.
IN_TREE_PLUGINS: Final = (
    AWS_EBS,
    GCE_PD,
    AZURE_DISK,
    CINDER,
    InTreePlugin("kubernetes.io/azure-file", "file.csi.azure.com", "azure_file"),
    InTreePlugin("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "vsphere_volume"),
    PORTWORX,
    InTreePlugin("kubernetes.io/rbd", "rbd.csi.ceph.com", "rbd"),
)
#: v1.36 has no translation for RBD volumes.
IN_TREE_PLUGINS_V1_36: Final = tuple(plugin for plugin in IN_TREE_PLUGINS if plugin.source != "rbd")
#: The names of the plugins whose migration is on.
MIGRATION_ON: Final = frozenset(plugin.name for plugin in IN_TREE_PLUGINS if plugin.is_migration_on)
MIGRATION_ON_V1_36: Final = MIGRATION_ON | {PORTWORX.name}
BY_NAME: Final = {plugin.name: plugin for plugin in IN_TREE_PLUGINS}


class TranslationError(ValueError):
    """A volume that cannot be translated to its driver."""


def migrated_plugins(csi_node: CSINode) -> frozenset[str]:
    """The plugins whose volumes a node's CSI drivers handle."""
    return frozenset(filter(None, csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "").split(",")))


def in_tree_plugin(source: PersistentVolumeSpec | Volume, plugins: Iterable[InTreePlugin] = IN_TREE_PLUGINS) -> InTreePlugin | None:
    """The in-tree plugin of a volume. Upstream: GetInTreePluginNameFromSpec"""
    return next((plugin for plugin in plugins if getattr(source, plugin.source) is not None), None)


def translated(volume: PersistentVolume, plugin: InTreePlugin) -> PersistentVolume:
    """A volume as its driver's: CSI source, and zones with the driver's label. Raises `TranslationError`.

    Upstream: TranslateInTreePVToCSI
    """
    spec = volume.spec
    handle = _handle_of_volume(volume)
    affinity = _driver_topology(volume, plugin.topology_key) if plugin.topology_key else spec.node_affinity
    source = CSISource(driver=plugin.driver, volume_handle=handle)
    return replace(volume, spec=replace(spec, node_affinity=affinity, csi=source, **{plugin.source: None}))


def inline_handle(volume: Volume) -> str:
    """The driver's handle of an inline disk. Raises `TranslationError`. Upstream: TranslateInTreeInlineVolumeToCSI"""
    if volume.gce_persistent_disk is not None:
        return _GCE_ZONAL.format("UNSPECIFIED", volume.gce_persistent_disk.pd_name)
    return _handle_of_disk(volume)


def _handle_of_volume(volume: PersistentVolume) -> str:
    disk = volume.spec.gce_persistent_disk
    if disk is None:
        return _handle_of_disk(volume.spec)
    labels = volume.metadata.labels
    zones = (labels.get(BETA_ZONE) or labels.get(ZONE, "")).split(_ZONES_DELIMITER)
    if len(zones) > 1:
        return _GCE_REGIONAL.format(_gce_region(zones), disk.pd_name)
    return _GCE_ZONAL.format(zones[0] or "UNSPECIFIED", disk.pd_name)


def _handle_of_disk(source: PersistentVolumeSpec | Volume) -> str:
    if source.aws_elastic_block_store is not None:
        return _ebs_volume_id(source.aws_elastic_block_store)
    if source.azure_disk is not None:
        return _azure_uri(source.azure_disk)
    if source.portworx_volume is not None:
        return source.portworx_volume.volume_id
    return source.cinder.volume_id if source.cinder is not None else ""


def _gce_region(zones: list[str]) -> str:
    """Upstream: gce_pd.go gceGetRegionFromZones"""
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            raise TranslationError(
                f"failed to get region from zones: zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            )
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        text = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise TranslationError(f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{text}]")
    return regions.pop()


def _ebs_volume_id(disk: AWSElasticBlockStore) -> str:
    """Upstream: aws_ebs.go KubernetesVolumeIDToEBSVolumeID"""
    name = disk.volume_id
    if not name.startswith("aws://"):
        return name
    volume_id = name.removeprefix("aws://").partition("/")[2].strip("/")
    if not _AWS_VOLUME.fullmatch(volume_id):
        raise TranslationError(f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({name})")
    return volume_id


def _azure_uri(disk: AzureDisk) -> str:
    # The API server's default kind is "Shared".
    kind = disk.kind or "Shared"
    if kind.lower() != "managed":
        raise TranslationError(f"kind({kind}) is not supported in csi migration")
    return disk.disk_uri


def _driver_topology(volume: PersistentVolume, key: str) -> VolumeNodeAffinity | None:
    """The node affinity with the driver's topology label instead of the zone label; derived from the volume's labels if it has no zone.

    Upstream: in_tree_volume.go translateTopologyFromInTreeToCSI
    """
    affinity, labels = volume.spec.node_affinity, volume.metadata.labels
    zone, region = _topology_labels(volume)
    if _values(affinity, zone):
        affinity = _renamed(affinity, zone, key)
    elif zone in labels:
        zones = sorted({name.strip() for name in labels[zone].split(_ZONES_DELIMITER)} - {""})
        if zones:
            affinity = _with_zones(affinity, NodeSelectorRequirement(key=key, operator="In", values=tuple(zones)))
    if region == BETA_REGION and _values(affinity, region):
        affinity = _renamed(affinity, region, REGION)
    return affinity


def _topology_labels(volume: PersistentVolume) -> tuple[str, str]:
    """The zone and region labels that the volume uses. Upstream: getTopologyLabel"""
    affinity, labels = volume.spec.node_affinity, volume.metadata.labels
    if _has_key(affinity, ZONE):
        return ZONE, REGION
    if _has_key(affinity, BETA_ZONE) or (ZONE not in labels and BETA_ZONE in labels):
        return BETA_ZONE, BETA_REGION
    return ZONE, REGION


def _terms(affinity: VolumeNodeAffinity | None) -> tuple[NodeSelectorTerm, ...]:
    return () if affinity is None or affinity.required is None else affinity.required.node_selector_terms


def _has_key(affinity: VolumeNodeAffinity | None, key: str) -> bool:
    return any(expression.key == key for term in _terms(affinity) for expression in term.match_expressions)


def _values(affinity: VolumeNodeAffinity | None, key: str) -> bool:
    """Whether the affinity requires values of a label. Upstream: getTopologyValues"""
    return any(expression.key == key and expression.values for term in _terms(affinity) for expression in term.match_expressions)


def _renamed(affinity: VolumeNodeAffinity | None, old: str, new: str) -> VolumeNodeAffinity:
    """Upstream: replaceTopology"""
    return _with_terms(
        replace(
            term,
            match_expressions=tuple(
                replace(expression, key=new) if expression.key == old else expression for expression in term.match_expressions
            ),
        )
        for term in _terms(affinity)
    )


def _with_zones(affinity: VolumeNodeAffinity | None, zones: NodeSelectorRequirement) -> VolumeNodeAffinity:
    """Upstream: addTopology"""
    terms = _terms(affinity) or (NodeSelectorTerm(),)
    return _with_terms(replace(term, match_expressions=(*term.match_expressions, zones)) for term in terms)


def _with_terms(terms: Iterable[NodeSelectorTerm]) -> VolumeNodeAffinity:
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=tuple(terms)))
