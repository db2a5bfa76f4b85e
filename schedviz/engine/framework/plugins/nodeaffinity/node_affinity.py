"""NodeAffinity: nodeSelector, required and preferred node affinity, and the profile's added affinity.

Upstream: framework/plugins/nodeaffinity/node_affinity.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import msgspec
import numpy as np

from schedviz.engine.config.plugin_args import NodeAffinityArgs
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import FilterReads, Handle, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.normalize_score import default_normalize_score
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status, unresolvable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.uniform import uniform
from schedviz.engine.framework.verdicts import Mask, Verdicts
from schedviz.kube.affinity import NodeSelectorTerm
from schedviz.kube.core import Node, Pod
from schedviz.kube.node_affinity import (
    LazyErrorNodeSelector,
    PreferredSchedulingTerms,
    RequiredNodeAffinity,
    node_selector,
    preferred_scheduling_terms,
    required_node_affinity,
)
from schedviz.kube.selectors import SelectorError

ERR_REASON_POD: Final = "node(s) didn't match Pod's node affinity/selector"
_AFFINITY_MISMATCH: Final = unresolvable(ERR_REASON_POD)
_ADDED_AFFINITY_MISMATCH: Final = unresolvable("node(s) didn't match scheduler-enforced node affinity")
_AFFINITY_CONFLICT: Final = unresolvable("pod affinity terms conflict")

_NO_PREFERRED_TERMS: Final = PreferredSchedulingTerms()


class PreFilterState(msgspec.Struct, frozen=True):
    """The pod's required node affinity."""

    required: RequiredNodeAffinity

    def clone(self) -> PreFilterState:
        return self


class PreScoreState(msgspec.Struct, frozen=True):
    """The pod's preferred node affinity."""

    preferred: PreferredSchedulingTerms

    def clone(self) -> PreScoreState:
        return self


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.NODE_AFFINITY}", PreFilterState)
PRE_SCORE_STATE_KEY: Final = StateKey(f"PreScore{names.NODE_AFFINITY}", PreScoreState)


class NodeAffinity:
    name = names.NODE_AFFINITY
    #: Messages of unsupported operators list the supported ones.
    lists_operators: ClassVar[bool] = False

    def __init__(self, args: NodeAffinityArgs, _handle: Handle) -> None:
        added = args.added_affinity
        self._added_node_selector: LazyErrorNodeSelector | None = None
        self._added_pref_sched_terms = _NO_PREFERRED_TERMS
        if added is not None and added.required is not None:
            self._added_node_selector = node_selector(added.required)
        if added is not None:
            self._added_pref_sched_terms = preferred_scheduling_terms(added.preferred)

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE),)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        """Skip if nothing is required; only the named nodes if every term names some."""
        terms = _required_terms(pod.pod)
        if terms is None and self._added_node_selector is None and not pod.pod.spec.node_selector:
            return None, SKIP
        state.write(PRE_FILTER_STATE_KEY, PreFilterState(required_node_affinity(pod.pod)))
        if not terms:
            return None, SUCCESS
        node_names: frozenset[str] = frozenset()
        for term in terms:
            named = _named_nodes(term)
            if named is None:
                return None, SUCCESS
            node_names |= named
        return (PreFilterResult(node_names), SUCCESS) if node_names else (None, _AFFINITY_CONFLICT)

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        try:
            required = state.read(PRE_FILTER_STATE_KEY).required
        except NotFoundError:  # PreFilter is disabled.
            required = required_node_affinity(pod.pod)
        codes = (~_matching(rows, required)).astype(np.int16)
        if self._added_node_selector is not None:
            codes[~_matching(rows, RequiredNodeAffinity(nodes=self._added_node_selector))] = 2
        return Verdicts(codes, (SUCCESS, _AFFINITY_MISMATCH, _ADDED_AFFINITY_MISMATCH)) if codes.any() else None

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        if len(rows):
            try:
                state.write(PRE_SCORE_STATE_KEY, PreScoreState(self._preferred(pod.pod)))
            except SelectorError as error:
                return as_status(str(error))
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        """The sum of the weights of the preferred terms that each node matches."""
        try:
            preferred = state.read(PRE_SCORE_STATE_KEY).preferred
        except NotFoundError:  # PreScore is disabled.
            try:
                preferred = self._preferred(pod.pod)
            except SelectorError as error:
                return as_status(str(error))
        if not (preferred.terms or self._added_pref_sched_terms.terms):
            return uniform(len(rows), 0)
        return _weights(rows, self._added_pref_sched_terms) + _weights(rows, preferred)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:  # noqa: ARG002
        return default_normalize_score(scores)

    def _preferred(self, pod: Pod) -> PreferredSchedulingTerms:
        """The terms that the pod prefers. Raises `SelectorError`. Upstream: getPodPreferredNodeAffinity"""
        affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
        if affinity is None:
            return _NO_PREFERRED_TERMS
        return preferred_scheduling_terms(affinity.preferred, lists_operators=self.lists_operators)


def _required_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...] | None:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    return None if affinity is None or affinity.required is None else affinity.required.node_selector_terms


def _named_nodes(term: NodeSelectorTerm) -> frozenset[str] | None:
    """Nodes that a term selects by `metadata.name`; None: it selects none by name."""
    named: frozenset[str] | None = None
    for field in term.match_fields:
        if field.key == "metadata.name" and field.operator == "In":
            values = frozenset(field.values)
            named = values if named is None else named & values
    return named


def matches(required: RequiredNodeAffinity, node: Node) -> bool:
    """Whether a node matches the required affinity; invalid terms match nothing."""
    try:
        return required.match(node)
    except SelectorError:
        return False


def _matching(rows: Rows, required: RequiredNodeAffinity) -> Mask:
    def compute(node_info: NodeInfo) -> int:
        return node_info.node is not None and matches(required, node_info.node)

    return rows.node_column((names.NODE_AFFINITY, required), compute, np.bool_).astype(np.bool_, copy=False)


def _weights(rows: Rows, preferred: PreferredSchedulingTerms) -> Scores:
    if not preferred.terms:
        return np.zeros(len(rows), np.int64)

    def compute(node_info: NodeInfo) -> int:
        return 0 if node_info.node is None else preferred.score(node_info.node)

    return rows.node_column((names.NODE_AFFINITY, preferred), compute, np.int64).astype(np.int64, copy=False)
