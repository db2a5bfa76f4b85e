"""The estimated worst-case cost of a checked expression. An API server refuses an expression whose estimate is too high.

Upstream: cel-go checker/cost.go, ext/lists.go, ext/sets.go; apiserver/pkg/cel/library/cost.go
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from schedviz.cel.checker import Checked
from schedviz.cel.macros import ACCUMULATOR
from schedviz.cel.syntax import Call, Comprehension, Identifier, ListLiteral, Literal, MapLiteral, Node, Select
from schedviz.cel.types import DYN, Type

#: Stands for "without a limit". Sums and products do not exceed it.
UNLIMITED: Final = (1 << 64) - 1
_TRAVERSAL: Final = 0.1
_REGEX: Final = 0.25
_LIST: Final = 10
_MAP: Final = 30

Path = tuple[str, ...]
#: The maximum size of the value at a path; None: unknown. A path begins with a variable, before fields, `@items`, `@keys` and `@values`.
SizeOf = Callable[[Path], int | None]


class Range(NamedTuple):
    """From the least to the most that a size or a cost can be."""

    least: int
    most: int

    def plus(self, other: Range) -> Range:
        return Range(min(self.least + other.least, UNLIMITED), min(self.most + other.most, UNLIMITED))

    def times(self, other: Range) -> Range:
        return Range(min(self.least * other.least, UNLIMITED), min(self.most * other.most, UNLIMITED))

    def scaled(self, factor: float) -> Range:
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.least, other.least), max(self.most, other.most))


def _scaled(number: int, factor: float) -> int:
    scaled = float(number) * factor
    return UNLIMITED if scaled >= 2.0**64 else math.ceil(scaled)


_UNKNOWN: Final = Range(0, UNLIMITED)
_ZERO: Final = Range(0, 0)
_ONE: Final = Range(1, 1)
_NOTHING: Final = Range(UNLIMITED, 0)


class _Entries(NamedTuple):
    """The sizes of the keys and of the values of a list or map."""

    is_list: bool
    key: Range
    value: Range

    def union(self, other: _Entries | None) -> _Entries | None:
        return None if other is None else _Entries(self.is_list, self.key.union(other.key), self.value.union(other.value))


class _Local(NamedTuple):
    """A variable of a loop, or of `cel.bind`."""

    path: Path
    size: Range | None
    entries: _Entries | None


class _Estimate(NamedTuple):
    """Of a call, without its arguments; `size`: that of the result."""

    cost: Range
    size: Range | None = None


def worst_cost(tree: Node, checked: Checked, size_of: SizeOf, fixed: Mapping[str, int] | None = None) -> int:
    """The maximum cost of an evaluation; `UNLIMITED` if it is unbounded. `fixed`: functions with a fixed cost."""
    return _Estimator(checked, size_of, fixed or {}).cost(tree).most


class _Estimator:
    def __init__(self, checked: Checked, size_of: SizeOf, fixed: Mapping[str, int]) -> None:
        self._checked = checked
        self._size_of = size_of
        self._fixed = fixed
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Node) -> Range:
        match node:
            case Identifier():
                local = self._local(node)
                self._paths[id(node)] = local.path if local is not None else (node.name.removeprefix("."),)
                return _ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._bind(node) if _is_bind(node) else self._loop(node)
        return _ZERO

    # What is known of a part.

    def _local(self, node: Node) -> _Local | None:
        local = self._locals.get(node.name) if isinstance(node, Identifier) else None
        return local[-1] if local else None

    def _path(self, node: Node) -> Path:
        local = self._local(node)
        return local.path if local is not None else self._paths.get(id(node), ())

    def _type(self, node: Node) -> Type:
        return self._checked.type_of(node)

    def _size(self, node: Node) -> Range | None:
        """Upstream: computeSize"""
        if (size := self._sizes.get(id(node))) is not None:
            return size
        if (literal_size := _written_size(node)) is not None:
            return literal_size
        if (declared := self._declared(self._path(node))) is not None:
            self._sizes[id(node)] = declared
            return declared
        if _is_scalar(self._type(node)):
            return _ONE
        local = self._local(node)
        return local.size if local is not None else None

    def _declared(self, path: Path) -> Range | None:
        if not path or path[0] == ACCUMULATOR:
            return None
        most = self._size_of(path)
        return None if most is None else Range(0, most)

    def _size_or_unknown(self, node: Node) -> Range:
        return self._size(node) or _UNKNOWN

    def _entries_of(self, node: Node) -> _Entries | None:
        if (entries := self._entries.get(id(node))) is not None:
            return entries
        local = self._local(node)
        return local.entries if local is not None else None

    def _copy(self, node: Node, source: Node) -> None:
        if (size := self._size(source)) is not None:
            self._sizes[id(node)] = size
        if (entries := self._entries_of(source)) is not None:
            self._entries[id(node)] = entries

    # Parts.

    def _select(self, node: Select) -> Range:
        operand = self.cost(node.operand)
        if node.is_test:
            return operand
        self._paths[id(node)] = (*self._path(node.operand), node.field)
        return operand.plus(_ONE) if self._type(node.operand).kind in ("map", "struct", "parameter") else operand

    def _list(self, node: ListLiteral) -> Range:
        total, items = Range(_LIST, _LIST), _NOTHING if node.elements else _ZERO
        for element in node.elements:
            total = total.plus(self.cost(element))
            items = items.union(self._size_or_unknown(element))
        self._entries[id(node)] = _Entries(True, _ONE, items)
        return total

    def _map(self, node: MapLiteral) -> Range:
        total = Range(_MAP, _MAP)
        keys = values = _NOTHING if node.entries else _ZERO
        for key, value in node.entries:
            total = total.plus(self.cost(key)).plus(self.cost(value))
            keys, values = keys.union(self._size_or_unknown(key)), values.union(self._size_or_unknown(value))
        self._entries[id(node)] = _Entries(False, keys, values)
        return total

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _bind(self, node: Comprehension) -> Range:
        """Upstream: costBind"""
        total = self.cost(node.source).plus(self.cost(node.start))
        self._push(node.accumulator, _Local(self._path(node.start), self._size(node.start), self._entries_of(node.start)))
        total = total.plus(self.cost(node.result))
        self._copy(node, node.result)
        self._locals[node.accumulator].pop()
        return total

    def _loop(self, node: Comprehension) -> Range:
        """Upstream: costComprehension"""
        total = self.cost(node.source).plus(self.cost(node.start))
        self._push(node.accumulator, _Local(self._path(node.start), self._size(node.start), self._entries_of(node.start)))
        names = [node.variable, *([node.second_variable] if node.second_variable else [])]
        for index, name in enumerate(names):
            self._push(name, self._loop_variable(node, is_key=len(names) == 2 and index == 0, is_only=len(names) == 1))
        iteration = self.cost(node.condition).plus(self.cost(node.step))
        for name in names:
            self._locals[name].pop()
        total = total.plus(self.cost(node.result))
        self._locals[node.accumulator].pop()
        count = self._size_or_unknown(node.source)
        if isinstance(node.start, Literal):
            if (size := self._size(node.start)) is not None:
                self._sizes[id(node)] = size
        elif isinstance(node.start, ListLiteral | MapLiteral):
            self._sizes[id(node)] = count
            if (entries := self._entries_of(node.step)) is not None:
                self._entries[id(node)] = entries
        return total.plus(count.times(iteration))

    def _loop_variable(self, node: Comprehension, *, is_key: bool, is_only: bool) -> _Local:
        """Upstream: pushIterKey, pushIterValue, pushIterSingle"""
        entries = self._entries_of(node.source)
        is_list = entries.is_list if entries is not None else self._type(node.source).kind == "list"
        takes_key = is_key or (is_only and not is_list)
        size = None if entries is None else entries.key if takes_key else entries.value
        part = ("@indices" if is_list else "@keys") if takes_key else "@items" if is_list else "@values"
        return _Local((*self._path(node.source), part), size, None)

    # Calls.

    def _call(self, node: Call) -> Range:
        """Upstream: costCall"""
        name = self._checked.namespaced.get(id(node), node.function.removeprefix("."))
        if name == "dyn":
            cost = self.cost(node.arguments[0]).plus(_ONE)
            self._copy(node, node.arguments[0])
            return cost
        costs = [self.cost(argument) for argument in node.arguments]
        total = _ZERO
        target = None if id(node) in self._checked.namespaced else node.target
        if target is not None:
            total = self.cost(target)
        given = _Given(self, node, name, target, node.arguments, costs)
        overloads = self._checked.overloads.get(id(node))
        signatures: Sequence[Sequence[Type]] = [overload.arguments for overload in overloads] if overloads else [()]
        own_cost, size = _NOTHING, None
        for signature in signatures:
            estimate = given.estimate(signature)
            own_cost = own_cost.union(estimate.cost)
            if estimate.size is not None:
                size = estimate.size if size is None else size.union(estimate.size)
            if name == "_[_]":
                entries = self._entries_of(node.arguments[0])
                size = None if entries is None else entries.value
                part = "@items" if signature and signature[0].kind == "list" else "@values"
                self._paths[id(node)] = (*self._path(node.arguments[0]), part)
            if size is None:
                size = self._size(node)
        if size is not None:
            self._sizes[id(node)] = size
        return total.plus(own_cost)

    # For the estimates of functions.

    def size_or_unknown(self, node: Node) -> Range:
        """The size of a part."""
        return self._size_or_unknown(node)

    def element_size(self, node: Node) -> Range | None:
        """The size of a list's elements; None: it is no list. Upstream: listElementNode"""
        if not self._type(node).parameters:
            return None
        path = self._path(node)
        return (self._declared((*path, "@items")) if path else None) or _UNKNOWN

    def element_is_text(self, node: Node) -> bool:
        """Whether the elements of a list are strings or bytes."""
        return self._type(node).parameters[0].name in ("string", "bytes")

    def same_types(self, first: Node, second: Node) -> str:
        """The name of the type of both; "": they differ."""
        first_type, other = self._type(first), self._type(second)
        return first_type.name if first_type == other else ""

    def joined_entries(self, node: Node, first: Node, second: Node) -> None:
        """Note that a call gives the entries of one of two parts."""
        first_entries = self._entries_of(first)
        entries = None if first_entries is None else first_entries.union(self._entries_of(second))
        if entries is not None:
            self._entries[id(node)] = entries

    def fixed_cost(self, name: str) -> int | None:
        """The cost that the environment gives to a function."""
        return self._fixed.get(name)


