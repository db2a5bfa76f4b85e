"""`Program`: a checked expression as nested Python functions, and their cost.

`&&`, `||` and the loops of `all` and `exists` ignore an error of one part if another decides. Every other operation fails with the first
error of its parts. Upstream: cel-go interpreter/planner.go, interpreter/interpretable.go, interpreter/runtimecost.go
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schedviz.cel.checker import Checked
from schedviz.cel.declarations import Function, Overload
from schedviz.cel.errors import CelError, CostLimitError, InstantiationError, UnhashableError, WorkLimitError
from schedviz.cel.library.regular_expressions import checked_pattern
from schedviz.cel.library.times import Duration, Timestamp
from schedviz.cel.syntax import Call, Comprehension, Identifier, ListLiteral, Literal, MapLiteral, Node, Select
from schedviz.cel.types import Type
from schedviz.cel.values import (
    DefaultMap,
    Optional,
    TypeValue,
    Uint,
    is_number,
    keys,
    map_key,
    shown_key,
    type_name,
)

#: Of a constant, they are computed when the expression is compiled. Upstream: IsTypeConversionFunction
_CONVERSIONS: Final = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
#: Functions whose second argument is a regular expression, which is compiled with the expression if it is constant.
_MATCHERS: Final = frozenset({"matches", "find", "findAll"})
_LIST_COST = 10
_MAP_COST = 30
#: Elements and characters that an evaluation may go through, besides what costs count: about a second.
MAX_WORK: Final = 500_000


class Frame:
    """The variables of one evaluation, with its cost and the number of values traversed so far."""

    __slots__ = ("cost", "limit", "variables", "work")

    def __init__(self, variables: dict[str, Any], limit: int) -> None:
        self.variables = variables
        self.cost = 0
        self.limit = limit
        self.work = 0

    def pay(self, cost: int) -> None:
        """Add to the cost. Raises `CostLimitError`."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostLimitError

    def go_through(self, elements: int) -> None:
        """Add to the work. Raises `WorkLimitError`."""
        self.work += elements
        if self.work > MAX_WORK:
            raise WorkLimitError


_UNLIMITED: Final = 2**63

#: Evaluates a part of an expression.
Step = Callable[[Frame], Any]


class Plan(NamedTuple):
    """A checked tree, and the functions and constants that its names mean."""

    tree: Node
    checked: Checked
    functions: Mapping[str, Function]
    constants: Mapping[str, Any]


class Program:
    """A compiled expression."""

    def __init__(self, source: str, output: Type, plan: Plan) -> None:
        """Raises `InstantiationError`."""
        #: The expression.
        self.source = source
        #: The type of its value.
        self.output = output
        self._constants = plan.constants
        try:
            self._run = _Planner(plan).plan(plan.tree)
        except InstantiationError as error:
            error.output = output
            raise

    def evaluate(self, variables: Mapping[str, Any], *, cost_limit: int) -> tuple[Any, int]:
        """The value, and the cost of the evaluation. Raises `CelError` or `CostLimitError`."""
        frame = self.frame(variables, cost_limit=cost_limit)
        return self.run(frame), frame.cost

    def frame(self, variables: Mapping[str, Any], *, cost_limit: int) -> Frame:
        """For one `run`, which counts in it."""
        return Frame({**self._constants, **variables}, cost_limit)

    def run(self, frame: Frame) -> Any:
        """The value. Raises `CelError` or `CostLimitError`."""
        try:
            return self._run(frame)
        except RecursionError:
            raise CelError("expression is nested too deeply") from None


