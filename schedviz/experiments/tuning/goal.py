"""The goal of a search: a column of the results that is minimized or maximized, and constraints on others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.plans.plan import Tune
from schedviz.experiments.tuning.space import faults_of_axis

_SIGN: Final = re.compile(r"<=|>=")
_BOUND: Final = re.compile(r"(?P<number>[-+.\deE]+)|(?:(?P<factor>[.\d]+)\s*\*\s*)?baseline")


class Constraint(msgspec.Struct, frozen=True):
    """A bound of a column."""

    text: str
    column: str
    is_upper: bool
    #: The bound, or what the baseline's mean is multiplied by for it.
    number: float
    is_of_baseline: bool

    def violation(self, value: float, baseline: float) -> float:
        """By how much a mean violates the bound; 0 or less: it does not."""
        bound = self.number * baseline if self.is_of_baseline else self.number
        return value - bound if self.is_upper else bound - value


class Goal(msgspec.Struct, frozen=True):
    """What a search looks for."""

    column: str
    maximizes: bool
    constraints: tuple[Constraint, ...]

    @classmethod
    def of(cls, tune: Tune) -> Goal:
        """The goal of a plan that was read."""
        return cls(tune.maximize or tune.minimize or "", tune.maximize is not None, tuple(map(parse_constraint, tune.constraints)))

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([self.column, *(each.column for each in self.constraints)]))

    def violations(self, values: Mapping[str, float], baseline: Mapping[str, float]) -> list[float]:
        """By how much the means of a variant violate each constraint."""
        return [each.violation(values[each.column], baseline[each.column]) for each in self.constraints]


def parse_constraint(text: str) -> Constraint:
    """The constraint of a text such as `placed >= 0.99 * baseline`. Raises `ValueError`."""
    # A single expression would match long texts in quadratic time.
    sign = _SIGN.search(text)
    column = text[: sign.start()].strip() if sign is not None else ""
    found = _BOUND.fullmatch(text[sign.end() :].strip()) if sign is not None else None
    if sign is None or not column or found is None:
        raise ValueError(f"expected a measure, <= or >=, and a number or `baseline`, such as `placed >= 0.99 * baseline`; found {text!r}")
    number = float(found["number"]) if found["number"] else float(found["factor"] or 1)
    return Constraint(text, column, sign[0] == "<=", number, is_of_baseline=not found["number"])


def constraint_columns(tune: Tune) -> Iterator[tuple[str, str]]:
    """The columns of the constraints, with their paths."""
    for index, text in enumerate(tune.constraints):
        yield f"tune.constraints[{index}]", parse_constraint(text).column


def validate_tuning(tune: Tune) -> None:
    """Validate the form of a search. Raises `PlanError` with every fault."""
    faults = []
    if (tune.minimize is None) == (tune.maximize is None):
        faults.append(Fault("tune", "expected exactly one of minimize and maximize"))
    for index, text in enumerate(tune.constraints):
        try:
            parse_constraint(text)
        except ValueError as error:
            faults.append(Fault(f"tune.constraints[{index}]", str(error)))
    for name, axis in tune.space.items():
        faults += faults_of_axis(axis, f"tune.space.{name}")
    if faults:
        raise PlanError(faults)
