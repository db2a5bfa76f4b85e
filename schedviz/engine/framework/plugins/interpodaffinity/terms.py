"""Pod (anti-)affinity terms: the incoming pod's, with namespaces resolved, and those of existing pods.

Counts over existing pods belong to the rows of the snapshot. They are kept for each question, and recomputed only where pods changed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from schedviz.engine.framework.affinity_terms import AffinityTerm, WeightedAffinityTerm
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.listers import ObjectLister
from schedviz.engine.framework.pod_memo import PodMemo, SelectionMemo
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.kube.core import Pod
from schedviz.kube.selectors import NOTHING, Labels, Selector

_NO_LABELS: Labels = {}


class Term(msgspec.Struct, frozen=True):
    """A term of the incoming pod, with its namespace selector resolved to names. Upstream: framework/types.go AffinityTerm"""

    topology_key: str
    selector: Selector
    namespaces: frozenset[str]
    #: The rest of the namespace selector: everything, or nothing.
    namespace_selector: Selector
    weight: int = 0

    def matches(self, pod: Pod) -> bool:
        """Whether the term matches a pod."""
        if pod.namespace in self.namespaces or self.namespace_selector.matches(_NO_LABELS):
            return self.selector.matches(pod.metadata.labels)
        return False


def resolve(terms: Iterable[AffinityTerm], objects: ObjectLister) -> tuple[Term, ...]:
    """The terms, with the namespaces that their selectors select now. Upstream: mergeAffinityTermNamespacesIfNotEmpty"""
    return tuple(_resolve(term, objects) for term in terms)


def _resolve(term: AffinityTerm, objects: ObjectLister) -> Term:
    namespaces, selector = term.namespaces, term.namespace_selector
    if not selector.is_empty:
        if not selector.selects_nothing:
            names = (namespace.name for namespace in objects.list("Namespace") if selector.matches(namespace.metadata.labels))
            namespaces = namespaces | frozenset(names)
        selector = NOTHING
    weight = term.weight if isinstance(term, WeightedAffinityTerm) else 0
    return Term(term.topology_key, term.selector, namespaces, selector, weight)


def matches_all(terms: Sequence[Term], pod: Pod) -> bool:
    """Whether there are terms, and all match a pod. Upstream: podMatchesAllAffinityTerms"""
    return bool(terms) and all(term.matches(pod) for term in terms)


def namespace_labels(namespace: str, objects: ObjectLister) -> Labels:
    """The labels of a namespace; none if it does not exist. Upstream: GetNamespaceLabelsSnapshot"""
    stored = objects.get("Namespace", "", namespace)
    labels: Labels = {} if stored is None else stored.metadata.labels
    return labels


def pods_matching_all(rows: Rows, terms: tuple[Term, ...]) -> IntArray:
    """The number of pods on each row that all of the terms match."""

    matching = SelectionMemo(lambda pod: matches_all(terms, pod.pod))
    return rows.info_column(("affinity-pods", terms), lambda node_info: sum(matching(node_info.pods)), np.int64)


class ExistingTerms:
    """Matches of existing pods' terms with one incoming pod, by topology key.

    `pods_of` gives the relevant pods of a node, `terms_of` the weighted terms of such a pod. Columns are not shared between plugins,
    because codes and weights differ by profile.
    """

    def __init__(
        self, pods_of: Callable[[NodeInfo], Sequence[PodInfo]], terms_of: Callable[[PodInfo], Iterable[tuple[AffinityTerm, int]]]
    ) -> None:
        self._pods_of = pods_of
        self._terms_of = terms_of
        self._keys_of = PodMemo(lambda pod: frozenset(term.topology_key for term, _ in terms_of(pod)))
        #: Sets of topology keys, by the code that stands for them in a column.
        self._key_sets: list[frozenset[str]] = [frozenset()]
        self._codes: dict[frozenset[str], int] = {frozenset(): 0}

    def sums(self, rows: Rows, pod: PodInfo, labels_of_namespace: Labels) -> dict[str, IntArray]:
        """For each topology key of any term, the sum of the weights of the matching terms on each row."""
        pod_key = (pod.namespace, _frozen(pod.pod.metadata.labels), _frozen(labels_of_namespace))
        return {key: self._sums_of(rows, key, pod_key, pod.pod, labels_of_namespace) for key in self._keys(rows)}

    def _keys(self, rows: Rows) -> list[str]:
        codes = rows.info_column((self, "keys"), self._code, np.int32)
        return sorted(frozenset[str]().union(*(self._key_sets[code] for code in np.unique(codes).tolist())))

    def _code(self, node_info: NodeInfo) -> int:
        keys = frozenset[str]().union(*set(self._keys_of(self._pods_of(node_info))))
        if keys not in self._codes:
            self._codes[keys] = len(self._key_sets)
            self._key_sets.append(keys)
        return self._codes[keys]

    def _sums_of(self, rows: Rows, key: str, pod_key: Hashable, pod: Pod, labels_of_namespace: Labels) -> IntArray:
        def add_up(other: PodInfo) -> int:
            terms = self._terms_of(other)
            return sum(weight for term, weight in terms if term.topology_key == key and term.matches(pod, labels_of_namespace))

        weights = PodMemo(add_up)
        return rows.info_column((self, key, pod_key), lambda node_info: sum(weights(self._pods_of(node_info))), np.int64)


def _frozen(labels: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(labels.items())
