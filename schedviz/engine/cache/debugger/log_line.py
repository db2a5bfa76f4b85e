"""One line of the scheduler's log, in text and in JSON.

Upstream: k8s.io/klog/v2 InfoS (the text), k8s.io/component-base/logs/json (the JSON)
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec

_SECOND = 1_000_000_000
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\"}


class ObjectRef(msgspec.Struct, frozen=True):
    """A reference to an object in a log line. Upstream: klog KObj"""

    name: str
    namespace: str = ""

    @classmethod
    def of(cls, key: str) -> ObjectRef:
        """The reference for `namespace/name`, or for a name alone."""
        namespace, _, name = key.rpartition("/")
        return cls(name, namespace)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class JsonList(list[str]):
    """A list that the text format shows as JSON, as klog does since the release that v1.36 uses."""


class LogLine(msgspec.Struct, frozen=True):
    """A message with named values: strings, numbers, lists of strings, object references. `at` is in nanoseconds since 1970, UTC."""

    at: int
    #: Package folder, file and line: `debugger/dumper.go:52`.
    caller: str
    message: str
    values: tuple[tuple[str, Any], ...] = ()
    verbosity: int = 0

    def text(self, *, pid: int = 1) -> str:
        """The line in the format of `--logging-format=text`, with the line end."""
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=self.at // _SECOND)
        stamp = f"{moment:%m%d %H:%M:%S}.{self.at % _SECOND // 1000:06d}"
        values = "".join(f" {key}={_as_text(value)}" for key, value in self.values)
        return f"I{stamp} {pid:7d} {self.caller.rpartition('/')[2]}] {quoted(self.message)}{values}\n"

    def json(self) -> str:
        """The line in the format of `--logging-format=json`, with the line end."""
        head = {"ts": _millis(self.at), "caller": self.caller, "msg": self.message, "v": self.verbosity}
        values = {key: _as_json(value) for key, value in self.values}
        return json.dumps({**head, **values}, ensure_ascii=False, separators=(",", ":")) + "\n"

    def write(self, form: Literal["text", "json"], *, pid: int = 1) -> str:
        """The line in one of the two formats."""
        return self.text(pid=pid) if form == "text" else self.json()


def quoted(text: str) -> str:
    """A Go string literal. Upstream: strconv.Quote"""
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _escaped(char)) for char in text) + '"'


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _as_text(value: Any) -> str:
    if isinstance(value, JsonList):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, (list, tuple)):
        return f"[{' '.join(map(str, value))}]"
    if isinstance(value, (int, float)):
        return str(value)
    text = str(value)
    if "\n" not in text:
        return quoted(text)
    return "<\n" + "".join(f"\t{line}\n" for line in text.removesuffix("\n").split("\n")) + " >"


def _as_json(value: Any) -> Any:
    if isinstance(value, ObjectRef):
        return {"name": value.name, **({"namespace": value.namespace} if value.namespace else {})}
    return value


def _millis(at: int) -> float | int:
    """Milliseconds as a divided float64, with the rounding that real logs show."""
    millis = float(at) / 1e6
    return int(millis) if millis.is_integer() else millis