class _Given(NamedTuple):
    """A call and the costs of its arguments."""

    estimator: _Estimator
    node: Node
    name: str
    target: Node | None
    arguments: Sequence[Node]
    costs: Sequence[Range]

    def estimate(self, signature: Sequence[Type]) -> _Estimate:
        """The cost of the call with its arguments. Upstream: functionCost"""
        match self.name:
            case "_||_" | "_&&_":
                return _Estimate(Range(self.costs[0].least, self.costs[0].plus(self.costs[1]).most))
            case "_?_:_":
                self.estimator.joined_entries(self.node, self.arguments[1], self.arguments[2])
                either = self.costs[1].union(self.costs[2])
                return _Estimate(self.costs[0].plus(either), self._size(1).union(self._size(2)))
        own = self._own(signature)
        total = own.cost
        for cost in self.costs:
            total = total.plus(cost)
        return _Estimate(total, own.size)

    def _size(self, index: int) -> Range:
        return self.estimator.size_or_unknown(self.arguments[index])

    @property
    def _target_size(self) -> Range:
        return self.estimator.size_or_unknown(self.target) if self.target is not None else _UNKNOWN

    def _first(self, signature: Sequence[Type]) -> str:
        return signature[0].name if signature else ""

    def _own(self, signature: Sequence[Type]) -> _Estimate:
        fixed = self.estimator.fixed_cost(self.name)
        if fixed is not None:
            return _Estimate(Range(0, fixed))
        for estimate in (self._of_lists, self._of_texts, self._of_kubernetes, self._of_operators):
            cost = estimate(signature)
            if cost is not None:
                return cost
        return _Estimate(_ONE)

    def _of_lists(self, _signature: Sequence[Type]) -> _Estimate | None:
        """Upstream: ext/lists.go, ext/sets.go"""
        name, target = self.name, self.target
        if name in ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf") and target is not None:
            element = self.estimator.element_size(target)
            if element is None:
                return _Estimate(self._target_size.scaled(_TRAVERSAL))
            per_element = _ONE.plus(element.scaled(_TRAVERSAL)) if self.estimator.element_is_text(target) else _ONE
            return _Estimate(self._target_size.times(per_element))
        if name == "slice":
            start, end = self._constant(0, 0), self._constant(1, self._target_size.most)
            return _allocating(1, Range(max(0, end - start), max(0, end - start)))
        if name == "lists.range":
            count = self._constant(0, UNLIMITED)
            return _allocating(1, Range(count, count))
        if name == "reverse" and target is not None:
            return _allocating(1, self._target_size)
        if name == "flatten":
            return _allocating(self._constant(0, UNLIMITED) if self.arguments else 1, self._target_size)
        if name == "distinct":
            return _allocating(2, self._target_size.times(self._target_size))
        if name in ("sort", "@sortByAssociatedKeys"):
            by = self.arguments[0] if self.arguments else target
            assert by is not None
            size = self.estimator.size_or_unknown(by)
            return _allocating(2 + _TRAVERSAL * self.estimator.element_is_text(by), size.times(size))
        if name in ("sets.contains", "sets.intersects", "sets.equivalent"):
            factor = 2 if name == "sets.equivalent" else 1
            return _Estimate(self._size(0).times(self._size(1)).scaled(factor).plus(_ONE))
        return None

    def _constant(self, index: int, default: int) -> int:
        node = self.arguments[index]
        if isinstance(node, Literal) and isinstance(node.value, int) and not isinstance(node.value, bool):
            return max(0, node.value)
        return default

    def _of_texts(self, signature: Sequence[Type]) -> _Estimate | None:
        target = self._target_size
        match self.name:
            case "lowerAscii" | "upperAscii" | "substring" | "trim" if self.target is not None:
                return _Estimate(target.scaled(_TRAVERSAL), target)
            case "replace" if self.target is not None:
                return _Estimate(target.scaled(2 * _TRAVERSAL), _replaced(target, self._size(0), self._size(1)))
            case "split" if self.target is not None:
                most = target.most if len(self.arguments) < 2 else self._constant(1, target.most)
                return _Estimate(target.scaled(2 * _TRAVERSAL), Range(0, most))
            case "join" if self.target is not None:
                size = target.times(self.estimator.element_size(self.target) or _UNKNOWN)
                if self.arguments:
                    size = size.plus(self._size(0).times(Range(max(0, target.least - 1), max(0, target.most - 1))))
                return _Estimate(size.scaled(_TRAVERSAL), size)
            case "find" | "findAll" if self.target is not None:
                return _Estimate(self._matching(), Range(0, target.most))
            case "matches" if self.target is not None:
                return _Estimate(self._matching())
            case "contains" if self.target is not None:
                return _Estimate(target.scaled(_TRAVERSAL).times(self._size(0).scaled(_TRAVERSAL)))
            case "startsWith" | "endsWith":
                return _Estimate(self._size(0).scaled(_TRAVERSAL))
            case "format" if self.target is not None:
                return _Estimate(target.scaled(_TRAVERSAL))
            case "bytes" if self._first(signature) == "string":
                size = self._size(0)
                return _Estimate(size.scaled(_TRAVERSAL), Range(size.least, min(4 * size.most, UNLIMITED)))
            case "string" if self._first(signature) == "bytes":
                size = self._size(0)
                return _Estimate(size.scaled(_TRAVERSAL), Range(size.least // 4, size.most))
            case "strings.quote":
                size = self._size(0)
                return _Estimate(size.scaled(_TRAVERSAL), Range(size.least + 2, min(2 * size.most + 2, UNLIMITED)))
        return None

    def _matching(self) -> Range:
        return self._target_size.plus(_ONE).scaled(_TRAVERSAL).times(self._size(0).scaled(_REGEX))

    def _of_kubernetes(self, signature: Sequence[Type]) -> _Estimate | None:
        """Upstream: CostEstimator.EstimateCallCost"""
        match self.name:
            case "url":
                return _Estimate(self._size(0).scaled(_TRAVERSAL), self._size(0))
            case "cidr" | "isIP" | "isCIDR" | "quantity" | "isQuantity" | "semver" | "isSemver":
                return _Estimate(self._size(0).scaled(_TRAVERSAL))
            case "ip" if self.target is None:
                return _Estimate(self._size(0).scaled(_TRAVERSAL))
            case "ip.isCanonical":
                return _Estimate(self._size(0).scaled(2 * _TRAVERSAL))
            case "containsIP" | "containsCIDR":
                compared = Range(8, 32).scaled(_TRAVERSAL)
                if self.name == "containsCIDR":
                    compared = compared.plus(Range(4, 16).scaled(_TRAVERSAL)).plus(_ONE)
                if len(signature) > 1 and signature[1].name == "string":
                    compared = compared.plus(self._size(0).scaled(_TRAVERSAL))
                return _Estimate(compared)
        return None

    def _of_operators(self, signature: Sequence[Type]) -> _Estimate | None:
        first = self._first(signature)
        if self.name == "@in" and len(signature) == 2 and signature[1].kind == "list":
            return _Estimate(self._size(1).scaled(1))
        if self.name == "_+_" and first in ("string", "bytes", "list"):
            size = self._size(0).plus(self._size(1))
            self.estimator.joined_entries(self.node, self.arguments[0], self.arguments[1])
            return _Estimate(_ONE if first == "list" else size.scaled(_TRAVERSAL), size)
        is_equality = self.name in ("_==_", "_!=_")
        if self.name == "_==_" and self.estimator.same_types(*self.arguments) in _CHEAP:
            return _Estimate(_ONE)
        if is_equality or (self.name in ("_<_", "_<=_", "_>_", "_>=_") and first in ("string", "bytes")):
            most = min(self._size(0).most, self._size(1).most)
            return _Estimate(Range(1 if most else 0, most).scaled(_TRAVERSAL))
        return None


#: The types of Kubernetes whose values are compared at a fixed cost.
_CHEAP: Final = ("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver")


def _allocating(factor: float, size: Range) -> _Estimate:
    """Upstream: estimateAllocatingListCall"""
    return _Estimate(size.scaled(factor).plus(_ONE).plus(Range(_LIST, _LIST)), size)


def _replaced(text: Range, old: Range, new: Range) -> Range:
    """The size of a text after parts were replaced."""
    least, most, kept_least, kept_most = 0, 0, 0, 0
    if old.least == 0:
        most, kept_most = min(text.most + 1, UNLIMITED), text.most
    elif new.most <= old.least:
        kept_most = text.most
    else:
        most = math.ceil(text.most / old.least)
    if old.most == 0:
        least, kept_least = min(text.least + 1, UNLIMITED), text.least
    elif old.most <= new.least:
        kept_least = text.least
    else:
        least = math.ceil(text.least / old.most)
    return Range(least, most).times(new).plus(Range(kept_least, kept_most))


def _is_bind(node: Comprehension) -> bool:
    is_empty = isinstance(node.source, ListLiteral) and not node.source.elements
    never = isinstance(node.condition, Literal) and node.condition.value is False
    return is_empty and never and node.accumulator != ACCUMULATOR


def _written_size(node: Node) -> Range | None:
    """The size of a literal. Upstream: computeExprSize"""
    match node:
        case Literal(value=str() | bytes() as value):
            return Range(len(value), len(value))
        case Literal():
            return _ONE
        case ListLiteral():
            return Range(len(node.elements), len(node.elements))
        case MapLiteral():
            return Range(len(node.entries), len(node.entries))
    return None


_SCALARS: Final = frozenset({"bool", "double", "int", "uint", "google.protobuf.Duration", "google.protobuf.Timestamp"})


def _is_scalar(type_: Type) -> bool:
    if type_.is_optional:
        return _is_scalar(type_.parameters[0])
    return type_ != DYN and type_.name in _SCALARS
