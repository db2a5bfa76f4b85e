"""Topology spread: the matching pods of each domain, and how many a domain may have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedviz.engine.framework.plugins.helper.topology import has_label
from schedviz.engine.framework.plugins.podtopologyspread.filtering import PRE_FILTER_STATE_KEY, PreFilterState
from schedviz.explain.details.detail import MAX_NAMES, DomainPods, SpreadDetail
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.trace.phrase import Phrase, counted, phrase, some


def spread_details(rejected: RejectedNodes) -> Iterator[SpreadDetail]:
    """Each hard constraint of the pod."""
    state = rejected.dry_run.read(PRE_FILTER_STATE_KEY)
    for index in range(len(state.constraints) if state is not None else 0):
        assert state is not None
        yield _detail(rejected, state, index)


def open_domains(rejected: RejectedNodes, index: int) -> list[str]:
    """The domains of a constraint that may take another matching pod, those with the fewest pods first."""
    state = rejected.dry_run.read(PRE_FILTER_STATE_KEY)
    assert state is not None
    most = (state.min_match_num(index) or 0) + state.constraints[index].max_skew
    seen = sorted(state.counts[state.slot(index)].seen(), key=lambda domain: (domain[1], domain[0]))
    return [domain for domain, pods in seen if pods < most]


def missing_keys(rejected: RejectedNodes) -> list[str]:
    """The topology keys that rejected nodes lack, if that is the reason."""
    state = rejected.dry_run.read(PRE_FILTER_STATE_KEY)
    if state is None or "missing required label" not in rejected.reason:
        return []
    keys = dict.fromkeys(constraint.topology_key for constraint in state.constraints)
    return [key for key in keys if not has_label(rejected.rows, key).all()]


def _detail(rejected: RejectedNodes, state: PreFilterState, index: int) -> SpreadDetail:
    constraint = state.constraints[index]
    key = constraint.topology_key
    fewest = state.min_match_num(index) or 0
    most = fewest + constraint.max_skew
    by_count = sorted(state.counts[state.slot(index)].seen(), key=lambda domain: (domain[1], domain[0]))
    domains = tuple(DomainPods(domain, pods) for domain, pods in by_count)
    without = int(np.count_nonzero(~has_label(rejected.everywhere, key)))
    sentence = _sentence(key, constraint.max_skew, most, domains)
    return SpreadDetail(
        sentence=sentence.text,
        sentence_phrase=sentence,
        topology_key=key,
        max_skew=constraint.max_skew,
        selector=str(constraint.selector),
        fewest=fewest,
        most=most,
        domains=domains[:MAX_NAMES],
        of=len(domains),
        without=without,
    )


def _sentence(key: str, max_skew: int, most: int, domains: tuple[DomainPods, ...]) -> Phrase:
    if not domains:
        return phrase("no eligible node has the label `{key}` of the topology spread constraint (`maxSkew` {skew})", skew=max_skew, key=key)
    full = [domain for domain in domains if domain.pods >= most]
    open_ = [f"{domain.domain} ({domain.pods})" for domain in domains if domain.pods < most]
    return phrase(
        "with `maxSkew` {skew}, each domain of `{key}` can have at most {most}; at the maximum: {full}; below it: {open}",
        skew=max_skew,
        key=key,
        most=counted(most, "{count} matching pod", "{count} matching pods"),
        full=some([f"{domain.domain} ({domain.pods})" for domain in full]) if full else phrase("no domain"),
        open=some(open_) if open_ else phrase("no domain"),
    )
