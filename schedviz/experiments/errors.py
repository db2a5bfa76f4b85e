"""Errors of plans, with their positions."""

from __future__ import annotations

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """One error of a plan."""

    #: Such as `variants[2].weights.ImageLocality`; "": the whole plan.
    path: str
    message: str
    #: From 1; 0: unknown.
    line: int = 0
    #: The variant that is invalid; "" if the fault is not about one variant.
    variant: str = ""

    @property
    def without_line(self) -> str:
        """The message with the path but without the line number."""
        variant = f"variant {self.variant!r}: " if self.variant else ""
        return f"{f'{self.path}: ' if self.path else ''}{variant}{self.message}"

    def __str__(self) -> str:
        return f"{f'line {self.line}: ' if self.line else ''}{self.without_line}"


class PlanError(ValueError):
    """The plan is invalid. `faults` has every error that was found."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults

    @classmethod
    def of(cls, path: str, message: str, *, line: int = 0, variant: str = "") -> PlanError:
        """An exception with a single fault."""
        return cls([Fault(path, message, line, variant)])
