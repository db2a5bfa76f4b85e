"""Whether volumes can be provisioned for claims, on many nodes at once.

Upstream: framework/plugins/volumebinding/binder.go checkVolumeProvisions, hasEnoughCapacity
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from schedviz.engine.framework.listers import ObjectLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.topology import label_codes
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo
from schedviz.engine.framework.verdicts import Mask
from schedviz.kube.claims import NO_PROVISIONER, class_of_claim
from schedviz.kube.core import Node
from schedviz.kube.quantity import Quantity
from schedviz.kube.selectors import EVERYTHING, Selector, SelectorError, label_selector, requirement
from schedviz.kube.storage import (
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    StorageClass,
    TopologySelectorTerm,
)


class ProvisioningError(ValueError):
    """A claim for which provisioning cannot be checked."""


def can_provision(claim: PersistentVolumeClaim, rows: Rows, objects: ObjectLister) -> tuple[Mask, Mask]:
    """The rows on which the claim's class provisions volumes, and those with enough capacity. Raises `ProvisioningError`."""
    class_name = class_of_claim(claim)
    if not class_name:
        raise ProvisioningError(f'no class for claim "{claim.key}"')
    storage_class: StorageClass | None = objects.get("StorageClass", "", class_name)
    if storage_class is None:
        raise ProvisioningError(f'failed to find storage class "{class_name}"')
    if storage_class.provisioner in ("", NO_PROVISIONER):
        return np.zeros(len(rows), np.bool_), np.ones(len(rows), np.bool_)
    return _in_topology(storage_class.allowed_topologies, rows), _has_enough_capacity(claim, storage_class, rows, objects)


def _in_topology(terms: tuple[TopologySelectorTerm, ...], rows: Rows) -> Mask:
    """Upstream: pkg/apis/core/v1/helper/helpers.go MatchTopologySelectorTerms"""
    if not terms:
        return np.ones(len(rows), np.bool_)
    fitting = np.zeros(len(rows), np.bool_)
    for term in terms:
        selector = _topology_selector(term)
        if selector is not None:
            fitting |= _selected(selector, rows)
    return fitting


def _topology_selector(term: TopologySelectorTerm) -> Selector | None:
    """None: the term selects nothing."""
    if not term.match_label_expressions:
        return None
    try:
        requirements = [requirement(expression.key, "in", expression.values) for expression in term.match_label_expressions]
    except SelectorError:
        return None
    return EVERYTHING.with_requirements(*requirements)


def _has_enough_capacity(claim: PersistentVolumeClaim, storage_class: StorageClass, rows: Rows, objects: ObjectLister) -> Mask:
    """Drivers that publish their capacity must have published enough. Upstream: hasEnoughCapacity"""
    requested = claim.spec.resources.requests.get("storage")
    driver: CSIDriver | None = objects.get("CSIDriver", "", storage_class.provisioner)
    if requested is None or driver is None or not driver.spec.storage_capacity:
        return np.ones(len(rows), np.bool_)
    capacities: list[CSIStorageCapacity] = list(objects.list("CSIStorageCapacity"))
    return _with_access(
        [capacity for capacity in capacities if capacity.storage_class_name == storage_class.name and _suffices(capacity, requested.value)],
        rows,
    )


def volume_limit(capacity: CSIStorageCapacity) -> Quantity | None:
    """The largest volume; the maximum volume size is more precise than the total capacity. Upstream: volumeLimit"""
    return capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity


def node_capacity(claim: PersistentVolumeClaim, node: Node, objects: ObjectLister) -> CSIStorageCapacity | None:
    """The published capacity that would hold the claim's volume on a node; None: its driver publishes none.

    Upstream: hasEnoughCapacity
    """
    requested = claim.spec.resources.requests.get("storage")
    storage_class: StorageClass | None = objects.get("StorageClass", "", class_of_claim(claim))
    driver: CSIDriver | None = None if storage_class is None else objects.get("CSIDriver", "", storage_class.provisioner)
    if requested is None or storage_class is None or driver is None or not driver.spec.storage_capacity:
        return None
    capacities: list[CSIStorageCapacity] = list(objects.list("CSIStorageCapacity"))
    for capacity in capacities:
        is_of_class = capacity.storage_class_name == storage_class.name
        if is_of_class and _suffices(capacity, requested.value) and _has_access(node, capacity):
            return capacity
    return None


def _has_access(node: Node, capacity: CSIStorageCapacity) -> bool:
    """Upstream: nodeHasAccess"""
    try:
        return label_selector(capacity.node_topology).matches(node.metadata.labels)
    except SelectorError:
        return False


def _suffices(capacity: CSIStorageCapacity, size: int) -> bool:
    """Upstream: capacitySufficient"""
    limit = volume_limit(capacity)
    return limit is not None and limit.value >= size


def _with_access(capacities: Iterable[CSIStorageCapacity], rows: Rows) -> Mask:
    """The rows with access to any of the capacities. Upstream: nodeHasAccess"""
    having = np.zeros(len(rows), np.bool_)
    # A driver of local disks publishes one capacity per node, by one label; all of these are looked up at once.
    values_of: dict[str, set[str]] = {}
    for capacity in capacities:
        try:
            selector = label_selector(capacity.node_topology)
        except SelectorError:
            continue
        first = selector.requirements[0] if len(selector.requirements) == 1 else None
        if first is not None and first.operator in ("=", "in"):
            values_of.setdefault(first.key, set()).update(first.values)
        else:
            having |= _selected(selector, rows)
    for key, allowed_values in values_of.items():
        codes, values = label_codes(rows, key)
        having |= np.array([value in allowed_values for value in values], np.bool_)[codes]
    return having


def _selected(selector: Selector, rows: Rows) -> Mask:
    def compute(info: NodeInfo) -> int:
        return info.node is not None and selector.matches(info.node.metadata.labels)

    return rows.node_column((names.VOLUME_BINDING, selector), compute, np.bool_).astype(np.bool_, copy=False)
