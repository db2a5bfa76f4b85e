"""Structs derived from the kinds: one that has only the unread fields, and one that has every known field and no other.

Both let msgspec do in C what would otherwise be a walk over each object.
"""

from __future__ import annotations

import types
import typing
from functools import cache
from typing import Any

import msgspec

from schedviz.kube.meta import ObjectMeta
from schedviz.kube.unread import DIGESTS, UNREAD


def unread_names(struct: type) -> tuple[str, ...]:
    """The JSON names of the known fields that `struct` does not keep."""
    return tuple(UNREAD.get(struct, "").split())


@cache
def remainder(struct: type) -> type[msgspec.Struct] | None:
    """A struct with what `struct` does not keep, at every depth; None when it keeps everything it knows."""
    fields: list[tuple[str, Any, Any]] = [(name, Any, None) for name in unread_names(struct)]
    for field in _fields(struct):
        nested, is_sequence = _nested(field.type)
        inner = remainder(nested) if nested else None
        if inner is None:
            continue
        if is_sequence:
            fields.append((field.encode_name, tuple[inner, ...], ()))  # type: ignore[valid-type]
        else:
            fields.append((field.encode_name, inner | None, None))
    if not fields:
        return None
    return msgspec.defstruct(f"{struct.__name__}Remainder", fields, omit_defaults=True, gc=False)


@cache
def known(struct: type) -> type[msgspec.Struct]:
    """A struct with every known field of `struct`, at every depth, that refuses any other."""
    fields: list[tuple[str, Any, Any]] = [(name, Any, None) for name in unread_names(struct)]
    for field in _fields(struct):
        nested, is_sequence = _nested(field.type)
        kind: Any = Any
        if nested:
            kind = tuple[known(nested), ...] if is_sequence else known(nested)  # type: ignore[misc]
        fields.append((field.encode_name, kind, None))
    if "metadata" in {name for name, _, _ in fields}:
        have = {name for name, _, _ in fields}
        fields += [(name, Any, None) for name in ("apiVersion", "kind", *DIGESTS) if name not in have]
    return msgspec.defstruct(f"{struct.__name__}Known", fields, forbid_unknown_fields=True, gc=False)


def nested_names() -> frozenset[str]:
    """The JSON names under which remainders lie: an encoded remainder with no other name in it says nothing."""
    names = {"metadata"}
    for struct in (*UNREAD, ObjectMeta):
        names.update(field.encode_name for field in _fields(struct) if _nested(field.type)[0])
    for struct in list(_reachable()):
        names.update(field.encode_name for field in _fields(struct) if _nested(field.type)[0])
    return frozenset(names)


def _reachable() -> set[type]:
    from schedviz.kube.kinds import KINDS

    todo: list[type] = [kind.type for kind in KINDS]
    seen: set[type] = set()
    while todo:
        struct = todo.pop()
        if struct not in seen:
            seen.add(struct)
            todo += [nested for field in _fields(struct) if (nested := _nested(field.type)[0])]
    return seen


def _fields(struct: type) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(struct)


def _nested(annotation: Any) -> tuple[type | None, bool]:
    """The struct inside a field's type, and whether the field is a sequence of it."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation, False
    origin = typing.get_origin(annotation)
    if origin is tuple:
        return _nested(typing.get_args(annotation)[0])[0], True
    if origin in (types.UnionType, typing.Union):
        for option in typing.get_args(annotation):
            if option is not type(None):
                return _nested(option)
    return None, False
