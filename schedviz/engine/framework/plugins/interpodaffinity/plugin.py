"""InterPodAffinity: affinity and anti-affinity between the incoming pod and existing pods.

Upstream: framework/plugins/interpodaffinity/plugin.go
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from schedviz.engine.config.plugin_args import InterPodAffinityArgs
from schedviz.engine.framework.affinity_terms import AffinityTerm
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError
from schedviz.engine.framework.interface import Handle, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.interpodaffinity import filtering, scoring
from schedviz.engine.framework.plugins.interpodaffinity.filtering import PRE_FILTER_STATE_KEY
from schedviz.engine.framework.plugins.interpodaffinity.scoring import PRE_SCORE_STATE_KEY, PreScoreState
from schedviz.engine.framework.plugins.interpodaffinity.terms import ExistingTerms, namespace_labels, resolve
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status, unresolvable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Verdicts


class InterPodAffinity:
    name = names.INTER_POD_AFFINITY

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        self._handle = handle
        self._ignores_existing = args.ignore_preferred_terms_of_existing_pods
        weight = args.hard_pod_affinity_weight
        self._existing_anti_affinity = ExistingTerms(
            lambda node_info: node_info.pods_with_required_anti_affinity, _required_anti_affinity_terms
        )
        self._existing_scored = ExistingTerms(lambda node_info: node_info.pods_with_affinity, lambda pod: scoring.scored_terms(pod, weight))

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEvent(GVK.POD, ActionType.ALL),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:
        if pod.terms.error:
            return None, unresolvable(f"parsing pod: {pod.terms.error}")
        objects = self._handle.objects
        labels = namespace_labels(pod.namespace, objects)
        existing: dict[str, IntArray] = {}
        if snapshot.have_pods_with_required_anti_affinity_node_info_list:
            existing = without_rows(
                self._existing_anti_affinity.sums(snapshot.rows(), pod, labels), snapshot.unlisted_rows_with_required_anti_affinity
            )
        affinity_terms = resolve(pod.required_affinity_terms, objects)
        anti_affinity_terms = resolve(pod.required_anti_affinity_terms, objects)
        if not (affinity_terms or anti_affinity_terms or existing):
            return None, SKIP
        counts = filtering.count_terms(snapshot.rows(), affinity_terms, anti_affinity_terms, existing, labels)
        if counts.rejects_nothing:
            return None, SKIP
        state.write(PRE_FILTER_STATE_KEY, counts)
        return None, SUCCESS

    def add_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_add: PodInfo, node_info: NodeInfo) -> Status:
        return _update(state, pod_to_schedule, pod_to_add, node_info, 1)

    def remove_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_remove: PodInfo, node_info: NodeInfo) -> Status:
        return _update(state, pod_to_schedule, pod_to_remove, node_info, -1)

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        try:
            counts = state.read(PRE_FILTER_STATE_KEY)
        except NotFoundError as error:
            return Verdicts.all(len(rows), as_status(f'error reading "{PRE_FILTER_STATE_KEY.name}" from cycleState: {error}'))
        return filtering.filter_rows(counts, pod.pod, rows)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        if not len(rows):
            return SUCCESS
        if pod.terms.error:
            return as_status(f"failed to parse pod: {pod.terms.error}")
        snapshot, objects = self._handle.snapshot, self._handle.objects
        affinity_terms = resolve(pod.preferred_affinity_terms, objects)
        anti_affinity_terms = resolve(pod.preferred_anti_affinity_terms, objects)
        has_terms = bool(affinity_terms or anti_affinity_terms)
        existing: dict[str, IntArray] = {}
        ignores_existing = self._ignores_existing and not has_terms
        if snapshot.have_pods_with_affinity_node_info_list and not ignores_existing:
            existing = self._existing_scored.sums(snapshot.rows(), pod, namespace_labels(pod.namespace, objects))
            if not has_terms:
                existing = without_rows(existing, snapshot.unlisted_rows_with_affinity)
        scores = PreScoreState()
        if has_terms or existing:
            scores = scoring.add_up(snapshot.rows(), affinity_terms, anti_affinity_terms, existing)
        state.write(PRE_SCORE_STATE_KEY, scores)
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        try:
            return scoring.score_rows(state.read(PRE_SCORE_STATE_KEY), rows)
        except NotFoundError as error:
            return _missing_pre_score_state(error)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:  # noqa: ARG002
        try:
            topology_scores = state.read(PRE_SCORE_STATE_KEY)
        except NotFoundError as error:
            return _missing_pre_score_state(error)
        return scoring.normalize(scores) if topology_scores.topology_score else scores


def without_rows(sums: dict[str, IntArray], rows: Sequence[int]) -> dict[str, IntArray]:
    """The sums with 0 in these rows."""
    if not rows:
        return sums
    return {key: np.where(np.isin(np.arange(len(numbers)), rows), 0, numbers) for key, numbers in sums.items()}


def _required_anti_affinity_terms(pod: PodInfo) -> Iterator[tuple[AffinityTerm, int]]:
    for term in pod.required_anti_affinity_terms:
        yield term, 1


def _update(state: CycleState, pod: PodInfo, changed: PodInfo, node_info: NodeInfo, multiplier: int) -> Status:
    try:
        state.read(PRE_FILTER_STATE_KEY).update_with_pod(changed, pod, node_info, multiplier)
    except NotFoundError as error:
        return as_status(f'error reading "{PRE_FILTER_STATE_KEY.name}" from cycleState: {error}')
    return SUCCESS


def _missing_pre_score_state(error: NotFoundError) -> Status:
    return as_status(f'failed to read "{PRE_SCORE_STATE_KEY.name}" from cycleState: {error}')
