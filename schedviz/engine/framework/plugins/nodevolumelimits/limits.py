"""How many volumes nodes can take: as the Node says, as its CSINode says, and whose volumes CSI drivers handle there.

Upstream: framework/plugins/nodevolumelimits/utils.go, csi.go getVolumeLimits, pkg/volume/util/attach_limit.go
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.listers import ObjectLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.csi_translation import AWS_EBS, AZURE_DISK, CINDER, GCE_PD, migrated_plugins
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import unschedulable
from schedviz.engine.framework.types import NodeInfo
from schedviz.engine.framework.verdicts import Mask
from schedviz.kube.storage import CSINode

MAX_VOLUME_COUNT_EXCEEDED: Final = unschedulable("node(s) exceed max volume count")

#: Nodes say with resources of this prefix how many volumes of a kind they take.
ATTACHABLE: Final = "attachable-volumes-"
_CSI_PREFIX: Final = f"{ATTACHABLE}csi-"
_RESOURCE_NAME_LENGTH_LIMIT: Final = 63
NO_LIMIT: Final = -1

#: Migrated wherever there is a CSINode, whatever it says (upstream looks no further).
_ALWAYS_MIGRATED: Final = frozenset({AWS_EBS.name, AZURE_DISK.name, CINDER.name})


def csi_attach_limit_key(driver: str) -> str:
    """The resource name of a CSI driver's volumes; a long driver name is cut and hashed. Upstream: GetCSIAttachLimitKey"""
    if len(_CSI_PREFIX) + len(driver) < _RESOURCE_NAME_LENGTH_LIMIT:
        return f"{_CSI_PREFIX}{driver}"
    digest = hashlib.sha1(driver.encode(), usedforsecurity=False).hexdigest()
    return f"{_CSI_PREFIX}{driver[:23]}{digest[:16]}"


class Migration(msgspec.Struct, frozen=True):
    """Which plugins' volumes a node's CSI drivers handle."""

    has_csi_node: bool = False
    plugins: frozenset[str] = frozenset()

    def is_on(self, plugin: str) -> bool:
        """Upstream: isCSIMigrationOn"""
        if not self.has_csi_node:
            return False
        return plugin in _ALWAYS_MIGRATED or (plugin == GCE_PD.name and plugin in self.plugins)


NO_MIGRATION: Final = Migration()


class CSINodes:
    """What all CSINodes say, by node. Made again when one of them changed."""

    def __init__(self, objects: ObjectLister) -> None:
        self._objects = objects
        self._listed: Sequence[CSINode] | None = None

    def refresh(self) -> None:
        """Take what the informer has now."""
        listed: Sequence[CSINode] = self._objects.list("CSINode")
        # The informer hands out the same list while nothing changed.
        if listed is self._listed:
            return
        self._listed = listed
        #: Names this list of CSINodes among the columns.
        self._version = object()
        self._place = {csi_node.name: place for place, csi_node in enumerate(listed)}
        #: By driver: a limit for each CSINode, and NO_LIMIT at the end for nodes without one.
        self._limits: dict[str, npt.NDArray[np.int64]] = {}
        self._limited = np.zeros(len(listed) + 1, np.bool_)
        kinds: dict[Migration, int] = {}
        migration = np.zeros(len(listed) + 1, np.int64)
        for place, csi_node in enumerate(listed):
            for driver in csi_node.spec.drivers:
                if driver.allocatable is not None and driver.allocatable.count is not None:
                    key = csi_attach_limit_key(driver.name)
                    self._limits.setdefault(key, np.full(len(listed) + 1, NO_LIMIT, np.int64))[place] = driver.allocatable.count
                    self._limited[place] = True
            migration[place] = kinds.setdefault(Migration(True, migrated_plugins(csi_node)), len(kinds))
        migration[-1] = kinds.setdefault(NO_MIGRATION, len(kinds))
        self._migration = migration
        #: The distinct migrations.
        self.migrations = tuple(kinds)

    def places(self, rows: Rows) -> IntArray:
        """Where the rows' CSINodes are; the arrays below are for these."""
        place = self._place
        return rows.node_column((names.NODE_VOLUME_LIMITS, self._version), lambda info: place.get(info.name, -1), np.intp)

    def migration(self, places: IntArray) -> IntArray:
        """The numbers of the rows' migrations."""
        return self._migration[places]

    def limit(self, places: IntArray, rows: Rows, key: str) -> IntArray:
        """How many volumes of a kind the rows take: as the CSINode says, or else the Node; NO_LIMIT where neither does."""
        own = self._limits.get(key)
        by_node = node_limit(rows, key)
        if own is None:
            return by_node
        by_csi_node = own[places]
        return np.where(by_csi_node == NO_LIMIT, by_node, by_csi_node)

    def has_limits(self, places: IntArray, rows: Rows) -> Mask:
        """The rows that limit volumes of any kind."""
        return self._limited[places] | rows.node_column((names.NODE_VOLUME_LIMITS, ATTACHABLE), _limits_volumes, np.bool_).astype(np.bool_)


def node_limit(rows: Rows, key: str) -> IntArray:
    """How many volumes of a kind the Nodes take; NO_LIMIT where they don't say."""
    return rows.node_column((names.NODE_VOLUME_LIMITS, key), lambda info: info.allocatable.scalar.get(key, NO_LIMIT), np.int64)


def _limits_volumes(info: NodeInfo) -> bool:
    return any(name.startswith(ATTACHABLE) for name in info.allocatable.scalar)
