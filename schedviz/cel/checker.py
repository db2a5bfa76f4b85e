"""The type of every part of a tree, and the overloads that its calls can mean. Upstream: cel-go checker/checker.go"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from schedviz.cel import lexer, types
from schedviz.cel.declarations import Function, Overload
from schedviz.cel.errors import CompileError, Issue
from schedviz.cel.syntax import Call, Comprehension, Identifier, ListLiteral, Literal, MapLiteral, Node, Select
from schedviz.cel.types import BOOL, DYN, ERROR, INT, STRING, Substitutions, TooComplexError, Type
from schedviz.cel.values import Uint

#: Nodes of a tree, which share parts where a macro uses an argument twice, and types in the type of one. Deviation: upstream has no limits.
_MAX_NODES: Final = 20_000
_MAX_TYPE: Final = 1_000
#: Opaque types that upstream declares as structs without fields have names like this.
_STRUCTS: Final = "kubernetes."


class Declarations(Protocol):
    """What an environment declares."""

    @property
    def variables(self) -> Mapping[str, Type]: ...

    @property
    def functions(self) -> Mapping[str, Function]: ...

    @property
    def fields(self) -> Mapping[str, Mapping[str, Type]]:
        """The fields of each struct type, by its name."""
        ...


class Checked:
    """The types of nodes, and the overloads of calls; a namespaced function's call has no target."""

    def __init__(self) -> None:
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, tuple[Overload, ...]] = {}
        #: Calls like `optional.none()`, whose target is a part of the function's name.
        self.namespaced: dict[int, str] = {}
        self.known = Substitutions()

    def type_of(self, node: Node) -> Type:
        """The type of a part, after the whole expression was checked."""
        type_ = self.types.get(id(node))
        return DYN if type_ is None else self.known.apply(type_, to_dyn=True)


def check(tree: Node, source: str, declarations: Declarations) -> tuple[Type, Checked]:
    """The type of the expression and of its parts. Raises `CompileError`."""
    checker = _Checker(source, declarations)
    try:
        result = checker.check(tree)
        if checker.issues:
            raise CompileError(source, checker.issues)
        checker.checked.known = checker.known
        return checker.known.apply(result, to_dyn=True), checker.checked
    except TooComplexError:
        raise CompileError(source, [Issue("expression is too complex", 1, 0)]) from None


