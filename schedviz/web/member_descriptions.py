"""Describes the members in a JSON Schema with the `#:` comments of their structs, so that OpenAPI and the wire schema document them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

_COMMENT: Final = re.compile(r"\s+#: ?(.*)")
_MEMBER: Final = re.compile(r"\s+(\w+):")


def describe_members(definitions: dict[str, Any], roots: Iterable[Any]) -> None:
    """Add a `description` to each member of `definitions` (by the name of the struct) that has a comment and no description.

    `roots` are the types from which the definitions were made.
    """
    for struct in _structs(msgspec.inspect.multi_type_info(roots)):
        members = definitions.get(struct.__name__, {}).get("properties", {})
        names = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))
        for field, comment in _comments(struct).items():
            if (member := members.get(names.get(field))) is not None:
                member.setdefault("description", comment)


def _structs(types: Iterable[Any]) -> set[type[msgspec.Struct]]:
    """All structs in some type descriptions."""
    structs: set[type[msgspec.Struct]] = set()
    remaining = list(types)
    while remaining:
        described = remaining.pop()
        if isinstance(described, msgspec.inspect.StructType):
            if described.cls in structs:
                continue
            structs.add(described.cls)
        remaining += _parts(described)
    return structs


def _parts(described: Any) -> Iterator[Any]:
    for value in (getattr(described, name) for name in described.__struct_fields__):
        yield from (part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, msgspec.Struct))


def _comments(struct: type[msgspec.Struct]) -> dict[str, str]:
    """Field -> its comment, of the struct and of those that it inherits from."""
    comments: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct:
            comments |= _own_comments(base)
    return comments


@cache
def _own_comments(struct: type[msgspec.Struct]) -> dict[str, str]:
    comments: dict[str, str] = {}
    comment: list[str] = []
    for line in inspect.getsource(struct).splitlines():
        if part := _COMMENT.fullmatch(line):
            comment.append(part[1])
            continue
        if comment and (member := _MEMBER.match(line)):
            comments[member[1]] = " ".join(comment)
        comment = []
    return comments
