"""Pod affinity terms with their selectors parsed. Upstream: framework/types.go"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from schedviz.kube.affinity import Affinity, PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm
from schedviz.kube.core import Pod
from schedviz.kube.selectors import Selector, SelectorError, label_selector

Term = TypeVar("Term")
Source = TypeVar("Source")


class AffinityTerm:
    """A pod (anti-)affinity term with its selectors parsed. Upstream: framework/types.go AffinityTerm"""

    __slots__ = ("namespace_selector", "namespaces", "selector", "topology_key")

    def __init__(self, pod: Pod, term: PodAffinityTerm) -> None:
        self.selector: Selector = label_selector(term.label_selector)
        own_alone = not term.namespaces and term.namespace_selector is None
        self.namespaces = frozenset((pod.namespace,) if own_alone else term.namespaces)
        self.namespace_selector: Selector = label_selector(term.namespace_selector)
        self.topology_key = term.topology_key

    def matches(self, pod: Pod, namespace_labels: Mapping[str, str]) -> bool:
        """Whether the term matches this pod. Upstream: framework/types.go AffinityTerm.Matches"""
        if pod.namespace in self.namespaces or self.namespace_selector.matches(namespace_labels):
            return self.selector.matches(pod.metadata.labels)
        return False


class WeightedAffinityTerm(AffinityTerm):
    """A preferred term. Upstream: framework/types.go WeightedAffinityTerm"""

    __slots__ = ("weight",)

    def __init__(self, pod: Pod, term: WeightedPodAffinityTerm) -> None:
        super().__init__(pod, term.pod_affinity_term)
        self.weight = term.weight


class AffinityTerms:
    """All terms of a pod, parsed. A list with an invalid term is empty, and `error` has the message."""

    __slots__ = ("error", "preferred_affinity", "preferred_anti_affinity", "required_affinity", "required_anti_affinity")

    def __init__(self, pod: Pod) -> None:
        affinity = pod.spec.affinity or Affinity()
        pod_affinity, anti_affinity = affinity.pod_affinity or PodAffinity(), affinity.pod_anti_affinity or PodAffinity()
        errors: list[str] = []
        self.required_affinity = _parse(AffinityTerm, pod, pod_affinity.required, "requiredAffinityTerms", errors)
        self.required_anti_affinity = _parse(AffinityTerm, pod, anti_affinity.required, "requiredAntiAffinityTerms", errors)
        self.preferred_affinity = _parse(WeightedAffinityTerm, pod, pod_affinity.preferred, "preferredAffinityTerms", errors)
        self.preferred_anti_affinity = _parse(WeightedAffinityTerm, pod, anti_affinity.preferred, "preferredAntiAffinityTerms", errors)
        #: "": all terms are valid. The format is that of apimachinery's Aggregate.
        self.error = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""


def _parse(make: Callable[[Pod, Source], Term], pod: Pod, sources: Iterable[Source], name: str, errors: list[str]) -> tuple[Term, ...]:
    try:
        return tuple(make(pod, source) for source in sources)
    except SelectorError as error:
        errors.append(f"{name}: {error}")
        return ()


#: The terms of a pod without any.
_NO_TERMS: Final = AffinityTerms(Pod())


def affinity_terms(pod: Pod) -> AffinityTerms:
    """The terms of a pod. Pods without terms share one object."""
    return _NO_TERMS if pod.spec.affinity is None else AffinityTerms(pod)


def all_terms_match(terms: Sequence[AffinityTerm], pod: Pod) -> bool:
    """Whether there are terms and all match a pod. The labels of namespaces do not count.

    Upstream: interpodaffinity/plugin.go podMatchesAllAffinityTerms, as queueing hints call it
    """
    return bool(terms) and all(term.matches(pod, {}) for term in terms)
