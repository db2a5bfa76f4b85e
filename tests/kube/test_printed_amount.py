"""Amounts of resources, as people read them."""

import pytest

from schedviz.kube.printed_amount import exact_amount, printed_amount


@pytest.mark.parametrize(
    ("resource", "amount", "printed", "exact"),
    [
        ("cpu", 4000, "4", "4"),
        ("cpu", 2500, "2.5", "2500m"),
        ("cpu", 250, "0.25", "250m"),
        ("cpu", 1234, "1.234", "1234m"),
        ("cpu", 0, "0", "0"),
        ("memory", 6 << 30, "6Gi", "6Gi"),
        ("memory", 0, "0", "0"),
        ("memory", 6656 << 20, "6.5Gi", "6656Mi"),
        ("memory", 1280 << 20, "1.25Gi", "1280Mi"),
        ("memory", 1300 << 20, "1300Mi", "1300Mi"),
        ("memory", 16_374_120_448, "≈15.2Gi", "15990352Ki"),
        ("memory", 1_048_577, "≈1.0Mi", "1048577"),
        ("ephemeral-storage", 1 << 40, "1Ti", "1Ti"),
        ("hugepages-2Mi", 4 << 20, "4Mi", "4Mi"),
        ("nvidia.com/gpu", 8, "8", "8"),
        ("memory", -(2 << 30), "-2Gi", "-2Gi"),
    ],
)
def test_an_amount_is_printed_short_and_exact_if_digits_matter(resource: str, amount: int, printed: str, exact: str) -> None:
    assert printed_amount(resource, amount) == printed
    assert exact_amount(resource, amount) == exact
