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
        names = ", ".join(map(type_name, arguments))
        raise CelError(f"no such overload: {self.name}({names})")


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
