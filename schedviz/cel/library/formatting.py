"""`format`: texts with values. Upstream: cel-go ext/formatting.go, for the locale en_US"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs
from schedviz.cel.library.times import Duration, Timestamp
from schedviz.cel.types import DYN, STRING
from schedviz.cel.values import TypeValue, keys, map_key, shown_number, type_name

_PRECISION: Final = 6
#: More digits than a double has.
_MAX_DIGITS: Final = 1000
_INFINITIES: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MAX_INT: Final = 2**63 - 1
_OF_STRING: Final = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
_OF_HEX: Final = "only integers, byte buffers, and strings can be formatted as hex"
#: By the letter of a clause: what it takes.
RULES: Final[Mapping[str, str]] = {
    "s": _OF_STRING,
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": _OF_HEX,
    "X": _OF_HEX,
    "o": "octal clause can only be used on integers",
}
_RAISED: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    yield "format", Overload((STRING, types.list_of(DYN)), STRING, formatted, is_member=True, cost=costs.of_result)


def formatted(form: str, values: Sequence[Any]) -> str:
    """The format with its clauses replaced. Raises `CelError`. Upstream: parseFormatString"""
    parts: list[str] = []
    position, used = 0, 0
    while position < len(form):
        if form[position] != "%":
            parts.append(form[position])
            position += 1
        elif form[position + 1 : position + 2] == "%":
            parts.append("%")
            position += 2
        else:
            if used >= len(values):
                raise CelError(f"index {used} out of range")
            if position + 1 >= len(form):
                raise CelError("unexpected end of string")
            position, clause = _clause(form, position + 1)
            try:
                parts.append(clause(values[used]))
            except CelError as error:
                raise CelError(f"error during formatting: {error}") from None
            used += 1
    return "".join(parts)


def clauses(form: str, count: int) -> Iterator[str]:
    """The letters of the clauses of a constant format for `count` values. Raises `CelError`."""
    position, used = 0, 0
    while (position := form.find("%", position)) >= 0:
        if form[position + 1 : position + 2] == "%":
            position += 2
            continue
        if position + 1 >= len(form):
            raise CelError("unexpected end of string")
        if used >= count:
            raise CelError(f"index {used} out of range")
        position, _ = _clause(form, position + 1)
        yield form[position - 1]
        used += 1


def _clause(form: str, position: int) -> tuple[int, Callable[[Any], str]]:
    """Where the clause ends, and what it does. Upstream: parseFormattingClause"""
    precision = _PRECISION
    prefix = "could not parse formatting clause: "
    if form[position] == ".":
        end = position + 1
        while end < len(form) and "0" <= form[end] <= "9":
            end += 1
        if end >= len(form):
            raise CelError(f"{prefix}error while parsing precision: could not find end of precision specifier")
        digits = form[position + 1 : end]
        if not digits:
            problem = 'strconv.Atoi: parsing "": invalid syntax'
            raise CelError(f"{prefix}error while parsing precision: error while converting precision to integer: {problem}")
        significant = digits.lstrip("0")
        if len(significant) > len(str(_MAX_INT)) or int(significant or "0") > _MAX_INT:
            problem = f'strconv.Atoi: parsing "{digits}": value out of range'
            raise CelError(f"{prefix}error while parsing precision: error while converting precision to integer: {problem}")
        precision = min(int(significant or "0"), _MAX_DIGITS)
        position = end
    letter = form[position]
    functions_by_letter: dict[str, Callable[[Any], str]] = {
        "s": _string,
        "d": _decimal,
        "f": lambda value: _fixed(value, precision),
        "e": lambda value: _scientific(value, precision),
        "b": _binary,
        "x": lambda value: _hexadecimal(value, upper=False),
        "X": lambda value: _hexadecimal(value, upper=True),
        "o": _octal,
    }
    if letter not in functions_by_letter:
        # Upstream reads bytes.
        raise CelError(f'{prefix}unrecognized formatting clause "{chr(letter.encode()[0])}"')
    return position + 1, functions_by_letter[letter]


def _refused(rule: str, value: Any) -> CelError:
    return CelError(f"{rule}, was given {type_name(value)}")


def _string(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case float():
            return shown_number(value)
        case int() | Duration() | Timestamp():
            return str(value)
        case bytes():
            return value.decode(errors="replace")
        case TypeValue():
            return value.name
        case Mapping():
            pairs = sorted((_quoted(key, _key(key)), _inner(value[map_key(key)])) for key in keys(value))
            return "{" + ", ".join(f"{key}:{text}" for key, text in pairs) + "}"
        case Sequence():
            return "[" + ", ".join(map(_inner, value)) + "]"
    raise _refused(_OF_STRING, value)


def _key(key: Any) -> str:
    if isinstance(key, bool | str | int):
        return _string(key)
    raise CelError(f"no formatting function for map key of type {type_name(key)}")


def _inner(value: Any) -> str:
    """A value within a list or a map, as an expression."""
    match value:
        case Timestamp():
            return f'timestamp("{value}")'
        case Duration():
            return f'duration("{value}")'
        case float():
            return _quoted(value, f"{value:.{_PRECISION}f}")
        case None | bool() | int() | str() | bytes() | TypeValue() | Mapping() | Sequence():
            return _quoted(value, _string(value))
    raise CelError(f"no formatting function for {type_name(value)}")


def _quoted(value: Any, text: str) -> str:
    if isinstance(value, bytes):
        return f'b"{text}"'
    is_special = isinstance(value, float) and not math.isfinite(value)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if isinstance(value, str) or is_special else text


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _decimal(value: Any) -> str:
    if not _is_whole(value):
        raise _refused(RULES["d"], value)
    return str(int(value))


def _double(value: Any, letter: str) -> float:
    if isinstance(value, str) and value in _INFINITIES:
        return _INFINITIES[value]
    if not isinstance(value, float):
        raise _refused(RULES[letter], value)
    return value


def _fixed(value: Any, precision: int) -> str:
    number = _double(value, "f")
    return f"{number:,.{precision}f}" if math.isfinite(number) else _special(number)


def _scientific(value: Any, precision: int) -> str:
    number = _double(value, "e")
    if not math.isfinite(number):
        return _special(number)
    digits, _, exponent = f"{number:.{precision}e}".partition("e")
    raised = exponent.removeprefix("+").translate(_RAISED)
    return f"{digits}\u202f\u00d7\u202f10{raised}"


def _special(number: float) -> str:
    return "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"


def _binary(value: Any) -> str:
    if not isinstance(value, bool | int):
        raise _refused(RULES["b"], value)
    return f"{int(value):b}"


def _hexadecimal(value: Any, *, upper: bool) -> str:
    if isinstance(value, str | bytes):
        text = (value.encode() if isinstance(value, str) else value).hex()
    elif _is_whole(value):
        text = f"{int(value):x}"
    else:
        raise _refused(_OF_HEX, value)
    return text.upper() if upper else text


def _octal(value: Any) -> str:
    if not _is_whole(value):
        raise _refused(RULES["o"], value)
    return f"{int(value):o}"
