"""`Measure`, and the decorator that turns a function into one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from schedviz.experiments.measure_info import Better, MeasureInfo, Unit

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial

#: One number, or numbers by name, such as one for each resource.
Values = float | Mapping[str, float]


class MeasureError(Exception):
    """A measure raised an exception or did not return numbers. `name` is the measure's."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"measure {name}: {message}")
        self.name = name


class Measure(msgspec.Struct, frozen=True):
    """A function of a finished trial, with its metadata."""

    function: Callable[[FinishedTrial], Values]
    info: MeasureInfo

    def __post_init__(self) -> None:
        if not self.name or "." in self.name:
            raise ValueError(f"a measure's name must not be empty or contain a dot, found {self.name!r}")

    @property
    def name(self) -> str:
        """Its name in plans."""
        return self.info.name

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
    """Turn a function into a measure: `@measure("placed", title="Pods that have a node", unit="pods", better="higher")`."""

    def make(function: Callable[[FinishedTrial], Values]) -> Measure:
        return Measure(function, MeasureInfo(name, title, unit, better, absent, is_volatile))

    return make
