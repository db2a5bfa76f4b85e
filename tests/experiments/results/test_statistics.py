"""Means and their intervals."""

from __future__ import annotations

import pytest

from schedviz.experiments.results.statistics import interval


def test_no_numbers_have_no_interval() -> None:
    assert interval([]) is None


def test_a_single_number_has_no_margin_and_does_not_exclude_zero() -> None:
    result = interval([3.0])
    assert result is not None
    assert (result.mean, result.margin, result.excludes_zero) == (3.0, None, False)


def test_the_margin_uses_students_t_distribution() -> None:
    # From a table: t(0.975, 4) = 2.776; the deviation of 1…5 is √2.5.
    result = interval([1, 2, 3, 4, 5])
    assert result is not None
    assert result.margin == pytest.approx(2.776 * (2.5 / 5) ** 0.5)
    assert result.excludes_zero


def test_for_many_numbers_an_expansion_continues_the_table_of_quantiles() -> None:
    numbers = [float(number % 2) for number in range(32)]
    result = interval(numbers)
    assert result is not None
    deviation = (8 / 31) ** 0.5
    assert result.margin == pytest.approx(2.0395 * deviation / 32**0.5, rel=1e-3)


def test_equal_numbers_have_a_margin_of_zero() -> None:
    result = interval([2.0, 2.0, 2.0])
    assert result is not None
    assert (result.margin, result.excludes_zero) == (0.0, True)
