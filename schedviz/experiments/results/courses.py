"""What is plotted of a variant in addition to its numbers: how full its nodes are, and its series. Means over a few seeds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.experiments.trials.series import Series, thinned
from schedviz.experiments.trials.trial_result import TrialResult

#: Points of a time series.
_POINTS: Final = 100
_DIGITS: Final = 6


class Course(msgspec.Struct, frozen=True, gc=False):
    """A series of a variant: the mean, the least and the largest of the trials' series over seeds. All lists have one length."""

    at: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


def mean_shares(results: Sequence[TrialResult]) -> dict[str, list[float]]:
    """The sorted shares of nodes by resource: place by place, the mean over the results, which have equal numbers of nodes."""
    names = dict.fromkeys(name for result in results for name in result.node_shares)
    found = {name: [result.node_shares[name] for result in results if name in result.node_shares] for name in names}
    return {name: [_rounded(sum(each) / len(each)) for each in zip(*several, strict=False)] for name, several in found.items()}


def courses_of(results: Sequence[TrialResult]) -> dict[str, Course]:
    """The mean series by name, over all results that have it."""
    names = dict.fromkeys(name for result in results for name, series in result.series.items() if series.at)
    return {
        name: _course([thinned(found.series[name], _POINTS) for found in results if name in found.series and found.series[name].at])
        for name in names
    }


def _course(several: Sequence[Series]) -> Course:
    at = _common_times(several)
    values = [[_value(series, time) for series in several] for time in at]
    return Course(
        at,
        [_rounded(sum(each) / len(each)) for each in values],
        [min(each) for each in values],
        [max(each) for each in values],
    )


def _common_times(several: Sequence[Series]) -> list[float]:
    first = several[0].at
    if all(series.at == first for series in several):
        return list(first)
    low, high = min(series.at[0] for series in several), max(series.at[-1] for series in several)
    return [_rounded(low + (high - low) * step / (_POINTS - 1)) for step in range(_POINTS)]


def _value(series: Series, time: float) -> float:
    """The number at a time: the last one before it, or the first one."""
    return series.values[max(bisect_right(series.at, time) - 1, 0)]


def _rounded(number: float) -> float:
    return round(number, _DIGITS)
