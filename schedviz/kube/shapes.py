"""Structs derived from the kinds: one with only the unread fields, and one that accepts only known fields.

Both let msgspec do in C what would otherwise be a Python walk over each object. Unread fields are kept as their raw text, because most of
them are the same in many pods: caching the result per text takes a third of the time of parsing it.
"""

from __future__ import annotations

import types
import typing
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from schedviz.kube.unread import DIGESTS, UNREAD, UNREAD_DEFAULTS

_SUFFIX = "Remainder"
#: The number of cached texts of each field, and their maximum length.
_CACHED_TEXTS = 2048
_LONG_TEXT = 4096
_encoder = msgspec.json.Encoder()
_sorted_encoder = msgspec.json.Encoder(order="sorted")


def unread_names(struct: type) -> tuple[str, ...]:
    """The JSON names of the known fields that `struct` does not keep."""
    return tuple(UNREAD.get(struct, "").split())


@cache
def remainder(struct: type) -> type[msgspec.Struct] | None:
    """A struct with the fields that `struct` does not keep, at every depth; None if it keeps all known fields."""
    fields: list[tuple[str, Any, Any]] = [(name, msgspec.Raw | UnsetType, UNSET) for name in unread_names(struct)]
    for field in _fields(struct):
        nested, is_sequence = nested_struct(field.type)
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
def strict_type(struct: type) -> type[msgspec.Struct]:
    """A struct with every known field of `struct`, at every depth, that refuses all others."""
    fields: list[tuple[str, Any, Any]] = [(name, Any, None) for name in unread_names(struct)]
    for field in _fields(struct):
        nested, is_sequence = nested_struct(field.type)
        kind: Any = Any
        if nested:
            kind = tuple[strict_type(nested), ...] if is_sequence else strict_type(nested)  # type: ignore[misc]
        fields.append((field.encode_name, kind, None))
    if "metadata" in {name for name, _, _ in fields}:
        have = {name for name, _, _ in fields}
        fields += [(name, Any, None) for name in ("apiVersion", "kind", *DIGESTS) if name not in have]
    return msgspec.defstruct(f"{struct.__name__}Strict", fields, forbid_unknown_fields=True, gc=False)


class _Leaf:
    """An unread field, and the cached results of its texts."""

    __slots__ = ("_absent", "_default", "_name", "cached")

    def __init__(self, name: str, default: object) -> None:
        self._name = name.encode()
        self._default = default
        #: Texts of strings that are equivalent to absence.
        self._absent = {b'""', msgspec.json.encode(default)}
        #: JSON as it was written -> the normalized form that `line` returns.
        self.cached: dict[bytes, bytes] = {}

    def line(self, text: bytes) -> bytes:
        """The field in normalized form, independent of the order of its keys; empty if it is equivalent to absence."""
        if _is_plain(text):
            # Addresses and names are individual: caching them would evict texts that recur.
            return b"" if text in self._absent else b"%b=%b" % (self._name, text)
        value = msgspec.json.decode(text)
        absent = value is None or value == self._default or value in ("", [], {})
        line = b"" if absent else b"%b=%b" % (self._name, _sorted_encoder.encode(value))
        if len(text) <= _LONG_TEXT:
            if len(self.cached) >= _CACHED_TEXTS:
                self.cached.clear()
            self.cached[text] = line
        return line


class _Inner:
    """A nested remainder or a sequence of them, and the cached results of their texts.

    The conditions and the owner of a pod have one unread field each, which is nearly always the same. Looking them up together takes 2 µs
    instead of 15.
    """

    __slots__ = ("_is_sequence", "_name", "cached", "index")

    def __init__(self, index: int, name: str, *, is_sequence: bool) -> None:
        self.index = index
        self._name = name.encode()
        self._is_sequence = is_sequence
        #: The text as it was written -> its lines.
        self.cached: dict[bytes, list[bytes]] = {}

    def lines(self, inner: Any) -> list[bytes]:
        """Its lines, each with its path in this field."""
        encoded = _encoder.encode(inner)
        lines = self.cached.get(encoded)
        if lines is None:
            lines = self._lines(inner)
            if len(encoded) <= _LONG_TEXT:
                if len(self.cached) >= _CACHED_TEXTS:
                    self.cached.clear()
                self.cached[encoded] = lines
        return lines

    def _lines(self, inner: Any) -> list[bytes]:
        if not self._is_sequence:
            return unread_lines_of(inner, b"%b." % self._name)
        return [line for index, item in enumerate(inner) for line in unread_lines_of(item, b"%b[%d]." % (self._name, index))]


class _Plan(msgspec.Struct, frozen=True):
    """Which members of a remainder to process, by index."""

    blank: Any
    #: The first members.
    leaves: tuple[_Leaf, ...]
    parts: tuple[_Inner, ...]


@cache
def _plan(struct: type) -> _Plan:
    leaves: list[_Leaf] = []
    parts: list[_Inner] = []
    defaults = UNREAD_DEFAULTS.get(struct.__name__.removesuffix(_SUFFIX), {})
    for index, field in enumerate(_fields(struct)):
        nested, is_sequence = nested_struct(field.type)
        if not nested:
            leaves.append(_Leaf(field.name, defaults.get(field.name)))
        else:
            parts.append(_Inner(index, field.name, is_sequence=is_sequence))
    return _Plan(struct(), tuple(leaves), tuple(parts))


def _is_plain(text: bytes) -> bool:
    """Whether the JSON is a string with only one spelling."""
    return text.startswith(b'"') and b"\\" not in text


def unread_lines_of(rest: Any, where: bytes = b"") -> list[bytes]:
    """The contents of a remainder, one line per field with its path; empty if all of it is equivalent to absence.

    Empty values and the API server's defaults are equivalent to absence: a dump has them, the manifest that it came from does not.
    """
    struct: type = type(rest)
    plan = _plan(struct)
    if rest == plan.blank:
        return []
    lines: list[bytes] = []
    values = msgspec.structs.astuple(rest)
    for leaf, encoded in [pair for pair in zip(plan.leaves, values, strict=False) if pair[1] is not UNSET]:
        text = bytes(encoded)
        line = leaf.cached.get(text)
        if line is None:
            line = leaf.line(text)
        if line:
            lines.append(where + line)
    for part in plan.parts:
        inner = values[part.index]
        if inner:
            lines += [where + line for line in part.lines(inner)]
    return lines


def _fields(struct: type) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(struct)


def nested_struct(annotation: Any) -> tuple[type | None, bool]:
    """The struct inside a field's type, and whether the field is a sequence of it."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation, False
    origin = typing.get_origin(annotation)
    if origin is tuple:
        return nested_struct(typing.get_args(annotation)[0])[0], True
    if origin in (types.UnionType, typing.Union):
        for option in typing.get_args(annotation):
            if option is not type(None):
                return nested_struct(option)
    return None, False
