"""VolumeBinding's search in Filter: the nodes that can serve a pod's claims, and the bindings for the selected node.

Upstream: framework/plugins/volumebinding/binder.go FindPodVolumes, checkBoundClaims
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.listers import ObjectLister
from schedviz.engine.framework.plugins.helper.csi_translation import (
    MIGRATION_ON,
    InTreePlugin,
    TranslationError,
    in_tree_plugin,
    migrated_plugins,
    translated,
)
from schedviz.engine.framework.plugins.volumebinding.assume_cache import AssumeError, VolumeCache
from schedviz.engine.framework.plugins.volumebinding.matching import NONE, Choice, Matching
from schedviz.engine.framework.plugins.volumebinding.provisioning import ProvisioningError, can_provision
from schedviz.engine.framework.plugins.volumebinding.reach import ReachableRows
from schedviz.engine.framework.plugins.volumebinding.state import BindingInfo, PodVolumeClaims, PodVolumes
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status, unresolvable
from schedviz.engine.framework.verdicts import Mask, Verdicts
from schedviz.kube.claims import SELECTED_NODE
from schedviz.kube.selectors import SelectorError
from schedviz.kube.storage import CSINode, PersistentVolume, PersistentVolumeClaim

#: The reasons of a rejected row, as bits; messages are in this order.
NODE_CONFLICT: Final = 1
BIND_CONFLICT: Final = 2
NOT_ENOUGH_SPACE: Final = 4
PV_NOT_EXIST: Final = 8
NODE_CONFLICT_REASON: Final = "node(s) had volume node affinity conflict"
_REASONS: Final = {
    NODE_CONFLICT: NODE_CONFLICT_REASON,
    BIND_CONFLICT: "node(s) didn't find available persistent volumes to bind",
    NOT_ENOUGH_SPACE: "node(s) did not have enough free storage",
    PV_NOT_EXIST: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}
#: A row with an error has this bit, and the number of the error above it.
_ERROR_BIT: Final = 16

Findings = npt.NDArray[np.int64]


class SearchRules(msgspec.Struct, frozen=True):
    """What differs between releases."""

    #: The reason of a node from which a bound volume cannot be reached.
    node_conflict: str = NODE_CONFLICT_REASON
    #: A claim takes only volumes of its VolumeAttributesClass.
    by_attributes_class: bool = False
    #: The names of the in-tree plugins whose migration to a CSI driver is on.
    migrated: frozenset[str] = MIGRATION_ON


class VolumeSearch:
    """The search for one pod's volumes, over any rows, as often as needed."""

    def __init__(self, claims: PodVolumeClaims, volumes: VolumeCache, objects: ObjectLister, rules: SearchRules | None = None) -> None:
        self._rules = SearchRules() if rules is None else rules
        self._reasons = {**_REASONS, NODE_CONFLICT: self._rules.node_conflict}
        self._claims = claims
        self._volumes = volumes
        self._objects = objects
        #: Claims for which a node was already selected for provisioning.
        self._selected = [claim for claim in claims.unbound_delayed if SELECTED_NODE in claim.metadata.annotations]
        self._failures: list[str] = []
        self._matching: Matching | None = None
        try:
            unbound_claims = [claim for claim in claims.unbound_delayed if SELECTED_NODE not in claim.metadata.annotations]
            self._matching = Matching(unbound_claims, claims.volumes, by_attributes_class=self._rules.by_attributes_class)
        except SelectorError as error:
            self._failure_of_matching = str(error)

    def filter(self, rows: Rows) -> Verdicts | None:
        """The rows that can serve all claims. Upstream: volume_binding.go Filter"""
        self._failures = []
        reach = ReachableRows(rows)
        findings = self._check_bound(rows, reach)
        if self._claims.unbound_delayed:
            without_error = findings < _ERROR_BIT
            findings[without_error] |= self._check_unbound(rows, reach)[without_error]
        if not findings.any():
            return None
        distinct, codes = np.unique(np.append(findings, 0), return_inverse=True)
        return Verdicts(codes.reshape(-1)[:-1].astype(np.int16), tuple(self._status(int(finding)) for finding in distinct))

    def pod_volumes(self, rows: Rows) -> PodVolumes:
        """The bindings for a node that passed; `rows` has only this node."""
        matching = self._matching
        static: list[BindingInfo] = []
        unmatched: list[PersistentVolumeClaim] = []
        if matching is not None:
            for options, choice in zip(matching.options, matching.choose(1, ReachableRows(rows)), strict=True):
                number = int(choice[0])
                if number == NONE:
                    unmatched.append(options.claim)
                else:
                    static.append(BindingInfo(options.claim, matching.volumes[number]))
        dynamic = (*self._selected, *unmatched)
        return PodVolumes(tuple(static) or None, dynamic or None)

    def _status(self, finding: int) -> Status:
        if finding >= _ERROR_BIT:
            return as_status(self._failures[finding // _ERROR_BIT - 1])
        return unresolvable(*(reason for bit, reason in self._reasons.items() if finding & bit)) if finding else SUCCESS

    def _failure(self, message: str) -> int:
        self._failures.append(message)
        return len(self._failures) * _ERROR_BIT

    # Bound claims.

    def _check_bound(self, rows: Rows, reach: ReachableRows) -> Findings:
        findings = np.zeros(len(rows), np.int64)
        for claim in self._claims.bound:
            passing = findings == 0
            if not passing.any():
                break
            try:
                volume = self._volumes.get(claim.spec.volume_name)
            except AssumeError:
                findings[passing] = PV_NOT_EXIST
                break
            plugin = in_tree_plugin(volume.spec)
            migrated = None if plugin is None or plugin.name not in self._rules.migrated else self._where_migrated(plugin, rows)
            if plugin is None or migrated is None:
                findings[passing & ~reach.mask(volume.spec.node_affinity)] = NODE_CONFLICT
            else:
                findings[passing & ~migrated & ~reach.mask(volume.spec.node_affinity)] = NODE_CONFLICT
                self._check_migrated(volume, plugin, findings, passing & migrated, reach)
        return findings

    def _check_migrated(self, volume: PersistentVolume, plugin: InTreePlugin, findings: Findings, rows: Mask, reach: ReachableRows) -> None:
        """On nodes whose CSI driver handles the volume, its translated labels count. Upstream: tryTranslatePVToCSI"""
        try:
            affinity = translated(volume, plugin).spec.node_affinity
        except TranslationError as error:
            findings[rows] = self._failure(f"could not translate pv: {error}")
        else:
            findings[rows & ~reach.mask(affinity)] = NODE_CONFLICT

    def _where_migrated(self, plugin: InTreePlugin, rows: Rows) -> Mask | None:
        """The rows whose node's CSI driver handles the plugin's volumes; None: there is none."""
        csi_nodes: list[CSINode] = list(self._objects.list("CSINode"))
        nodes = {csi_node.name for csi_node in csi_nodes if plugin.name in migrated_plugins(csi_node)}
        return np.fromiter((name in nodes for name in rows.names), np.bool_, len(rows)) if nodes else None

    # Unbound claims.

    def _check_unbound(self, rows: Rows, reach: ReachableRows) -> Findings:
        elsewhere = self._selected_elsewhere(rows)
        findings = np.where(elsewhere, BIND_CONFLICT, 0)
        if elsewhere.all():
            return findings
        if self._matching is None:
            findings[~elsewhere] = self._failure(self._failure_of_matching)
            return findings
        choices = self._matching.choose(len(rows), reach)
        to_provision: list[tuple[PersistentVolumeClaim, Choice | None]] = [(claim, None) for claim in self._selected]
        to_provision += [(options.claim, choice) for options, choice in zip(self._matching.options, choices, strict=True)]
        for claim, choice in to_provision:
            rows_to_check = findings == 0
            if choice is not None:
                rows_to_check &= choice == NONE
            if rows_to_check.any():
                self._check_provision(claim, rows, findings, rows_to_check)
        return findings

    def _selected_elsewhere(self, rows: Rows) -> Mask:
        """The rows that are not the node that was selected for the claim's provisioning."""
        elsewhere = np.zeros(len(rows), np.bool_)
        for claim in self._selected:
            node = claim.metadata.annotations[SELECTED_NODE]
            elsewhere |= np.fromiter((name != node for name in rows.names), np.bool_, len(rows))
        return elsewhere

    def _check_provision(self, claim: PersistentVolumeClaim, rows: Rows, findings: Findings, rows_to_check: Mask) -> None:
        try:
            possible, has_capacity = can_provision(claim, rows, self._objects)
        except ProvisioningError as error:
            findings[rows_to_check] = self._failure(str(error))
        else:
            findings[rows_to_check & ~possible] = BIND_CONFLICT
            findings[rows_to_check & possible & ~has_capacity] = NOT_ENOUGH_SPACE
