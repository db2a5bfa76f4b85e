"""Strict decoding with the messages of upstream's decoder: unknown and duplicate fields, values of the wrong type.

The expected shapes are our structs'; msgspec decodes what passes here.

Upstream: apimachinery pkg/runtime/serializer/json (strict), sigs.k8s.io/json
"""

from __future__ import annotations

import base64
import binascii
import functools
from collections.abc import Hashable, Sequence
from typing import Any, Final, cast

from msgspec import inspect

from schedviz.engine.config.durations import parse_duration
from schedviz.engine.config.errors import Problem

#: Types that are not in the configuration's Go package, as messages show them.
_GO_TYPES_OF_OTHER_PACKAGES: Final = {
    "LeaderElectionConfiguration": "v1alpha1.LeaderElectionConfiguration",
    "ClientConnectionConfiguration": "v1alpha1.ClientConnectionConfiguration",
}


@functools.cache
def _shape_of(target: Hashable) -> inspect.Type:
    return inspect.type_info(target)


class StrictCheck:
    """The check of one document. `unknown` has the unknown fields; `wrong` the first value that cannot be decoded."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self.wrong: Problem | None = None

    def check(self, value: Any, target: type[Any]) -> None:
        """Check a whole document that should be a `target`."""
        self._any(value, _shape_of(cast("Hashable", target)), "", ("", ""))

    def _any(self, value: Any, shape: inspect.Type, path: str, owner: tuple[str, str]) -> None:
        """`owner` is the struct that has `value` as a member, and the Go path of the member, which has no indexes."""
        shape, kind = _bare(shape)
        match shape:
            case inspect.StructType():
                self._struct(value, shape, path, owner)
            case inspect.VarTupleType() | inspect.ListType():
                if not isinstance(value, list):
                    self._mismatch(value, _go_type(shape), path, owner)
                    return
                for index, item in enumerate(value):
                    self._any(item, shape.item_type, f"{path}[{index}]", owner)
            case inspect.StrType():
                self._string(value, kind, path, owner)
            case inspect.BoolType():
                if not isinstance(value, bool):
                    self._mismatch(value, "bool", path, owner)
            case inspect.IntType():
                self._int(value, shape, path, owner)
            case inspect.FloatType():
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    self._mismatch(value, "float32", path, owner)
            case _:
                pass

    def _struct(self, value: Any, shape: inspect.StructType, path: str, owner: tuple[str, str]) -> None:
        if not isinstance(value, dict):
            self._mismatch(value, _go_type(shape), path, owner)
            return
        fields = {field.encode_name: field for field in shape.fields}
        for name, member in value.items():
            inside = f"{path}.{name}" if path else str(name)
            field = fields.get(name)
            if field is None:
                self.unknown.append(inside)
            else:
                self._any(member, field.type, inside, (shape.cls.__name__, f"{owner[1]}.{name}".lstrip(".")))

    def _string(self, value: Any, kind: str, path: str, owner: tuple[str, str]) -> None:
        if not isinstance(value, str):
            if kind == "Duration":
                self._set_problem(path, f"json: cannot unmarshal {_json_type(value)} into Go value of type string")
            else:
                self._mismatch(value, "[]uint8" if kind == "bytes" else "string", path, owner)
            return
        try:
            if kind == "Duration":
                parse_duration(value)
            elif kind == "bytes":
                base64.b64decode(value, validate=True)
        except binascii.Error:
            self._set_problem(path, f"illegal base64 data at input byte {_first_illegal(value)}")
        except ValueError as error:
            self._set_problem(path, str(error))

    def _int(self, value: Any, shape: inspect.IntType, path: str, owner: tuple[str, str]) -> None:
        go_type = "int32" if shape.le == 2**31 - 1 else "int64"
        bits = 31 if go_type == "int32" else 63
        if isinstance(value, bool) or not isinstance(value, int):
            self._mismatch(value, go_type, path, owner)
        elif not -(2**bits) <= value < 2**bits:
            self._mismatch(value, go_type, path, owner, overflow=True)

    def _mismatch(self, value: Any, go_type: str, path: str, owner: tuple[str, str], *, overflow: bool = False) -> None:
        actual = f"number {value}" if overflow or (isinstance(value, float) and go_type.startswith("int")) else _json_type(value)
        struct, field = owner
        where = f"Go struct field {struct}.{field}" if struct else "Go value"
        self._set_problem(path, f"json: cannot unmarshal {actual} into {where} of type {go_type}")

    def _set_problem(self, path: str, sentence: str) -> None:
        if self.wrong is None:
            self.wrong = Problem(path, sentence, sentence)


def strict_error(faults: Sequence[str]) -> str:
    """The errors as one sentence. Upstream: apimachinery runtime NewStrictDecodingError"""
    return f"strict decoding error: {', '.join(faults)}"


def _bare(shape: inspect.Type) -> tuple[inspect.Type, str]:
    """The type without None and annotations, and the Go type that the annotation names."""
    kind = ""
    while isinstance(shape, (inspect.Metadata, inspect.UnionType)):
        if isinstance(shape, inspect.Metadata):
            kind = (shape.extra or {}).get("go", kind)
            shape = shape.type
        else:
            shape = next(type_ for type_ in shape.types if not isinstance(type_, inspect.NoneType))
    return shape, kind


def _go_type(shape: inspect.Type) -> str:
    match shape:
        case inspect.Metadata():
            return _go_type(shape.type)
        case inspect.StructType():
            return _GO_TYPES_OF_OTHER_PACKAGES.get(shape.cls.__name__, f"v1.{shape.cls.__name__}")
        case inspect.VarTupleType() | inspect.ListType():
            return f"[]{_go_type(shape.item_type)}"
        case _:
            return "string"


def _json_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
        case _:
            return "number"


def _first_illegal(text: str) -> int:
    legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return next((index for index, letter in enumerate(text) if letter not in legal), len(text))
