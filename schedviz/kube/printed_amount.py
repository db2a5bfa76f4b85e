"""Amounts of a resource, printed for people."""

from __future__ import annotations

from typing import Final

_BYTES: Final = frozenset({"memory", "ephemeral-storage"})
_UNITS: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
#: Exact amounts of at least so many of their unit are rounded to a larger unit.
_MAX_UNROUNDED: Final = 10_000
_UNIT: Final = 1024
#: Quarters of a unit are exact in two decimals: `6.5Gi` is easier to read than `6656Mi`.
_QUARTER: Final = 256


def is_in_bytes(resource: str) -> bool:
    """Whether amounts of the resource are bytes."""
    return resource in _BYTES or resource.startswith("hugepages-")


def printed_amount(resource: str, amount: int) -> str:
    """An amount in base units (milli-cpus, bytes, a count): `2.5`, `0.25`, `6Gi`, `6.5Gi`, `≈1.9Gi` if rounded, `3`."""
    if resource == "cpu":
        return _cores(amount)
    return _bytes(amount) if is_in_bytes(resource) else str(amount)


def exact_amount(resource: str, amount: int) -> str:
    """The same as Kubernetes prints it, never rounded: `1500m`, `6Gi`, `1048577`."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if not is_in_bytes(resource):
        return str(amount)
    value, unit = _in_largest_unit(amount)
    return f"{value}{_UNITS[unit]}"


def _cores(milli: int) -> str:
    # Always in cores, never in milli-cpus: a reader compares the amounts of several nodes.
    return f"{milli / 1000:.3f}".rstrip("0").rstrip(".")


def _bytes(amount: int) -> str:
    value, unit = _in_largest_unit(amount)
    if abs(value) > _UNIT and value % _QUARTER == 0 and unit < len(_UNITS) - 1:
        return f"{value / _UNIT:.2f}".rstrip("0") + _UNITS[unit + 1]
    if abs(value) < _MAX_UNROUNDED:
        return f"{value}{_UNITS[unit]}"
    rounded = float(value)
    while abs(rounded) >= 1024 and unit < len(_UNITS) - 1:
        rounded /= 1024
        unit += 1
    return f"≈{rounded:.{1 if abs(rounded) < 100 else 0}f}{_UNITS[unit]}"


def _in_largest_unit(amount: int) -> tuple[int, int]:
    """The amount in the largest unit in which it is exact, and that unit."""
    unit = 0
    while amount and amount % 1024 == 0 and unit < len(_UNITS) - 1:
        amount //= 1024
        unit += 1
    return amount, unit
