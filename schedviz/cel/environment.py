"""`Environment`: the variables and functions of a kind of expression."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from schedviz.cel import library
from schedviz.cel.checker import Checked, check
from schedviz.cel.declarations import Function, Overload
from schedviz.cel.errors import CompileError, Issue
from schedviz.cel.estimate import SizeOf, worst_cost
from schedviz.cel.parser import parse
from schedviz.cel.program import Plan, Program
from schedviz.cel.syntax import Node
from schedviz.cel.types import BOOL, BYTES, DOUBLE, DYN, INT, NULL, STRING, UINT, Type, list_of, map_of, type_of
from schedviz.cel.validators import validate_formats, validate_literals, validate_types
from schedviz.cel.values import TypeValue

#: The names of types, which are values.
_TYPES: Mapping[str, Type] = {
    **{str(type_): type_ for type_ in (BOOL, INT, UINT, DOUBLE, STRING, BYTES)},
    "null_type": NULL,
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "type": type_of(DYN),
}


@cache
def _library() -> Mapping[str, Function]:
    return _collected(library.functions())


def _collected(overloads: Iterable[tuple[str, Overload]]) -> dict[str, Function]:
    functions: dict[str, Function] = {}
    for name, overload in overloads:
        functions.setdefault(name, Function(name, [])).overloads.append(overload)
    return functions


class Environment:
    """What expressions of one kind can use."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        *,
        fields: Mapping[str, Mapping[str, Type]] | None = None,
        functions: Iterable[tuple[str, Overload]] = (),
    ) -> None:
        """`fields`: the fields of each struct type, by its name; `functions`: overloads besides those of the library."""
        self.variables = {**{name: type_of(type_) for name, type_ in _TYPES.items()}, **variables}
        self.fields = fields or {}
        self.functions = {**_library(), **_collected(functions)}
        self.constants = {name: TypeValue(name) for name in _TYPES}

    def compile(self, source: str) -> Program:
        """The program of an expression. Raises `CompileError` or `InstantiationError`."""
        try:
            tree, output, checked = self._checked(source)
            return Program(source, output, Plan(tree, checked, self.functions, self.constants))
        except RecursionError:
            raise CompileError(source, [Issue("expression is nested too deeply", 1, 0)]) from None

    def worst_cost(self, source: str, size_of: SizeOf, fixed: Mapping[str, int] | None = None) -> int:
        """The most that an evaluation can cost: `estimate.worst_cost`. Raises `CompileError`."""
        try:
            tree, _, checked = self._checked(source)
            return worst_cost(tree, checked, size_of, fixed)
        except RecursionError:
            raise CompileError(source, [Issue("expression is nested too deeply", 1, 0)]) from None

    def _checked(self, source: str) -> tuple[Node, Type, Checked]:
        tree = parse(source)
        output, checked = check(tree, source, self)
        validate_literals(tree, source)
        validate_types(tree, source, checked)
        validate_formats(tree, source, checked)
        return tree, output, checked