class _Checker:
    def __init__(self, source: str, declarations: Declarations) -> None:
        self._source = source
        self._declarations = declarations
        self._scopes: list[dict[str, Type]] = [dict(declarations.variables)]
        self._fresh = 0
        self._nodes = 0
        self.known = Substitutions()
        self.checked = Checked()
        self.issues: list[Issue] = []

    def check(self, node: Node) -> Type:
        """The type of a node. Raises `TooComplexError`."""
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise TooComplexError
        match node:
            case Literal():
                type_ = _type_of_literal(node.value)
            case Identifier():
                type_ = self._identifier(node)
            case Select():
                selected = self._select(node, node.operand, node.field, optional=False)
                type_ = BOOL if node.is_test else selected
            case Call():
                type_ = self._call(node)
            case ListLiteral():
                type_ = self._list(node)
            case MapLiteral():
                type_ = self._map(node)
            case Comprehension():
                type_ = self._comprehension(node)
            case _:
                raise TypeError(type(node))
        if type_.parameters and types.size(type_, _MAX_TYPE) > _MAX_TYPE:
            raise TooComplexError
        self.checked.types[id(node)] = type_
        return type_

    def _report(self, node: Node, message: str) -> None:
        line, column = lexer.place(self._source, node.offset)
        self.issues.append(Issue(message, line, column))

    def _expect(self, node: Node, expected: Type, actual: Type) -> None:
        if not self.known.assign((expected,), (actual,)):
            self._report(node, f"expected type '{expected}' but found '{actual}'")

    def _new_parameter(self) -> Type:
        self._fresh += 1
        return Type("parameter", f"_var{self._fresh - 1}")

    def _identifier(self, node: Identifier) -> Type:
        name = node.name.removeprefix(".")
        scopes = self._scopes[:1] if node.name.startswith(".") else reversed(self._scopes)
        for scope in scopes:
            if name in scope:
                return scope[name]
        self._report(node, f"undeclared reference to '{node.name}' (in container '')")
        return ERROR

    def _select(self, node: Node, operand: Node, field: str, *, optional: bool) -> Type:
        """Upstream: checkSelectField"""
        given = self.known.apply(self.check(operand))
        was_optional = given.is_optional
        target = given.parameters[0] if was_optional else given
        if target.kind == "map":
            result = target.parameters[1]
        elif target.kind == "struct":
            result = self._declarations.fields[target.name].get(field, ERROR)
            if result is ERROR:
                self._report(node, f"undefined field '{field}'")
        elif target.kind == "opaque" and target.name.startswith(_STRUCTS):
            self._report(node, f"unexpected failed resolution of '{target.name}'")
            result = ERROR
        else:
            if target.kind == "parameter":
                self.known.assign((DYN,), (target,))
            elif not target.is_dyn and target.kind != "error":
                self._report(node, f"type '{target}' does not support field selection")
            result = DYN
        return self.known.apply(types.optional_of(result) if was_optional or optional else result)

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, field = node.arguments
            assert isinstance(field, Literal)
            return self._select(node, operand, field.value, optional=True)
        arguments = [self.check(argument) for argument in node.arguments]
        functions = self._declarations.functions
        if node.target is None:
            function = functions.get(node.function.removeprefix("."))
            return self._undeclared(node) if function is None else self._resolve(node, function, arguments, is_member=False)
        prefix = _qualified(node.target)
        if prefix and (function := functions.get(f"{prefix}.{node.function}")) is not None:
            self.checked.namespaced[id(node)] = function.name
            return self._resolve(node, function, arguments, is_member=False)
        target = self.check(node.target)
        function = functions.get(node.function)
        return self._undeclared(node) if function is None else self._resolve(node, function, [target, *arguments], is_member=True)

    def _undeclared(self, node: Call) -> Type:
        self._report(node, f"undeclared reference to '{node.function}' (in container '')")
        return ERROR

    def _resolve(self, node: Call, function: Function, argument_types: list[Type], *, is_member: bool) -> Type:
        """Upstream: resolveOverload"""
        if function.name in ("_&&_", "_||_"):
            return self._logic(node, argument_types)
        result: Type | None = None
        matching: list[Overload] = []
        for overload in function.overloads:
            if overload.is_member != is_member or len(overload.arguments) != len(argument_types):
                continue
            instance = self._instance(overload)
            if not self.known.assign(argument_types, instance.parameters[1:]):
                continue
            matching.append(overload)
            type_ = self.known.apply(instance.parameters[0])
            if result is None:
                result = type_
            elif not result.is_dyn and type_ != result:
                result = DYN
        if result is None:
            shown = types.signature((self.known.apply(argument, to_dyn=True) for argument in argument_types), is_member=is_member)
            self._report(node, f"found no matching overload for '{function.name}' applied to '{shown}'")
            return ERROR
        self.checked.overloads[id(node)] = tuple(matching)
        return result

    def _logic(self, node: Call, argument_types: list[Type]) -> Type:
        for argument, type_ in zip(node.arguments, argument_types, strict=True):
            if not self.known.assign((type_,), (BOOL,)):
                self._report(argument, f"expected type 'bool' but found '{type_}'")
        return BOOL

    def _instance(self, overload: Overload) -> Type:
        """The overload's result and arguments, with parameters of its own."""
        signature_type = Type("opaque", "function", (overload.result, *overload.arguments))
        names = sorted(_parameters(signature_type))
        return Substitutions({name: self._new_parameter() for name in names}).apply(signature_type) if names else signature_type

    def _list(self, node: ListLiteral) -> Type:
        element: Type | None = None
        for index, item in enumerate(node.elements):
            element_type = self._element(item, optional=index in node.optional)
            element = self._joined(element, element_type)
        return types.list_of(self._new_parameter() if element is None else element)

    def _map(self, node: MapLiteral) -> Type:
        key: Type | None = None
        value: Type | None = None
        for index, (key_node, value_node) in enumerate(node.entries):
            key = self._joined(key, self.check(key_node))
            value = self._joined(value, self._element(value_node, optional=index in node.optional))
        if key is None or value is None:
            return types.map_of(self._new_parameter(), self._new_parameter())
        return types.map_of(key, value)

    def _element(self, node: Node, *, optional: bool) -> Type:
        type_ = self.check(node)
        if not optional:
            return type_
        if type_.is_optional:
            return type_.parameters[0]
        if not type_.is_dyn:
            self._report(node, f"expected type '{types.optional_of(type_)}' but found '{type_}'")
        return type_

    def _joined(self, before: Type | None, element: Type) -> Type:
        """The type of elements; `validators` refuse mixed ones, except those that `format` takes. Upstream: joinTypes"""
        if before is None:
            return element
        return types.most_general(before, element) if self.known.assign((before,), (element,)) else DYN

    def _comprehension(self, node: Comprehension) -> Type:
        source = self.known.apply(self.check(node.source))
        accumulator = self.check(node.start)
        self._scopes.append({node.accumulator: accumulator})
        self._scopes.append(self._loop_variables(node, source))
        condition = self.check(node.condition)
        self._expect(node.condition, BOOL, condition)
        step = self.check(node.step)
        self._expect(node.step, accumulator, step)
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self.known.apply(result)

    def _loop_variables(self, node: Comprehension, source: Type) -> dict[str, Type]:
        has_two = bool(node.second_variable)
        first = second = DYN
        if source.kind == "list":
            first, second = (INT, source.parameters[0]) if has_two else (source.parameters[0], DYN)
        elif source.kind == "map":
            first, second = source.parameters
        elif source.kind in ("dyn", "error", "parameter"):
            self.known.assign((DYN,), (source,))
        else:
            message = f"expression of type '{source}' cannot be range of a comprehension (must be list, map, or dynamic)"
            self._report(node.source, message)
            first = second = ERROR
        return {node.variable: first, **({node.second_variable: second} if has_two else {})}


def _type_of_literal(value: object) -> Type:
    match value:
        case bool():
            return BOOL
        case Uint():
            return types.UINT
        case int():
            return INT
        case float():
            return types.DOUBLE
        case str():
            return STRING
        case bytes():
            return types.BYTES
    return types.NULL


def _qualified(node: Node) -> str:
    """The dotted name that a node spells; "": it is no name."""
    if isinstance(node, Identifier):
        return node.name
    if isinstance(node, Select) and not node.is_test:
        prefix = _qualified(node.operand)
        return f"{prefix}.{node.field}" if prefix else ""
    return ""


def _parameters(within: Type) -> set[str]:
    if within.kind == "parameter":
        return {within.name}
    return {name for parameter in within.parameters for name in _parameters(parameter)}