class _Constant:
    """The step of a constant, which costs nothing."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, _frame: Frame) -> Any:
        return self.value


class _Planner:
    """Makes the steps of a program. The functions raise `InstantiationError`."""

    def __init__(self, plan: Plan) -> None:
        self._checked = plan.checked
        self._functions = plan.functions
        self._constants = plan.constants
        #: The variables of the loops around the present node.
        self._variables: list[str] = []

    def plan(self, node: Node) -> Step:
        match node:
            case Literal():
                value = node.value
                return _Constant(value)
            case Identifier():
                if self._is_type(node):
                    return _Constant(self._constants[node.name])
                return _variable(node.name.removeprefix("."))
            case Select():
                return _presence(self.plan(node.operand), node.field) if node.is_test else _field(self.plan(node.operand), node.field)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._loop(node)
        raise TypeError(type(node))

    def _is_type(self, node: Identifier) -> bool:
        """Whether a name is that of a type, which is a constant."""
        return node.name in self._constants and node.name not in self._variables and self._checked.type_of(node).kind == "type"

    def _call(self, node: Call) -> Step:
        name = self._checked.namespaced.get(id(node), node.function.removeprefix("."))
        parts = [self.plan(argument) for argument in node.arguments]
        is_member = node.target is not None and id(node) not in self._checked.namespaced
        if is_member:
            assert node.target is not None
            parts.insert(0, self.plan(node.target))
        match name:
            case "_&&_":
                return _logic(parts[0], parts[1], decides=False)
            case "_||_":
                return _logic(parts[0], parts[1], decides=True)
            case "_?:_" | "_?_:_":
                return _conditional(parts[0], parts[1], parts[2])
            case "@not_strictly_false":
                return _not_strictly_false(parts[0])
            case "_?._" | "_[?_]":
                return _optional_index(parts[0], parts[1])
            case "_[_]":
                return _index(parts[0], parts[1])
            case "or" | "orValue" if is_member:
                return _alternative(parts[0], parts[1], unwraps=name == "orValue")
            case "@in" if _is_hashed(parts[1]):
                parts[0] = _hashed(parts[0])
        step = _invoke(self._functions[name], self._checked.overloads.get(id(node), ()), parts, is_member=is_member)
        if name in _CONVERSIONS and len(parts) == 1 and isinstance(parts[0], _Constant):
            return self._folded(step)
        if name in _MATCHERS and isinstance(parts[1], _Constant) and isinstance(parts[1].value, str):
            try:
                checked_pattern(parts[1].value)
            except CelError as error:
                raise InstantiationError(str(error)) from None
        return step

    @staticmethod
    def _folded(step: Step) -> Step:
        """The value of a conversion of a constant. Upstream: cel-go interpreter/decorators.go maybeOptimizeConstUnary"""
        try:
            return _Constant(step(Frame({}, _UNLIMITED)))
        except CelError as error:
            raise InstantiationError(str(error)) from None
        except WorkLimitError:
            return step

    def _list(self, node: ListLiteral) -> Step:
        parts = [(self.plan(element), index in node.optional) for index, element in enumerate(node.elements)]

        def build(frame: Frame) -> Any:
            items: list[Any] = []
            for part, is_optional in parts:
                value = part(frame)
                if not is_optional:
                    items.append(value)
                elif (value := _as_optional(value)).has_value:
                    items.append(value.value)
            frame.pay(_LIST_COST)
            return tuple(items)

        return _constant_if(build, [part for part, _ in parts], node.optional)

    def _map(self, node: MapLiteral) -> Step:
        parts = [(self.plan(key), self.plan(value), index in node.optional) for index, (key, value) in enumerate(node.entries)]

        def build(frame: Frame) -> Any:
            entries: dict[Any, Any] = {}
            for key_part, value_part, is_optional in parts:
                key, value = map_key(key_part(frame)), value_part(frame)
                if is_optional:
                    value = _as_optional(value)
                    if not value.has_value:
                        continue
                    value = value.value
                entries[key] = value
            frame.pay(_MAP_COST)
            return entries

        return _constant_if(build, [part for key, value, _ in parts for part in (key, value)], node.optional)

    def _loop(self, node: Comprehension) -> Step:
        first, second, accumulator = node.variable, node.second_variable, node.accumulator
        source, start = self.plan(node.source), self.plan(node.start)
        self._variables += (first, second, accumulator)
        condition, step, result = self.plan(node.condition), self.plan(node.step), self.plan(node.result)
        del self._variables[-3:]

        def run(frame: Frame) -> Any:
            items = _items(source(frame), with_two=bool(second))
            variables = frame.variables
            outside = {name: variables[name] for name in (first, second, accumulator) if name in variables}
            try:
                value: Any = start(frame)
                for item in items:
                    variables[accumulator] = value
                    variables[first], variables[second] = item
                    if condition(frame) is False:
                        break
                    value = _attempt(step, frame)
                variables[accumulator] = value
                return result(frame)
            finally:
                for name in (first, second, accumulator):
                    variables.pop(name, None)
                variables.update(outside)

        return run


def _constant_if(build: Step, parts: Sequence[Step], optional: frozenset[int]) -> Step:
    """A list or map of constants is constant. Upstream: cel-go interpreter/decorators.go maybeBuildListLiteral, maybeBuildMapLiteral"""
    if optional or not all(isinstance(part, _Constant) for part in parts):
        return build
    return _Constant(build(Frame({}, _UNLIMITED)))


def _attempt(step: Step, frame: Frame) -> Any:
    """The value, or the error as a value: the loops of `all` and `exists` continue after an error."""
    try:
        return step(frame)
    except CelError as error:
        return error


def _items(source: Any, *, with_two: bool) -> list[tuple[Any, Any]]:
    if isinstance(source, Mapping):
        return list(zip(keys(source), source.values(), strict=True))
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return list(enumerate(source)) if with_two else [(item, None) for item in source]
    shown = _GO_NAMES.get(type(source)) or f"cel.{type_name(source).removeprefix('kubernetes.')}"
    raise CelError(f"got '{shown}', expected iterable type")


_GO_NAMES: dict[type, str] = {
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    Optional: "*types.Optional",
    TypeValue: "*types.Type",
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
}


def _variable(name: str) -> Step:
    def read(frame: Frame) -> Any:
        frame.pay(1)
        value = frame.variables.get(name, _ABSENT)
        if value is _ABSENT:
            raise CelError(f"no such attribute(s): {name}")
        if isinstance(value, CelError):
            raise value
        return value

    return read


_ABSENT = object()


def _get(container: Any, key: Any) -> Any:
    """The element of a map or a list, or `_ABSENT`. Raises `CelError`."""
    if isinstance(container, Mapping):
        value = container.get(map_key(key), _ABSENT)
        return DefaultMap.EMPTY if value is _ABSENT and isinstance(container, DefaultMap) else value
    if isinstance(container, Sequence) and not isinstance(container, str | bytes):
        if not is_number(key) or not math.isfinite(key) or key != int(key):
            raise CelError(f"unsupported index type '{type_name(key)}' in list")
        return container[int(key)] if 0 <= key < len(container) else _ABSENT
    raise CelError("no such overload")


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str | bytes))


def _element(container: Any, key: Any) -> Any:
    """The element. Raises `CelError`. Upstream: cel-go interpreter/attributes.go refQualify"""
    if not _is_container(container):
        raise CelError(f"no such key: {shown_key(key)}")
    value = _get(container, key)
    if value is _ABSENT:
        if isinstance(container, Mapping):
            raise CelError(f"no such key: {shown_key(key)}")
        raise CelError(f"index out of bounds: {key}")
    return value


def _indexed(container: Any, key: Any) -> Any:
    """The element; that of an optional container is optional."""
    if not isinstance(container, Optional):
        return _element(container, key)
    return _optional_element(container, key)


def _optional_element(container: Any, key: Any) -> Optional:
    if isinstance(container, Optional):
        if not container.has_value:
            return container
        container = container.value
    if not _is_container(container):
        return Optional.NONE
    value = _get(container, key)
    return Optional.NONE if value is _ABSENT else Optional(value)


def _field(operand: Step, field: str) -> Step:
    def select(frame: Frame) -> Any:
        container = operand(frame)
        frame.pay(1)
        return _indexed(container, field)

    return select


def _presence(operand: Step, field: str) -> Step:
    def test(frame: Frame) -> bool:
        container = operand(frame)
        if isinstance(container, Optional):
            return _optional_element(container, field).has_value
        return _is_container(container) and _get(container, field) is not _ABSENT

    return test


def _index(operand: Step, index: Step) -> Step:
    def select(frame: Frame) -> Any:
        container, key = operand(frame), index(frame)
        frame.pay(1)
        return _indexed(container, key)

    return select


def _optional_index(operand: Step, index: Step) -> Step:
    def select(frame: Frame) -> Optional:
        container, key = operand(frame), index(frame)
        frame.pay(1)
        return _optional_element(container, key)

    return select


def _as_optional(value: Any) -> Optional:
    if not isinstance(value, Optional):
        raise CelError(f"cannot initialize optional entry from non-optional value {value}")
    return value


def _logic(left: Step, right: Step, *, decides: bool) -> Step:
    """`||` (True decides) or `&&` (False decides)."""

    def combine(frame: Frame) -> Any:
        first = _attempt(left, frame)
        if first is decides:
            return first
        second = _attempt(right, frame)
        if second is decides:
            return second
        for value in (first, second):
            if isinstance(value, CelError):
                raise value
        for value in (first, second):
            if not isinstance(value, bool):
                raise CelError("no such overload")
        return not decides

    return combine


def _conditional(condition: Step, then: Step, otherwise: Step) -> Step:
    def choose(frame: Frame) -> Any:
        chosen = condition(frame)
        if not isinstance(chosen, bool):
            raise CelError("no such overload")
        return then(frame) if chosen else otherwise(frame)

    return choose


def _not_strictly_false(operand: Step) -> Step:
    def test(frame: Frame) -> bool:
        value = _attempt(operand, frame)
        frame.pay(1)
        return value is not False

    return test


def _alternative(operand: Step, other: Step, *, unwraps: bool) -> Step:
    def choose(frame: Frame) -> Any:
        value = operand(frame)
        if not isinstance(value, Optional):
            # As upstream, `orValue` takes other values for what they are.
            if unwraps:
                return value
            raise CelError("no such overload")
        if not value.has_value:
            return other(frame)
        return value.value if unwraps else value

    return choose


def _is_hashed(container: Step) -> bool:
    """Whether elements are looked up in a set of hashes: that of a list of plain constants."""
    if not isinstance(container, _Constant) or not isinstance(container.value, tuple):
        return False
    return bool(container.value) and all(isinstance(each, bool | int | float | str) for each in container.value)


def _hashed(item: Step) -> Step:
    """What is looked up in a list of constants. Upstream: cel-go interpreter/decorators.go maybeOptimizeSetMembership"""

    def read(frame: Frame) -> Any:
        value = item(frame)
        if type_name(value) == "kubernetes.Semver":
            raise UnhashableError
        return value

    return read


def _invoke(function: Function, overloads: Sequence[Overload], parts: Sequence[Step], *, is_member: bool) -> Step:
    candidates = Function(function.name, list(overloads) or function.overloads)

    def call(frame: Frame) -> Any:
        arguments = [part(frame) for part in parts]
        overload = candidates.pick(arguments, is_member=is_member)
        if overload.work is not None:
            frame.go_through(overload.work(arguments))
        value = overload.compute(*arguments)
        frame.pay(1 if overload.cost is None else overload.cost(arguments, value))
        return value

    return call
