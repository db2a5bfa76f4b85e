"""InterPodAffinity of v1.36. Upstream: framework/plugins/interpodaffinity/plugin.go"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedviz.engine.config.plugin_args import InterPodAffinityArgs
from schedviz.engine.framework.affinity_terms import AffinityTerm, all_terms_match
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, has_place, queue_if
from schedviz.engine.framework.plugins.helper.topology import nodes_with_keys
from schedviz.engine.framework.plugins.interpodaffinity import scoring
from schedviz.engine.framework.plugins.interpodaffinity.plugin import InterPodAffinity, without_rows
from schedviz.engine.framework.plugins.interpodaffinity.scoring import PRE_SCORE_STATE_KEY
from schedviz.engine.framework.plugins.interpodaffinity.terms import ExistingTerms, Term, namespace_labels, pods_matching_all, resolve
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, Status
from schedviz.engine.framework.types import (
    GVK,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    PodInfo,
    QueueingHint,
    QueueingHintError,
    RegisteredEvent,
)
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject


class InterPodAffinityV136(InterPodAffinity):
    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        weight = args.hard_pod_affinity_weight
        #: As `_existing_scored`, with a weight of 1 for every term.
        self._existing_unweighted = ExistingTerms(
            lambda node_info: node_info.pods_with_affinity, lambda pod: ((term, 1) for term, _ in scoring.scored_terms(pod, weight))
        )

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        pods = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
        return (
            ClusterEventWithHint(ClusterEvent(GVK.POD, pods), _after_pod_change),
            ClusterEventWithHint(ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL), _after_node_change),
        )

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        """Skip if there is nothing to score by."""
        if self._ignores_existing and not (pod.preferred_affinity_terms or pod.preferred_anti_affinity_terms or pod.terms.error):
            return SKIP
        status = super().pre_score(state, pod, rows)
        if not status.is_success or not len(rows):
            return status
        topology_score = state.read(PRE_SCORE_STATE_KEY).topology_score
        if any(domains.numbers().any() for domains in topology_score.values()) or (topology_score and self._any_term_matches(pod)):
            return status
        state.delete(PRE_SCORE_STATE_KEY)
        return SKIP

    def _any_term_matches(self, pod: PodInfo) -> bool:
        """Whether any preferred term matches a pod on a node with its topology key. Scores of 0 do not show it: weights can cancel out."""
        snapshot, objects = self._handle.snapshot, self._handle.objects
        rows = snapshot.rows()
        counts = [
            (
                term.topology_key,
                pods_matching_all(rows, (Term(term.topology_key, term.selector, term.namespaces, term.namespace_selector),)),
            )
            for term in (*resolve(pod.preferred_affinity_terms, objects), *resolve(pod.preferred_anti_affinity_terms, objects))
        ]
        if any(_has_count(rows, key, count) for key, count in counts):
            return True
        existing = self._existing_unweighted.sums(rows, pod, namespace_labels(pod.namespace, objects))
        if not counts:
            existing = without_rows(existing, snapshot.unlisted_rows_with_affinity)
        return any(_has_count(rows, key, count) for key, count in existing.items())

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]] | None:
        """None for a pod with affinity to pods; its labels otherwise, which other pods' terms match."""
        if pod.has_affinity:
            return None
        if self._ignores_existing:
            return ()
        return ((signers.LABELS, signers.labels(pod.pod.metadata.labels)),)


def _has_count(rows: Rows, key: str, count: IntArray) -> bool:
    among = nodes_with_keys(rows, [key])
    return bool((count if among is None else count[among]).any())


def _after_pod_change(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodChange"""
    old_pod, new_pod = before_and_after(Pod, old, new)
    if old_pod is not None and new_pod is not None and new_pod.uid == pod.uid:
        # Anti-affinity of other pods may have matched its old labels.
        return QueueingHint.QUEUE
    if any(pod_ is not None and not has_place(pod_) for pod_ in (new_pod, old_pod)):
        return QueueingHint.QUEUE_SKIP
    fresh = pod.fresh()
    affinity_terms, anti_affinity_terms = _terms(fresh, fresh.required_affinity_terms), _terms(fresh, fresh.required_anti_affinity_terms)
    if old_pod is not None and new_pod is not None:
        starts = not all_terms_match(affinity_terms, old_pod) and all_terms_match(affinity_terms, new_pod)
        return queue_if(starts or (all_terms_match(anti_affinity_terms, old_pod) and not all_terms_match(anti_affinity_terms, new_pod)))
    if new_pod is not None:
        return queue_if(all_terms_match(affinity_terms, new_pod))
    assert old_pod is not None
    deleted = pod.info_of(old_pod)
    deleted_terms = _terms(deleted, deleted.required_anti_affinity_terms)
    return queue_if(all_terms_match(anti_affinity_terms, old_pod) or all_terms_match(deleted_terms, pod.pod))


def _terms(pod: PodInfo, terms: Sequence[AffinityTerm]) -> Sequence[AffinityTerm]:
    if pod.terms.error:
        raise QueueingHintError(pod.terms.error)
    return terms


def _after_node_change(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterNodeChange"""
    old_node, _ = before_and_after(Node, old, new)
    labels = after(Node, old, new).metadata.labels
    old_labels: Mapping[str, str] | None = None if old_node is None else old_node.metadata.labels
    fresh = pod.fresh()
    for term in _terms(fresh, fresh.required_affinity_terms):
        key = term.topology_key
        if key in labels and (old_labels is None or old_labels.get(key) != labels[key]):
            return QueueingHint.QUEUE
    for term in _terms(fresh, fresh.required_anti_affinity_terms):
        key = term.topology_key
        if old_labels is None or (key in old_labels and old_labels[key] != labels.get(key)):
            return QueueingHint.QUEUE
    return QueueingHint.QUEUE_SKIP
