"""The members or enum values that a type allows at a path in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from msgspec import inspect

#: A step of a path: a member's name or a list index.
Step = str | int


def allowed_members(type_: Any, data: object, steps: Sequence[Step]) -> list[str]:
    """The members that the object at a path may have; empty if the type has no object with known members there."""
    return [field.encode_name for struct in _structs_at(type_, data, steps) for field in struct.fields]


def allowed_values(type_: Any, data: object, steps: Sequence[Step]) -> list[str]:
    """The values allowed at a path, sorted; empty if they cannot be listed."""
    *before, last = steps or ("",)
    tags = [str(struct.tag) for struct in _structs(_at(type_, data, before)) if struct.tag_field == last and struct.tag is not None]
    literals = [
        str(value) for type_info in _at(type_, data, steps) if isinstance(type_info, inspect.LiteralType) for value in type_info.values
    ]
    return sorted(tags or literals)


@cache
def _info(type_: Any) -> inspect.Type:
    return inspect.type_info(type_)


def _structs_at(type_: Any, data: object, steps: Sequence[Step]) -> list[inspect.StructType]:
    structs = list(_structs(_at(type_, data, steps)))
    value = data
    for step in steps:
        value = _member(value, step)
    chosen = [struct for struct in structs if isinstance(value, dict) and struct.tag_field and value.get(struct.tag_field) == struct.tag]
    return chosen or (structs if len(structs) == 1 else [])


def _at(type_: Any, data: object, steps: Sequence[Step]) -> list[inspect.Type]:
    """The types at a path, with unions expanded."""
    types, value = list(_flat(_info(type_))), data
    for step in steps:
        types, value = [inner for outer in types for inner in _flat_member(outer, value, step)], _member(value, step)
    return types


def _flat_member(outer: inspect.Type, value: object, step: Step) -> Iterator[inspect.Type]:
    match outer:
        case inspect.StructType():
            if outer.tag_field and isinstance(value, dict) and value.get(outer.tag_field) != outer.tag:
                return
            for field in outer.fields:
                if field.encode_name == step:
                    yield from _flat(field.type)
        case inspect.ListType() | inspect.VarTupleType():
            yield from _flat(outer.item_type)
        case inspect.DictType():
            yield from _flat(outer.value_type)


def _flat(type_info: inspect.Type) -> Iterator[inspect.Type]:
    match type_info:
        case inspect.UnionType():
            for member in type_info.types:
                yield from _flat(member)
        case inspect.Metadata():
            yield from _flat(type_info.type)
        case _:
            yield type_info


def _structs(types: Iterable[inspect.Type]) -> Iterator[inspect.StructType]:
    return (type_ for type_ in types if isinstance(type_, inspect.StructType))


def _member(value: object, step: Step) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list | tuple) and step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None
