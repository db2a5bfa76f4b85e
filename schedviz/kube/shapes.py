"""Structs derived from the kinds: one that has only the unread fields, and one that has every known field and no other.

Both let msgspec do in C what would otherwise be a walk over each object. Unread fields are kept as the text that they were, since most
of them are the same in many pods: what a text comes to is looked up, which takes a third of the time of reading it.
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
#: Of each field so many texts are remembered, if they are not longer than this.
_KNOWN_TEXTS = 2048
_LONG_TEXT = 4096
_encoder = msgspec.json.Encoder()
_sorted_encoder = msgspec.json.Encoder(order="sorted")


def unread_names(struct: type) -> tuple[str, ...]:
    """The JSON names of the known fields that `struct` does not keep."""
    return tuple(UNREAD.get(struct, "").split())


@cache
def remainder(struct: type) -> type[msgspec.Struct] | None:
    """A struct with what `struct` does not keep, at every depth; None when it keeps everything it knows."""
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
def known(struct: type) -> type[msgspec.Struct]:
    """A struct with every known field of `struct`, at every depth, that refuses any other."""
    fields: list[tuple[str, Any, Any]] = [(name, Any, None) for name in unread_names(struct)]
    for field in _fields(struct):
        nested, is_sequence = nested_struct(field.type)
        kind: Any = Any
        if nested:
            kind = tuple[known(nested), ...] if is_sequence else known(nested)  # type: ignore[misc]
        fields.append((field.encode_name, kind, None))
    if "metadata" in {name for name, _, _ in fields}:
        have = {name for name, _, _ in fields}
        fields += [(name, Any, None) for name in ("apiVersion", "kind", *DIGESTS) if name not in have]
    return msgspec.defstruct(f"{struct.__name__}Known", fields, forbid_unknown_fields=True, gc=False)


class _Leaf:
    """An unread field, and what its texts come to."""

    __slots__ = ("_absent", "_default", "_name", "known")

    def __init__(self, name: str, default: object) -> None:
        self._name = name.encode()
        self._default = default
        #: Texts of strings that mean the same as their absence.
        self._absent = {b'""', msgspec.json.encode(default)}
        #: JSON as it was written -> as it counts, as `said` gives it.
        self.known: dict[bytes, bytes] = {}

    def said(self, text: bytes) -> bytes:
        """The field in one spelling, whatever the order of its keys; empty where it means the same as its absence."""
        if _is_plain(text):
            # Addresses and names: to write them is all there is to do, and to remember them would push out what comes again.
            return b"" if text in self._absent else b"%b=%b" % (self._name, text)
        value = msgspec.json.decode(text)
        absent = value is None or value == self._default or value in ("", [], {})
        found = b"" if absent else b"%b=%b" % (self._name, _sorted_encoder.encode(value))
        if len(text) <= _LONG_TEXT:
            if len(self.known) >= _KNOWN_TEXTS:
                self.known.clear()
            self.known[text] = found
        return found


class _Inner:
    """A remainder inside a remainder, or a sequence of them, and what their texts come to.

    The conditions and the owner of a pod have one unread field each, which nearly always is the same: to look them up together takes
    2 µs of the 15 that looking at each takes.
    """

    __slots__ = ("_is_sequence", "_name", "known", "place")

    def __init__(self, place: int, name: str, *, is_sequence: bool) -> None:
        self.place = place
        self._name = name.encode()
        self._is_sequence = is_sequence
        #: As it was written -> its lines.
        self.known: dict[bytes, list[bytes]] = {}

    def said(self, inner: Any) -> list[bytes]:
        """Its lines, each with its place in this field."""
        written = _encoder.encode(inner)
        lines = self.known.get(written)
        if lines is None:
            lines = self._said(inner)
            if len(written) <= _LONG_TEXT:
                if len(self.known) >= _KNOWN_TEXTS:
                    self.known.clear()
                self.known[written] = lines
        return lines

    def _said(self, inner: Any) -> list[bytes]:
        if not self._is_sequence:
            return said(inner, b"%b." % self._name)
        return [line for index, item in enumerate(inner) for line in said(item, b"%b[%d]." % (self._name, index))]


class _Plan(msgspec.Struct, frozen=True):
    """What to look at in a remainder: its members by their place."""

    blank: Any
    #: The first members.
    leaves: tuple[_Leaf, ...]
    parts: tuple[_Inner, ...]


@cache
def _plan(struct: type) -> _Plan:
    leaves: list[_Leaf] = []
    parts: list[_Inner] = []
    defaults = UNREAD_DEFAULTS.get(struct.__name__.removesuffix(_SUFFIX), {})
    for place, field in enumerate(_fields(struct)):
        nested, is_sequence = nested_struct(field.type)
        if not nested:
            leaves.append(_Leaf(field.name, defaults.get(field.name)))
        else:
            parts.append(_Inner(place, field.name, is_sequence=is_sequence))
    return _Plan(struct(), tuple(leaves), tuple(parts))


def _is_plain(text: bytes) -> bool:
    """Whether the JSON is a string that has one spelling."""
    return text.startswith(b'"') and b"\\" not in text


def said(rest: Any, where: bytes = b"") -> list[bytes]:
    """What a remainder says, a line for each field with its place; nothing where all of it means the same as its absence.

    That is what is empty, and what says the API server's default: a dump has it, the manifest that it came from does not.
    """
    struct: type = type(rest)
    plan = _plan(struct)
    if rest == plan.blank:
        return []
    lines: list[bytes] = []
    values = msgspec.structs.astuple(rest)
    for leaf, written in [pair for pair in zip(plan.leaves, values, strict=False) if pair[1] is not UNSET]:
        text = bytes(written)
        line = leaf.known.get(text)
        if line is None:
            line = leaf.said(text)
        if line:
            lines.append(where + line)
    for part in plan.parts:
        inner = values[part.place]
        if inner:
            lines += [where + line for line in part.said(inner)]
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
