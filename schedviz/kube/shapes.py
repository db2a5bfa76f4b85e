"""Structs derived from the kinds: one that has only the unread fields, and one that has every known field and no other.

Both let msgspec do in C what would otherwise be a walk over each object.
"""

from __future__ import annotations

import types
import typing
from functools import cache
from typing import Any

import msgspec

from schedviz.kube.unread import DIGESTS, UNREAD, UNREAD_DEFAULTS

_SUFFIX = "Remainder"


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
    return msgspec.defstruct(f"{struct.__name__}{_SUFFIX}", fields, omit_defaults=True, gc=False)


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


class _Plan(msgspec.Struct, frozen=True):
    """What to look at in a remainder: its members by their place."""

    blank: Any
    leaves: tuple[str, ...]
    defaults: tuple[tuple[str, Any], ...]
    parts: tuple[tuple[int, str], ...]
    sequences: tuple[tuple[int, str], ...]


@cache
def _plan(struct: type) -> _Plan:
    leaves: list[str] = []
    parts: list[tuple[int, str]] = []
    sequences: list[tuple[int, str]] = []
    for place, field in enumerate(_fields(struct)):
        nested, is_sequence = _nested(field.type)
        if not nested:
            leaves.append(field.name)
        else:
            (sequences if is_sequence else parts).append((place, field.name))
    of = struct.__name__.removesuffix(_SUFFIX)
    return _Plan(struct(), tuple(leaves), tuple(UNREAD_DEFAULTS.get(of, {}).items()), tuple(parts), tuple(sequences))


def prune(rest: Any) -> bool:
    """Take out of a remainder what means the same as its absence, in place; whether nothing is left.

    That is what is empty, and what says the API server's default: a dump has it, the manifest that it came from does not.
    """
    struct: type = type(rest)
    plan = _plan(struct)
    if rest == plan.blank:
        return True
    for name, default in plan.defaults:
        if getattr(rest, name) == default:
            setattr(rest, name, None)
    values = msgspec.structs.astuple(rest)
    for place, name in plan.parts:
        part = values[place]
        if part is not None and prune(part):
            setattr(rest, name, None)
    for place, name in plan.sequences:
        bare_items = [prune(item) for item in values[place]]
        if all(bare_items):
            setattr(rest, name, ())
    if "" in values or [] in values or {} in values:
        for name in plan.leaves:
            if getattr(rest, name) in ("", [], {}):
                setattr(rest, name, None)
    return bool(rest == plan.blank)


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
