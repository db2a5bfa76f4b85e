"""Required node labels whose value no node has, but almost: the pod's selector is probably mistyped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial

import msgspec

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.explain.changes.change import Change
from schedviz.explain.mistyped import meant_value
from schedviz.kube.affinity import NodeSelectorTerm
from schedviz.kube.core import Pod
from schedviz.trace.phrase import phrase

replace = msgspec.structs.replace


def mistyped_labels(dry_run: DryRun, required: Mapping[str, str]) -> dict[str, str]:
    """Of the required labels, the keys whose value no node has, and the value that was probably meant, which some node has."""
    nodes = [info.node for info in dry_run.rows.infos if info.node is not None]
    meant = {key: meant_value(key, value, nodes) for key, value in required.items()}
    return {key: value for key, value in meant.items() if value}


def corrections(dry_run: DryRun, required: Mapping[str, str]) -> Iterator[Change]:
    """For each mistyped label, the pod that asks for the value that exists."""
    for key, meant in mistyped_labels(dry_run, required).items():
        value = required[key]
        is_selector = dry_run.pod.pod.spec.node_selector.get(key) == value
        yield Change(
            "selector",
            phrase(
                "require the node label `{label}` instead of `{mistyped}`, which is probably a typo",
                label=f"{key}={meant}",
                mistyped=f"{key}={value}",
            ),
            yaml=f"nodeSelector:\n  {json.dumps(key)}: {json.dumps(meant)}" if is_selector else "",
            against=frozenset({names.NODE_AFFINITY}),
            pod=partial(_with_value, key=key, value=value, meant=meant),
        )


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
