"""Required node labels whose value no node has, but almost: the pod's selector is probably mistyped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

import msgspec

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.explain.changes.change import Change
from schedviz.kube.affinity import NodeSelectorTerm
from schedviz.kube.core import Pod
from schedviz.trace.phrase import phrase

replace = msgspec.structs.replace

#: Shorter words may differ in a letter on purpose, as `eu` and `us` do.
_MIN_LETTERS: Final = 4
#: Labels of Kubernetes and of clouds name zones and machines, which differ in a letter on purpose: `m5.large` and `m5.xlarge`.
_WELL_KNOWN: Final = re.compile(r"(?:^|\.)(?:kubernetes|k8s)\.io/")
_BETWEEN_WORDS: Final = re.compile(r"[-._]")


def mistyped_labels(dry_run: DryRun, required: Mapping[str, str]) -> dict[str, str]:
    """Of the required labels, the keys whose value no node has, and the value that was probably meant, which some node has."""
    meant: dict[str, str] = {}
    for key, value in required.items():
        if _WELL_KNOWN.search(key):
            continue
        there = {info.node.metadata.labels[key] for info in dry_run.rows.infos if info.node and key in info.node.metadata.labels}
        similar = [] if value in there else sorted(other for other in there if is_mistyped(value, other))
        if similar:
            meant[key] = similar[0]
    return meant


def is_mistyped(value: str, meant: str) -> bool:
    """Whether two values differ in one letter of a word: one that was added, left out or replaced, two that were swapped, or its case."""
    if value.lower() == meant.lower():
        return value != meant
    words, others = _BETWEEN_WORDS.split(value.lower()), _BETWEEN_WORDS.split(meant.lower())
    different = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) != len(others) or len(different) != 1:
        return False
    [(word, other)] = different
    return min(len(word), len(other)) >= _MIN_LETTERS and _differ_in_one_letter(word, other)


def corrections(dry_run: DryRun, required: Mapping[str, str]) -> Iterator[Change]:
    """For each mistyped label, the pod that asks for the value that exists."""
    for key, meant in mistyped_labels(dry_run, required).items():
        value = required[key]
        is_selector = dry_run.pod.pod.spec.node_selector.get(key) == value
        yield Change(
            "selector",
            phrase("ask for the node label {label} instead of {mistyped}", label=f"{key}={meant}", mistyped=f"{key}={value}"),
            yaml=f"nodeSelector:\n  {json.dumps(key)}: {json.dumps(meant)}" if is_selector else "",
            against=frozenset({names.NODE_AFFINITY}),
            pod=partial(_with_value, key=key, value=value, meant=meant),
        )


def _differ_in_one_letter(word: str, other: str) -> bool:
    start = next((place for place, (one, two) in enumerate(zip(word, other, strict=False)) if one != two), min(len(word), len(other)))
    rest, other_rest = word[start:], other[start:]
    if any(letter.isdigit() for letter in (rest[:1] + other_rest[:1])):
        return False
    is_swapped = rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:]
    return is_swapped or rest[1:] == other_rest[1:] or rest[1:] == other_rest or rest == other_rest[1:]


def _with_value(pod: Pod, *, key: str, value: str, meant: str) -> Pod:
    """The pod with another value of a label in its nodeSelector and in its required node affinity."""
    selector = {label: meant if (label, text) == (key, value) else text for label, text in pod.spec.node_selector.items()}
    spec = replace(pod.spec, node_selector=selector)
    affinity = spec.affinity
    if affinity is not None and affinity.node_affinity is not None and affinity.node_affinity.required is not None:
        required = affinity.node_affinity.required
        terms = tuple(_term_with_value(term, key, value=value, meant=meant) for term in required.node_selector_terms)
        node_affinity = replace(affinity.node_affinity, required=replace(required, node_selector_terms=terms))
        spec = replace(spec, affinity=replace(affinity, node_affinity=node_affinity))
    return replace(pod, spec=spec)


def _term_with_value(term: NodeSelectorTerm, key: str, *, value: str, meant: str) -> NodeSelectorTerm:
    expressions = (
        replace(expression, values=tuple(meant if text == value else text for text in expression.values))
        if (expression.key, expression.operator) == (key, "In")
        else expression
        for expression in term.match_expressions
    )
    return replace(term, match_expressions=tuple(expressions))
