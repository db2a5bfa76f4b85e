"""Evaluates node selectors: the nodes that a pod requires and prefers.

Upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go

`lists_operators`: the message of an unsupported operator lists the supported ones, as v1.36 does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.kube.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm
from schedviz.kube.core import Node, Pod
from schedviz.kube.selectors import (
    EVERYTHING,
    NODE_OPERATORS,
    Requirement,
    Selector,
    SelectorError,
    quote,
    requirement,
    selector_from_set,
    show_strings,
)

_SUPPORTED_OPERATORS: Final = ": supported values: " + ", ".join(map(quote, ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")))


class ParsedTerm(msgspec.Struct, frozen=True, gc=False):
    """A node selector term. One with `faults` matches nothing."""

    labels: Selector = EVERYTHING
    #: (field, value, must be equal)
    fields: tuple[tuple[str, str, bool], ...] = ()
    faults: tuple[str, ...] = ()
    weight: int = 0

    def matches(self, node: Node) -> bool:
        """Whether the term matches a node."""
        if self.faults or not self.labels.matches(node.metadata.labels):
            return False
        name = node.metadata.name
        if not self.fields or not name:  # upstream skips the fields of a node without a name
            return True
        return all(((name if field == "metadata.name" else "") == value) == equal for field, value, equal in self.fields)


class LazyErrorNodeSelector(msgspec.Struct, frozen=True, gc=False):
    """A required node selector: one term must match. Faults are raised only if no term matches."""

    terms: tuple[ParsedTerm, ...] = ()

    def match(self, node: Node) -> bool:
        """Whether a term matches. Raises `SelectorError` if none does and one has a fault."""
        if any(term.matches(node) for term in self.terms):
            return True
        faults = [fault for term in self.terms for fault in term.faults]
        if faults:
            raise SelectorError(faults)
        return False


class RequiredNodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """A pod's nodeSelector and required node affinity; both must match."""

    labels: Selector | None = None
    nodes: LazyErrorNodeSelector | None = None

    def match(self, node: Node) -> bool:
        """Whether a pod may run on a node. Raises `SelectorError`. Upstream: RequiredNodeAffinity.Match"""
        if self.labels is not None and not self.labels.matches(node.metadata.labels):
            return False
        return self.nodes is None or self.nodes.match(node)


class PreferredSchedulingTerms(msgspec.Struct, frozen=True, gc=False):
    """A pod's preferred node affinity."""

    terms: tuple[ParsedTerm, ...] = ()

    def score(self, node: Node) -> int:
        """The sum of the weights of the matching terms. Upstream: PreferredSchedulingTerms.Score"""
        return sum(term.weight for term in self.terms if term.matches(node))


def required_node_affinity(pod: Pod, *, lists_operators: bool = False) -> RequiredNodeAffinity:
    """The node requirements of a pod. Upstream: GetRequiredNodeAffinity"""
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    return RequiredNodeAffinity(
        labels=selector_from_set(pod.spec.node_selector) if pod.spec.node_selector else None,
        nodes=lazy_node_selector(affinity.required, lists_operators=lists_operators)
        if affinity and affinity.required is not None
        else None,
    )


def lazy_node_selector(selector: NodeSelector, *, path: str = "", lists_operators: bool = False) -> LazyErrorNodeSelector:
    """A node selector whose faults are raised later. Upstream: NewLazyErrorNodeSelector"""
    terms_path = f"{path}.nodeSelectorTerms" if path else "nodeSelectorTerms"
    return LazyErrorNodeSelector(
        tuple(
            _parse_term(term, f"{terms_path}[{index}]", lists_operators=lists_operators)
            for index, term in enumerate(selector.node_selector_terms)
            if not _is_empty(term)
        )
    )


def node_selector(selector: NodeSelector, *, path: str = "", lists_operators: bool = False) -> LazyErrorNodeSelector:
    """A node selector without faults. Raises `SelectorError` with all faults. Upstream: NewNodeSelector"""
    lazy = lazy_node_selector(selector, path=path, lists_operators=lists_operators)
    _refuse_faults(lazy.terms)
    return lazy


def preferred_scheduling_terms(
    terms: Sequence[PreferredSchedulingTerm], *, path: str = "", lists_operators: bool = False
) -> PreferredSchedulingTerms:
    """Preferred terms without faults. Those with weight 0 or without conditions are omitted.

    Raises `SelectorError` with all faults. Upstream: NewPreferredSchedulingTerms
    """
    parsed = tuple(
        msgspec.structs.replace(_parse_term(term.preference, f"{path}[{index}]", lists_operators=lists_operators), weight=term.weight)
        for index, term in enumerate(terms)
        if term.weight and not _is_empty(term.preference)
    )
    _refuse_faults(parsed)
    return PreferredSchedulingTerms(parsed)


def printed_node_selector(selector: NodeSelector) -> str:
    """A node selector as Go prints it. Upstream: NodeSelector.String"""
    terms = (
        f"NodeSelectorTerm{{MatchExpressions:{_printed_requirements(term.match_expressions)},MatchFields:{_printed_requirements(term.match_fields)},}},"
        for term in selector.node_selector_terms
    )
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{''.join(terms)}}},}}"


def _printed_requirements(requirements: Sequence[NodeSelectorRequirement]) -> str:
    printed = (
        f"NodeSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values)}],}}," for each in requirements
    )
    return f"[]NodeSelectorRequirement{{{''.join(printed)}}}"


def _refuse_faults(terms: Sequence[ParsedTerm]) -> None:
    faults = [fault for term in terms for fault in term.faults]
    if faults:
        raise SelectorError(faults)


def _is_empty(term: NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


def _parse_term(term: NodeSelectorTerm, path: str, *, lists_operators: bool) -> ParsedTerm:
    faults: list[str] = []
    labels: list[Requirement] = []
    fields: list[tuple[str, str, bool]] = []
    for index, expression in enumerate(term.match_expressions):
        expression_path = f"{path}.matchExpressions[{index}]"
        operator = NODE_OPERATORS.get(expression.operator)
        if operator is None:
            supported = _SUPPORTED_OPERATORS if lists_operators else ""
            faults.append(f"{expression_path}.operator: Unsupported value: {quote(expression.operator)}{supported}")
            continue
        try:
            labels.append(requirement(expression.key, operator, expression.values, path=expression_path))
        except SelectorError as error:
            faults += error.faults
    for index, field in enumerate(term.match_fields):
        fault = _field_fault(field, f"{path}.matchFields[{index}]")
        if fault:
            faults.append(fault)
        else:
            fields.append((field.key, field.values[0], field.operator == "In"))
    return ParsedTerm(labels=EVERYTHING.with_requirements(*labels), fields=tuple(fields), faults=tuple(faults))


def _field_fault(field: NodeSelectorRequirement, path: str) -> str:
    if field.operator not in {"In", "NotIn"}:
        return f'{path}.operator: Unsupported value: {quote(field.operator)}: supported values: "In", "NotIn"'
    if len(field.values) != 1:
        return f"{path}.values: Invalid value: {show_strings(field.values)}: must have one element"
    return ""
