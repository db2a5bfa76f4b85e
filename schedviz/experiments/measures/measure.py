"""`Measure`, and the decorator that makes one of a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from schedviz.experiments.finished import FinishedTrial

#: What the numbers count. A `share` is between 0 and 1.
Unit = Literal["pods", "nodes", "count", "share", "seconds"]
#: Which of two numbers is the better one; "": neither.
Better = Literal["lower", "higher", ""]
#: One number, or numbers by name, such as the resources.
Values = float | Mapping[str, float]


class MeasureError(Exception):
    """A measure raised an exception or did not return numbers. `name` is the measure's."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"measure {name}: {message}")
        self.name = name


class Measure(msgspec.Struct, frozen=True):
    """A function of a finished trial, with what a table needs to know about its numbers."""

    name: str
    function: Callable[[FinishedTrial], Values]
    #: A sentence for the report.
    title: str
    unit: Unit = "count"
    better: Better = ""
    #: The value of a trial for a name that only other trials have, such as a reason of pending pods; None: there is no value.
    absent: float | None = None
    #: Equal trials can have different numbers, such as a time. They are kept out of what is compared byte for byte.
    is_volatile: bool = False

    def __post_init__(self) -> None:
        if not self.name or "." in self.name:
            raise ValueError(f"a measure's name must not be empty or contain a dot, found {self.name!r}")

    def of(self, trial: FinishedTrial) -> dict[str, float]:
        """The numbers by column: `name`, or `name.part` for each part. Raises `MeasureError`."""
        try:
            values = self.function(trial)
        except Exception as error:
            raise MeasureError(self.name, f"{type(error).__name__}: {error}") from error
        parts = values.items() if isinstance(values, Mapping) else [("", values)]
        return {f"{self.name}.{part}" if part else self.name: self._number(value) for part, value in parts}

    def _number(self, value: object) -> float:
        try:
            number = float(value)  # type: ignore[arg-type]  # that is what the except is for
        except (TypeError, ValueError):
            raise MeasureError(self.name, f"expected a number, or numbers by name; found {value!r:.100}") from None
        if not math.isfinite(number):
            raise MeasureError(self.name, f"expected a finite number, found {number}")
        # Digits beyond these differ between processors.
        return round(number, 9)


def measure(
    name: str, *, title: str, unit: Unit = "count", better: Better = "", absent: float | None = None, is_volatile: bool = False
) -> Callable[[Callable[[FinishedTrial], Values]], Measure]:
    """Make a measure of a function: `@measure("placed", title="Pods that have a node", unit="pods", better="higher")`."""

    def make(function: Callable[[FinishedTrial], Values]) -> Measure:
        return Measure(name, function, title, unit, better, absent, is_volatile)

    return make
