"""Macros: calls that the parser replaces with presence tests and comprehensions.

Upstream: cel-go parser/macro.go, ext/bindings.go, ext/comprehensions.go, ext/lists.go, cel/library.go (optMap, optFlatMap)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from schedviz.cel.syntax import Call, Comprehension, Identifier, ListLiteral, Literal, MapLiteral, Node, Select

ACCUMULATOR: Final = "@result"
#: The list that `sortBy` sorts.
_SORTED: Final = "@__sortBy_input__"


class MacroError(ValueError):
    """A macro was called with something that it cannot take. `node` is that argument."""

    def __init__(self, message: str, node: Node) -> None:
        super().__init__(message)
        self.node = node


#: Takes the offset of the call, the target and the arguments.
Macro = Callable[[int, Node | None, Sequence[Node]], Node | None]


def expand(offset: int, function: str, target: Node | None, arguments: Sequence[Node]) -> Node | None:
    """What a call stands for; None: it is no macro. Raises `MacroError`."""
    macro = MACROS.get((function, target is not None, len(arguments)))
    return None if macro is None else macro(offset, target, arguments)


def _has(offset: int, _target: Node | None, arguments: Sequence[Node]) -> Node:
    argument = arguments[0]
    if not isinstance(argument, Select) or argument.is_test:
        raise MacroError("invalid argument to has() macro", argument)
    return Select(offset, argument.operand, argument.field, is_test=True)


def _name(node: Node, *, message: str = "argument must be a simple name") -> str:
    if not isinstance(node, Identifier) or node.name.startswith("."):
        raise MacroError(message, node)
    if node.name in ("__result__", ACCUMULATOR):
        raise MacroError("iteration variable overwrites accumulator variable", node)
    return node.name


def _call(offset: int, function: str, *arguments: Node) -> Call:
    return Call(offset, function, arguments)


def _result(offset: int) -> Identifier:
    return Identifier(offset, ACCUMULATOR)


def _loop(offset: int, source: Node, names: tuple[str, str], *, start: Node, condition: Node, step: Node, result: Node) -> Comprehension:
    return Comprehension(offset, source, names[0], names[1], ACCUMULATOR, start, condition, step, result)


def _names(arguments: Sequence[Node], count: int) -> tuple[str, str]:
    first = _name(arguments[0])
    if count == 1:
        return first, ""
    second = _name(arguments[1])
    if first == second:
        raise MacroError(f"duplicate variable name: {first}", arguments[1])
    return first, second


def _all(count: int) -> Macro:
    def expanded(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node:
        assert target is not None
        return _loop(
            offset,
            target,
            _names(arguments, count),
            start=Literal(offset, True),
            condition=_call(offset, "@not_strictly_false", _result(offset)),
            step=_call(offset, "_&&_", _result(offset), arguments[count]),
            result=_result(offset),
        )

    return expanded


def _exists(count: int) -> Macro:
    def expanded(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node:
        assert target is not None
        return _loop(
            offset,
            target,
            _names(arguments, count),
            start=Literal(offset, False),
            condition=_call(offset, "@not_strictly_false", _call(offset, "!_", _result(offset))),
            step=_call(offset, "_||_", _result(offset), arguments[count]),
            result=_result(offset),
        )

    return expanded


def _exists_one(count: int) -> Macro:
    def expanded(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node:
        assert target is not None
        literal_one = Literal(offset, 1)
        more = _call(offset, "_+_", _result(offset), literal_one)
        return _loop(
            offset,
            target,
            _names(arguments, count),
            start=Literal(offset, 0),
            condition=Literal(offset, True),
            step=_call(offset, "_?_:_", arguments[count], more, _result(offset)),
            result=_call(offset, "_==_", _result(offset), literal_one),
        )

    return expanded


def _collect(count: int, *, filtered: bool, keeps: bool) -> Macro:
    """A list of transformed elements (`keeps`: of the elements themselves)."""

    def expanded(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node:
        assert target is not None
        names = _names(arguments, count)
        value = arguments[0] if keeps else arguments[-1]
        step: Node = _call(offset, "_+_", _result(offset), ListLiteral(offset, (value,)))
        if filtered:
            step = _call(offset, "_?_:_", arguments[count], step, _result(offset))
        return _loop(
            offset, target, names, start=ListLiteral(offset, ()), condition=Literal(offset, True), step=step, result=_result(offset)
        )

    return expanded


def _transform_map(*, filtered: bool) -> Macro:
    def expanded(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node:
        assert target is not None
        names = _names(arguments, 2)
        step: Node = _call(offset, "@mapInsert", _result(offset), Identifier(offset, names[0]), arguments[-1])
        if filtered:
            step = _call(offset, "_?_:_", arguments[2], step, _result(offset))
        return _loop(
            offset, target, names, start=MapLiteral(offset, ()), condition=Literal(offset, True), step=step, result=_result(offset)
        )

    return expanded


def _transform_map_entry(*, filtered: bool) -> Macro:
    def expanded(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node:
        assert target is not None
        names = _names(arguments, 2)
        step: Node = _call(offset, "@mapInsert", _result(offset), arguments[-1])
        if filtered:
            step = _call(offset, "_?_:_", arguments[2], step, _result(offset))
        return _loop(
            offset, target, names, start=MapLiteral(offset, ()), condition=Literal(offset, True), step=step, result=_result(offset)
        )

    return expanded


def _bound(offset: int, name: str, value: Node, body: Node) -> Node:
    """`body` with a variable: a comprehension over nothing, whose accumulator is the variable."""
    return Comprehension(
        offset,
        ListLiteral(offset, ()),
        "#unused",
        "",
        name,
        value,
        Literal(offset, False),
        Identifier(offset, name),
        body,
    )


def _bind(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node | None:
    if not isinstance(target, Identifier) or target.name != "cel":
        return None
    name = _name(arguments[0], message="cel.bind() variable names must be simple identifiers")
    return _bound(offset, name, arguments[1], arguments[2])


def _optional_map(*, flat: bool) -> Macro:
    function = "optFlatMap" if flat else "optMap"

    def expanded(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node:
        assert target is not None
        name = _name(arguments[0], message=f"{function}() variable name must be a simple identifier")
        value = Call(offset, "value", (), target)
        mapped = _bound(offset, name, value, arguments[1])
        return _call(
            offset,
            "_?_:_",
            Call(offset, "hasValue", (), target),
            mapped if flat else _call(offset, "optional.of", mapped),
            _call(offset, "optional.none"),
        )

    return expanded


def _sort_by(offset: int, target: Node | None, arguments: Sequence[Node]) -> Node:
    """The list bound to a name, and sorted by the list of keys. Upstream: sortByMacro"""
    assert target is not None
    if isinstance(target, Literal | MapLiteral):
        raise MacroError("sortBy can only be applied to a list, identifier, comprehension, call or select expression", target)
    keys = _collect(1, filtered=False, keeps=False)(offset, Identifier(offset, _SORTED), arguments)
    assert keys is not None
    return _bound(offset, _SORTED, target, Call(offset, "@sortByAssociatedKeys", (keys,), Identifier(offset, _SORTED)))


#: By the function's name, whether it is a member function, and the number of arguments.
MACROS: Final[dict[tuple[str, bool, int], Macro]] = {
    ("has", False, 1): _has,
    ("all", True, 2): _all(1),
    ("exists", True, 2): _exists(1),
    ("exists_one", True, 2): _exists_one(1),
    ("existsOne", True, 2): _exists_one(1),
    ("map", True, 2): _collect(1, filtered=False, keeps=False),
    ("map", True, 3): _collect(1, filtered=True, keeps=False),
    ("filter", True, 2): _collect(1, filtered=True, keeps=True),
    ("bind", True, 3): _bind,
    ("optMap", True, 2): _optional_map(flat=False),
    ("optFlatMap", True, 2): _optional_map(flat=True),
    ("all", True, 3): _all(2),
    ("exists", True, 3): _exists(2),
    ("exists_one", True, 3): _exists_one(2),
    ("existsOne", True, 3): _exists_one(2),
    ("sortBy", True, 2): _sort_by,
    ("transformList", True, 3): _collect(2, filtered=False, keeps=False),
    ("transformList", True, 4): _collect(2, filtered=True, keeps=False),
    ("transformMap", True, 3): _transform_map(filtered=False),
    ("transformMap", True, 4): _transform_map(filtered=True),
    ("transformMapEntry", True, 3): _transform_map_entry(filtered=False),
    ("transformMapEntry", True, 4): _transform_map_entry(filtered=True),
}
