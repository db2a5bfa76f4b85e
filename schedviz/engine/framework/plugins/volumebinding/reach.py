"""From which nodes volumes can be reached.

Upstream: component-helpers/storage/volume/helpers.go CheckNodeAffinity
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.topology import label_codes
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo
from schedviz.engine.framework.verdicts import Index, Mask
from schedviz.kube.affinity import NodeSelector, NodeSelectorTerm
from schedviz.kube.core import Node
from schedviz.kube.meta import ObjectMeta
from schedviz.kube.node_affinity import LazyErrorNodeSelector, lazy_node_selector
from schedviz.kube.selectors import SelectorError
from schedviz.kube.storage import VolumeNodeAffinity

HOSTNAME = "kubernetes.io/hostname"


class Reach:
    """Which of some rows have a volume in reach. Made for one call of Filter."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._known: dict[NodeSelector, Index] = {}

    def index(self, affinity: VolumeNodeAffinity | None) -> Index:
        """The rows that fulfil a volume's node affinity, in no particular order."""
        required = None if affinity is None else affinity.required
        if required is None:
            return self._everywhere
        known = self._known.get(required)
        if known is None:
            known = self._known[required] = self._fulfilling(required)
        return known

    def mask(self, affinity: VolumeNodeAffinity | None) -> Mask:
        """The same as a mask."""
        mask = np.zeros(len(self._rows), np.bool_)
        mask[self.index(affinity)] = True
        return mask

    @cached_property
    def _everywhere(self) -> Index:
        return np.arange(len(self._rows))

    def _fulfilling(self, required: NodeSelector) -> Index:
        selector = lazy_node_selector(required)
        hosts = _named_hosts(required)
        if hosts is not None:
            # A local volume: few nodes are looked at, and nothing is remembered for the many others.
            infos = self._rows.infos
            rows = [row for host in hosts for row in self._rows_of_host(host) if _matches(selector, infos[row])]
            return np.array(rows, np.intp)
        column = self._rows.node_column((names.VOLUME_BINDING, required), lambda info: _matches(selector, info), np.bool_)
        return np.flatnonzero(column)

    def _rows_of_host(self, host: str) -> list[int]:
        place, order, starts = self._hosts
        code = place.get(host)
        return [] if code is None else order[starts[code] : starts[code + 1]].tolist()

    @cached_property
    def _hosts(self) -> tuple[dict[str | None, int], Index, Index]:
        """Hostname -> its code; the rows sorted by code; where each code's rows begin among them."""
        codes, values = label_codes(self._rows, HOSTNAME)
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(values) + 1))
        return {value: code for code, value in enumerate(values)}, order, starts


def local_node_names(affinity: VolumeNodeAffinity | None) -> list[str]:
    """The nodes that a local volume names, sorted; none for a volume that is not local.

    Upstream: pkg/volume/util/util.go GetLocalPersistentVolumeNodeNames
    """
    if affinity is None or affinity.required is None:
        return []
    found: set[str] = set()
    for term in affinity.required.node_selector_terms:
        found |= _hosts_of(term) or set()
    return sorted(found)


def _named_hosts(required: NodeSelector) -> list[str] | None:
    """Hosts of which one must be the node's; None: it may be any."""
    found: set[str] = set()
    for term in required.node_selector_terms:
        hosts = _hosts_of(term)
        if hosts is None:
            return None
        found |= hosts
    return sorted(found)


def _hosts_of(term: NodeSelectorTerm) -> set[str] | None:
    hosts: set[str] | None = None
    for expression in term.match_expressions:
        if expression.key == HOSTNAME and expression.operator == "In":
            hosts = set(expression.values) if hosts is None else hosts & set(expression.values)
    return hosts


def _matches(selector: LazyErrorNodeSelector, info: NodeInfo) -> bool:
    return info.node is not None and _reaches(selector, info.node)


def _reaches(selector: LazyErrorNodeSelector, node: Node) -> bool:
    """Whether a node has the labels that are asked for; what cannot be understood is fulfilled by no node.

    As upstream, the node's name is left out, so fields are not looked at.
    """
    try:
        return selector.match(_nameless(node))
    except SelectorError:
        return False


def _nameless(node: Node) -> Node:
    return Node(metadata=ObjectMeta(labels=node.metadata.labels))


def why_out_of_reach(affinity: VolumeNodeAffinity | None, node: Node) -> str:
    """Why a node does not have a volume in reach; "" where it has. Upstream: CheckNodeAffinity"""
    if affinity is None or affinity.required is None:
        return ""
    try:
        matches = lazy_node_selector(affinity.required).match(_nameless(node))
    except SelectorError as error:
        return str(error)
    return "" if matches else "no matching NodeSelectorTerms"
