"""Declarations of functions: their overloads with types for the checker, and what computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from schedviz.cel.errors import CelError
from schedviz.cel.types import Type
from schedviz.cel.values import Optional, TypeValue, Uint, type_name

#: Takes the arguments' values and the result; gives the cost of a call.
Cost = Callable[[Sequence[Any], Any], int]
#: Takes the arguments' values; gives the elements that a call goes through or makes, at most, and a tenth of the characters.
Work = Callable[[Sequence[Any]], int]


class Overload(msgspec.Struct, frozen=True):
    """One signature of a function."""

    arguments: tuple[Type, ...]
    result: Type
    compute: Callable[..., Any]
    is_member: bool = False
    #: None: 1.
    cost: Cost | None = None
    #: Work that is counted before the call. None: it does not grow with the contents of the arguments, or no faster than the cost.
    work: Work | None = None


class Function(msgspec.Struct):
    """A function by its name, with all its signatures."""

    name: str
    overloads: list[Overload] = []

    def pick(self, arguments: Sequence[Any], *, is_member: bool) -> Overload:
        """The overload for values. Raises `CelError`."""
        for overload in self.overloads:
            if overload.is_member != is_member or len(overload.arguments) != len(arguments):
                continue
            if all(map(_takes, overload.arguments, arguments)):
                return overload
        raise CelError(_no_such_overload(self.name, arguments))


#: Functions that check their arguments themselves.
_WITHOUT_NAME: Final = frozenset(("!_", "@in", "startsWith", "endsWith", "contains", "matches"))
_ORDERED: Final = frozenset(("bool", "int", "uint", "double", "string", "bytes", "google.protobuf.Duration", "google.protobuf.Timestamp"))
_NUMBERS: Final = frozenset(("int", "uint", "double"))
#: The types whose values check the other argument of an operator themselves. Upstream: cel-go common/types/traits
_OPERANDS: Final = {
    "_+_": _ORDERED - {"bool"} | {"list"},
    "_-_": _NUMBERS | {"google.protobuf.Duration", "google.protobuf.Timestamp"},
    "_*_": _NUMBERS,
    "_/_": _NUMBERS,
    "_%_": frozenset(("int", "uint")),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ORDERED),
    "-_": frozenset(("bool", "int", "double")),
    "size": frozenset(("string", "bytes", "list", "map")),
}
#: Types whose values refuse every operator that they do not have. Upstream: cel-go traits.ReceiverType
_RECEIVERS: Final = frozenset(("string", "google.protobuf.Duration", "google.protobuf.Timestamp"))


def _no_such_overload(name: str, arguments: Sequence[Any]) -> str:
    """The message. Only functions that never see the values are named in it."""
    operands = _OPERANDS.get(name)
    if operands is None:
        names = ", ".join(map(type_name, arguments))
        return "no such overload" if name in _WITHOUT_NAME else f"no such overload: {name}({names})"
    first = type_name(arguments[0])
    return "no such overload" if first in operands or first in _RECEIVERS else f"no such overload: {name}"


_CLASSES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "bytes": (bytes,),
    "double": (float,),
    "uint": (Uint,),
    "bool": (bool,),
    "list": (tuple, list),
    "map": (dict,),
    "optional_type": (Optional,),
    "type": (TypeValue,),
    "null": (type(None),),
}


def add_class(name: str, cls: type) -> None:
    """The class of the values of a library's type."""
    _CLASSES[name] = (cls,)


def _takes(type_: Type, value: Any) -> bool:
    if type_.is_dyn or type_.kind == "parameter":
        return True
    if type_.name == "int":
        return type(value) is int
    return isinstance(value, _CLASSES[type_.name])
