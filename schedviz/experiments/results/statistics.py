"""Means and confidence intervals of a few numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec

#: The 97.5% quantiles of Student's t, by degrees of freedom from 1; beyond, that of the normal distribution with a correction.
_T: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL: Final = 1.959964


class Interval(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A mean, and how far from it the true mean lies at most, with 95% confidence. `margin` is None for a single number."""

    mean: float
    margin: float | None
    count: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the confidence interval excludes 0. False for a single number, which has no interval."""
        return self.margin is not None and abs(self.mean) > self.margin


def interval(numbers: Sequence[float]) -> Interval | None:
    """The mean with its 95% interval, by Student's t; None without numbers."""
    if not numbers:
        return None
    count = len(numbers)
    mean = math.fsum(numbers) / count
    if count == 1:
        return Interval(_rounded(mean), None, 1)
    deviation = math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / (count - 1))
    return Interval(_rounded(mean), _rounded(_quantile(count - 1) * deviation / math.sqrt(count)), count)


def _quantile(degrees_of_freedom: int) -> float:
    if degrees_of_freedom <= len(_T):
        return _T[degrees_of_freedom - 1]
    # Cornish-Fisher expansion, exact to 0.001 from 30 degrees of freedom on.
    z = _NORMAL
    return z + (z**3 + z) / (4 * degrees_of_freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees_of_freedom**2)


def _rounded(number: float) -> float:
    return round(number, 9)
