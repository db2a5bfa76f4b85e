"""Resource quantities: `500m`, `2Gi`, `1e3`.

A quantity is an exact decimal with the format in which it was written. `value` and `milli_value` round up as upstream does, and `str()` is
the canonical form. Upstream: apimachinery/pkg/api/resource/quantity.go
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final, Literal

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

NANO: Final = -9
MILLI: Final = -3
MAX_INT64: Final = (1 << 63) - 1

#: Longer texts and larger exponents are refused, because upstream would compute numbers with that many digits.
MAX_TEXT: Final = 256
MAX_EXPONENT: Final = 1000

#: Upstream's `maxInt64Factors`: how many decimal digits always fit in an int64.
_INT64_DIGITS: Final = 18

_SHAPE = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_EXPONENT = re.compile(r"[eE][+-]?[0-9]+", re.ASCII)

_DECIMAL_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX_OF: Final = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIX_OF: Final = {0: "", **{exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}}


class QuantityError(ValueError):
    """A text that is not a quantity. `text` is the input."""

    def __init__(self, text: object) -> None:
        self.text = text
        quoted = f'"{text}"' if isinstance(text, str) else json.dumps(text)
        super().__init__(f"{quoted} is not a quantity" if len(quoted) <= 80 else f"{quoted[:77]}… is not a quantity")


class Quantity:
    """A quantity. Equal quantities have the same canonical form; `value` and `milli_value` are computed once."""

    __slots__ = ("_text", "exponent", "format", "is_big", "milli_value", "unscaled", "value")

    #: The number is `unscaled` × 10^`exponent`.
    unscaled: int
    exponent: int
    format: Format
    #: Whether upstream represents it as an arbitrary-precision decimal instead of an int64 with a scale, which overflows differently.
    is_big: bool
    #: Upstream's Value(): rounded up to an integer.
    value: int
    #: Upstream's MilliValue(): thousandths, rounded up.
    milli_value: int

    def __init__(self, unscaled: int, exponent: int, format: Format, *, is_big: bool = False, text: str = "") -> None:  # noqa: A002
        self.unscaled = unscaled
        self.exponent = exponent
        self.format = format
        self.is_big = is_big
        self._text = text or _canonical(unscaled, exponent, format)
        self.value = self.scaled_value(0)
        self.milli_value = self.scaled_value(MILLI)

    def scaled_value(self, scale: int) -> int:
        """The amount in units of 10^`scale`, rounded up, in an int64. Upstream: quantity.go ScaledValue"""
        if self.is_big:
            return _big_scaled_value(self.unscaled, self.exponent, scale)
        if self.exponent >= scale:
            result = self.unscaled * _power(self.exponent - scale)
            return result if -MAX_INT64 - 1 <= result <= MAX_INT64 else 0
        return _divide_away_from_zero(self.unscaled, _power(scale - self.exponent))

    def round_up(self, scale: int) -> Quantity:
        """This amount rounded away from zero to a multiple of 10^`scale`. Upstream: quantity.go RoundUp"""
        if self.exponent >= scale:
            return self
        unscaled = _divide_away_from_zero(self.unscaled, 10 ** (scale - self.exponent))
        if unscaled * 10 ** (scale - self.exponent) == self.unscaled:
            return self
        return Quantity(unscaled, scale, self.format, is_big=self.is_big)

    def plus(self, other: Quantity) -> Quantity:
        """The sum, held as upstream holds it: an int64 with a scale until that overflows. Upstream: quantity.go Add, amount.go Add"""
        low = min(self.exponent, other.exponent)
        format_ = other.format if self.is_zero else self.format
        if not (self.is_big or other.is_big):
            if other.is_zero:
                return self
            if self.is_zero:
                return other
        own, others = self.unscaled * _power(self.exponent - low), other.unscaled * _power(other.exponent - low)
        is_big = self.is_big or other.is_big or max(abs(own), abs(others), abs(own + others)) > MAX_INT64
        return Quantity(own + others, low, format_, is_big=is_big)

    def minus(self, other: Quantity) -> Quantity:
        """The difference, held like a sum. Upstream: quantity.go Sub"""
        return self.plus(Quantity(-other.unscaled, other.exponent, other.format, is_big=other.is_big))

    @property
    def is_zero(self) -> bool:
        """Whether the amount is zero."""
        return self.unscaled == 0

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1. Upstream: quantity.go Cmp"""
        low = min(self.exponent, other.exponent)
        own, others = self.unscaled * _power(self.exponent - low), other.unscaled * _power(other.exponent - low)
        return (own > others) - (own < others)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


@lru_cache(maxsize=65_536)
def parse(text: str) -> Quantity:
    """Parse a quantity. Raises `QuantityError`. Upstream: quantity.go ParseQuantity"""
    # Matching takes quadratic time, so the length comes first.
    match = _SHAPE.fullmatch(text) if 0 < len(text) <= MAX_TEXT else None
    if match is None:
        raise QuantityError(text)
    sign, digits, fraction, suffix = match.groups()
    whole_digits, fraction = digits.lstrip("0"), fraction or ""
    if not whole_digits:
        if "." not in text and not suffix:  # only zeros
            return Quantity(0, 0, "DecimalSI", text="0")
        whole_digits = "0"
    exponent, quantity_format = _interpret(suffix, text)
    negative = sign == "-"
    small = _parse_small(text, whole_digits, fraction, exponent, quantity_format, negative=negative)
    return small or _parse_big(whole_digits, fraction, exponent, quantity_format, negative=negative)


