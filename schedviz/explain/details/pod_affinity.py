"""Pod affinity and anti-affinity: the terms, and the running pods that match them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from schedviz.engine.framework.plugins.interpodaffinity.filtering import PRE_FILTER_STATE_KEY, PreFilterState
from schedviz.engine.framework.plugins.interpodaffinity.terms import Term, matches_all
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.details.detail import MAX_NAMES, PodAffinityDetail, PodOnNode
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.trace.phrase import Phrase, counted, phrase

AFFINITY: Final = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY: Final = "node(s) didn't match pod anti-affinity rules"


def pod_affinity_details(rejected: RejectedNodes) -> Iterator[PodAffinityDetail]:
    """The terms behind one of the three reasons."""
    state = rejected.dry_run.read(PRE_FILTER_STATE_KEY)
    if state is None:
        return
    if rejected.reason == AFFINITY:
        # A pod counts if all terms match it.
        pods = _pods(rejected, lambda pod: matches_all(state.affinity_terms, pod.pod))
        for term in state.affinity_terms:
            yield _detail("affinity", term.topology_key, str(term.selector), tuple(sorted(term.namespaces)), pods)
    elif rejected.reason == ANTI_AFFINITY:
        for term in state.anti_affinity_terms:
            yield _anti_affinity(rejected, term)
    else:
        yield from _existing(rejected, state)


def _anti_affinity(rejected: RejectedNodes, term: Term) -> PodAffinityDetail:
    pods = _pods(rejected, lambda pod: term.matches(pod.pod))
    return _detail("antiAffinity", term.topology_key, str(term.selector), tuple(sorted(term.namespaces)), pods)


def _existing(rejected: RejectedNodes, state: PreFilterState) -> Iterator[PodAffinityDetail]:
    """The terms of running pods that select this pod, each distinct term once."""
    by_term: dict[tuple[str, str, tuple[str, ...]], list[PodOnNode]] = {}
    for info in rejected.everywhere.infos:
        for pod in info.pods_with_required_anti_affinity:
            for term in pod.required_anti_affinity_terms:
                if term.matches(rejected.pod.pod, state.namespace_labels):
                    key = (term.topology_key, str(term.selector), tuple(sorted(term.namespaces)))
                    by_term.setdefault(key, []).append(PodOnNode(pod.key, info.name))
    for (topology_key, selector, namespaces), pods in by_term.items():
        yield _detail("existingAntiAffinity", topology_key, selector, namespaces, pods)


def _pods(rejected: RejectedNodes, is_meant: Callable[[PodInfo], bool]) -> list[PodOnNode]:
    return [PodOnNode(pod.key, info.name) for info in rejected.everywhere.infos for pod in info.pods if is_meant(pod)]


def _detail(term: str, topology_key: str, selector: str, namespaces: tuple[str, ...], pods: list[PodOnNode]) -> PodAffinityDetail:
    sentence = _sentence(term, topology_key, selector, pods)
    return PodAffinityDetail(
        sentence=sentence.text,
        sentence_phrase=sentence,
        term=term,
        topology_key=topology_key,
        selector=selector,
        namespaces=namespaces,
        matching=len(pods),
        pods=tuple(pods[:MAX_NAMES]),
    )


def _sentence(term: str, key: str, selector: str, pods: list[PodOnNode]) -> Phrase:
    if term == "affinity" and not pods:
        return phrase("no running pod matches the affinity term (`{selector}`, topologyKey `{key}`)", selector=selector, key=key)
    values: dict[str, str | int | Phrase] = {
        "selector": selector,
        "key": key,
        "pods": counted(len(pods), "{count} running pod matches", "{count} running pods match")
        if term in ("affinity", "antiAffinity")
        else counted(len(pods), "{count} running pod", "{count} running pods"),
        "first": pods[0].pod if pods else "",
        "node": pods[0].node if pods else "",
    }
    match term:
        case "affinity":
            return phrase("{pods} the affinity term (`{selector}`, topologyKey `{key}`), for example {first} on {node}", **values)
        case "antiAffinity":
            return phrase("{pods} the anti-affinity term (`{selector}`, topologyKey `{key}`), for example {first} on {node}", **values)
        case _:
            return phrase("{pods} with anti-affinity to `{selector}` (topologyKey `{key}`), for example {first} on {node}", **values)
