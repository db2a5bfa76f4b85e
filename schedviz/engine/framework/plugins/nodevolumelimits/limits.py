"""Volume limits of nodes, from their Node and CSINode objects, and `VolumeLimits`, the base of the plugins that check them.

Upstream: framework/plugins/nodevolumelimits/utils.go, csi.go getVolumeLimits, pkg/volume/util/attach_limit.go
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import FilterReads, Handle
from schedviz.engine.framework.listers import ObjectLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.csi_translation import AWS_EBS, AZURE_DISK, CINDER, GCE_PD, migrated_plugins
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import unschedulable
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Mask
from schedviz.kube.claims import why_not_for_pod
from schedviz.kube.core import Pod
from schedviz.kube.storage import CSINode, PersistentVolume, PersistentVolumeClaim
from schedviz.kube.volumes import Volume

MAX_VOLUME_COUNT_EXCEEDED: Final = unschedulable("node(s) exceed max volume count")

#: Prefix of the resources with which a Node limits the volumes of a kind.
ATTACHABLE: Final = "attachable-volumes-"
#: Prefix of the names of volumes that are not provisioned yet. Upstream draws it at random; no real volume has such a name.
NOT_PROVISIONED: Final = "?"
#: In a column of volume counts: the node has volumes that can only be counted one by one.
UNCOUNTED: Final = -1
_CSI_PREFIX: Final = f"{ATTACHABLE}csi-"
_RESOURCE_NAME_LENGTH_LIMIT: Final = 63
NO_LIMIT: Final = -1

#: Migrated on every node that has a CSINode, whatever that object lists, as upstream does.
_ALWAYS_MIGRATED: Final = frozenset({AWS_EBS.name, AZURE_DISK.name, CINDER.name})


def csi_attach_limit_key(driver: str) -> str:
    """The resource name of a CSI driver's volumes; a long driver name is truncated and hashed. Upstream: GetCSIAttachLimitKey"""
    if len(_CSI_PREFIX) + len(driver) < _RESOURCE_NAME_LENGTH_LIMIT:
        return f"{_CSI_PREFIX}{driver}"
    digest = hashlib.sha1(driver.encode(), usedforsecurity=False).hexdigest()
    return f"{_CSI_PREFIX}{driver[:23]}{digest[:16]}"


class Migration(msgspec.Struct, frozen=True):
    """The plugins whose volumes a node's CSI drivers handle."""

    has_csi_node: bool = False
    plugins: frozenset[str] = frozenset()
    #: On every node that has a CSINode.
    always: frozenset[str] = _ALWAYS_MIGRATED

    def is_on(self, plugin: str) -> bool:
        """Upstream: isCSIMigrationOn"""
        if not self.has_csi_node:
            return False
        return plugin in self.always or (plugin == GCE_PD.name and plugin in self.plugins)


NO_MIGRATION: Final = Migration()


class CSINodes:
    """The limits and migrations of all CSINodes. Computed again when one of them changes."""

    def __init__(self, objects: ObjectLister) -> None:
        self._objects = objects
        self._listed: Sequence[CSINode] | None = None

    def refresh(self) -> None:
        """Read the informer's present list."""
        listed: Sequence[CSINode] = self._objects.list("CSINode")
        # The informer returns the same list until an object changes.
        if listed is self._listed:
            return
        self._listed = listed
        #: Identifies this list of CSINodes in the keys of columns.
        self._version = object()
        self._place = {csi_node.name: index for index, csi_node in enumerate(listed)}
        #: By driver: a limit for each CSINode, and NO_LIMIT at the end for nodes without one.
        self._limits: dict[str, npt.NDArray[np.int64]] = {}
        self._limited = np.zeros(len(listed) + 1, np.bool_)
        kinds: dict[Migration, int] = {}
        migration = np.zeros(len(listed) + 1, np.int64)
        for index, csi_node in enumerate(listed):
            for driver in csi_node.spec.drivers:
                if driver.allocatable is not None and driver.allocatable.count is not None:
                    key = csi_attach_limit_key(driver.name)
                    self._limits.setdefault(key, np.full(len(listed) + 1, NO_LIMIT, np.int64))[index] = driver.allocatable.count
                    self._limited[index] = True
            migration[index] = kinds.setdefault(self._migration_of(csi_node), len(kinds))
        migration[-1] = kinds.setdefault(NO_MIGRATION, len(kinds))
        self._migration = migration
        #: The distinct migrations.
        self.migrations = tuple(kinds)

    def _migration_of(self, csi_node: CSINode) -> Migration:
        return Migration(True, migrated_plugins(csi_node))

    def places(self, rows: Rows) -> IntArray:
        """Positions of the rows' CSINodes in the list, the argument of the methods below."""
        index_of = self._place
        return rows.node_column((names.NODE_VOLUME_LIMITS, self._version), lambda info: index_of.get(info.name, -1), np.intp)

    def migration(self, csi_rows: IntArray) -> IntArray:
        """The numbers of the rows' migrations."""
        return self._migration[csi_rows]

    def limit(self, csi_rows: IntArray, rows: Rows, key: str) -> IntArray:
        """How many volumes of a kind the rows take, by CSINode, else by Node; NO_LIMIT if neither has a limit."""
        own = self._limits.get(key)
        by_node = node_limit(rows, key)
        if own is None:
            return by_node
        by_csi_node = own[csi_rows]
        return np.where(by_csi_node == NO_LIMIT, by_node, by_csi_node)

    def has_limits(self, csi_rows: IntArray, rows: Rows) -> Mask:
        """The rows that limit volumes of any kind."""
        return self._limited[csi_rows] | rows.node_column((names.NODE_VOLUME_LIMITS, ATTACHABLE), _limits_volumes, np.bool_).astype(
            np.bool_
        )


def node_limit(rows: Rows, key: str) -> IntArray:
    """How many volumes of a kind the Nodes take; NO_LIMIT if a Node has no limit."""
    return rows.node_column((names.NODE_VOLUME_LIMITS, key), lambda info: info.allocatable.scalar.get(key, NO_LIMIT), np.int64)


def _limits_volumes(info: NodeInfo) -> bool:
    return any(name.startswith(ATTACHABLE) for name in info.allocatable.scalar)


class VolumeError(ValueError):
    """A pod's volume cannot be counted. The text is upstream's."""


class VolumeLimits:
    """Base of the plugins for CSI volumes and for in-tree disks: checks that a node has room for the pod's volumes."""

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._objects = handle.objects
        self._csi_nodes = CSINodes(handle.objects)

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's signature
        return FilterReads.PODS if pod.pod.spec.volumes else FilterReads.NODE

    def _claim(self, pod: Pod, volume: Volume, name: str, *, is_new: bool) -> PersistentVolumeClaim | None:
        """The claim of a pod's volume. A missing claim is an error for a new pod, and None for a pod on a node.

        Raises `VolumeError`.
        """
        if not name:
            raise VolumeError("PersistentVolumeClaim had no name")
        claim: PersistentVolumeClaim | None = self._objects.get("PersistentVolumeClaim", pod.namespace, name)
        if claim is None:
            if is_new:
                raise VolumeError(f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found')
            return None
        if volume.persistent_volume_claim is None and (why := why_not_for_pod(claim, pod)):
            raise VolumeError(why)
        return claim

    def _bound_volume(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """The PersistentVolume of a claim; None: the claim is not bound, or its volume does not exist."""
        bound: PersistentVolume | None = None
        if claim.spec.volume_name:
            bound = self._objects.get("PersistentVolume", "", claim.spec.volume_name)
        return bound