def from_number(number: float) -> Quantity:
    """The quantity of a JSON number (`cpu: 2`, `cpu: 0.5`). Raises `QuantityError`."""
    return parse(str(number) if isinstance(number, int) else repr(number).removesuffix(".0"))


def of_int(value: int, format: Format = "DecimalSI") -> Quantity:  # noqa: A002
    """A quantity from an integer."""
    return Quantity(value, 0, format)


def of_milli(value: int, format: Format = "DecimalSI") -> Quantity:  # noqa: A002
    """A quantity from thousandths."""
    return Quantity(value, MILLI, format)


def _interpret(suffix: str, text: str) -> tuple[int, Format]:
    """Exponent (of 2 for BinarySI, otherwise of 10) and format of a suffix. Upstream: suffix.go interpret"""
    if suffix in _DECIMAL_SUFFIXES:
        return _DECIMAL_SUFFIXES[suffix], "DecimalSI"
    if suffix in _BINARY_SUFFIXES:
        return _BINARY_SUFFIXES[suffix], "BinarySI"
    if _EXPONENT.fullmatch(suffix) and abs(int(suffix[1:])) <= MAX_EXPONENT:
        return int(suffix[1:]), "DecimalExponent"
    raise QuantityError(text)


def _parse_small(text: str, whole_digits: str, fraction: str, exponent: int, format: Format, *, negative: bool) -> Quantity | None:  # noqa: A002
    """The quantity as upstream's int64 with a scale; None if upstream uses an arbitrary-precision decimal."""
    mantissa, scale = 1, exponent
    if format == "BinarySI":
        if fraction:
            return None
        precision, mantissa, scale = 15 - len(whole_digits) - exponent * 3 // 10 - 1, 1 << exponent, 0
    else:
        precision = _INT64_DIGITS - len(whole_digits) - len(fraction)
    scale -= len(fraction)
    if precision < 0 or scale < NANO:
        return None
    shifted = whole_digits + fraction
    number = int(shifted)
    unscaled = number * mantissa
    if unscaled > MAX_INT64:
        return None
    written_canonically = scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
    if format == "BinarySI":
        written_canonically = number & 7 != 0
    return Quantity(-unscaled if negative else unscaled, scale, format, text=text if written_canonically else "")


def _parse_big(whole_digits: str, fraction: str, exponent: int, format: Format, *, negative: bool) -> Quantity:  # noqa: A002
    unscaled, scale = int(whole_digits + fraction), -len(fraction)
    if format == "BinarySI":
        unscaled <<= exponent
    else:
        scale += exponent
    if unscaled:  # tiny amounts are rounded up to the smallest one, never to zero
        unscaled = _divide_away_from_zero(unscaled, 10 ** (NANO - scale)) if scale < NANO else unscaled * 10 ** (scale - NANO)
        scale = NANO
    if format == "BinarySI":
        if unscaled > MAX_INT64 * 10**9:
            unscaled, scale = MAX_INT64, 0
        elif 0 < unscaled < 10**9:
            format = "DecimalSI"  # noqa: A001
    return Quantity(-unscaled if negative else unscaled, scale, format, is_big=True)


def _canonical(unscaled: int, exponent: int, format: Format) -> str:  # noqa: A002
    """No fraction, and the largest suffix without loss. Upstream: quantity.go CanonicalizeBytes"""
    if unscaled == 0:
        return "0"
    if format == "BinarySI":
        quotient, rest = (unscaled * 10**exponent, 0) if exponent >= 0 else divmod(unscaled, 10**-exponent)
        if rest == 0 and not -1024 < quotient < 1024:
            power = 0
            while power < 60 and quotient % 1024 == 0 and abs(quotient) >= 1024:
                quotient, power = quotient // 1024, power + 10
            return f"{quotient}{_BINARY_SUFFIX_OF[power]}"
        format = "DecimalSI"  # noqa: A001
    while unscaled % 10 == 0:
        unscaled, exponent = unscaled // 10, exponent + 1
    unscaled, exponent = unscaled * 10 ** (exponent % 3), exponent - exponent % 3
    if format == "DecimalSI" and exponent in _DECIMAL_SUFFIX_OF:
        return f"{unscaled}{_DECIMAL_SUFFIX_OF[exponent]}"
    # Deviation: upstream writes 1000E as "1", because it has no suffix for 10^21; an exponent keeps the amount.
    return f"{unscaled}e{exponent}" if exponent else str(unscaled)


def _power(exponent: int) -> int:
    power: int = 10**exponent
    return power


def _divide_away_from_zero(number: int, divisor: int) -> int:
    return -(-number // divisor) if number >= 0 else number // divisor


def _big_scaled_value(unscaled: int, exponent: int, scale: int) -> int:
    """Upstream: scale_int.go scaledValue, with its overflow and its rounding of negative numbers towards zero."""
    if exponent >= scale:
        return as_int64(as_int64(unscaled) * 10 ** (exponent - scale))
    divisor = 10 ** (scale - exponent)
    if -MAX_INT64 <= unscaled < MAX_INT64 and scale - exponent < 19:
        quotient = abs(unscaled) // divisor * (1 if unscaled >= 0 else -1)
    else:
        quotient = unscaled // divisor
    return as_int64(quotient + (unscaled % divisor != 0))


def as_int64(number: int) -> int:
    """A number as Go's int64: what overflows wraps around."""
    return number if -MAX_INT64 <= number <= MAX_INT64 else (number + (1 << 63)) % (1 << 64) - (1 << 63)
