"""Static types of expressions, and when one can be used as another. Upstream: cel-go checker/types.go, common/types/types.go"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

Kind = Literal["plain", "list", "map", "opaque", "struct", "parameter", "dyn", "any", "error", "type", "null"]


class Type(msgspec.Struct, frozen=True):
    """A type: its kind, its name, and the types of its elements."""

    kind: Kind
    name: str
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def runtime_name(self) -> str:
        """The name without parameters. Upstream: Type.TypeName"""
        return {"any": "google.protobuf.Any", "null": "null_type"}.get(self.kind, self.name)

    def described(self) -> str:
        """The whole type with names as at run time; messages of the checker have shorter ones. Upstream: Type.String"""
        if not self.parameters:
            return self.runtime_name
        return f"{self.runtime_name}({', '.join(parameter.described() for parameter in self.parameters)})"

    @property
    def is_dyn(self) -> bool:
        """Whether values are checked at run time only."""
        return self.kind in ("dyn", "any")

    @property
    def is_optional(self) -> bool:
        """Whether it is an optional type."""
        return self.kind == "opaque" and self.name == OPTIONAL


OPTIONAL: Final = "optional_type"
BOOL: Final = Type("plain", "bool")
INT: Final = Type("plain", "int")
UINT: Final = Type("plain", "uint")
DOUBLE: Final = Type("plain", "double")
STRING: Final = Type("plain", "string")
BYTES: Final = Type("plain", "bytes")
NULL: Final = Type("null", "null")
DYN: Final = Type("dyn", "dyn")
ANY: Final = Type("any", "any")
ERROR: Final = Type("error", "!error!")
#: Parameters of functions: `A` stands for one type throughout a signature.
A: Final = Type("parameter", "A")
B: Final = Type("parameter", "B")


def list_of(element: Type) -> Type:
    """The type of lists."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """The type of maps."""
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """The type of optional values."""
    return Type("opaque", OPTIONAL, (value,))


def type_of(value: Type) -> Type:
    """The type of a type."""
    return Type("type", "type", (value,))


def opaque(name: str) -> Type:
    """A type of which only functions know anything."""
    return Type("opaque", name)


class TooComplexError(Exception):
    """Checking the types of an expression takes too long: types that share their parts can grow exponentially."""


#: The types that one check may visit.
_MAX_VISITED_TYPES: Final = 500_000


class Effort:
    """How many types a check may still visit. Deviation: upstream has no limit, and an expression can make its check endless."""

    def __init__(self) -> None:
        self._left = _MAX_VISITED_TYPES

    def spend(self, types: int = 1) -> None:
        """Raises `TooComplexError`."""
        self._left -= types
        if self._left < 0:
            raise TooComplexError


class Substitutions:
    """What type parameters stand for. Upstream: checker/mapping.go"""

    def __init__(self, known: dict[str, Type] | None = None, effort: Effort | None = None) -> None:
        self._known = {} if known is None else known
        self._effort = Effort() if effort is None else effort

    def assign(self, types: Sequence[Type], parameters: Sequence[Type]) -> bool:
        """Whether each type can be used for the wanted one. If not, nothing is learned. Upstream: isAssignableList"""
        self._effort.spend(1 + len(self._known) // 16)
        attempt = Substitutions(dict(self._known), self._effort)
        if len(types) != len(parameters) or not all(map(attempt._is_assignable, types, parameters)):
            return False
        self._known = attempt._known
        return True

    def apply(self, type_: Type, *, to_dyn: bool = False) -> Type:
        """The type with what its parameters stand for; `to_dyn`: unknown ones are dyn. Upstream: substitute"""
        self._effort.spend()
        if type_.kind == "parameter":
            bound = self._known.get(type_.name)
            if bound is not None:
                return self.apply(bound, to_dyn=to_dyn)
            return DYN if to_dyn else type_
        if not type_.parameters:
            return type_
        return Type(type_.kind, type_.name, tuple(self.apply(parameter, to_dyn=to_dyn) for parameter in type_.parameters))

    def _is_assignable(self, type_: Type, parameter: Type) -> bool:
        """Upstream: internalIsAssignable"""
        self._effort.spend()
        if parameter.kind == "parameter":
            valid, has_known = self._is_substitution(type_, parameter)
            if valid:
                return True
            if has_known:
                return False
        if type_.kind == "parameter":
            return self._is_substitution(parameter, type_)[0]
        if "error" in (type_.kind, parameter.kind) or type_.is_dyn or parameter.is_dyn:
            return True
        if "null" in (type_.kind, parameter.kind):
            other = parameter if type_.kind == "null" else type_
            return other.kind in ("null", "opaque", "struct")
        if type_.kind == "type" or parameter.kind == "type":
            return type_.kind == parameter.kind
        if (type_.kind, type_.name, len(type_.parameters)) != (parameter.kind, parameter.name, len(parameter.parameters)):
            return False
        return all(map(self._is_assignable, type_.parameters, parameter.parameters))

    def _is_substitution(self, type_: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether a parameter can stand for the type, and whether it already stands for one. Upstream: isValidTypeSubstitution"""
        if type_ == parameter:
            return True, True
        bound = self._known.get(parameter.name)
        if bound is None:
            if self._occurs(parameter, type_):
                return False, False
            self._known[parameter.name] = type_
            return True, False
        if type_ == bound:
            return True, True
        if not self._is_assignable(type_, bound):
            return False, True
        general = most_general(type_, bound)
        if not self._occurs(parameter, general):
            self._known[parameter.name] = general
        return True, True

    def _occurs(self, parameter: Type, within: Type) -> bool:
        """Upstream: notReferencedIn"""
        self._effort.spend()
        if parameter == within:
            return True
        if within.kind == "parameter":
            bound = self._known.get(within.name)
            return bound is not None and self._occurs(parameter, bound)
        return any(self._occurs(parameter, parameter_type) for parameter_type in within.parameters)


def size(type_: Type, most: int) -> int:
    """The number of types in a type, up to not much more than `most`."""
    count, inside = 0, [type_]
    while inside and count <= most:
        one = inside.pop()
        count += 1
        inside.extend(one.parameters)
    return count


def most_general(first: Type, second: Type) -> Type:
    """The less specific of two types that agree. Upstream: mostGeneral"""
    return first if _is_equal_or_less_specific(first, second) else second


def _is_equal_or_less_specific(first: Type, second: Type) -> bool:
    if first.is_dyn or first.kind == "parameter":
        return True
    if second.is_dyn or second.kind == "parameter" or first.kind != second.kind:
        return False
    if first.kind == "type":
        return True
    if first.name != second.name or len(first.parameters) != len(second.parameters):
        return False
    return all(map(_is_equal_or_less_specific, first.parameters, second.parameters))


def signature(arguments: Iterable[Type], *, is_member: bool) -> str:
    """Arguments as messages show them. Upstream: checker/format.go formatFunctionDeclType"""
    shown = [str(argument) for argument in arguments]
    if is_member:
        return f"{shown[0]}.({', '.join(shown[1:])})"
    return f"({', '.join(shown)})"
