"""Evaluates, formats and validates label selectors.

`label_selector` converts the API's form to a `Selector`. Upstream: apimachinery/pkg/labels/selector.go
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Self

import msgspec

from schedviz.kube.label_names import key_faults, value_faults
from schedviz.kube.meta import LabelSelector

Labels = Mapping[str, str]

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_ONE_VALUE: Final = frozenset({"=", "==", "!="})
_SIGNS: Final = {"=": "=", "==": "==", "!=": "!=", "in": " in ", "notin": " notin ", "gt": ">", "lt": "<"}

#: More values are compared by a set.
_FEW_VALUES: Final = 8
#: The operators of label selectors and of node selectors, and their inner names.
LABEL_OPERATORS: Final = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
NODE_OPERATORS: Final = {**LABEL_OPERATORS, "Gt": "gt", "Lt": "lt"}


class SelectorError(ValueError):
    """An invalid selector. `faults` are upstream's messages, the text is their aggregate."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = list(dict.fromkeys(faults))
        super().__init__(self.faults[0] if len(self.faults) == 1 else f"[{', '.join(self.faults)}]")


class ManyValues(tuple[str, ...]):  # noqa: SLOT001  (subclasses of tuple cannot have slots with values)
    """The values of a requirement, with a set of them: a requirement is evaluated for each of many nodes."""

    _set: frozenset[str]

    def __new__(cls, values: Iterable[str]) -> Self:
        """The values in this order."""
        made = super().__new__(cls, values)
        made._set = frozenset(made)
        return made

    def __contains__(self, value: object) -> bool:
        return value in self._set


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """A condition on labels. Use `requirement` to create a validated one."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Whether `labels` satisfy the condition. Upstream: selector.go Requirement.Matches"""
        value = labels.get(self.key)
        match self.operator:
            case "in" | "=" | "==":
                return value is not None and value in self.values
            case "notin" | "!=":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
            case "gt" | "lt":
                return self._compares(value)
        return False

    def _compares(self, value: str | None) -> bool:
        number = parse_int64(value)
        bound = parse_int64(self.values[0]) if len(self.values) == 1 else None
        if number is None or bound is None:
            return False
        return number > bound if self.operator == "gt" else number < bound

    def __str__(self) -> str:
        if self.operator in {"exists", "!"}:
            return f"{'!' if self.operator == '!' else ''}{self.key}"
        values = ",".join(sorted(self.values))
        return f"{self.key}{_SIGNS[self.operator]}{f'({values})' if self.operator in {'in', 'notin'} else values}"


class Selector(msgspec.Struct, frozen=True, gc=False):
    """Requirements that must all be satisfied, sorted by key; `selects_nothing` is the selector of an absent LabelSelector."""

    requirements: tuple[Requirement, ...] = ()
    selects_nothing: bool = False

    def matches(self, labels: Labels) -> bool:
        """Whether `labels` are selected."""
        if self.selects_nothing:
            return False
        for requirement in self.requirements:  # noqa: SIM110  (`all` of a generator takes three times as long)
            if not requirement.matches(labels):
                return False
        return True

    @property
    def is_empty(self) -> bool:
        """Whether it selects everything. Upstream: Selector.Empty"""
        return not self.requirements and not self.selects_nothing

    def with_requirements(self, *more: Requirement) -> Selector:
        """This selector narrowed by `more`. Upstream: Selector.Add"""
        if self.selects_nothing:
            return self
        return Selector(tuple(sorted((*self.requirements, *more), key=lambda requirement: requirement.key)))

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(selects_nothing=True)


def label_selector(selector: LabelSelector | None) -> Selector:
    """The selector of a LabelSelector: None selects nothing, an empty one everything.

    Raises `SelectorError`. Upstream: apimachinery/pkg/apis/meta/v1/helpers.go LabelSelectorAsSelector
    """
    if selector is None:
        return NOTHING
    requirements = [requirement(key, "=", (selector.match_labels[key],)) for key in sorted(selector.match_labels)]
    for expression in selector.match_expressions:
        operator = LABEL_OPERATORS.get(expression.operator)
        if operator is None:
            raise SelectorError([f"{quote(expression.operator)} is not a valid label selector operator"])
        requirements.append(requirement(expression.key, operator, expression.values))
    return EVERYTHING.with_requirements(*requirements)


def selector_from_set(labels: Labels) -> Selector:
    """The selector of exactly these labels, not validated, as upstream. Upstream: selector.go SelectorFromSet"""
    return EVERYTHING.with_requirements(*(Requirement(key, "=", (value,)) for key, value in labels.items()))


def requirement(key: str, operator: str, values: Sequence[str], *, path: str = "") -> Requirement:
    """A validated requirement. Raises `SelectorError` whose messages begin with `path`. Upstream: selector.go NewRequirement"""
    prefix = f"{path}." if path else ""
    faults: list[str] = []
    if wrong := key_faults(key):
        faults.append(f"{prefix}key: Invalid value: {quote(key)}: {'; '.join(wrong)}")
    if fault := _count_fault(operator, values):
        faults.append(f"{prefix}values: Invalid value: {show_strings(values)}: {fault}")
    if operator in {"gt", "lt"}:
        faults += [
            f"{prefix}values[{index}]: Invalid value: {quote(value)}: for 'Gt', 'Lt' operators, the value must be an integer"
            for index, value in enumerate(values)
            if parse_int64(value) is None
        ]
    for index, value in enumerate(values):
        if wrong := value_faults(value):
            faults.append(f"{prefix}values[{index}][{key}]: Invalid value: {quote(value)}: {'; '.join(wrong)}")
    if faults:
        raise SelectorError(faults)
    return Requirement(key, operator, tuple(values) if len(values) <= _FEW_VALUES else ManyValues(values))


def _count_fault(operator: str, values: Sequence[str]) -> str:
    if operator in {"in", "notin"} and not values:
        return "for 'in', 'notin' operators, values set can't be empty"
    if operator in _ONE_VALUE and len(values) != 1:
        return "exact-match compatibility requires one single value"
    if operator in {"exists", "!"} and values:
        return "values set must be empty for exists and does not exist"
    if operator in {"gt", "lt"} and len(values) != 1:
        return "for 'Gt', 'Lt' operators, exactly one value is required"
    return ""


def parse_int64(text: str | None) -> int | None:
    """Parse an integer as Go does; None if it is not one. Upstream: strconv.ParseInt"""
    if text is None or len(text) > 64 or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None


def quote(text: str) -> str:
    """A text in Go's %q format (for characters that names may contain)."""
    return msgspec.json.encode(text).decode()


def show_strings(values: Sequence[str]) -> str:
    """A list of texts in Go's %#v format; an absent one is nil."""
    return f"[]string{{{', '.join(map(quote, values))}}}" if values else "[]string(nil)"
