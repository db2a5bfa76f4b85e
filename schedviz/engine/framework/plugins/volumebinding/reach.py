"""Which nodes satisfy the node affinity of volumes.

Upstream: component-helpers/storage/volume/helpers.go CheckNodeAffinity
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import msgspec
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


class Requirement(msgspec.Struct, frozen=True):
    """A volume's requirement of its node."""

    selector: LazyErrorNodeSelector
    #: The allowed hosts; None: any.
    hosts: tuple[str, ...] | None
    #: Only the host is required.
    only_host: bool


class ReachableRows:
    """The rows that can reach a volume. Created for one call of Filter."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._known: dict[NodeSelector, Index] = {}

    def few(self, affinity: VolumeNodeAffinity | None) -> list[int] | None:
        """The rows that can reach a local volume; None: the volume is not local, and there may be many."""
        required = None if affinity is None else affinity.required
        requirement = None if required is None else _parsed(required)
        if requirement is None or requirement.hosts is None:
            return None
        position, order, starts = self._hosts
        rows: list[int] = []
        for host in requirement.hosts:
            code = position.get(host)
            if code is not None:
                rows += order[starts[code] : starts[code + 1]]
        if requirement.only_host:
            return rows
        infos = self._rows.infos
        return [row for row in rows if _matches(requirement.selector, infos[row])]

    def index(self, affinity: VolumeNodeAffinity | None) -> Index:
        """The rows that satisfy a volume's node affinity, in no particular order."""
        required = None if affinity is None else affinity.required
        if required is None:
            return self._everywhere
        few = self.few(affinity)
        if few is not None:
            return np.array(few, np.intp)
        cached = self._known.get(required)
        if cached is None:
            selector = _parsed(required).selector
            column = self._rows.node_column((names.VOLUME_BINDING, required), lambda info: _matches(selector, info), np.bool_)
            cached = self._known[required] = np.flatnonzero(column)
        return cached

    def mask(self, affinity: VolumeNodeAffinity | None) -> Mask:
        """The rows that satisfy a volume's node affinity, as a mask."""
        mask = np.zeros(len(self._rows), np.bool_)
        mask[self.index(affinity)] = True
        return mask

    @cached_property
    def _everywhere(self) -> Index:
        return np.arange(len(self._rows))

    @cached_property
    def _hosts(self) -> tuple[dict[str | None, int], list[int], list[int]]:
        """Hostname -> its code; the rows sorted by code; and the start of each code's rows among them."""
        codes, values = label_codes(self._rows, HOSTNAME)
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(values) + 1))
        return {value: code for code, value in enumerate(values)}, order.tolist(), starts.tolist()


@lru_cache(maxsize=65_536)
def _parsed(required: NodeSelector) -> Requirement:
    hosts = _named_hosts(required)
    only_host = all(not term.match_fields and len(term.match_expressions) == 1 for term in required.node_selector_terms)
    return Requirement(lazy_node_selector(required), None if hosts is None else tuple(hosts), only_host)


def local_node_names(affinity: VolumeNodeAffinity | None) -> list[str]:
    """The nodes that a local volume names, sorted; none if the volume is not local.

    Upstream: pkg/volume/util/util.go GetLocalPersistentVolumeNodeNames
    """
    if affinity is None or affinity.required is None:
        return []
    hostnames: set[str] = set()
    for term in affinity.required.node_selector_terms:
        hostnames |= _hosts_of(term) or set()
    return sorted(hostnames)


def _named_hosts(required: NodeSelector) -> list[str] | None:
    """The allowed hosts; None: any."""
    hostnames: set[str] = set()
    for term in required.node_selector_terms:
        hosts = _hosts_of(term)
        if hosts is None:
            return None
        hostnames |= hosts
    return sorted(hostnames)


def _hosts_of(term: NodeSelectorTerm) -> set[str] | None:
    hosts: set[str] | None = None
    for expression in term.match_expressions:
        if expression.key == HOSTNAME and expression.operator == "In":
            hosts = set(expression.values) if hosts is None else hosts & set(expression.values)
    return hosts


def _matches(selector: LazyErrorNodeSelector, info: NodeInfo) -> bool:
    return info.node is not None and _reaches(selector, info.node)


def _reaches(selector: LazyErrorNodeSelector, node: Node) -> bool:
    """Whether a node has the required labels; an invalid requirement matches no node.

    As upstream, the node's name is not passed, so fields are not checked.
    """
    try:
        return selector.match(_nameless(node))
    except SelectorError:
        return False


def _nameless(node: Node) -> Node:
    return Node(metadata=ObjectMeta(labels=node.metadata.labels))


def why_out_of_reach(affinity: VolumeNodeAffinity | None, node: Node, *, lists_operators: bool = False) -> str:
    """Why a node cannot reach a volume; "": it can. Upstream: CheckNodeAffinity"""
    if affinity is None or affinity.required is None:
        return ""
    try:
        matches = lazy_node_selector(affinity.required, lists_operators=lists_operators).match(_nameless(node))
    except SelectorError as error:
        return str(error)
    return "" if matches else "no matching NodeSelectorTerms"
